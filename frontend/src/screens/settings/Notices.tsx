/** Who must be notified that their data is held, by when, and who has been (GDPR, article 14). */
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { addressOf, read, write } from "@/api/client";
import { useLive } from "@/api/events";
import type { Schemas } from "@/api/types";
import { Link, useSearch } from "@/app/router";
import {
  Badge,
  Button,
  type Column,
  Dialog,
  Empty,
  exact,
  Failure,
  FormButtons,
  Input,
  Menu,
  Panel,
  Select,
  Skeleton,
  short,
  Table,
  Time,
  toast,
  whole,
  wordOf,
} from "@/kit";
import { Address } from "@/screens/curate/Cell";
import type { RecordChanges } from "@/screens/curate/model";
import { common } from "@/texts/common";
import { texts } from "@/texts/settings";
import { useChange } from "./change";
import { dueTone, momentOf, todayHere } from "./due";

type Notice = Schemas["NoticeOut"];
type State = Schemas["NoticeState"];

const NOTICES = ["notices"] as const;
const SOON_MS = 1000;
const STATES: readonly { id: State; name: string }[] = [
  { id: "open", name: texts.notices.toNotify },
  { id: "overdue", name: texts.notices.overdue },
  { id: "informed", name: texts.notices.notified },
];
const FORMATS = [
  { format: "csv", name: texts.notices.csvForAnySpreadsheet },
  { format: "xlsx", name: texts.notices.excelWorkbook },
  { format: "jsonl", name: texts.notices.jsonLines },
];
const BASES: readonly Schemas["LegalBasis"][] = [
  "legitimate_interests",
  "consent",
  "contract",
  "legal_obligation",
  "vital_interests",
  "public_task",
];

/** How many there are of one state; up to ten thousand are counted. */
function useTotal(state: State) {
  return useQuery({
    queryKey: [...NOTICES, "total", state],
    queryFn: () => read("/notices", { query: { state, limit: 1 } }),
    select: ({ total }) => total,
  }).data;
}

/** How many people's month is over. */
export const useOverdue = (): number => useTotal("overdue")?.count ?? 0;

