/** One record, beside the list: all its facts, where they came from, what happened to it. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ofKind, read } from "@/api/client";
import type { Kind } from "@/api/kinds";
import type { Fields } from "@/api/outbox/entry";
import { outbox } from "@/api/outbox/outbox";
import { useEntries } from "@/api/outbox/useOutbox";
import {
  causeOf,
  Failure,
  IconButton,
  phoneShown,
  Skeleton,
  Status,
  Sureness,
  said,
  TabPanel,
  Tabs,
  Time,
  valueWord,
  wordOf,
} from "@/kit";
import { FILE } from "@/screens/search/data";
import { common } from "@/texts/common";
import { texts } from "@/texts/record";
import type { Worked } from "./Assign";
import { Budget } from "./Budget";
import { Address } from "./Cell";
import { CompanyTools } from "./CompanyTools";
import { ContactTools } from "./ContactTools";
import { Decisions } from "./Decisions";
import { Facts } from "./Facts";
import { fieldWord } from "./filters";
import { LeadCard, LeadStory } from "./LeadCard";
import { LeadLine } from "./LeadLine";
import { marked } from "./marked";
import { type EvidenceItem, type Row, text } from "./model";
import { People } from "./People";
import { Priority } from "./Priority";
import { isImported } from "./standing";

type Tab = "facts" | "evidence" | "budget" | "history";

interface PaneProps {
  kind: Kind;
  id: string;
  /** What the list knows already, shown until the rest is here. */
  row: Row | undefined;
  mayCurate: boolean;
  onDecide: (status: string) => void;
  onStep: (by: number) => void;
  onClose: () => void;
  onChanged: () => void;
  onWorked: (worked: Worked) => void;
}

export default function Pane({
  kind,
  id,
  row,
  mayCurate,
  onDecide,
  onStep,
  onClose,
  onChanged,
  onWorked,
}: PaneProps) {
  const isLead = kind.form === "company";
  const [tab, setTab] = useState<Tab>("facts");
  const detail = useQuery({
    queryKey: ["record", kind.name, id, row?.updated_at],
    queryFn: ({ signal }) =>
      read(ofKind(kind, "/{record_id}"), { path: { record_id: id }, signal }),
    placeholderData: (before) => (before?.record.id === id ? before : undefined),
  });
  useEntries();
  const record = outbox.ahead({ ...detail.data?.record, ...row, id } as Row, kind.path);
  const error = text(record[kind.error]);
  return (
    <aside className="pane" aria-label={texts.pane.detailsOfOne(kind.one)}>
      <header className="pane-head">
        <div className="grow">
          <h2 className="foreign">{row || detail.data ? phoneShown(kind.label(record)) : "…"}</h2>
          {!isLead && <p className="small soft foreign">{kind.under(record)}</p>}
        </div>
        <IconButton icon="up" label={texts.pane.previous} small onClick={() => onStep(-1)} />
        <IconButton icon="down" label={texts.pane.next} small onClick={() => onStep(1)} />
        <IconButton icon="cross" label={texts.pane.close} small onClick={onClose} />
      </header>
      {isLead && <LeadLine record={record} mayCurate={mayCurate} onWorked={onWorked} />}
      {isLead && detail.data && <LeadCard record={record} detail={detail.data} />}
      {!isLead && (
        <div className="pane-status row wrap">
          <Status status={text(record[kind.status])} field={kind.status} />
          {text(record[kind.stageStatus]) && (
            <span className="small soft">
              {fieldWord(kind.stageStatus)}: <Status status={text(record[kind.stageStatus])} />
            </span>
          )}
          <span className="small faint">
            {texts.pane.changed} <Time at={record.updated_at} />
          </span>
        </div>
      )}
      {error && <p className="pane-error small foreign">{causeOf(error)}</p>}
      {mayCurate && (
        <Decisions kind={kind} onDecide={onDecide} current={text(record[kind.status])} />
      )}
      {mayCurate && kind.hasPriority && typeof record.priority === "number" && (
        <Priority kind={kind} ids={[id]} current={record.priority} onSet={onChanged} />
      )}
      {kind.form === "contact" && detail.data && (
        <ContactTools kind={kind} detail={detail.data} onChanged={onChanged} onGone={onClose} />
      )}
      {kind.form === "company" && detail.data && (
        <CompanyTools kind={kind} detail={detail.data} onChanged={onChanged} />
      )}
      <Tabs
        label={texts.pane.recordDetails}
        open={tab}
        onOpen={setTab}
        tabs={[
          { id: "facts", name: isLead ? texts.pane.overview : texts.pane.details },
          {
            id: "evidence",
            name: texts.pane.evidence(detail.data ? ` ${detail.data.evidence.length}` : ""),
          },
          ...(kind.hasSiteBudget ? [{ id: "budget" as const, name: common.budget }] : []),
          // A lead's story stands on its card.
          ...(isLead ? [] : [{ id: "history" as const, name: texts.pane.history }]),
        ]}
      />
      <TabPanel id={tab}>
        {detail.error ? (
          <Failure error={detail.error} retry={() => void detail.refetch()} />
        ) : tab === "history" ? (
          <History kind={kind} id={id} version={record.updated_at} />
        ) : !detail.data ? (
          <Skeleton lines={8} />
        ) : tab === "budget" && detail.data.budget?.length ? (
          <Budget id={id} lines={detail.data.budget} mayCurate={mayCurate} />
        ) : tab === "facts" && isLead ? (
          <LeadStory kind={kind} record={record} detail={detail.data} />
        ) : tab === "facts" || tab === "budget" ? (
          <>
            <People people={detail.data.people ?? []} />
            <Facts kind={kind} record={record} related={detail.data.related} />
          </>
        ) : (
          <Evidence items={detail.data.evidence} />
        )}
      </TabPanel>
    </aside>
  );
}

