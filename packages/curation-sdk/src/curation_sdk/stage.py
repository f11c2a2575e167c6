"""A stage: which status column it owns, and how one of its items is worked."""

import asyncio
import functools
import inspect
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import (
    Any,
    Generic,
    Literal,
    ParamSpec,
    Protocol,
    TypedDict,
    TypeVar,
    Unpack,
    cast,
    get_type_hints,
    overload,
)

from sqlalchemy import ColumnElement
from sqlalchemy import inspect as inspect_model
from sqlalchemy.orm import InstrumentedAttribute, Mapper

from curation_sdk.errors import CurationSdkError, InvalidStage
from curation_sdk.outcome import Outcome

P = ParamSpec("P")
ReturnT = TypeVar("ReturnT")
ItemT = TypeVar("ItemT")
ToolsT = TypeVar("ToolsT", contravariant=True)  # noqa: PLC0105 - seen by users
StatusT = TypeVar("StatusT")
Work = Callable[[ItemT, ToolsT], Awaitable[Outcome]]
Attribute = InstrumentedAttribute[Any]
Term = InstrumentedAttribute[Any] | ColumnElement[Any]
Order = Term | tuple[Term, ...] | list[Term]
"""A column (`Model.x`), its direction (`Model.x.desc()`), or several of them."""


