"""The change feed: `GET /api/v3/changes`, from a cursor on, by question, long poll or stream."""

import time
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Literal
from uuid import UUID

import orjson
from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import Response, StreamingResponse
from pydantic import BaseModel, Field
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.api.auth.identity import Identity, Permission
from scrapersky.api.dependency import BulkEngine, allow
from scrapersky.api.operations.events import HEARTBEAT_SECONDS, may_still_listen
from scrapersky.api.operations.state import Operations, OperationsState
from scrapersky.api.problem import Problem
from scrapersky.api.tenancy import acting_for
from scrapersky.changes.cursor import MAX_CURSOR_CHARS, ChangeCursor, parse_cursor
from scrapersky.changes.reader import (
    ChangeEntry,
    ChangePage,
    head_cursor,
    read_changes,
)
from scrapersky.errors import ChangesForgotten, InvalidDecision
from scrapersky.records import KINDS

router = APIRouter(prefix="/api/v3/changes", tags=["changes"])

MAX_ENTRIES: Final = 5_000
MAX_WAIT_SECONDS: Final = 60
MAX_PAGES: Final = 20
"""How many pages without a change of the wanted kinds are read for one answer."""
RECHECK_SECONDS: Final = 1.0
"""Seconds after which the authenticator is asked whether a stream may go on."""
NAMES: Final = {
    name: kind.name for kind in KINDS.values() for name in (kind.singular, kind.plural)
}
STREAM: Final = "text/event-stream"


class ChangeOut(BaseModel):
    """What one transaction did to one record."""

    id: str = Field(description="The same if the change is ever sent again.")
    kind: str = Field(examples=["companies"])
    record_id: UUID
    event: Literal[
        "created",
        "changed",
        "differed",
        "digest",
        "removed",
        "merged",
        "erased",
        "suppressed",
        "finished",
    ]
    fields: list[str] = Field(
        description="The fields that changed, of a record that was changed or differed."
    )
    actor: str | None = Field(
        description="Who did it: a person, a key, or a stage.",
        examples=["stage:page_curation"],
    )
    action_id: UUID | None = Field(description="The action it was a part of.")
    details: dict[str, Any] | None = Field(
        description="Of a merge, `into`: the record that it became a part of. Of a place or "
        "domain that differed when it was seen again, `what`: new, changed, gone, back, moved, "
        "renamed, closed, reopened or unreachable."
    )
    at: datetime


class ChangesOut(BaseModel):
    """Changes after a cursor, in the order in which they happened to each record."""

    changes: list[ChangeOut]
    cursor: str = Field(description="Where to go on, in `since`.")
    more: bool = Field(description="Whether there are further changes already.")


Who = Annotated[Identity, allow(Permission.READ)]


@router.get(
    "",
    operation_id="list_changes",
    response_model=ChangesOut,
    responses={
        200: {"content": {STREAM: {"schema": {"type": "string"}}}},
        410: {
            "model": Problem,
            "description": "Start over: read all, then `since=now`",
        },
        429: {"model": Problem, "description": "Too many follow the changes"},
    },
)
async def list_changes(
    *,
    request: Request,
    who: Who,
    engine: BulkEngine,
    operations: Operations,
    since: Annotated[
        str,
        Query(
            max_length=MAX_CURSOR_CHARS,
            description="The `cursor` of the last answer, or `now`.",
        ),
    ] = "now",
    kinds: Annotated[
        str | None,
        Query(
            max_length=200,
            description="Only these kinds of records, separated by commas.",
            examples=["companies,contacts"],
        ),
    ] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_ENTRIES)] = 500,
    wait: Annotated[
        float,
        Query(
            ge=0,
            le=MAX_WAIT_SECONDS,
            description="Seconds to wait for a change if there is none yet.",
        ),
    ] = 0,
    last_event_id: Annotated[str | None, Header(max_length=MAX_CURSOR_CHARS)] = None,
) -> Response:
    """List what has changed since a cursor: every change once, with what was removed.

    With `Accept: text/event-stream` it is a stream: an event `changes` with the same
    content for each part, whose id is the cursor. 410 means that the log does not reach back
    so far.
    """
    feed = ChangeFeed(engine, operations, who, kinds_named(kinds), limit)
    cursor = await feed.start(last_event_id or since)
    if STREAM in request.headers.get("accept", ""):
        # What is too old is an answer, and not the end of a stream.
        page = await feed.read(cursor)
        return StreamingResponse(
            feed.stream(request, page),
            media_type=STREAM,
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )
    page = await feed.next(cursor, wait)
    return Response(written(page), media_type="application/json")


