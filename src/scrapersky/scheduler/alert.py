"""Every alert, declared once: for the product itself and for Prometheus.

A rule of the product is a pure function of what was seen at one moment. It names one thing (a
stage, a job, a process), so that it is reported once for each, and reported again when it is over.
The same words and thresholds are in the rules that `scripts/deployment.py` writes for Prometheus.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, Literal, NamedTuple

from scrapersky.companies.setback import Setback
from scrapersky.reporting.attempts import Attempts
from scrapersky.reporting.database import DatabaseFigures
from scrapersky.reporting.stage_stats import QueueStatus
from scrapersky.scheduler.presence import LiveProcess

FAILURE_WINDOW: Final = timedelta(minutes=15)
"""What the rules about failures look back on."""
RUN_WINDOW: Final = timedelta(minutes=30)
STALLED_SECONDS: Final = 600
"""Beyond two intervals, for a stage that works only when its job runs."""
UNCLAIMED_SECONDS: Final = 120.0
STUCK_SECONDS: Final = 600
"""Seconds beyond its timeout after which an item in work is stuck."""
MAX_WAIT: Final = timedelta(hours=1)
"""How long the head of a queue may wait, unless that is set."""
MAX_DEAD_LETTERS: Final = 50
"""Within FAILURE_WINDOW, unless that is set."""
MIN_ATTEMPTS: Final = 20
ERROR_SHARE: Final = 0.5
MIN_MISSES: Final = 3
MIN_SETBACKS: Final = 2
"""A tenant's records could not be matched, nor when that was tried again."""
MIN_FREE_BYTES: Final = 1024**3
CONNECTION_SHARE: Final = 0.85
MAX_SKEW_SECONDS: Final = 30
GONE_ALERT_SECONDS: Final = 3600.0
"""Seconds for which a process that vanished is spoken of."""
FAILED_OUTCOMES: Final = ("missed", "skipped", "failed", "lost")


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Where a figure becomes an alert, as far as that can be set."""

    oldest: timedelta = MAX_WAIT
    dead_letters: int = MAX_DEAD_LETTERS


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The installation at one moment."""

    waiting: Sequence[QueueStatus]
    database: DatabaseFigures
    attempts: Mapping[str, Attempts] = field(default_factory=dict)
    """Of each stage, within FAILURE_WINDOW."""
    runs: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Of each job within RUN_WINDOW, by outcome."""
    paused: Mapping[str, str] = field(default_factory=dict)
    held_back: Mapping[str, str] = field(default_factory=dict)
    processes: Sequence[LiveProcess] = ()
    timeouts: Mapping[str, timedelta] = field(default_factory=dict)
    """What an item of each stage may take."""
    intervals: Mapping[str, timedelta] = field(default_factory=dict)
    """Between two runs, of the stages that work only when their job runs."""
    settled: Collection[str] = ()
    """The stages of those that settled an item within `stall_window`."""
    setbacks: Sequence[Setback] = ()
    """The tenants whose records could not be matched."""
    disk_free: int = MIN_FREE_BYTES
    thresholds: Thresholds = Thresholds()

    @property
    def at_work(self) -> list[LiveProcess]:
        """The processes that claim."""
        return [one for one in self.processes if one.state == "working"]


@dataclass(frozen=True, slots=True)
class ActiveAlert:
    """One rule that holds for one thing."""

    rule: str
    subject: str
    summary: str
    advice: str


class Occurrence(NamedTuple):
    """What a rule holds for."""

    subject: str
    figure: str = ""
    """What the summary says of it."""
    detail: str = ""
    """What Prometheus does not know: how many, or why."""


@dataclass(frozen=True, slots=True)
class PrometheusRule:
    """How Prometheus finds the same."""

    name: str
    expression: str
    severity: Literal["page", "ticket"] = "ticket"
    label: str = "stage"
    """Names the subject."""
    figure: str = ""
    """The function that writes the value, such as `humanize`."""
    hold: str | None = None
    """How long it must hold."""
    runbook: str | None = None
    """The section of the guide, if it has not the name of the rule."""


@dataclass(frozen=True, slots=True)
class AlertRule:
    """Something that is wrong, in words, and what to do about it."""

    name: str
    summary: str
    """Of `{subject}` and `{figure}`."""
    advice: str
    find: Callable[[Snapshot], Iterator[Occurrence]] | None = None
    """None for what only Prometheus sees: it remembers, and looks when we cannot."""
    prometheus: PrometheusRule | None = None
    """None for what has no figure."""

    def active(self, snapshot: Snapshot) -> Iterator[ActiveAlert]:
        """Yield what this rule holds for."""
        for found in self.find(snapshot) if self.find else ():
            said = self.summary.format(subject=found.subject, figure=found.figure)
            yield ActiveAlert(
                self.name,
                found.subject,
                f"{said}: {found.detail}." if found.detail else f"{said}.",
                self.advice.format(subject=found.subject),
            )


def active_alerts(snapshot: Snapshot) -> list[ActiveAlert]:
    """Return everything that is wrong."""
    return [alert for rule in RULES for alert in rule.active(snapshot)]


def stall_window(interval: timedelta) -> timedelta:
    """Return within which time a stage with items queued settles one."""
    return timedelta(seconds=STALLED_SECONDS) + 2 * interval


def no_consumer(snapshot: Snapshot) -> Iterator[Occurrence]:
    """Find stages that items wait for and no process works."""
    for one in open_stages(snapshot):
        if age(one) > UNCLAIMED_SECONDS and not is_worked(snapshot, one.stage):
            yield Occurrence(one.stage, detail=f"{one.queued:,} wait")


def stage_stalled(snapshot: Snapshot) -> Iterator[Occurrence]:
    """Find stages where items wait, somebody could take them, and none is settled."""
    for one in open_stages(snapshot):
        window = stall_window(snapshot.intervals.get(one.stage, timedelta(0)))
        has_settled = (
            one.stage in snapshot.settled
            or snapshot.attempts.get(one.stage, Attempts()).total
        )
        is_due = age(one) > max(window, FAILURE_WINDOW).total_seconds()
        if is_due and not has_settled and is_worked(snapshot, one.stage):
            yield Occurrence(one.stage, detail=f"{one.queued:,} wait")


def item_stuck(snapshot: Snapshot) -> Iterator[Occurrence]:
    """Find items that are in work long after their timeout should have ended that."""
    for one in snapshot.waiting:
        timeout = snapshot.timeouts.get(one.stage)
        if timeout is None or one.longest_seconds is None:
            continue
        allowed = timeout.total_seconds()
        if one.longest_seconds > allowed + STUCK_SECONDS:
            yield Occurrence(
                one.stage,
                minutes(one.longest_seconds),
                f"it may take {minutes(allowed)}",
            )


def oldest_item(snapshot: Snapshot) -> Iterator[Occurrence]:
    """Find queues whose head has waited longer than it should."""
    for one in open_stages(snapshot):
        if age(one) > snapshot.thresholds.oldest.total_seconds():
            yield Occurrence(one.stage, minutes(age(one)))


def error_rate(snapshot: Snapshot) -> Iterator[Occurrence]:
    """Find stages that fail at most of what they try."""
    for stage, tried in snapshot.attempts.items():
        if tried.total >= MIN_ATTEMPTS and tried.failed > ERROR_SHARE * tried.total:
            yield Occurrence(
                stage, detail=f"{tried.failed:,} of the last {tried.total:,} attempts"
            )


def dead_letters(snapshot: Snapshot) -> Iterator[Occurrence]:
    """Find stages of which many items fail for good."""
    for stage, tried in snapshot.attempts.items():
        if tried.dead >= snapshot.thresholds.dead_letters:
            yield Occurrence(stage, f"{tried.dead:,}")


def stage_paused(snapshot: Snapshot) -> Iterator[Occurrence]:
    """Find stages that are paused while items wait: by somebody, or as a provider refuses."""
    for one in snapshot.waiting:
        if one.queued and one.stage in snapshot.paused:
            why = snapshot.paused[one.stage]
            yield Occurrence(one.stage, detail=f"{why} ({one.queued:,} wait)")


def job_missed(snapshot: Snapshot) -> Iterator[Occurrence]:
    """Find jobs of the scheduler that keep missing their time, or fail."""
    for job, outcomes in snapshot.runs.items():
        broken = sum(outcomes.get(outcome, 0) for outcome in FAILED_OUTCOMES)
        if broken >= MIN_MISSES and broken > outcomes.get("executed", 0):
            within = minutes(RUN_WINDOW.total_seconds())
            yield Occurrence(job, detail=f"{broken} times within {within}")


def matching_failed(snapshot: Snapshot) -> Iterator[Occurrence]:
    """Find tenants whose records cannot be put together into companies."""
    for one in snapshot.setbacks:
        if one.failures >= MIN_SETBACKS:
            yield Occurrence(f"tenant {one.tenant_id}", f"{one.failures}", one.error)


def process_gone(snapshot: Snapshot) -> Iterator[Occurrence]:
    """Find processes that vanished without a goodbye, with none in their place."""
    alive = {(one.host, one.role) for one in snapshot.processes if one.state != "gone"}
    for one in snapshot.processes:
        is_replaced = (one.host, one.role) in alive
        is_recent = one.seen_seconds < GONE_ALERT_SECONDS
        if one.state == "gone" and is_recent and not is_replaced:
            heard = minutes(one.seen_seconds)
            yield Occurrence(
                one.name, detail=f"last heard of {heard} ago, on {one.host}"
            )


def process_unfit(snapshot: Snapshot) -> Iterator[Occurrence]:
    """Find processes that are unfit and claim nothing."""
    for one in snapshot.processes:
        if one.state == "resting":
            yield Occurrence(one.name, detail=str(one.resting))


def disk(snapshot: Snapshot) -> Iterator[Occurrence]:
    """Say when the disk with our data is nearly full."""
    if snapshot.disk_free < MIN_FREE_BYTES:
        yield Occurrence("data directory", f"{snapshot.disk_free >> 20:,} MiB")


def connections(snapshot: Snapshot) -> Iterator[Occurrence]:
    """Say when the database will soon refuse new connections."""
    most, used = snapshot.database.connections_at_most, snapshot.database.connections
    if used > CONNECTION_SHARE * most:
        yield Occurrence("database", f"{used} of {most}")


def clock(snapshot: Snapshot) -> Iterator[Occurrence]:
    """Say when the clock of the machine that looks differs from the database's."""
    skew = snapshot.database.clock_skew_seconds
    if abs(skew) > MAX_SKEW_SECONDS:
        yield Occurrence("this machine", f"{skew:.0f} s")