class StatusColumn(Protocol[StatusT]):
    """A column as a type checker sees it, so that it finds a status of another type."""

    @property
    def expression(self) -> ColumnElement[StatusT]:
        """What an `InstrumentedAttribute` has."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """How long to wait before the next attempt: growing, capped, spread at random."""

    first: timedelta = timedelta(seconds=5)
    """The wait after the first attempt."""
    factor: float = 2.0
    """By how much each further wait is longer than the one before."""
    longest: timedelta = timedelta(hours=1)
    """The cap on a wait, before jitter."""
    jitter: float = 0.2
    """The share by which a wait is made longer or shorter at random."""

    def pause(self, tries: int) -> timedelta:
        """Return how long to wait after this many attempts."""
        grown = self.first.total_seconds() * self.factor ** min(max(tries - 1, 0), 64)
        capped = min(grown, self.longest.total_seconds())
        # Only spreads the load, so it need not be unpredictable.
        spread = random.uniform(1 - self.jitter, 1 + self.jitter)  # noqa: S311
        return timedelta(seconds=capped * spread)


class WorkOptions(TypedDict, total=False):
    """How the items of a stage or of a job loop are worked; see `Stage`."""

    concurrency: int
    timeout: timedelta
    lease: timedelta
    slow_after: timedelta | None
    max_attempts: int
    max_crashes: int
    backoff: Backoff
    rate_per_minute: int | None
    logger: str | None


class StageOptions(WorkOptions, total=False):
    """What may be said about a stage besides its column and statuses; see `Stage`."""

    error: Attribute | None
    priority: Attribute | None
    tenant: Attribute | None
    order_by: Order | None
    batch: int
    feeds: tuple[str, ...]
    high_water: int | Mapping[str, int] | None
    load: Literal["row", "id", "claim"]


class StageChanges(StageOptions, total=False):
    """What may be another in a stage that is otherwise the same."""

    name: str
    work: Work[Any, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage(Generic[ItemT, ToolsT]):
    """A status column turned into a queue, and the function that works its items.

    Usually made by the decorator `@stage`.
    """

    name: str
    """Identifies the stage in the database, in logs and in calls that take a stage."""
    model: type[ItemT]
    """The mapped class whose rows are the items; it has a single-column primary key."""
    work: Work[ItemT, ToolsT]
    """`async def work(item, tools) -> Outcome`."""
    claims: Attribute
    """The status column that this stage owns, as `Model.column`."""
    queued: Any
    """The status of rows that are to be worked."""
    processing: Any
    """The status of rows in work, and of those waiting for another attempt."""
    done: Any
    """The status of rows whose work succeeded."""
    failed: Any
    """The status of rows that are dead letters."""
    error: Attribute | None = None
    """A text column for the last failure, cut at 1024 characters; cleared when the row is
    claimed. The history keeps every one."""
    priority: Attribute | None = None
    """A column; rows with a higher value are claimed first, nulls last."""
    tenant: Attribute | None = None
    """A NOT NULL column; each tenant gets an equal share of every batch."""
    order_by: Order | None = None
    """What is claimed first: the smallest. A column, its `.desc()`, or a tuple of them;
    `None` is the primary key. `@stage` uses `Model.updated_at` unless given."""
    batch: int = 100
    """How many rows one claim takes; up to four times as many while items are quick,
    unless it is one."""
    concurrency: int = 100
    """How many items of one worker are in work at once."""
    timeout: timedelta = timedelta(minutes=5)
    """After which one item is cancelled and tried again."""
    slow_after: timedelta | None = None
    """After which an item in work is slow. While others wait, slow items hold at most half
    of the stage's `concurrency` in one worker: what becomes slow beyond that is cancelled
    and tried again later, without spending an attempt. `None` lets items wait for slow ones."""
    lease: timedelta = timedelta(seconds=30)
    """How long a claim holds without a heartbeat of its worker."""
    max_attempts: int = 5
    """How many attempts may fail before the item becomes a dead letter."""
    max_crashes: int = 3
    """How many workers may crash with the item in hand, the last of them with nothing
    else in hand, before it is quarantined. While workers also crash without the item,
    it takes two more, each with nothing else in hand."""
    backoff: Backoff = Backoff()
    """How long a failed item waits."""
    feeds: tuple[str, ...] = ()
    """The stages whose rows this stage's effects queue; they are woken after a settle."""
    high_water: int | Mapping[str, int] | None = None
    """How many rows may be queued for a stage in `feeds`: one number for each of them, or
    a mapping from some of their names. A claim takes no more items than there is room for,
    over all workers and all stages that feed the same one; an item in work takes the room
    of one row. An item that queues several rows may pass the mark."""
    rate_per_minute: int | None = None
    """How many items may be claimed within any 60 seconds, over all workers; an item that
    is tried again counts again."""
    logger: str | None = None
    """The name of the logger of lines about its items; `curation_sdk.NAME` unless given."""
    load: Literal["row", "id", "claim"] = "row"
    """`"row"` loads the item's columns, `"id"` its primary key alone. `"claim"` passes
    the claim instead of the item, as `run_job_loop` needs it."""

    def __post_init__(self) -> None:
        for problem in self._problems():
            raise InvalidStage(self.name, problem)

    async def __call__(self, item: ItemT, tools: ToolsT) -> Outcome:
        """Work one item without a queue, for tests."""
        return await self.work(item, tools)

    @property
    def logger_name(self) -> str:
        """The name of the logger of lines about its items."""
        return self.logger or f"curation_sdk.{self.name}"

    def configured(self, **changes: Unpack[StageChanges]) -> "Stage[ItemT, ToolsT]":
        """Return the same stage with some fields changed."""
        return replace(self, **changes)

    def high_water_of(self, fed: str) -> int | None:
        """Return how many rows may be queued for a stage that this one feeds."""
        if isinstance(self.high_water, Mapping):
            return self.high_water.get(fed)
        return self.high_water

    def _problems(self) -> list[str]:
        numbers = (self.batch, self.concurrency, self.max_attempts, self.max_crashes)
        spans = [self.timeout, self.lease]
        if self.slow_after is not None:
            spans.append(self.slow_after)
        problems = []
        if None in (self.queued, self.processing, self.done, self.failed):
            problems.append(
                "a status may not be None: rows without one are in no queue"
            )
        if not self.name or not self.name.isidentifier():
            problems.append(
                "its name must be a word of letters, digits and underscores"
            )
        if min(numbers) < 1:
            problems.append(
                "batch, concurrency, max_attempts and max_crashes must be at least 1"
            )
        if min(spans) <= timedelta(0):
            problems.append("timeout, lease and slow_after must be positive")
        if len({str(self.queued), str(self.processing), str(self.done)}) < 3:  # noqa: PLR2004
            problems.append("queued, processing and done must be different statuses")
        if str(self.failed) in {str(self.queued), str(self.processing)}:
            problems.append("failed must differ from queued and processing")
        if self.high_water is not None and not self.feeds:
            problems.append("high_water needs feeds: which stage's depth is meant?")
        return problems + self._limit_problems()

    def _limit_problems(self) -> list[str]:
        problems = []
        if self.rate_per_minute is not None and self.rate_per_minute < 1:
            problems.append("rate_per_minute must be at least 1; None means no limit")
        marks = [self.high_water_of(name) for name in self.feeds]
        if any(mark is not None and mark < 1 for mark in marks):
            problems.append("high_water must be at least 1; None means no limit")
        if isinstance(self.high_water, Mapping) and (
            others := self.high_water.keys() - set(self.feeds)
        ):
            problems.append(f"high_water names {min(others)}, which it does not feed")
        return problems


