import { Component, type ReactNode } from "react";
import { Button, Empty } from "@/kit";

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
        title="This screen could not be displayed"
        actions={
          <Button look="primary" icon="refresh" onClick={() => location.reload()}>
            Reload the page
          </Button>
        }
      >
        <p>
          ScraperSky may have been updated while the page was open. Your decisions are saved on the
          server.
        </p>
        <p className="small mono">{error instanceof Error ? error.message : String(error)}</p>
      </Empty>
    );
  }
}
