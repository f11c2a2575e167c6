/** In which CRMs a company is, since when, and what differs there, with both values. */
import { useQuery } from "@tanstack/react-query";
import { read } from "@/api/client";
import type { Schemas } from "@/api/types";
import { Icon, Time } from "@/kit";
import { texts } from "@/texts/record";

interface Differing {
  ours: unknown;
  theirs: unknown;
}

export function InCrm({ id, version }: { id: string; version: string }) {
  const { data } = useQuery({
    queryKey: ["in-crm", id, version],
    queryFn: () => read("/connections-of/{record_id}", { path: { record_id: id } }),
    placeholderData: (before) => before,
  });
  return (data?.items ?? []).map((one) => <Place key={one.id} place={one} />);
}

function Place({ place }: { place: Schemas["RecordInCrmOut"] }) {
  const differs = Object.entries(place.differs as Record<string, Differing>);
  const refused = Object.entries(place.problem);
  return (
    <div className="lead-line">
      <Icon name="link" />
      <div className="grow small">
        {place.their_id ? (
          <>
            {texts.inCrm.since(place.name)} <Time at={place.created_at} />
          </>
        ) : (
          texts.inCrm.waits(place.name)
        )}
        {differs.map(([field, { ours, theirs }]) => (
          <div key={field} className="foreign">
            {texts.inCrm.differs(field, String(ours ?? "–"), String(theirs ?? "–"))}
          </div>
        ))}
        {refused.map(([field, why]) => (
          <div key={field} className="foreign bad">
            {field}: {String(why)}
          </div>
        ))}
      </div>
    </div>
  );
}
