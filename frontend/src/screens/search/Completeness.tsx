/** How complete a search is: what exists beside what was found, and how right that is. */
import { useQuery } from "@tanstack/react-query";
import { type RouteAnswer, read } from "@/api/client";
import { Failure, Panel, percent, Skeleton, whole } from "@/kit";
import { texts } from "@/texts/search";
import { titleOf } from "./data";

type Answer = RouteAnswer<"/searches/{record_id}/completeness">;
type Share = Answer["values"][number];

const EMPTY_MS = 3000;

export function Completeness({ id, version }: { id: string; version: number }) {
  const { data, error, refetch } = useQuery({
    queryKey: ["searches", id, "completeness", version],
    queryFn: () => read("/searches/{record_id}/completeness", { path: { record_id: id } }),
    // Companies are put together after their places were found.
    refetchInterval: ({ state }) => (state.data?.companies ? false : EMPTY_MS),
  });
  return (
    <Panel title={texts.completeness.title} about={texts.completeness.about}>
      {error ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : !data ? (
        <Skeleton lines={3} />
      ) : (
        <div className="stack" data-completeness={data.total.estimate === null ? "none" : "known"}>
          <Total total={data.total} />
          <ul>
            {data.values.map((one) => (
              <li key={one.name}>
                {texts.completeness.have(
                  whole(one.companies),
                  whole(data.companies),
                  texts.completeness.values[one.name],
                )}{" "}
                <span className="soft">{rightness(one)}</span>
              </li>
            ))}
          </ul>
        </div>
      )}
    </Panel>
  );
}

/** "412 found, 430 to 455 exist"; or why nobody can say. */
function Total({ total }: { total: Answer["total"] }) {
  const { found, low, high, sources } = total;
  const named = Object.entries(sources).map(
    ([source, count]) => `${titleOf(source)} ${whole(count)}`,
  );
  return (
    <>
      <p>
        <strong>
          {low !== null && high !== null
            ? texts.completeness.exist(whole(found), whole(low), whole(high))
            : texts.completeness.found(whole(found))}
        </strong>{" "}
        {named.length > 1 && <span className="soft">({named.join(", ")})</span>}
      </p>
      <p className="small soft foreign">{total.why}</p>
    </>
  );
}

function rightness(one: Share): string {
  if (!one.companies || one.expected === null) return "";
  if (one.basis === "marks" && one.low !== null && one.high !== null) {
    return texts.completeness.marked(
      percent(one.expected),
      percent(one.low),
      percent(one.high),
      whole(one.marked),
    );
  }
  return texts.completeness.expected(percent(one.expected));
}
