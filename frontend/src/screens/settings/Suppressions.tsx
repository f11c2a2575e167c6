/** Who must be left alone: kept as hashes, so the list itself says nothing. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { read, write } from "@/api/client";
import type { Schemas } from "@/api/types";
import {
  Button,
  Confirm,
  Dialog,
  Empty,
  Failure,
  Field,
  FormButtons,
  Input,
  Panel,
  Skeleton,
  Table,
  Time,
  toast,
  wordOf,
} from "@/kit";
import { linesOf } from "@/screens/batches/model";
import { common } from "@/texts/common";
import { texts } from "@/texts/settings";
import { useChange } from "./change";
import { StoppedCompanies } from "./StoppedCompanies";

type Entry = Schemas["SuppressionOut"];
type Wanted = Pick<Schemas["SuppressionsIn"], "values" | "reason">;
const KINDS: Record<string, string> = {
  email: texts.suppressions.emailAddress,
  phone: texts.suppressions.phoneNumber,
  domain: texts.suppressions.domain,
};
const ENTRIES = ["suppressions"] as const;

export function Suppressions() {
  return (
    <div className="stack wide">
      <StoppedCompanies />
      <Hashes />
    </div>
  );
}

function Hashes() {
  const [isAdding, setAdding] = useState(false);
  const [freeing, setFreeing] = useState<Entry | null>(null);
  const { change, busy } = useChange(ENTRIES);
  const entries = useInfiniteQuery({
    queryKey: ENTRIES,
    queryFn: ({ pageParam }) => read("/suppressions", { query: { cursor: pageParam, limit: 100 } }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  });
  const rows = entries.data?.pages.flatMap(({ items }) => items) ?? [];
  return (
    <Panel
      flush
      title={texts.suppressions.addresses}
      about={texts.suppressions.emailAddresses}
      actions={
        <Button icon="plus" look="primary" onClick={() => setAdding(true)}>
          {texts.suppressions.add}
        </Button>
      }
    >
      {entries.error ? (
        <Failure error={entries.error} retry={() => void entries.refetch()} />
      ) : !entries.data ? (
        <Skeleton lines={4} />
      ) : rows.length === 0 ? (
        <Empty icon="shield" title={texts.suppressions.listIsEmpty}>
          <p>{texts.suppressions.whenSomeoneAsksNot}</p>
        </Empty>
      ) : (
        <Table
          label={texts.suppressions.addresses}
          rows={rows}
          keyOf={(entry) => entry.id}
          columns={[
            {
              name: texts.suppressions.kind,
              show: (entry) => KINDS[entry.kind] ?? wordOf(entry.kind),
            },
            {
              name: texts.suppressions.reason,
              show: (entry) =>
                entry.reason ? (
                  <span className="foreign">{entry.reason}</span>
                ) : (
                  <span className="faint">–</span>
                ),
            },
            { name: common.since, minor: true, show: (entry) => <Time at={entry.created_at} /> },
            {
              name: common.actions,
              show: (entry) => (
                <Button small onClick={() => setFreeing(entry)}>
                  {texts.suppressions.remove}
                </Button>
              ),
            },
          ]}
        />
      )}
      {entries.hasNextPage && (
        <div className="row settings-more">
          <Button busy={entries.isFetchingNextPage} onClick={() => void entries.fetchNextPage()}>
            {texts.suppressions.showMore}
          </Button>
        </div>
      )}
      {freeing && (
        <Confirm
          title={texts.suppressions.removeThisEntry}
          action={texts.suppressions.remove}
          danger
          busy={busy}
          onClose={() => setFreeing(null)}
          onConfirm={async () => {
            await change(
              () =>
                write("DELETE", "/suppressions/{suppression_id}", {
                  path: { suppression_id: freeing.id },
                }),
              texts.suppressions.entryIsRemoved,
            );
            setFreeing(null);
          }}
        >
          <p>{texts.suppressions.thisAddressCanThenBeFound}</p>
        </Confirm>
      )}
      {isAdding && (
        <Add
          busy={busy}
          onClose={() => setAdding(false)}
          onLook={(body) =>
            change(() => write("POST", "/suppressions", { body: { ...body, dry_run: true } }))
          }
          onSave={async (body) => {
            const done = await change(() => write("POST", "/suppressions", { body }));
            if (!done) return;
            setAdding(false);
            toast({
              kind: "good",
              text: texts.suppressions.addedRemoved(done.added, done.contacts_removed),
              hint: done.refused
                .map(({ line, reason }) => texts.suppressions.line(line, reason))
                .join(" "),
            });
          }}
        />
      )}
    </Panel>
  );
}

function Add({
  busy,
  onLook,
  onSave,
  onClose,
}: {
  busy: boolean;
  /** Ask what saving would come to. */
  onLook: (body: Wanted) => Promise<Schemas["SuppressedOut"] | undefined>;
  onSave: (body: Wanted) => void;
  onClose: () => void;
}) {
  const [text, setText] = useState("");
  const [reason, setReason] = useState("");
  const [lost, setLost] = useState(0);
  const values = linesOf(text);

  async function submit() {
    if (values.length === 0) return;
    const body = { values, ...(reason.trim() ? { reason: reason.trim() } : {}) };
    if (lost > 0) return onSave(body);
    const foreseen = await onLook(body);
    if (!foreseen) return;
    if (foreseen.contacts_removed > 0) setLost(foreseen.contacts_removed);
    else onSave(body);
  }

  return (
    <Dialog
      title={common.doNotContact}
      onClose={onClose}
      onSubmit={() => void submit()}
      actions={
        <FormButtons onClose={onClose} busy={busy} disabled={values.length === 0}>
          {lost > 0
            ? texts.suppressions.addAndDelete(lost)
            : texts.suppressions.addLines(values.length)}
        </FormButtons>
      }
    >
      <div className="stack">
        <Field
          label={texts.suppressions.emailAddressesPhoneNumbersDomains}
          hint={texts.suppressions.onePerLine}
        >
          {(props) => (
            <textarea
              className="input mono"
              rows={6}
              value={text}
              onChange={(event) => {
                setText(event.target.value);
                setLost(0);
              }}
              {...props}
            />
          )}
        </Field>
        <Input
          label={texts.suppressions.reason}
          value={reason}
          maxLength={200}
          onChange={(event) => setReason(event.target.value)}
        />
        {lost > 0 && (
          <p role="status" className="bad">
            {texts.suppressions.willBeDeleted(lost)}
          </p>
        )}
      </div>
    </Dialog>
  );
}
