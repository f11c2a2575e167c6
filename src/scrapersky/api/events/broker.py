"""The broker of the event stream: looks once a second for all who listen, and sends what is new.

It looks only while somebody listens, once per tenant however many they are, and keeps
no connection between two looks. A client that cannot keep up, or comes back after too
much has happened, is asked to fetch anew; nobody's memory grows for it.
"""

import asyncio
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

import orjson
import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.api.events.changes import (
    MOST,
    Change,
    Horizon,
    actions_since,
    batches_since,
    changes_since,
    look_at_horizon,
    noted_since,
)
from scrapersky.api.refreshed import RefreshedValue
from scrapersky.api.stage_stats import StageStats
from scrapersky.curation.batch import Overview, overviews
from scrapersky.errors import TooManyRequests

log = structlog.get_logger(__name__)

LOOK_EVERY: Final = 1.0
MOST_STREAMS: Final = 200
MOST_STREAMS_EACH: Final = 5
LONGEST_QUEUE: Final = 64
"""Events a client may be behind before it is asked to fetch anew."""
CHUNK: Final = 500
"""Changes in one event."""
LONGEST_ABSENCE: Final = timedelta(hours=1)
"""After which a client that comes back fetches anew."""
COUNTING: Final = 20
"""Open batches are counted so seldom that it takes a twentieth of the time."""
COME_BACK: Final = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class Event:
    """One event, written once for all who get it."""

    name: str | None
    data: str | None
    id: str | None = None


class Stream:
    """One client's end of the broker."""

    def __init__(
        self, broker: "EventBroker", tenant_id: UUID, listener: str, name: str | None
    ) -> None:
        self._broker = broker
        self.tenant_id = tenant_id
        self.listener = listener
        self.name = name
        self.is_open = True
        self._events: deque[Event] = deque()
        self._news = asyncio.Event()

    async def begin(self, last_event_id: str | None) -> Sequence[Event]:
        """Return what a client must hear first: how things stand, what it missed."""
        return await self._broker.greet(self, last_event_id)

    async def next(self, timeout: float) -> Event | None:
        """Return the next event, or None if none came in time or the stream is closed."""
        if not self._events and self.is_open:
            try:
                async with asyncio.timeout(timeout):
                    await self._news.wait()
            except TimeoutError:
                return None
        if not self._events:
            return None
        event = self._events.popleft()
        if not self._events:
            self._news.clear()
        return event

    def offer(self, events: Sequence[Event]) -> None:
        """Queue events; one who is too far behind gets a single order to fetch anew."""
        self._events.extend(events)
        if len(self._events) > LONGEST_QUEUE:
            last = next((e.id for e in reversed(self._events) if e.id), None)
            self._events.clear()
            self._events.append(reset("you are too slow for what happens", last))
        self._news.set()

    def close(self) -> None:
        """Leave the broker; what waits for the next event wakes up."""
        self.is_open = False
        self._news.set()
        self._broker.leave(self)


