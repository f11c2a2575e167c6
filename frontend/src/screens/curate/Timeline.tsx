/** The story of a lead: found, confirmed, contacted, replied, changed on its website. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { read } from "@/api/client";
import type { Schemas } from "@/api/types";
import { Button, Failure, Icon, type IconName, Skeleton, Status, Time } from "@/kit";
import { FILE } from "@/screens/search/data";
import { texts } from "@/texts/record";
import { fieldWord } from "./filters";

type Happening = Schemas["TimelineEvent"];

const FIRST_SHOWN = 6;
const ICONS: Readonly<Record<Happening["what"], IconName>> = {
  found: "search",
  confirmed: "check",
  status: "letter",
  edited: "edit",
  merged: "merge",
  undone: "undo",
  changed: "domain",
  contact_found: "mail",
  person_found: "contact",
};

export function Timeline({ id, version }: { id: string; version: string }) {
  const [isWhole, setWhole] = useState(false);
  const { data, error, refetch } = useQuery({
    queryKey: ["timeline", id, version],
    queryFn: () => read("/companies/{record_id}/timeline", { path: { record_id: id } }),
    placeholderData: (before) => before,
  });
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Skeleton lines={4} />;
  const told = gathered(data.events);
  const shown = isWhole ? told : told.slice(0, FIRST_SHOWN);
  return (
    <section className="timeline">
      <h3>{texts.timeline.timeline}</h3>
      <ol>
        {shown.map(({ event, count }, place) => (
          <li key={place}>
            <Icon name={ICONS[event.what]} size={14} />
            <div className="grow small">
              <Said event={event} count={count} />
            </div>
            <span className="small faint">
              <Time at={event.at} />
            </span>
          </li>
        ))}
      </ol>
      {told.length > shown.length && (
        <Button small look="quiet" onClick={() => setWhole(true)}>
          {texts.timeline.showAll(told.length)}
        </Button>
      )}
    </section>
  );
}

interface Told {
  event: Happening;
  /** How many of the same followed each other. */
  count: number;
}

/** What is the same but for whom it is about, one after the other, is shown once. */
export function gathered(events: readonly Happening[]): Told[] {
  const told: Told[] = [];
  for (const event of events) {
    const last = told.at(-1);
    const isSame = last?.event.what === event.what && GATHERED.has(event.what);
    if (last && isSame) last.count += 1;
    else told.push({ event, count: 1 });
  }
  return told;
}

const GATHERED: ReadonlySet<Happening["what"]> = new Set([
  "contact_found",
  "person_found",
  "changed",
  "found",
]);

/** What it was, and what it is. */
function Difference({ event: { value, value_before } }: { event: Happening }) {
  return (
    <span className="foreign">
      {value_before && <del className="soft"> {value_before}</del>}
      {value && <> {value}</>}
    </span>
  );
}

function Said({ event, count }: Told) {
  const { what, who, name, value, fields, status_before, status_after } = event;
  const about = [name, value].filter(Boolean).join(", ");
  // Two columns may be one word to people, like an address and whose it is.
  const changed = [...new Set((fields ?? []).map((field) => fieldWord(field)))];
  if (status_after) {
    return (
      <>
        {what === "undone" && <span>{texts.timeline.undone} </span>}
        {status_before && (
          <>
            <Status status={status_before} field="lead_status" /> →{" "}
          </>
        )}
        <Status status={status_after} field="lead_status" />
        <Who name={who} />
      </>
    );
  }
  const words = {
    found: texts.timeline.found(value ?? null, who === FILE),
    confirmed: texts.timeline.confirmed,
    status: texts.timeline.edited(changed),
    edited: texts.timeline.edited(changed),
    merged: texts.timeline.merged,
    undone: texts.timeline.undone,
    changed: texts.timeline.changed(changed),
    contact_found: texts.timeline.addressesFound(count),
    person_found: texts.timeline.peopleFound(count),
  };
  return (
    <>
      <span>{words[what]}</span>
      {(what === "contact_found" || what === "person_found") && count === 1 && about && (
        <span className="soft foreign"> {about}</span>
      )}
      {what === "changed" && count === 1 && <Difference event={event} />}
      {what === "edited" && <Who name={who} />}
    </>
  );
}

function Who({ name }: { name: string | null | undefined }) {
  return name && <span className="soft foreign"> {texts.timeline.by(name)}</span>;
}
