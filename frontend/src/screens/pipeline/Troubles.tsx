import { useTroubles } from "@/api/pipeline";
import { Link } from "@/app/router";
import { Badge, causeOf, Empty, Failure, Panel, plural, Skeleton, Time } from "@/kit";

/** What failed lately, in words, the same causes together. */
export function Troubles() {
  const { data, error, refetch } = useTroubles();
  return (
    <Panel
      title="Recent errors"
      about="In the last hour, by cause"
      actions={
        <Link to="/dead-letters" className="small">
          All failed records
        </Link>
      }
    >
      {error ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : !data ? (
        <Skeleton lines={4} />
      ) : data.length === 0 ? (
        <Empty icon="check" title="Nothing failed in the last hour" />
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
                <span>{plural(trouble.items, "record")}</span>
                {trouble.final > 0 ? (
                  <Badge tone="bad">{trouble.final} failed</Badge>
                ) : (
                  <Badge tone="warn">will retry</Badge>
                )}
              </div>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