STAGE_LIMIT: Final = (
    f"{STALLED_SECONDS} + 2 * max by (stage) (scrapersky_stage_interval_seconds)"
)
IS_OPEN: Final = "max by (stage) (scrapersky_stage_paused) == 0"
RULES: Final = (
    AlertRule(
        "no_consumer",
        "Items are queued for {subject} and no process works it",
        "Start `scrapersky worker`, or enable the stage where one runs.",
        no_consumer,
        PrometheusRule(
            "ScraperSkyNoWorker",
            "max by (stage) (scrapersky_stage_queued) > 0 and on () "
            '(sum(scrapersky_processes{role=~"up|worker", state="working"}) '
            "or vector(0)) == 0",
            severity="page",
            hold="5m",
        ),
    ),
    AlertRule(
        "stage_stalled",
        "{subject} has items queued and settles none",
        "Look at `scrapersky workers` and the logs of the workers.",
        stage_stalled,
        PrometheusRule(
            "ScraperSkyStageStalled",
            f"max by (stage) (scrapersky_stage_oldest_seconds) > {STAGE_LIMIT} "
            f"and {IS_OPEN} and max by (stage) (scrapersky_stage_held_back) == 0 "
            "unless time() - max_over_time((time() * (sum by (stage) "
            "(increase(scrapersky_items_settled_total[5m])) > bool 0))[2d:5m]) "
            f"< {STAGE_LIMIT}",
            severity="page",
            hold="5m",
        ),
    ),
    AlertRule(
        "oldest_item",
        "The head of {subject} has waited {figure}",
        "Start more workers, or raise its concurrency or its rate; ALERT_OLDEST_MINUTES "
        "sets the mark.",
        oldest_item,
        PrometheusRule(
            "ScraperSkyOldestItemTooOld",
            "max by (stage) (scrapersky_stage_oldest_seconds) > "
            f"{MAX_WAIT.total_seconds():.0f} and {IS_OPEN}",
            figure="humanizeDuration",
            hold="10m",
        ),
    ),
    AlertRule(
        "item_stuck",
        "An item of {subject} has been in work for {figure}",
        "Restart the process that has it (`scrapersky workers`): another one takes it over.",
        item_stuck,
        PrometheusRule(
            "ScraperSkyItemInWorkTooLong",
            "max by (stage) (scrapersky_stage_longest_seconds) > "
            f"max by (stage) (scrapersky_stage_timeout_seconds) + {STUCK_SECONDS}",
            figure="humanizeDuration",
            hold="5m",
        ),
    ),
    AlertRule(
        "error_rate",
        "More than half of what {subject} tries fails",
        "`GET /stages/errors` says why, by cause.",
        error_rate,
        PrometheusRule(
            "ScraperSkyErrorRate",
            "sum by (stage) (rate(scrapersky_items_retried_total[15m])) > "
            f"{ERROR_SHARE} * sum by (stage) (rate(scrapersky_items_claimed_total[15m])) "
            "and sum by (stage) (increase(scrapersky_items_claimed_total[15m])) > "
            f"{MIN_ATTEMPTS}",
            hold="10m",
        ),
    ),
    AlertRule(
        "dead_letters",
        "{figure} items of {subject} failed for good within 15 minutes",
        "`scrapersky dead-letters` says why; replay them when it is fixed.",
        dead_letters,
        PrometheusRule(
            "ScraperSkyDeadLetters",
            "sum by (stage) (increase(scrapersky_items_died_total[15m])) > "
            f"{MAX_DEAD_LETTERS}",
            figure="humanize",
        ),
    ),
    AlertRule(
        "stage_paused",
        "{subject} is paused with items queued",
        "Fix the reason, then `scrapersky stages resume {subject}`.",
        stage_paused,
        PrometheusRule(
            "ScraperSkyStagePaused",
            "max by (stage) (scrapersky_stage_paused) == 1 and "
            "max by (stage) (scrapersky_stage_queued) > 0",
            hold="30m",
        ),
    ),
    AlertRule(
        "process_gone",
        "{subject} vanished without a goodbye",
        "Look at its host (`scrapersky workers`). What it had in hand has been rescued.",
        process_gone,
        PrometheusRule(
            "ScraperSkyProcessGone",
            'max by (role) (scrapersky_processes{state="gone"}) > 0',
            label="role",
        ),
    ),
    AlertRule(
        "process_unfit",
        "{subject} claims nothing",
        "`scrapersky workers` says why, and where it runs; it claims again by itself when "
        "its host is well.",
        process_unfit,
        PrometheusRule(
            "ScraperSkyWorkerResting",
            "scrapersky_worker_resting == 1",
            label="instance",
            hold="5m",
        ),
    ),
    AlertRule(
        "job_missed",
        "The job {subject} keeps missing or failing",
        "`GET /scheduler/runs` has the reasons. A busy machine misses; a run that is longer "
        "than its interval is skipped.",
        job_missed,
        PrometheusRule(
            "ScraperSkyJobMissed",
            "sum by (job) (increase(scrapersky_job_runs_total"
            f'{{outcome=~"{"|".join(FAILED_OUTCOMES)}"}}[30m])) > {MIN_MISSES}',
            label="job",
        ),
    ),
    AlertRule(
        "matching_failed",
        "The records of {subject} could not be matched {figure} times in a row",
        "Look for `companies.tenant_failed` in the logs. It is tried again by itself, less "
        "and less often; other tenants are matched.",
        matching_failed,
    ),
    AlertRule(
        "disk",
        "Only {figure} are free where the data is",
        "Free some space, or move SCRAPERSKY_DATA_DIR.",
        disk,
    ),
    AlertRule(
        "connections",
        "{figure} connections: the database will soon refuse new ones",
        "Put a pooler before it (docs/how-to/deploy.md), or run fewer workers.",
        connections,
        PrometheusRule(
            "ScraperSkyConnectionsNearlyUsedUp",
            f"max(scrapersky_database_connections) > {CONNECTION_SHARE} * "
            "max(scrapersky_database_connections_at_most)",
            severity="page",
            figure="humanize",
            hold="5m",
        ),
    ),
    AlertRule(
        "clock",
        "The clock of {subject} differs from the database's by {figure}",
        "Let both machines keep time (NTP).",
        clock,
        PrometheusRule(
            "ScraperSkyClockSkew",
            f"abs(scrapersky_database_clock_skew_seconds) > {MAX_SKEW_SECONDS}",
            label="instance",
            figure="humanizeDuration",
            hold="5m",
        ),
    ),
    AlertRule(
        "late_answers",
        "Workers of {subject} lose their items: leases are too short, or a host sleeps",
        "Run fewer workers on that host, or raise the lease of the stage.",
        prometheus=PrometheusRule(
            "ScraperSkyLateAnswersRefused",
            "sum by (stage) (increase(scrapersky_late_answers_refused_total[15m])) > 10",
        ),
    ),
    AlertRule(
        "overclaimed",
        "A claim returned more than was asked for, which should never happen",
        "Keep the log of that process and report it. Nothing is lost or doubled by it.",
        prometheus=PrometheusRule(
            "ScraperSkyOverclaimed",
            "increase(scrapersky_overclaims_total[15m]) > 0",
            severity="page",
        ),
    ),
    AlertRule(
        "items_rescued",
        "Workers of {subject} vanish with items in hand",
        "Look at their hosts (`scrapersky workers`).",
        prometheus=PrometheusRule(
            "ScraperSkyItemsRescued",
            "sum by (stage) (increase(scrapersky_items_rescued_total[15m])) > 50",
            runbook="process_gone",
        ),
    ),
    AlertRule(
        "database",
        "Workers cannot use the database",
        "`scrapersky doctor` says why. Workers go on by themselves when it is back.",
        prometheus=PrometheusRule(
            "ScraperSkyDatabaseTrouble",
            "sum(increase(scrapersky_database_troubles_total[5m])) > 10",
            severity="page",
        ),
    ),
    AlertRule(
        "old_snapshot",
        "A transaction open for {figure} keeps dead rows from being removed",
        "Look at pg_stat_activity for the transaction, and at forgotten replication slots.",
        prometheus=PrometheusRule(
            "ScraperSkyOldSnapshot",
            "max(scrapersky_database_oldest_snapshot_seconds) > 3600",
            figure="humanizeDuration",
        ),
    ),
    AlertRule(
        "dead_rows",
        "{subject} has {figure} dead rows: is vacuum held up?",
        "Look for an old transaction in pg_stat_activity.",
        prometheus=PrometheusRule(
            "ScraperSkyDeadRows",
            "max by (table) (scrapersky_database_dead_rows) > 1000000",
            label="table",
            figure="humanize",
            hold="30m",
            runbook="old_snapshot",
        ),
    ),
    AlertRule(
        "host_unreachable",
        "{subject} does not answer",
        "Look at its host, and start it again.",
        prometheus=PrometheusRule(
            "ScraperSkyHostUnreachable",
            'up{job=~"scrapersky-.*"} == 0',
            severity="page",
            label="instance",
            hold="2m",
            runbook="process_gone",
        ),
    ),
)


def is_worked(snapshot: Snapshot, stage: str) -> bool:
    """Whether a process claims the items of a stage."""
    return any(stage in process.stages for process in snapshot.at_work)


def open_stages(snapshot: Snapshot) -> Iterator[QueueStatus]:
    """Yield the stages with items queued that nothing keeps from being worked."""
    for one in snapshot.waiting:
        is_closed = one.stage in snapshot.paused or one.stage in snapshot.held_back
        if one.queued and not is_closed:
            yield one


def age(one: QueueStatus) -> float:
    """Return how long the head of a queue has waited, in seconds."""
    return one.oldest_seconds or 0.0


def minutes(seconds: float) -> str:
    """Write a length of time as people say it."""
    if seconds < 2 * 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:,.0f} minutes"
