"""Rules about the installation: what is wrong, in words, and what to do about it.

Each rule is a pure function of what was seen at one moment. It names one thing (a stage, a job, a
process), so that it is reported once for each, and reported again when it is over.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from scrapersky.companies.setback import Setback
from scrapersky.reporting.attempts import Attempts
from scrapersky.reporting.database import DatabaseFigures
from scrapersky.reporting.stage_stats import Waiting
from scrapersky.scheduler.presence import LiveProcess

LATELY: Final = timedelta(minutes=15)
"""What the rules about failures look back on."""
RUNS_LATELY: Final = timedelta(minutes=30)
STALLED_AFTER: Final = LATELY.total_seconds()
UNCLAIMED_AFTER: Final = 120.0
STUCK_AFTER: Final = 600.0
"""Seconds beyond its timeout after which an item in work is stuck."""
FEWEST_ATTEMPTS: Final = 20
ERROR_SHARE: Final = 0.5
MOST_MISSES: Final = 3
FEWEST_SETBACKS: Final = 2
"""A tenant's records could not be matched, nor when that was tried again."""
LEAST_DISK: Final = 1024**3
CONNECTION_SHARE: Final = 0.85
MOST_SKEW: Final = 30.0
GONE_FOR: Final = 3600.0
"""Seconds for which a process that vanished is spoken of."""
BROKEN: Final = ("missed", "skipped", "failed", "lost")


@dataclass(frozen=True, slots=True)
class Marks:
    """Where a figure becomes trouble, as far as that can be set."""

    oldest: timedelta = timedelta(hours=1)
    dead_letters: int = 50