class EventBroker:
    """Everyone in this process who listens, by tenant."""

    def __init__(self, engine: AsyncEngine, stats: StageStats) -> None:
        self._engine = engine
        self._board = stats
        self._channels: dict[UUID, Channel] = {}
        self._listeners: Counter[str] = Counter()
        self._named: dict[tuple[str, str], Stream] = {}
        self._looking: asyncio.Task[None] | None = None
        self._horizon = RefreshedValue(self._look_at_horizon)
        self._reading = asyncio.Semaphore(1)
        self._is_closing = False

    @property
    def streams(self) -> int:
        """How many listen."""
        return self._listeners.total()

    def open(
        self,
        tenant_id: UUID,
        listener: str,
        name: str | None = None,
        instead_of: str | None = None,
    ) -> Stream:
        """Let one more listen; raise TooManyRequests if that is one too many.

        A stream takes the place of the listener's earlier one of the same name, and of
        the one it comes instead of: a page that is loaded again is still one page, even
        before anybody notices that its old connection is dead.
        """
        for old in (name, instead_of):
            if old is not None and (earlier := self._named.get((listener, old))):
                earlier.close()
        if self._listeners[listener] >= MOST_STREAMS_EACH:
            raise TooManyRequests(
                f"You have {MOST_STREAMS_EACH} event streams open already.",
                hint="Close one, or share one between tabs.",
                retry_after=COME_BACK,
            )
        if self.streams >= MOST_STREAMS or self._is_closing:
            raise TooManyRequests(
                "This server has as many event streams open as it can serve.",
                hint="Ask GET /api/v3/stages from time to time instead, and try later.",
                retry_after=COME_BACK,
            )
        self._listeners[listener] += 1
        stream = Stream(self, tenant_id, listener, name)
        if name is not None:
            self._named[listener, name] = stream
        channel = self._channels.get(tenant_id)
        if channel is None:
            channel = self._channels[tenant_id] = Channel(tenant_id)
        channel.streams.add(stream)
        if self._looking is None:
            self._looking = asyncio.create_task(self._look(), name="event broker")
        return stream

    def leave(self, stream: Stream) -> None:
        """Forget a stream; the last one of a tenant takes the tenant's channel along."""
        channel = self._channels.get(stream.tenant_id)
        if channel is None or stream not in channel.streams:
            return
        channel.streams.remove(stream)
        if stream.name is not None:
            del self._named[stream.listener, stream.name]
        self._listeners[stream.listener] -= 1
        if not self._listeners[stream.listener]:
            del self._listeners[stream.listener]
        if not channel.streams:
            del self._channels[stream.tenant_id]

    async def greet(self, stream: Stream, last_event_id: str | None) -> list[Event]:
        """Send a new listener what it has missed, and how the stages stand.

        After a restart everyone comes back at once: they share what can be shared, and
        read what they missed one after the other. Without a database they are asked to
        fetch anew, and hear of the stages when it is back.
        """
        try:
            horizon = await self._horizon.get()
            here = written(horizon.settled)
            missed: list[Event] = []
            if last_event_id is not None:
                since = read(last_event_id, horizon.now)
                missed = await self._missed(stream.tenant_id, since, here)
            views = await self._board.stages(stream.tenant_id)
        except (OSError, SQLAlchemyError, TimeoutError) as error:
            log.warning("events.not_greeted", error=str(error)[:300])
            if (channel := self._channels.get(stream.tenant_id)) is not None:
                channel.forget_stages()
            return [reset("the database does not answer", None)]
        return [*missed, event("stages", [asdict(view) for view in views], here)]

    def close(self) -> None:
        """End every stream, and let nobody in any more."""
        self._is_closing = True
        for channel in list(self._channels.values()):
            for stream in list(channel.streams):
                stream.close()

    async def closed(self) -> None:
        """Wait until nothing looks any more."""
        await self._horizon.close()
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.wait({self._looking})

    async def _missed(
        self, tenant_id: UUID, since: datetime | None, here: str
    ) -> list[Event]:
        if since is None:
            return [reset("it is too long ago to say what you missed", here)]
        async with self._reading, self._engine.connect() as connection:
            found = await changes_since(connection, tenant_id, since)
            actions = await actions_since(connection, tenant_id, since)
            noted = await noted_since(connection, tenant_id, since)
        if any(len(changes) > MOST for changes in found.values()):
            return [reset("too much has happened since", here)]
        return [
            *(sent for kind, c in found.items() for sent in records(kind, c)),
            *map(many, sorted(set(noted.values()))),
            *(event("action", action) for action in actions),
        ]

    async def _look_at_horizon(self) -> Horizon:
        async with self._engine.connect() as connection:
            return await look_at_horizon(connection)

    async def _look(self) -> None:
        """Look again and again, until nobody listens."""
        loop = asyncio.get_running_loop()
        try:
            while self._channels:
                started = loop.time()
                await self._look_once()
                spent = loop.time() - started
                await asyncio.sleep(max(LOOK_EVERY - spent, LOOK_EVERY / 10))
        finally:
            self._looking = None

    async def _look_once(self) -> None:
        # What changed first, for everyone: counting stages may take its time.
        for look in (self._changes_of, self._stages_of):
            for channel in list(self._channels.values()):
                await self._send(channel, look)

    async def _send(
        self, channel: "Channel", look: Callable[["Channel"], Awaitable[list[Event]]]
    ) -> None:
        try:
            events = await look(channel)
        except (OSError, SQLAlchemyError, TimeoutError) as error:
            # Nothing is lost: the next look goes back to where this one began.
            log.warning("events.not_read", error=str(error)[:300])
            return
        except Exception:  # one tenant's trouble must not silence the others
            log.exception("events.failed", tenant=str(channel.tenant_id))
            return
        if events:
            for stream in list(channel.streams):
                stream.offer(events)

    async def _changes_of(self, channel: "Channel") -> list[Event]:
        tenant_id = channel.tenant_id
        async with self._engine.connect() as connection:
            horizon = await look_at_horizon(connection)
            since = channel.since or horizon.settled
            changes = await changes_since(connection, tenant_id, since)
            actions = await actions_since(connection, tenant_id, since)
            batches = await batches_since(connection, tenant_id, since)
            noted = await noted_since(connection, tenant_id, since)
            counted = []
            if due := channel.batches_due(batches):
                started = time.monotonic()
                counted = await overviews(connection, tenant_id, ids=due)
                channel.batches_took(time.monotonic() - started)
        sent = [
            *channel.new_changes(changes),
            *channel.new_notes(noted),
            *channel.new_actions(actions),
            *channel.new_batches(counted),
        ]
        channel.since = horizon.settled
        if sent:
            # Only the last has the id: who loses the connection between two events of
            # one look hears all of them again.
            sent.append(Event(None, None, written(horizon.settled)))
        return sent

    async def _stages_of(self, channel: "Channel") -> list[Event]:
        views = await self._board.stages(channel.tenant_id)
        listed = [asdict(view) for view in views]
        return list(channel.new_stages(listed, [view.sign for view in views]))