@overload
def stage(
    name: str,
    model: type[ItemT],
    /,
    *,
    claims: StatusColumn[StatusT],
    queued: StatusT = ...,
    processing: StatusT = ...,
    done: StatusT = ...,
    failed: StatusT = ...,
    **options: Unpack[StageOptions],
) -> Callable[[Work[ItemT, ToolsT]], Stage[ItemT, ToolsT]]: ...


@overload
def stage(
    name: str,
    /,
    *,
    claims: StatusColumn[StatusT],
    queued: StatusT = ...,
    processing: StatusT = ...,
    done: StatusT = ...,
    failed: StatusT = ...,
    **options: Unpack[StageOptions],
) -> Callable[[Work[ItemT, ToolsT]], Stage[ItemT, ToolsT]]: ...


def stage(
    name: str,
    model: type[Any] | None = None,
    /,
    *,
    claims: Any,
    queued: object = "queued",
    processing: object = "processing",
    done: object = "done",
    failed: object = "failed",
    **options: Unpack[StageOptions],
) -> Callable[[Work[Any, ToolsT]], Stage[Any, ToolsT]]:
    """Turn a work function into a stage that owns the status column `claims`.

    `queued`, `processing`, `done` and `failed` are the statuses of a row, as the column
    holds them. `options` are the other fields of `Stage`. Without `order_by`, claims are ordered by
    the model's `updated_at`, so that the row that has waited longest goes first.
    `model` is the one that `claims` belongs to; given too, a type checker sees a function
    that takes items of another one.

    The function is called with a detached instance of the model, as the row was when it
    was claimed, and with the worker's `tools`. No connection is held while it runs.
    Deferred columns and relationships raise when touched, and changes to the instance
    are never written: results are written by an `Effect`.

    | the function | the row | counts as an attempt |
    |---|---|---|
    | returns `Done` | done | yes |
    | returns `Retry`, raises `Transient` | tried again; failed after `max_attempts` | yes |
    | returns `Later` | tried again | no |
    | returns `GiveUp`, raises `Permanent` | failed, a dead letter | yes |
    | returns `Skip` | the status given | yes |
    | raises `StageBroken` | back in the queue; the stage is paused | no |
    | raises anything else | as `Retry`, with its traceback in the history | yes |
    | returns anything else | back in the queue; the stage is paused | no |
    """
    refuse_other_claims(name, claims)
    owner = model or cast("type[Any]", claims.class_)
    if "order_by" not in options:
        options["order_by"] = default_order(name, owner)

    def declare(work: Work[Any, ToolsT]) -> Stage[Any, ToolsT]:
        refuse_unusable_work(name, work)
        refuse_other_item(name, work, owner)
        return Stage(
            name=name,
            model=owner,
            work=work,
            claims=claims,
            queued=queued,
            processing=processing,
            done=done,
            failed=failed,
            **options,
        )

    return declare


def refuse_unmapped(name: str, model: object) -> None:
    """Raise for what is not a mapped class; one without a primary key never is."""
    if not isinstance(inspect_model(model, raiseerr=False), Mapper):
        raise InvalidStage(
            name,
            f"{model!r} is not a mapped class",
            hint="Pass a model: a class with a primary key that SQLAlchemy maps to a table.",
        )


def refuse_other_claims(name: str, claims: object) -> None:
    """Raise for what is not a column of a model, such as that of a table."""
    if not isinstance(claims, InstrumentedAttribute):
        raise InvalidStage(
            name,
            f"{claims!r} is not a column of a mapped class",
            hint="Pass the status column of a model: claims=Model.status.",
        )


