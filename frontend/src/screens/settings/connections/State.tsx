/** How a connection is doing, in a word. */
import { Badge } from "@/kit";
import { texts } from "@/texts/connections";
import type { CrmConnection } from "./shown";

export function State({ connection }: { connection: CrmConnection }) {
  if (connection.problem) return <Badge tone="bad">{texts.state.problem}</Badge>;
  if (!connection.is_active) return <Badge tone="warn">{texts.state.paused}</Badge>;
  if (connection.needs_worker) return <Badge tone="bad">{texts.state.needsWorker}</Badge>;
  return <Badge tone="good">{texts.state.active}</Badge>;
}