class Channel:
    """One tenant: who listens, and what they have been sent."""

    def __init__(self, tenant_id: UUID) -> None:
        self.tenant_id = tenant_id
        self.streams: set[Stream] = set()
        self.since: datetime | None = None
        self._sent: dict[tuple[str, UUID], datetime] = {}
        self._storms: dict[str, tuple[UUID, datetime]] = {}
        self._noted: set[UUID] = set()
        self._actions: dict[UUID, datetime] = {}
        self._open_batches: dict[UUID, Overview] = {}
        self._count_after = 0.0
        self._stages: object = None

    def new_changes(self, found: dict[str, list[Change]]) -> Iterable[Event]:
        """Send what has not been sent; in a storm only that there is one."""
        sent: dict[tuple[str, UUID], datetime] = {}
        for kind, changes in found.items():
            if len(changes) > MOST:
                latest = (changes[0].id, changes[0].updated_at)
                if self._storms.get(kind) != latest:
                    self._storms[kind] = latest
                    yield many(kind)
                continue
            fresh = [
                change
                for change in changes
                if self._sent.get((kind, change.id)) != change.updated_at
            ]
            sent |= {(kind, change.id): change.updated_at for change in changes}
            if self._storms.pop(kind, None):
                # A client that is to fetch anew gets what the storm ended with too.
                yield many(kind)
            else:
                yield from records(kind, fresh)
        for kind in [kind for kind in self._storms if kind not in found]:
            del self._storms[kind]
            yield many(kind)
        self._sent = sent

    def new_notes(self, found: dict[UUID, str]) -> Iterable[Event]:
        """Report that contacts have gone or were informed: no row can say which."""
        fresh = found.keys() - self._noted
        yield from map(many, sorted({found[one] for one in fresh}))
        self._noted = set(found)

    def new_actions(self, found: Sequence[Any]) -> Iterable[Event]:
        """Report decisions that have got further."""
        for action in found:
            if self._actions.get(action["id"]) != action["updated_at"]:
                yield event("action", action)
        self._actions = {action["id"]: action["updated_at"] for action in found}

    def batches_due(self, changed: set[UUID]) -> set[UUID]:
        """Choose which batches are counted now: new ones, from time to time all."""
        fresh = {one for one in changed if one not in self._open_batches}
        return fresh | (set(self._open_batches) if self._may_count else set())

    @property
    def _may_count(self) -> bool:
        return time.monotonic() >= self._count_after

    def batches_took(self, seconds: float) -> None:
        """Remember how expensive it was to count."""
        self._count_after = time.monotonic() + COUNTING * seconds

    def new_batches(self, counted: Sequence[Overview]) -> Iterable[Event]:
        """Report batches that have got further; those at their end are let go."""
        for batch in counted:
            if self._open_batches.get(batch.id) != batch:
                yield event("batch", asdict(batch))
            if batch.progress.pending + batch.progress.working:
                self._open_batches[batch.id] = batch
            else:
                self._open_batches.pop(batch.id, None)

    def forget_stages(self) -> None:
        """Report the stages at the next look, changed or not."""
        self._stages = None

    def new_stages(self, views: object, sign: object) -> Iterable[Event]:
        """Report how the stages stand, if that is something new."""
        if sign != self._stages:
            self._stages = sign
            yield event("stages", views)


def records(kind: str, changes: Sequence[Change]) -> Iterable[Event]:
    """Report changed records, some in each event."""
    for start in range(0, len(changes), CHUNK):
        part = changes[start : start + CHUNK]
        listed = [asdict(change) for change in part]
        yield event("records", {"kind": kind, "changes": listed, "many": False})


def many(kind: str) -> Event:
    """Report that more has changed than is sent one by one."""
    return event("records", {"kind": kind, "changes": [], "many": True})


def reset(why: str, last: str | None) -> Event:
    """Tell a client to fetch everything it shows anew."""
    return event("reset", {"reason": why}, last)


def event(name: str, data: object, last: str | None = None) -> Event:
    """Write an event."""
    return Event(
        name, orjson.dumps(data, default=str, option=orjson.OPT_UTC_Z).decode(), last
    )


def written(moment: datetime) -> str:
    """Write a moment as the id of an event."""
    return str((moment - EPOCH) // timedelta(microseconds=1))


def read(event_id: str, now: datetime) -> datetime | None:
    """Read the id a client comes back with; None if it is none, or too old."""
    if not event_id.isascii() or not event_id.isdigit() or len(event_id) > 18:  # noqa: PLR2004
        return None
    moment = EPOCH + timedelta(microseconds=int(event_id))
    is_recent = now - LONGEST_ABSENCE <= moment <= now + timedelta(seconds=5)
    return moment if is_recent else None


EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
