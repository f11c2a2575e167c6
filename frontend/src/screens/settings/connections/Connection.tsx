/** One connection: how it is doing, what goes where, what a run would write, and what was written. */
import { useState } from "react";
import { write } from "@/api/client";
import { Button, Confirm, Panel, plural, TabPanel, Tabs, Time, toast, whole } from "@/kit";
import { common } from "@/texts/common";
import { texts } from "@/texts/connections";
import { useChange } from "../change";
import { Differences } from "./Differences";
import { FieldMap } from "./FieldMap";
import { NewCredential } from "./NewCredential";
import { Run } from "./Run";
import { State } from "./State";
import { CONNECTIONS, type CrmConnection, waitingOf, writtenOf } from "./shown";
import { Problems, Writes } from "./Writes";

type Part = "run" | "company" | "person" | "differences" | "log" | "problems";
type Step = "pause" | "resume" | "test";
const PARTS: readonly Part[] = ["run", "company", "person", "differences", "log", "problems"];

const MINUTE_MS = 60_000;

interface ConnectionProps {
  connection: CrmConnection;
  onBack: () => void;
}

export function Connection({ connection, onBack }: ConnectionProps) {
  const [part, setPart] = useState<Part>("run");
  const [asking, setAsking] = useState<"undo" | "delete" | "credential" | null>(null);
  const { change, busy } = useChange(CONNECTIONS);
  const { id, is_active: isActive } = connection;
  const written = writtenOf(connection);
  const path = { connection_id: id };
  const step = (name: Step) =>
    change(() => {
      if (name === "pause") return write("POST", "/connections/{connection_id}/pause", { path });
      if (name === "resume") return write("POST", "/connections/{connection_id}/resume", { path });
      return write("POST", "/connections/{connection_id}/test", { path });
    }, texts.one.done[name]);

  /** The last run goes back in slices, so that no request takes long. */
  async function undo() {
    const total = { deleted: 0, restored: 0, kept: 0 };
    await change(async () => {
      let left = 1;
      while (left > 0) {
        const slice = await write("POST", "/connections/{connection_id}/undo", { path });
        total.deleted += slice.deleted;
        total.restored += slice.restored;
        total.kept += slice.kept;
        left = slice.left;
      }
      toast({ kind: "good", text: texts.one.undone(total) });
    });
    setAsking(null);
  }

  async function remove() {
    const gone = await change(async () => {
      await write("DELETE", "/connections/{connection_id}", { path });
      return true;
    }, texts.one.deleted);
    setAsking(null);
    if (gone) onBack();
  }

  const waiting = waitingOf(connection);
  return (
    <div className="stack">
      <Panel
        title={connection.name}
        about={connection.account_name}
        actions={
          <>
            <Button onClick={onBack}>{texts.one.allConnections}</Button>
            <Button icon="refresh" busy={busy} onClick={() => void step("test")}>
              {texts.one.test}
            </Button>
            {connection.has_credential && (
              <Button onClick={() => setAsking("credential")}>{texts.one.newCredential}</Button>
            )}
            {isActive ? (
              <Button onClick={() => void step("pause")}>{texts.one.pause}</Button>
            ) : (
              <Button onClick={() => void step("resume")}>{common.resume}</Button>
            )}
            <Button
              icon="undo"
              disabled={isActive || !connection.run_id}
              onClick={() => setAsking("undo")}
            >
              {texts.one.undoLastRun}
            </Button>
            <Button icon="trash" look="quiet" onClick={() => setAsking("delete")}>
              {common.delete}
            </Button>
          </>
        }
      >
        <div className="row wrap" role="status">
          <State connection={connection} />
          <span>{texts.one.standing(whole(written), whole(waiting))}</span>
          {connection.finish_at && <FinishTime at={connection.finish_at} />}
          {connection.limits?.map(({ name, left, allowed }) => (
            <span key={name} className="small soft">
              {texts.one.left(whole(Math.floor(left)), whole(Math.floor(allowed)), name)}
            </span>
          ))}
          {connection.run_at && (
            <span className="small soft">
              {texts.one.runBegan} <Time at={connection.run_at} />
            </span>
          )}
        </div>
        {waiting > 0 && (
          <progress aria-label={texts.one.progress} max={waiting + written} value={written} />
        )}
        {connection.problem && <p className="bad foreign">{connection.problem}</p>}
        {connection.run_id && (
          <p className="small soft">
            {isActive ? texts.one.pauseToUndo : texts.one.undoNeedsAPause}
          </p>
        )}
      </Panel>
      <Tabs
        label={connection.name}
        tabs={PARTS.map((one) => ({ id: one, name: texts.parts[one] }))}
        open={part}
        onOpen={setPart}
      />
      <TabPanel id={part}>
        {part === "run" && <Run connection={connection} />}
        {(part === "company" || part === "person") && (
          <FieldMap key={part} connection={connection} kind={part} />
        )}
        {part === "differences" && (
          <Differences connection={connection} version={written + waiting} />
        )}
        {part === "log" && <Writes connection={connection} version={written} />}
        {part === "problems" && <Problems connection={connection} version={waiting} />}
      </TabPanel>
      {asking === "credential" && <NewCredential id={id} onClose={() => setAsking(null)} />}
      {asking === "undo" && (
        <Confirm
          title={texts.one.undoTheLastRun}
          action={texts.one.undoLastRun}
          danger
          busy={busy}
          onClose={() => setAsking(null)}
          onConfirm={() => void undo()}
        >
          <p>{texts.one.whatUndoDoes}</p>
        </Confirm>
      )}
      {asking === "delete" && (
        <Confirm
          title={texts.one.deleteThis(connection.name)}
          action={common.delete}
          danger
          busy={busy}
          onClose={() => setAsking(null)}
          onConfirm={() => void remove()}
        >
          <p>{texts.one.whatDeleteDoes(plural(written, "record"))}</p>
        </Confirm>
      )}
    </div>
  );
}

/** When all will be written; the last minute is not counted down. */
function FinishTime({ at }: { at: string }) {
  const isSoon = new Date(at).getTime() - Date.now() < MINUTE_MS;
  return (
    <span className="small soft">
      {isSoon ? (
        texts.one.doneSoon
      ) : (
        <>
          {texts.one.doneBy} <Time at={at} isPlanned />
        </>
      )}
    </span>
  );
}
