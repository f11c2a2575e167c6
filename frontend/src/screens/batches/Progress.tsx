/** How far a batch is. */
import { Meter, whole } from "@/kit";
import { texts } from "@/texts/batches";
import type { Batch } from "./model";

export function Progress({ batch }: { batch: Batch }) {
  return (
    <div className="batch-meter">
      <Meter
        label={texts.screen.ofDone(whole(batch.done), whole(batch.total))}
        total={batch.total}
        parts={[
          { value: batch.done, tone: "good" },
          { value: batch.working, tone: "warn" },
          { value: batch.failed + batch.refused, tone: "bad" },
        ]}
      />
    </div>
  );
}
