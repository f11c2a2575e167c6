import { Component, type ReactNode } from "react";
import { Button, Empty } from "@/kit";
import { texts } from "@/texts/app";

/** A screen that breaks breaks alone, and says what to do. */
export class Boundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: null };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render() {
    if (!this.state.error) return this.props.children;
    const { error } = this.state;
    return (
      <Empty
        icon="warning"
        title={texts.boundary.thisScreenCouldNotBeDisplayed}
        actions={
          <Button look="primary" icon="refresh" onClick={() => location.reload()}>
            {texts.boundary.reloadThePage}
          </Button>
        }
      >
        <p>{texts.boundary.scraperskyMayHaveBeenUpdatedWhile}</p>
        <p className="small mono">{error instanceof Error ? error.message : String(error)}</p>
      </Empty>
    );
  }
}
