/** What people do with a lead, in one line above its card: where it is, who has it, until when. */
import { Status, Time } from "@/kit";
import { texts } from "@/texts/record";
import type { Work, Worked } from "./Assign";
import { Address } from "./Cell";
import { FollowUp, FollowUpDay } from "./FollowUp";
import { list, type Row, readable, text } from "./model";
import { Owner } from "./Owner";
import { workOn } from "./work";

interface LeadLineProps {
  record: Row;
  mayCurate: boolean;
  onWorked: (worked: Worked) => void;
}

export function LeadLine({ record, mayCurate, onWorked }: LeadLineProps) {
  const status = text(record.lead_status);
  const day = text(record.follow_up_on);
  async function set(change: Partial<Work>) {
    const worked = await workOn([record.id], change);
    if (worked) onWorked(worked);
  }
  return (
    <>
      <p className="row wrap small soft">
        <span className="foreign">
          {[...list(record.categories).slice(0, 1).map(readable), text(record.city)]
            .filter(Boolean)
            .join(" · ")}
        </span>
        {text(record.website) && <Address value={record.website} />}
      </p>
      <div className="row wrap">
        <Status status={status} field="lead_status" />
        {mayCurate ? (
          <>
            <Owner
              id={text(record.owner_id)}
              name={text(record.owner)}
              onSet={(id) => void set({ owner_id: id })}
            />
            <FollowUp value={day} onSet={(next) => void set({ follow_up_on: next })} />
          </>
        ) : (
          <span className="small soft">
            {text(record.owner)} {day && <FollowUpDay value={day} />}
          </span>
        )}
        {text(record.worked_at) && (
          <span className="small faint">
            {texts.card.lastActivity} <Time at={text(record.worked_at)} />
          </span>
        )}
      </div>
    </>
  );
}
