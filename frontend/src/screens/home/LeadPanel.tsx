/** The first few leads of one kind, each called or written to from here. */
import { useQuery } from "@tanstack/react-query";
import { ofKind, read } from "@/api/client";
import { kindNamed } from "@/api/kinds";
import { Link } from "@/app/router";
import { Failure, Panel, Skeleton } from "@/kit";
import { FollowUpDay } from "@/screens/curate/FollowUp";
import { LeadRow } from "@/screens/curate/LeadRow";
import { type Row, text } from "@/screens/curate/model";
import { texts } from "@/texts/home";

const SHOWN = 5;

interface LeadPanelProps {
  title: string;
  filter: string;
  sort: string;
  /** The list of all of them. */
  to: string;
  empty: string;
}

export function LeadPanel({ title, filter, sort, to, empty }: LeadPanelProps) {
  const kind = kindNamed("companies");
  const leads = useQuery({
    queryKey: ["home", "leads", filter],
    queryFn: () =>
      read(ofKind({ path: "/companies" }, ""), { query: { filter: [filter], sort, limit: SHOWN } }),
  });
  if (!kind) return null;
  const rows = (leads.data?.items ?? []) as unknown as Row[];
  return (
    <Panel
      title={title}
      flush
      actions={
        rows.length > 0 && (
          <Link to={to} className="small">
            {texts.home.seeAll}
          </Link>
        )
      }
    >
      {leads.error ? (
        <Failure error={leads.error} retry={() => void leads.refetch()} />
      ) : !leads.data ? (
        <div className="home-wait">
          <Skeleton lines={4} />
        </div>
      ) : rows.length === 0 ? (
        <p className="home-empty small soft">{empty}</p>
      ) : (
        <ul className="home-leads">
          {rows.map((row) => (
            <li key={row.id}>
              <LeadRow kind={kind} row={row} to={`${kind.screen}?open=${row.id}`} />
              {text(row.follow_up_on) && (
                <span className="small home-day">
                  <FollowUpDay value={text(row.follow_up_on) ?? ""} />
                </span>
              )}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
