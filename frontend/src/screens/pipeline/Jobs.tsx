import { type Job, useJobs } from "@/api/pipeline";
import { Badge, type Column, Failure, Panel, Skeleton, Status, short, Table, Time } from "@/kit";
import { outcomeInWords } from "./standing";

const COLUMNS: readonly Column<Job>[] = [
  {
    name: "Job",
    show: (job) => (
      <>
        <div>{job.name}</div>
        <div className="small faint">{job.problem ?? job.trigger}</div>
      </>
    ),
  },
  { name: "Last run", show: (job) => <LastRun job={job} /> },
  {
    name: "Items",
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
    name: "Duration",
    number: true,
    minor: true,
    show: (job) => (job.last_seconds == null ? "–" : `${job.last_seconds.toFixed(1)} s`),
  },
  {
    name: "Next run",
    show: (job) =>
      job.running > 0 ? (
        <Badge tone="accent">running</Badge>
      ) : (
        <Time at={job.next_run_at} isPlanned />
      ),
  },
];

/** The scheduler's jobs: how each went last, and when it goes next. */
export function Jobs() {
  const { data, error, refetch } = useJobs();
  return (
    <Panel
      title="Scheduler"
      about="Runs each stage on its schedule, or sooner when there is work"
      flush
    >
      {error ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : data ? (
        <Table label="Scheduled jobs" columns={COLUMNS} rows={data} keyOf={(job) => job.id} />
      ) : (
        <Skeleton lines={6} />
      )}
    </Panel>
  );
}

function LastRun({ job }: { job: Job }) {
  if (job.problem) return <Badge tone="bad">not registered</Badge>;
  if (!job.last_outcome) return <span className="faint">not yet</span>;
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