def kinds_named(given: str | None) -> frozenset[str]:
    """Return the kinds that are asked for, or say which there are."""
    if given is None:
        return frozenset(KINDS)
    wanted = [one.strip() for one in given.split(",") if one.strip()]
    if unknown := [one for one in wanted if one not in NAMES]:
        raise InvalidDecision(
            f"There is no kind of record '{unknown[0][:50]}'.",
            hint=f"Choose some of: {', '.join(KINDS)}.",
        )
    return frozenset(NAMES[one] for one in wanted)


class ChangeFeed:
    """The changes that one client asks for."""

    def __init__(
        self,
        engine: AsyncEngine,
        operations: OperationsState,
        who: Identity,
        kinds: frozenset[str],
        limit: int,
    ) -> None:
        self._engine = engine
        self._watch = operations.watch
        self._who = who
        self._kinds = kinds
        self._limit = limit

    async def start(self, since: str) -> ChangeCursor:
        """Read where a client is."""
        if since != "now":
            return parse_cursor(since)
        async with self._engine.connect() as connection:
            return await head_cursor(connection, self._who.tenant_id)

    async def read(self, cursor: ChangeCursor) -> ChangePage:
        """Return the next changes of the wanted kinds; none if there are none yet."""
        page = ChangePage((), cursor, more=True)
        tenant_id = self._who.tenant_id
        with acting_for(tenant_id):
            async with self._engine.connect() as connection:
                for _ in range(MAX_PAGES):
                    read = await read_changes(
                        connection, tenant_id, page.cursor, self._limit
                    )
                    wanted = [one for one in read.entries if one.kind in self._kinds]
                    page = ChangePage(tuple(wanted), read.cursor, read.more)
                    if wanted or not read.more:
                        break
        return page

    async def next(self, cursor: ChangeCursor, seconds: float) -> ChangePage:
        """Return the next changes, or none if there were none for so long."""
        if not seconds:
            return await self.read(cursor)
        ends = time.monotonic() + seconds
        with self._watch.following(self._who.tenant_id, self._name) as follower:
            while True:
                page = await self.read(cursor)
                cursor = page.cursor
                left = ends - time.monotonic()
                if page.entries or page.more or left <= 0 or self._watch.is_closed:
                    return page
                await follower.wait(left)

    async def stream(self, request: Request, page: ChangePage) -> AsyncIterator[bytes]:
        """Send every part as it comes, until the client may not listen any more."""
        with self._watch.following(self._who.tenant_id, self._name) as follower:
            spoke = asked = time.monotonic()
            while not self._watch.is_closed:
                now = time.monotonic()
                if now - asked >= RECHECK_SECONDS:
                    if not await may_still_listen(request, self._who):
                        return
                    asked = now
                if page.entries:
                    spoke = now
                    yield event("changes", page)
                elif now - spoke >= HEARTBEAT_SECONDS:
                    spoke = now
                    yield b": still here\n\n"
                if not page.more:
                    await follower.wait(RECHECK_SECONDS)
                try:
                    page = await self.read(page.cursor)
                except ChangesForgotten:
                    # It was purged while nobody took it: the next request says so.
                    return

    @property
    def _name(self) -> str:
        who = self._who
        return f"{who.tenant_id} {who.user_id or who.credential or who.name}"


def event(name: str, page: ChangePage) -> bytes:
    """Write an event of the stream."""
    return b"event: %b\nid: %b\ndata: %b\n\n" % (
        name.encode(),
        str(page.cursor).encode(),
        written(page),
    )


def written(page: ChangePage) -> bytes:
    """Write an answer."""
    return orjson.dumps(
        {
            "changes": listed(page.entries),
            "cursor": str(page.cursor),
            "more": page.more,
        },
        default=str,
        option=orjson.OPT_UTC_Z,
    )


def listed(entries: Sequence[ChangeEntry]) -> list[dict[str, Any]]:
    """Return entries as `ChangeOut` has them."""
    return [
        {
            "id": str(entry.position),
            "kind": entry.kind,
            "record_id": entry.record_id,
            "event": entry.event.value,
            "fields": list(entry.fields),
            "actor": entry.actor,
            "action_id": entry.action_id,
            "details": entry.details,
            "at": entry.created_at,
        }
        for entry in entries
    ]
