import type { ScreenProps } from "@/app/routes";
import { ScreenHead } from "@/kit";

export default function Screen(_: ScreenProps) {
  return (
    <div className="screen">
      <ScreenHead title="curate" />
    </div>
  );
}