/** Where each value was seen, with the value marked in the words around it. */
function Evidence({ items }: { items: readonly EvidenceItem[] }) {
  if (!items.length) return <p className="soft small">{texts.pane.noEvidence}</p>;
  return (
    <ol className="evidence">
      {items.map((item, place) => (
        <li key={place}>
          <div className="row apart">
            <strong>{fieldWord(item.field)}</strong>
            {item.confidence !== null && (
              <span className="small faint">
                <Sureness share={item.confidence} />
              </span>
            )}
          </div>
          {item.value && (
            <div className="foreign">
              {item.field === "phone" ? phoneShown(item.value) : item.value}
            </div>
          )}
          {item.snippet && (
            <blockquote className="foreign small">
              {marked(item.snippet, item.value).map((part, at) =>
                part.isMark ? <mark key={at}>{part.text}</mark> : <span key={at}>{part.text}</span>,
              )}
            </blockquote>
          )}
          <div className="small faint row wrap">
            <span>{valueWord(isImported(item.snippet) ? FILE : item.method, "method")}</span>
            {item.seen_at && <Time at={item.seen_at} />}
            {item.url && <Address value={item.url} full />}
          </div>
        </li>
      ))}
    </ol>
  );
}

/** What an edit changed, from what to what. */
function Changes({ details }: { details: Readonly<Record<string, unknown>> }) {
  const { before, after } = details as { before?: Fields; after?: Fields };
  return Object.entries(after ?? {}).map(([name, value]) => (
    <div key={name} className="small foreign">
      {fieldWord(name)}: {said(before?.[name])} → {said(value)}
    </div>
  ));
}

/** `page_curation: done` becomes "Page curation: done". */
function happening(what: string): string {
  const [name = "", ...rest] = what.split(": ");
  return [
    texts.happened[name] ?? wordOf(name),
    ...rest.map((one) => one.replaceAll("_", " ")),
  ].join(": ");
}

function History({ kind, id, version }: { kind: Kind; id: string; version: string }) {
  const history = useQuery({
    queryKey: ["history", kind.name, id, version],
    queryFn: () => read(ofKind(kind, "/{record_id}/history"), { path: { record_id: id } }),
    placeholderData: (before) => before,
  });
  if (history.error) return <Failure error={history.error} retry={() => void history.refetch()} />;
  if (!history.data) return <Skeleton lines={6} />;
  if (!history.data.events.length)
    return <p className="soft small">{texts.pane.nothingHasHappenedYet}</p>;
  return (
    <ol className="history">
      {history.data.events.map((event, place) => (
        <li key={place}>
          <div className="row apart">
            <strong>{happening(event.what)}</strong>
            <span className="small faint">
              <Time at={event.at} />
            </span>
          </div>
          {event.status_after && (
            <div className="row small">
              <Status status={event.status_before} field={kind.status} /> →{" "}
              <Status status={event.status_after} field={kind.status} />
            </div>
          )}
          <Changes details={event.details ?? {}} />
          {text(event.details?.why) && (
            <div className="small foreign">{causeOf(text(event.details?.why) ?? "")}</div>
          )}
          {event.who && <div className="small faint foreign">{texts.pane.by(event.who)}</div>}
        </li>
      ))}
    </ol>
  );
}