export function Notices() {
  const [search, setSearch] = useSearch();
  const state = STATES.find(({ id }) => id === search.get("state"))?.id ?? "open";
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const [isNotifying, setNotifying] = useState<"picked" | "all" | null>(null);
  const { change, busy } = useChange(NOTICES);
  const notices = useInfiniteQuery({
    queryKey: [...NOTICES, state],
    queryFn: ({ pageParam }) =>
      read("/notices", { query: { state, cursor: pageParam, limit: 100 } }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  });
  useNews();
  const rows = notices.data?.pages.flatMap(({ items }) => items) ?? [];
  // Who is no longer in the list is no longer meant.
  const ids = rows.map(({ contact_id: id }) => id).filter((id) => picked.has(id));
  const isNotified = state === "informed";

  async function open(contacts: string[]) {
    const done = await change(() =>
      write("POST", "/notices/open", { body: { contact_ids: contacts } }),
    );
    if (done) toast({ text: texts.notices.markedAsNotNotified(done.changed) });
    setPicked(new Set());
  }

  async function notify(notified: Notified) {
    const contacts = isNotifying === "picked" ? ids : null;
    const body = contacts ? { contact_ids: contacts } : { obtained_before: notified.until };
    const done = await change(() =>
      write("POST", "/notices/informed", { body: { ...body, ...notified.said } }),
    );
    if (!done) return;
    setNotifying(null);
    setPicked(new Set());
    toast({
      kind: "good",
      text: texts.notices.markedAsNotified(done.changed),
      action: contacts ? { name: common.undo, run: () => open(contacts) } : undefined,
    });
  }

  return (
    <Panel
      flush
      className="notices"
      title={texts.notices.privacyNoticesGdpr}
      about={texts.notices.peopleWhoseDataYouCollectedMust}
      actions={
        <Menu
          label={common.export}
          icon="download"
          align="right"
          disabled={rows.length === 0}
          items={FORMATS.map(({ format, name }) => ({
            name,
            run: () => download(addressOf("/notices/export", { state, format })),
          }))}
        />
      }
    >
      <div className="notices-bar">
        <fieldset className="row wrap chips">
          <legend className="unseen">{texts.notices.whichContacts}</legend>
          {STATES.map(({ id, name }) => (
            <StateChip
              key={id}
              id={id}
              name={name}
              isOn={id === state}
              onChoose={() => {
                setPicked(new Set());
                setSearch({ state: id === "open" ? null : id });
              }}
            />
          ))}
        </fieldset>
        <div className="row wrap">
          <span className={ids.length ? "small soft" : "unseen"} role="status">
            {ids.length > 0 && texts.notices.selected(whole(ids.length))}
          </span>
          {isNotified ? (
            <Button icon="undo" busy={busy} disabled={!ids.length} onClick={() => void open(ids)}>
              {texts.notices.markAsNotNotified}
            </Button>
          ) : (
            <>
              <Button disabled={rows.length === 0} onClick={() => setNotifying("all")}>
                {texts.notices.markAllAsNotified}
              </Button>
              <Button
                icon="check"
                look="primary"
                disabled={!ids.length}
                onClick={() => setNotifying("picked")}
              >
                {texts.notices.markAsNotified}
              </Button>
            </>
          )}
        </div>
      </div>
      {notices.error ? (
        <Failure error={notices.error} retry={() => void notices.refetch()} />
      ) : !notices.data ? (
        <Skeleton lines={6} />
      ) : rows.length === 0 ? (
        <Nobody state={state} />
      ) : (
        <Table
          label={texts.notices.privacyNotices}
          rows={rows}
          keyOf={(notice) => notice.contact_id}
          columns={[
            pickColumn(rows, ids, setPicked),
            { name: texts.notices.contact, show: (notice) => <Who notice={notice} /> },
            isNotified
              ? { name: texts.notices.notified, show: (notice) => <Informed notice={notice} /> }
              : { name: texts.notices.due, show: (notice) => <Due notice={notice} /> },
            {
              name: texts.notices.foundOn,
              minor: true,
              show: (notice) => <Sources notice={notice} />,
            },
            {
              name: common.since,
              minor: true,
              show: ({ obtained_at }) => <Time at={obtained_at} />,
            },
            {
              name: texts.notices.legalBasis,
              minor: true,
              show: ({ legal_basis }) => <span className="small basis">{wordOf(legal_basis)}</span>,
            },
          ]}
        />
      )}
      {notices.hasNextPage && (
        <div className="row settings-more">
          <Button busy={notices.isFetchingNextPage} onClick={() => void notices.fetchNextPage()}>
            {texts.notices.showMore}
          </Button>
        </div>
      )}
      {isNotifying && (
        <Notify
          count={isNotifying === "picked" ? ids.length : null}
          busy={busy}
          onClose={() => setNotifying(null)}
          onSave={(notified) => void notify(notified)}
        />
      )}
    </Panel>
  );
}

/** What happens to contacts, here or elsewhere, is seen at once; a flood of it once a second. */
function useNews(): void {
  const queries = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  function lookSoon() {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      void queries.invalidateQueries({ queryKey: NOTICES });
    }, SOON_MS);
  }
  useEffect(() => () => clearTimeout(timer.current), []);
  useLive("reset", lookSoon);
  useLive<RecordChanges>("records", ({ kind }) => {
    if (kind === "contacts" || kind === "notices") lookSoon();
  });
}

function download(address: string): void {
  const link = document.createElement("a");
  link.href = address;
  link.download = "";
  link.click();
}

interface StateChipProps {
  id: State;
  name: string;
  isOn: boolean;
  onChoose: () => void;
}

function StateChip({ id, name, isOn, onChoose }: StateChipProps) {
  const total = useTotal(id);
  const isBad = id === "overdue" && (total?.count ?? 0) > 0;
  return (
    <button
      type="button"
      className={`chip ${isOn ? "on" : ""} ${isBad ? "bad" : ""}`}
      aria-pressed={isOn}
      onClick={onChoose}
    >
      {name}{" "}
      <span className={`number ${isBad ? "" : "faint"}`}>
        {total && `${short(total.count)}${total.is_exact ? "" : "+"}`}
      </span>
    </button>
  );
}

function pickColumn(
  rows: readonly Notice[],
  ids: readonly string[],
  setPicked: (ids: ReadonlySet<string>) => void,
): Column<Notice> {
  const isWhole = ids.length === rows.length;
  return {
    name: texts.notices.select,
    head: (
      <input
        type="checkbox"
        aria-label={texts.notices.selectAllThatAreShown}
        checked={isWhole}
        onChange={() => setPicked(new Set(isWhole ? [] : rows.map(({ contact_id: id }) => id)))}
      />
    ),
    show: ({ contact_id: id, email, phone }) => (
      <input
        type="checkbox"
        aria-label={texts.notices.selectContact(email ?? phone)}
        checked={ids.includes(id)}
        onChange={() => {
          const next = new Set(ids);
          if (!next.delete(id)) next.add(id);
          setPicked(next);
        }}
      />
    ),
  };
}

