/** Whom people contacted and won, week by week: bars of one scale for all of them. */
import { useQuery } from "@tanstack/react-query";
import { read } from "@/api/client";
import { Failure, Panel, Skeleton, whole } from "@/kit";
import { day } from "@/kit/format";
import { texts } from "@/texts/results";
import { byPerson, mondays, type PersonRow } from "./weeks";

const WEEKS = 12;
const HEIGHT = 44;
const BAR = 14;
const STEP = 18;

export function Work() {
  const { data, error, refetch } = useQuery({
    queryKey: ["work", WEEKS],
    queryFn: () => read("/reports/work", { query: { weeks: WEEKS } }),
  });
  const weeks = mondays(WEEKS);
  const rows = byPerson(data ?? [], weeks);
  const most = Math.max(1, ...(data ?? []).map(({ contacted, won }) => Math.max(contacted, won)));
  return (
    <Panel title={texts.work.title} about={texts.work.about}>
      {error ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : !data ? (
        <Skeleton lines={5} />
      ) : rows.length === 0 ? (
        <p className="small soft">{texts.work.none}</p>
      ) : (
        <table className="table work">
          <thead>
            <tr>
              <th scope="col">{texts.work.person}</th>
              <th scope="col">{texts.work.weeks}</th>
              <th scope="col" className="right">
                <span className="work-key contacted" /> {texts.work.contacted}
              </th>
              <th scope="col" className="right">
                <span className="work-key won" /> {texts.work.won}
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.id}>
                <th scope="row" className="foreign">
                  {row.person ?? texts.work.unknown}
                </th>
                <td>
                  <Bars row={row} weeks={weeks} most={most} />
                </td>
                <td className="right number">{whole(row.contacted)}</td>
                <td className="right number">{whole(row.won)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}

interface BarsProps {
  row: PersonRow;
  weeks: readonly string[];
  most: number;
}

function Bars({ row, weeks, most }: BarsProps) {
  const high = (count: number) => (count ? Math.max(2, (count / most) * HEIGHT) : 0);
  const said = row.weeks.flatMap((one, place) =>
    one
      ? [
          texts.work.ofWeek(
            texts.work.week(day(weeks[place] ?? "")),
            one.contacted,
            one.replied,
            one.won,
          ),
        ]
      : [],
  );
  return (
    <svg
      className="work-bars"
      viewBox={`0 0 ${weeks.length * STEP} ${HEIGHT}`}
      width={weeks.length * STEP}
      height={HEIGHT}
      role="img"
      aria-label={said.join("; ")}
    >
      {row.weeks.map((one, place) => {
        const x = place * STEP;
        const week = weeks[place] ?? "";
        return (
          <g key={week}>
            <rect className="ground" x={x} y={HEIGHT - 1} width={BAR} height={1} />
            {one && (
              <>
                <title>
                  {texts.work.ofWeek(
                    texts.work.week(day(week)),
                    one.contacted,
                    one.replied,
                    one.won,
                  )}
                </title>
                <rect
                  className="contacted"
                  x={x}
                  y={HEIGHT - high(one.contacted)}
                  width={BAR}
                  height={high(one.contacted)}
                  rx={2}
                />
                <rect
                  className="won"
                  x={x}
                  y={HEIGHT - high(one.won)}
                  width={BAR}
                  height={high(one.won)}
                  rx={2}
                />
              </>
            )}
          </g>
        );
      })}
    </svg>
  );
}
