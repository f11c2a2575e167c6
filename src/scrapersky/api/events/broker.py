"""The broker of the event stream: looks once a second for all who listen, and sends what is new.

It looks only while somebody listens, once per tenant however many they are, and keeps
no connection between two looks. A client that cannot keep up, or comes back after too
much has happened, is asked to fetch anew; nobody's memory grows for it.
"""

import asyncio
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import orjson
import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.api.events.changes import (
    REPORTED,
    Change,
    ChangeSummary,
    actions_of,
    changes_of,
    changes_since,
)
from scrapersky.api.stage_stats import StageStats
from scrapersky.changes.cursor import ChangeCursor, parse_cursor
from scrapersky.changes.reader import head_cursor
from scrapersky.curation.batch import Overview, overviews
from scrapersky.errors import ChangesForgotten, InvalidCursor, TooManyRequests

log = structlog.get_logger(__name__)

POLL_SECONDS: Final = 1.0
MOST_STREAMS: Final = 200
MOST_STREAMS_EACH: Final = 5
LONGEST_QUEUE: Final = 64
"""Events a client may be behind before it is asked to fetch anew."""
EVENT_CHANGES: Final = 500
"""Changes in one event."""
COUNTING_SHARE: Final = 20
"""Open batches are counted so seldom that it takes a twentieth of the time."""
RETRY_AFTER: Final = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event, written once for all who get it."""

    name: str | None
    data: str | None
    id: str | None = None


class EventStream:
    """One client's end of the broker."""

    def __init__(
        self, broker: "EventBroker", tenant_id: UUID, listener: str, name: str | None
    ) -> None:
        self._broker = broker
        self.tenant_id = tenant_id
        self.listener = listener
        self.name = name
        self.is_open = True
        self._events: deque[ServerEvent] = deque()
        self._news = asyncio.Event()

    async def begin(self, last_event_id: str | None) -> Sequence[ServerEvent]:
        """Return what a client must hear first: how things stand, what it missed."""
        return await self._broker.greet(self, last_event_id)

    async def next(self, timeout: float) -> ServerEvent | None:
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

    def offer(self, events: Sequence[ServerEvent]) -> None:
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
        self._named: dict[tuple[str, str], EventStream] = {}
        self._looking: asyncio.Task[None] | None = None
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
    ) -> EventStream:
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
                retry_after=RETRY_AFTER,
            )
        if self.streams >= MOST_STREAMS or self._is_closing:
            raise TooManyRequests(
                "This server has as many event streams open as it can serve.",
                hint="Ask GET /api/v3/stages from time to time instead, and try later.",
                retry_after=RETRY_AFTER,
            )
        self._listeners[listener] += 1
        stream = EventStream(self, tenant_id, listener, name)
        if name is not None:
            self._named[listener, name] = stream
        channel = self._channels.get(tenant_id)
        if channel is None:
            channel = self._channels[tenant_id] = Channel(tenant_id)
        channel.streams.add(stream)
        if self._looking is None:
            self._looking = asyncio.create_task(self._look(), name="event broker")
        return stream

    def leave(self, stream: EventStream) -> None:
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

    async def greet(
        self, stream: EventStream, last_event_id: str | None
    ) -> list[ServerEvent]:
        """Send a new listener what it has missed, and how the stages stand.

        After a restart everyone comes back at once: they share what can be shared, and
        read what they missed one after the other. Without a database they are asked to
        fetch anew, and hear of the stages when it is back.
        """
        try:
            here = str(await self._cursor_of(stream.tenant_id))
            missed: list[ServerEvent] = []
            if last_event_id is not None:
                missed = await self._missed(stream.tenant_id, last_event_id, here)
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
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.wait({self._looking})

    async def _cursor_of(self, tenant_id: UUID) -> ChangeCursor:
        """Return where the channel of a tenant is; a new one begins at the end of the log."""
        channel = self._channels.get(tenant_id)
        if channel is not None and channel.cursor is not None:
            return channel.cursor
        async with self._engine.connect() as connection:
            head = await head_cursor(connection, tenant_id)
        if channel is not None and channel.cursor is None:
            channel.cursor = head
        return head

    async def _missed(
        self, tenant_id: UUID, last_event_id: str, here: str
    ) -> list[ServerEvent]:
        try:
            cursor = parse_cursor(last_event_id)
            async with self._reading, self._engine.connect() as connection:
                news = await changes_since(connection, tenant_id, cursor)
                changes = await changes_of(connection, tenant_id, news)
                actions = await actions_of(connection, tenant_id, news)
        except (InvalidCursor, ChangesForgotten):
            return [reset("it is too long ago to say what you missed", here)]
        return [*reports(news, changes, here), *map(action_event, actions)]

    async def _look(self) -> None:
        """Look again and again, until nobody listens."""
        loop = asyncio.get_running_loop()
        try:
            while self._channels:
                started = loop.time()
                await self._look_once()
                spent = loop.time() - started
                await asyncio.sleep(max(POLL_SECONDS - spent, POLL_SECONDS / 10))
        finally:
            self._looking = None

    async def _look_once(self) -> None:
        # What changed first, for everyone: counting stages may take its time.
        for look in (self._changes_of, self._stages_of):
            for channel in list(self._channels.values()):
                await self._send(channel, look)

    async def _send(
        self,
        channel: "Channel",
        look: Callable[["Channel"], Awaitable[list[ServerEvent]]],
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

    async def _changes_of(self, channel: "Channel") -> list[ServerEvent]:
        tenant_id = channel.tenant_id
        cursor = await self._cursor_of(tenant_id)
        counted: list[Overview] = []
        async with self._engine.connect() as connection:
            try:
                news = await changes_since(connection, tenant_id, cursor)
            except ChangesForgotten:
                channel.cursor = None
                return [reset("what has changed is not known", None)]
            changes = await changes_of(connection, tenant_id, news)
            actions = await actions_of(connection, tenant_id, news)
            if due := channel.batches_due(set(news.ids.get("batches", ()))):
                started = time.monotonic()
                counted = await overviews(connection, tenant_id, ids=due)
                channel.batches_took(time.monotonic() - started)
        channel.cursor = news.cursor
        here = str(news.cursor)
        sent = [
            *reports(news, changes, here),
            *map(action_event, actions),
            *channel.new_batches(counted),
        ]
        if sent:
            # Only the last has the id: who loses the connection between two events of
            # one look hears all of them again.
            sent.append(ServerEvent(None, None, here))
        return sent

    async def _stages_of(self, channel: "Channel") -> list[ServerEvent]:
        views = await self._board.stages(channel.tenant_id)
        listed = [asdict(view) for view in views]
        return list(channel.new_stages(listed, [view.sign for view in views]))


class Channel:
    """One tenant: who listens, and what they have been sent."""

    def __init__(self, tenant_id: UUID) -> None:
        self.tenant_id = tenant_id
        self.streams: set[EventStream] = set()
        self.cursor: ChangeCursor | None = None
        self._open_batches: dict[UUID, Overview] = {}
        self._count_after = 0.0
        self._stages: object = None

    def batches_due(self, changed: set[UUID]) -> set[UUID]:
        """Choose which batches are counted now: new ones, from time to time all."""
        fresh = {one for one in changed if one not in self._open_batches}
        return fresh | (set(self._open_batches) if self._may_count else set())

    @property
    def _may_count(self) -> bool:
        return time.monotonic() >= self._count_after

    def batches_took(self, seconds: float) -> None:
        """Remember how expensive it was to count."""
        self._count_after = time.monotonic() + COUNTING_SHARE * seconds

    def new_batches(self, counted: Sequence[Overview]) -> Iterable[ServerEvent]:
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

    def new_stages(self, views: object, sign: object) -> Iterable[ServerEvent]:
        """Report how the stages stand, if that is something new."""
        if sign != self._stages:
            self._stages = sign
            yield event("stages", views)


def reports(
    news: ChangeSummary, changes: Mapping[str, Sequence[Change]], here: str
) -> Iterable[ServerEvent]:
    """Report what has changed: which records, or that it is more than can be said."""
    if news.is_cut:
        yield reset("too much has happened since", here)
        return
    yield from map(many, sorted(news.many & REPORTED))
    for kind, changed in changes.items():
        yield from records(kind, changed)


def action_event(action: Mapping[str, Any]) -> ServerEvent:
    """Report a decision that has got further."""
    return event("action", action)


def records(kind: str, changes: Sequence[Change]) -> Iterable[ServerEvent]:
    """Report changed records, some in each event."""
    for start in range(0, len(changes), EVENT_CHANGES):
        part = changes[start : start + EVENT_CHANGES]
        listed = [asdict(change) for change in part]
        yield event("records", {"kind": kind, "changes": listed, "many": False})


def many(kind: str) -> ServerEvent:
    """Report that more has changed than is sent one by one."""
    return event("records", {"kind": kind, "changes": [], "many": True})


def reset(why: str, last: str | None) -> ServerEvent:
    """Tell a client to fetch everything it shows anew."""
    return event("reset", {"reason": why}, last)


def event(name: str, data: object, last: str | None = None) -> ServerEvent:
    """Write an event."""
    return ServerEvent(
        name, orjson.dumps(data, default=str, option=orjson.OPT_UTC_Z).decode(), last
    )
