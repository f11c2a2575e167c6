import { type Job, useJobs } from "@/api/pipeline";
import { Badge, type Column, Failure, Panel, Skeleton, Status, short, Table, Time } from "@/kit";
import { texts } from "@/texts/pipeline";
import { outcomeInWords, whereItRuns } from "./standing";

const COLUMNS: readonly Column<Job>[] = [
  {
    name: texts.jobs.job,
    show: (job) => {
      const { text, isWarning } = whereItRuns(job);
      return (
        <>
          <div>{job.name}</div>
          <div className={`small ${isWarning ? "bad" : "faint"}`} title={job.processes.join("\n")}>
            {text}
          </div>
        </>
      );
    },
  },
  { name: texts.jobs.lastRun, show: (job) => <LastRun job={job} /> },
  {
    name: texts.jobs.items,
    number: true,
    minor: true,
    show: (job) => (
      <>
        <div>{job.last_items == null ? "–" : short(job.last_items)}</div>
        <div className="small faint">{outcomeInWords(job)}</div>
      </>
    ),
  },
  {
    name: texts.jobs.duration,
    number: true,
    minor: true,
    show: (job) => (job.last_seconds == null ? "–" : `${job.last_seconds.toFixed(1)} s`),
  },
  {
    name: texts.jobs.nextRun,
    show: (job) =>
      job.running > 0 ? (
        <Badge tone="accent">{texts.jobs.running(job.running)}</Badge>
      ) : (
        <Time at={atTheEarliestNow(job.next_run_at)} isPlanned />
      ),
  },
];

/** A run whose time has just come is due now: "3 s ago" is when it should have begun. */
function atTheEarliestNow(at: string | null | undefined): string | null {
  return at ? new Date(Math.max(Date.parse(at), Date.now())).toISOString() : null;
}

/** The scheduler's jobs: how each went last, and when it goes next. */
export function Jobs() {
  const { data, error, refetch } = useJobs();
  return (
    <Panel title={texts.jobs.scheduler} about={texts.jobs.runsEachStageOnItsSchedule} flush>
      {error ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : data ? (
        <Table
          label={texts.jobs.scheduledJobs}
          columns={COLUMNS}
          rows={data}
          keyOf={(job) => job.id}
        />
      ) : (
        <Skeleton lines={6} />
      )}
    </Panel>
  );
}

function LastRun({ job }: { job: Job }) {
  if (job.problem) return <Badge tone="bad">{texts.jobs.notRegistered}</Badge>;
  if (!job.last_outcome) return <span className="faint">{texts.jobs.notYet}</span>;
  return (
    <>
      <span className="row">
        <Status status={job.last_outcome} /> <Time at={job.last_run_at} />
      </span>
      {job.last_error && (
        <div className="small bad cut job-error" title={job.last_error}>
          {job.last_error}
        </div>
      )}
    </>
  );
}