@dataclass(frozen=True, slots=True)
class Sight:
    """The installation at one moment."""

    waiting: Sequence[Waiting]
    database: DatabaseFigures
    attempts: Mapping[str, Attempts] = field(default_factory=dict)
    """Of each stage, within LATELY."""
    runs: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Of each job within RUNS_LATELY, by outcome."""
    paused: Mapping[str, str] = field(default_factory=dict)
    held_back: Mapping[str, str] = field(default_factory=dict)
    processes: Sequence[LiveProcess] = ()
    timeouts: Mapping[str, timedelta] = field(default_factory=dict)
    """What an item of each stage may take."""
    intervals: Mapping[str, timedelta] = field(default_factory=dict)
    """Between two runs, of the stages that work only when their job runs."""
    setbacks: Sequence[Setback] = ()
    """The tenants whose records could not be matched."""
    disk_free: int = LEAST_DISK
    marks: Marks = Marks()

    @property
    def at_work(self) -> list[LiveProcess]:
        """The processes that claim."""
        return [one for one in self.processes if one.state == "working"]


@dataclass(frozen=True, slots=True)
class Trouble:
    """One rule that holds for one thing."""

    rule: str
    subject: str
    summary: str
    advice: str


Rule = Callable[[Sight], Iterator[Trouble]]


def troubles(sight: Sight) -> list[Trouble]:
    """Return everything that is wrong."""
    return [trouble for rule in RULES for trouble in rule(sight)]


def stage_stalled(sight: Sight) -> Iterator[Trouble]:
    """Find stages where items wait, somebody could take them, and none is settled."""
    for one in open_stages(sight):
        tried = sight.attempts.get(one.stage, Attempts())
        has_worker = any(one.stage in process.stages for process in sight.at_work)
        if sight.intervals.get(one.stage, timedelta(0)) >= LATELY:
            # Between two runs it is meant to settle none; `job_missed` watches those.
            continue
        if has_worker and not tried.total and age(one) > STALLED_AFTER:
            yield Trouble(
                "stage_stalled",
                one.stage,
                f"{one.stage} has {one.queued:,} items queued and settled none in "
                f"{minutes(STALLED_AFTER)}.",
                "Look at `scrapersky workers` and the logs of the workers.",
            )


def item_stuck(sight: Sight) -> Iterator[Trouble]:
    """Find items that are in work long after their timeout should have ended that."""
    for one in sight.waiting:
        timeout = sight.timeouts.get(one.stage)
        if timeout is None or one.longest_seconds is None:
            continue
        if one.longest_seconds > timeout.total_seconds() + STUCK_AFTER:
            yield Trouble(
                "item_stuck",
                one.stage,
                f"An item of {one.stage} has been in work for "
                f"{minutes(one.longest_seconds)}; it may take "
                f"{minutes(timeout.total_seconds())}.",
                "Restart the process that has it (`scrapersky workers`): "
                "another one takes it over.",
            )


def oldest_item(sight: Sight) -> Iterator[Trouble]:
    """Find queues whose head has waited longer than it should."""
    for one in open_stages(sight):
        if age(one) > sight.marks.oldest.total_seconds():
            yield Trouble(
                "oldest_item",
                one.stage,
                f"The head of {one.stage} has waited {minutes(age(one))}.",
                "Start more workers, or raise its concurrency or its rate; "
                "ALERT_OLDEST_MINUTES sets the mark.",
            )


def error_rate(sight: Sight) -> Iterator[Trouble]:
    """Find stages that fail at most of what they try."""
    for stage, tried in sight.attempts.items():
        if tried.total < FEWEST_ATTEMPTS or tried.failed <= ERROR_SHARE * tried.total:
            continue
        yield Trouble(
            "error_rate",
            stage,
            f"{tried.failed:,} of the last {tried.total:,} attempts of {stage} failed.",
            "`GET /stages/errors` says why, by cause.",
        )


def dead_letters(sight: Sight) -> Iterator[Trouble]:
    """Find stages of which many items fail for good."""
    for stage, tried in sight.attempts.items():
        if tried.dead >= sight.marks.dead_letters:
            yield Trouble(
                "dead_letters",
                stage,
                f"{tried.dead:,} items of {stage} failed for good within "
                f"{minutes(LATELY.total_seconds())}.",
                "`scrapersky dead-letters` says why; replay them when it is fixed.",
            )


def no_consumer(sight: Sight) -> Iterator[Trouble]:
    """Find stages that items wait for and no process works."""
    for one in open_stages(sight):
        if age(one) <= UNCLAIMED_AFTER:
            continue
        if not any(one.stage in process.stages for process in sight.at_work):
            yield Trouble(
                "no_consumer",
                one.stage,
                f"{one.queued:,} items wait for {one.stage}, and no process works it.",
                "Start `scrapersky worker`, or enable the stage where one runs.",
            )


def stage_paused(sight: Sight) -> Iterator[Trouble]:
    """Find stages that are paused while items wait: by somebody, or as a provider refuses."""
    for one in sight.waiting:
        if one.queued and one.stage in sight.paused:
            yield Trouble(
                "stage_paused",
                one.stage,
                f"{one.stage} is paused with {one.queued:,} items queued: "
                f"{sight.paused[one.stage]}.",
                f"Fix the reason, then `scrapersky stages resume {one.stage}`.",
            )


def job_missed(sight: Sight) -> Iterator[Trouble]:
    """Find jobs of the scheduler that keep missing their time, or fail."""
    for job, outcomes in sight.runs.items():
        broken = sum(outcomes.get(outcome, 0) for outcome in BROKEN)
        if broken >= MOST_MISSES and broken > outcomes.get("executed", 0):
            yield Trouble(
                "job_missed",
                job,
                f"The job {job} was missed, skipped, lost or failed {broken} times within "
                f"{minutes(RUNS_LATELY.total_seconds())}.",
                "`GET /scheduler/runs` has the reasons. A busy machine misses; a run that "
                "is longer than its interval is skipped.",
            )


def matching_failed(sight: Sight) -> Iterator[Trouble]:
    """Find tenants whose records cannot be put together into companies."""
    for one in sight.setbacks:
        if one.failures >= FEWEST_SETBACKS:
            yield Trouble(
                "matching_failed",
                f"tenant {one.tenant_id}",
                f"The records of tenant {one.tenant_id} could not be matched "
                f"{one.failures} times in a row: {one.error}.",
                "Look for `companies.tenant_failed` in the logs. It is tried again by "
                "itself, less and less often; other tenants are matched.",
            )


def process_gone(sight: Sight) -> Iterator[Trouble]:
    """Find processes that vanished without a goodbye, with none in their place."""
    alive = {(one.host, one.role) for one in sight.processes if one.state != "gone"}
    for one in sight.processes:
        is_replaced = (one.host, one.role) in alive
        if one.state == "gone" and one.seen_seconds < GONE_FOR and not is_replaced:
            yield Trouble(
                "process_gone",
                one.name,
                f"The {one.role} {one.name} was last heard of "
                f"{minutes(one.seen_seconds)} ago.",
                f"Look at {one.host}. What it had in hand has been rescued.",
            )


def process_unfit(sight: Sight) -> Iterator[Trouble]:
    """Find processes that are unfit and claim nothing."""
    for one in sight.processes:
        if one.state == "resting":
            yield Trouble(
                "process_unfit",
                one.name,
                f"{one.name} claims nothing: {one.resting}.",
                f"Look at {one.host}; it claims again by itself when it is well.",
            )


def disk(sight: Sight) -> Iterator[Trouble]:
    """Say when the disk with our data is nearly full."""
    if sight.disk_free < LEAST_DISK:
        yield Trouble(
            "disk",
            "data directory",
            f"Only {sight.disk_free >> 20:,} MiB are free where the data is.",
            "Free some space, or move SCRAPERSKY_DATA_DIR.",
        )


def connections(sight: Sight) -> Iterator[Trouble]:
    """Say when the database will soon refuse new connections."""
    most, used = sight.database.connections_at_most, sight.database.connections
    if used > CONNECTION_SHARE * most:
        yield Trouble(
            "connections",
            "database",
            f"{used} of {most} connections of the database are used.",
            "Put a pooler before it (docs/how-to/deploy.md), or run fewer workers.",
        )


def clock(sight: Sight) -> Iterator[Trouble]:
    """Say when the clock of the machine that looks differs from the database's."""
    skew = sight.database.clock_skew_seconds
    if abs(skew) > MOST_SKEW:
        yield Trouble(
            "clock",
            "this machine",
            f"The clock differs from the database's by {skew:.0f} s.",
            "Let both machines keep time (NTP).",
        )


RULES: Final[tuple[Rule, ...]] = (
    no_consumer, stage_stalled, item_stuck, oldest_item, error_rate, dead_letters,
    stage_paused, job_missed, matching_failed, process_gone, process_unfit, disk,
    connections, clock,
)  # fmt: skip


def open_stages(sight: Sight) -> Iterator[Waiting]:
    """Yield the stages with items queued that nothing keeps from being worked."""
    for one in sight.waiting:
        is_closed = one.stage in sight.paused or one.stage in sight.held_back
        if one.queued and not is_closed:
            yield one


def age(one: Waiting) -> float:
    """Return how long the head of a queue has waited, in seconds."""
    return one.oldest_seconds or 0.0


def minutes(seconds: float) -> str:
    """Write a length of time as people say it."""
    if seconds < 2 * 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:,.0f} minutes"