def refuse_unusable_work(name: str, work: object) -> None:
    """Raise for a function that can be seen not to be async, or to take other arguments.

    What only calling shows pauses the stage at its first item.
    """
    if not callable(work):
        raise InvalidStage(
            name,
            f"{work!r} cannot be called",
            hint="Declare it as `async def f(item, tools)`.",
        )
    if is_generator(work) or is_plain_function(work):
        raise InvalidStage(
            name,
            f"{name_of(work)} is not async",
            hint="Declare it with `async def`, without `yield`; if it must block, put "
            "@in_thread above it.",
        )
    if not takes(work, 2):
        raise InvalidStage(
            name,
            f"{name_of(work)} cannot be called with an item and tools",
            hint="Declare it as `async def f(item, tools)`.",
        )


def refuse_other_item(name: str, work: object, model: type[Any]) -> None:
    """Raise if a function says that it takes an item of another model."""
    try:
        hints = get_type_hints(work)
    except Exception:  # noqa: BLE001 - a hint that cannot be read says nothing
        return
    hints.pop("return", None)
    wanted: Any = next(iter(hints.values()), None)
    if hasattr(wanted, "__mapper__") and not issubclass(model, wanted):
        raise InvalidStage(
            name,
            f"{name_of(work)} takes a {wanted.__name__}, but the items are "
            f"rows of {model.__name__}",
            hint=f"Claim a column of {wanted.__name__}, or correct the annotation.",
        )


def in_thread(function: Callable[P, ReturnT]) -> Callable[P, Awaitable[ReturnT]]:
    """Run a plain function in a thread, so that it may block; put it below `@stage`.

    A thread cannot be cancelled: past the stage's timeout the item is tried again while the
    old call goes on.
    """
    refuse_for_thread(function)

    def call(*arguments: P.args, **keywords: P.kwargs) -> ReturnT:
        try:
            return function(*arguments, **keywords)
        except StopIteration as error:  # one would wait for ever: no future takes it
            raise RuntimeError("function raised StopIteration") from error

    async def run(*arguments: P.args, **keywords: P.kwargs) -> ReturnT:
        return await asyncio.to_thread(call, *arguments, **keywords)

    functools.update_wrapper(run, function)
    # Who looks for the function itself would find one that is not async.
    del run.__wrapped__  # type: ignore[attr-defined]
    return run


def refuse_for_thread(function: object) -> None:
    """Raise for what a thread cannot run: a stage, or a function that is async."""
    if isinstance(function, Stage):
        raise InvalidStage(
            function.name,
            "@in_thread stands above @stage",
            hint="Put @in_thread below it, next to the function.",
        )
    if inspect.iscoroutinefunction(
        inspect.unwrap(cast("Callable[..., Any]", function))
    ):
        raise CurationSdkError(
            f"{name_of(function)} is async, and @in_thread is for what is not.",
            hint="Leave @in_thread out, or write `def` instead of `async def`.",
        )


def is_generator(function: object) -> bool:
    """Return whether a function yields."""
    inner = inspect.unwrap(function) if callable(function) else function
    return inspect.isgeneratorfunction(inner) or inspect.isasyncgenfunction(inner)


def is_plain_function(function: Callable[..., Any]) -> bool:
    """Return whether a function was written with `def` instead of `async def`.

    A lambda may well return what another function makes to be awaited.
    """
    inner = inspect.unwrap(function)
    is_def = inspect.isroutine(inner) and inner.__name__ != "<lambda>"
    return is_def and not inspect.iscoroutinefunction(inner)


def takes(function: Callable[..., Any], count: int) -> bool:
    """Return whether a function can be called with so many arguments."""
    try:
        inspect.signature(function).bind(*[None] * count)
    except TypeError:
        return False
    except ValueError:  # one written in C says nothing about its arguments
        return True
    return True


def name_of(function: object) -> str:
    """Return a name for a function that its author knows."""
    return str(getattr(function, "__qualname__", repr(function)))


def default_order(
    name: str, model: type[Any], *, parameter: str = "order_by"
) -> Attribute:
    """Return the model's `updated_at`; raise if it has none."""
    if "updated_at" not in inspect_model(model).columns:
        raise InvalidStage(
            name,
            f"{model.__name__} has no updated_at to order by",
            hint=f"Pass {parameter}={model.__name__}.some_column.",
        )
    column: Attribute = model.updated_at
    return column
