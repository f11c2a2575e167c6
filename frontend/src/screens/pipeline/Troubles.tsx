import { useTroubles } from "@/api/pipeline";
import { Link } from "@/app/router";
import { Badge, causeOf, Empty, Failure, Panel, Skeleton, Time } from "@/kit";
import { texts } from "@/texts/pipeline";

/** What failed lately, in words, the same causes together. */
export function Troubles() {
  const { data, error, refetch } = useTroubles();
  return (
    <Panel
      title={texts.troubles.recentErrors}
      about={texts.troubles.inTheLastHour}
      actions={
        <Link to="/dead-letters" className="small">
          {texts.troubles.allFailedRecords}
        </Link>
      }
    >
      {error ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : !data ? (
        <Skeleton lines={4} />
      ) : data.length === 0 ? (
        <Empty icon="check" title={texts.troubles.nothingFailedInTheLastHour} />
      ) : (
        <ul className="troubles">
          {data.map((trouble) => (
            <li key={`${trouble.stage} ${trouble.cause}`}>
              <div className="row apart">
                <strong className="foreign">{causeOf(trouble.cause)}</strong>
                <span className="small faint">
                  <Time at={trouble.last_at} />
                </span>
              </div>
              <div className="row wrap small soft">
                <span>{trouble.title}</span>
                <span>{texts.troubles.records(trouble.items)}</span>
                {trouble.final > 0 ? (
                  <Badge tone="bad">{texts.troubles.failed(trouble.final)}</Badge>
                ) : (
                  <Badge tone="warn">{texts.troubles.willRetry}</Badge>
                )}
              </div>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
