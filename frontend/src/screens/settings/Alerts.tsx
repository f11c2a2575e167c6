/** What is wrong with the installation now, since when, and what to do about it. */
import { useQuery } from "@tanstack/react-query";
import { read } from "@/api/client";
import { useMay } from "@/app/session";
import { Badge, Failure, Panel, Skeleton, Table, Time, wordOf } from "@/kit";
import { common } from "@/texts/common";
import { texts } from "@/texts/settings";

export function Alerts() {
  const mayOperate = useMay("operate");
  const alerts = useQuery({
    queryKey: ["alerts"],
    queryFn: () => read("/alerts"),
    refetchInterval: 30_000,
    enabled: mayOperate,
  });
  if (!mayOperate) return null;
  if (alerts.error) return <Failure error={alerts.error} retry={() => void alerts.refetch()} />;
  const found = alerts.data;
  return (
    <Panel flush title={texts.alerts.alerts} about={texts.alerts.checkedEveryMinuteByOne}>
      {!found ? (
        <Skeleton lines={2} />
      ) : found.length === 0 ? (
        <p className="settings-none">
          <Badge tone="good">{texts.alerts.noAlerts}</Badge>
        </p>
      ) : (
        <Table
          label={texts.alerts.alerts}
          rows={found}
          keyOf={(one) => `${one.rule} ${one.subject}`}
          columns={[
            {
              name: texts.alerts.alert,
              show: (one) => (
                <>
                  <Badge tone="bad">{wordOf(one.rule)}</Badge>{" "}
                  <span className="foreign">{one.subject}</span>
                </>
              ),
            },
            {
              name: texts.alerts.whatHappened,
              show: (one) => (
                <>
                  {one.summary}
                  <div className="small faint">{one.advice}</div>
                </>
              ),
            },
            { name: common.since, minor: true, show: (one) => <Time at={one.since} /> },
            {
              name: texts.alerts.notified,
              minor: true,
              show: (one) =>
                one.sent_at ? (
                  <Time at={one.sent_at} />
                ) : (
                  <span className="faint">{texts.alerts.nobody}</span>
                ),
            },
          ]}
        />
      )}
    </Panel>
  );
}