function Who({ notice }: { notice: Notice }) {
  const { contact_id: id, email, phone, name, domain } = notice;
  return (
    <>
      <Link to={`/curate/contacts?open=${id}`} className="foreign">
        {email ?? phone ?? texts.notices.contactWithoutAnAddress}
      </Link>
      <div className="small soft foreign">{[name, domain].filter(Boolean).join(" · ")}</div>
    </>
  );
}

function Due({ notice }: { notice: Notice }) {
  const { due_at: due, is_overdue: isOverdue } = notice;
  const tone = dueTone(due, isOverdue, new Date());
  return (
    <Badge tone={tone}>
      {isOverdue && texts.notices.overdueSince}
      <Time at={due} isPlanned />
    </Badge>
  );
}

function Informed({ notice }: { notice: Notice }) {
  return (
    <div className="notified">
      <Time at={notice.informed_at} />
      {notice.how && <div className="small soft foreign">{notice.how}</div>}
    </div>
  );
}

/** The pages they must be informed of: the first, and the others when asked for. */
function Sources({ notice: { sources } }: { notice: Notice }) {
  const [first, ...others] = sources;
  if (!first) return <span className="faint">{texts.notices.enteredByHand}</span>;
  return (
    <div className="small source">
      <Source source={first} />
      {others.length > 0 && (
        <details>
          <summary className="soft">{texts.notices.morePages(others.length)}</summary>
          {others.map((source) => (
            <Source key={source.url} source={source} />
          ))}
        </details>
      )}
    </div>
  );
}

const Source = ({ source }: { source: Notice["sources"][number] }) => (
  <div title={texts.notices.seen(exact(source.seen_at))}>
    <Address value={source.url} full />
  </div>
);

function Nobody({ state }: { state: State }) {
  if (state === "informed") {
    return (
      <Empty icon="letter" title={texts.notices.nobodyIsMarkedAsNotified}>
        <p>{texts.notices.tickThoseYouHaveWrittenTo}</p>
      </Empty>
    );
  }
  return (
    <Empty
      icon="check"
      title={state === "overdue" ? texts.notices.nobodyIsOverdue : texts.notices.everyoneIsNotified}
    >
      <p>{texts.notices.contactStandsHere}</p>
    </Empty>
  );
}

interface Notified {
  /** For everyone: whose data was there by then. */
  until: string;
  said: Pick<Schemas["InformedIn"], "informed_at" | "how" | "legal_basis">;
}

interface NotifyProps {
  /** Nobody picked: everyone until a day. */
  count: number | null;
  busy: boolean;
  onSave: (notified: Notified) => void;
  onClose: () => void;
}

function Notify({ count, busy, onSave, onClose }: NotifyProps) {
  const today = todayHere(new Date());
  const [until, setUntil] = useState(today);
  const [day, setDay] = useState(today);
  const [how, setHow] = useState("");
  const [basis, setBasis] = useState("");
  const isReady = day !== "" && day <= today && until !== "" && until <= today;
  function save() {
    if (!isReady) return;
    onSave({
      until: momentOf(until, new Date()),
      said: {
        ...(day === today ? {} : { informed_at: momentOf(day, new Date()) }),
        ...(how.trim() ? { how: how.trim() } : {}),
        ...(basis ? { legal_basis: basis as Schemas["LegalBasis"] } : {}),
      },
    });
  }
  return (
    <Dialog
      title={
        count === null ? texts.notices.markAllAsNotified : texts.notices.markCountAsNotified(count)
      }
      onClose={onClose}
      onSubmit={save}
      actions={
        <FormButtons onClose={onClose} busy={busy} disabled={!isReady}>
          {count === null ? texts.notices.markAllAsNotified : texts.notices.markThese(whole(count))}
        </FormButtons>
      }
    >
      <div className="stack">
        {count === null && (
          <Input
            label={texts.notices.everyoneWhoseDataYouHad}
            type="date"
            max={today}
            value={until}
            onChange={(event) => setUntil(event.target.value)}
          />
        )}
        <Input
          label={texts.notices.notifiedOn}
          type="date"
          max={today}
          value={day}
          onChange={(event) => setDay(event.target.value)}
        />
        <Input
          label={texts.notices.how}
          hint={texts.notices.keptAsARecord}
          placeholder={texts.notices.ourFirstEmail}
          maxLength={200}
          value={how}
          onChange={(event) => setHow(event.target.value)}
        />
        <Select
          label={texts.notices.legalBasis}
          value={basis}
          options={[
            { value: "", label: texts.notices.unchanged },
            ...BASES.map((value) => ({ value, label: wordOf(value) })),
          ]}
          onChange={(event) => setBasis(event.target.value)}
        />
      </div>
    </Dialog>
  );
}
