"""Live events: `GET /api/v3/events`, server-sent."""

import time
from collections.abc import AsyncIterator
from typing import Annotated, Final

import structlog
from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent
from sqlalchemy.exc import SQLAlchemyError

from scrapersky.api.auth.authenticator import Authenticator
from scrapersky.api.auth.identity import Identity, Permission
from scrapersky.api.dependency import Reader
from scrapersky.api.events.broker import EventStream, ServerEvent
from scrapersky.api.operations.state import Operations
from scrapersky.api.problem import Problem
from scrapersky.changes.cursor import MAX_CURSOR_CHARS
from scrapersky.errors import ScraperSkyError

log = structlog.get_logger(__name__)
router = APIRouter(prefix="/api/v3/events", tags=["events"])

HEARTBEAT_SECONDS: Final = 10.0
"""Seconds of silence after which a comment shows that the stream lives."""
POLL_SECONDS: Final = 1.0
"""Seconds after which the authenticator is asked whether the listener may still listen."""
RETRY_MILLISECONDS: Final = 2_000
"""Milliseconds after which a browser comes back."""

Name = Annotated[
    str | None,
    Query(
        min_length=8,
        max_length=64,
        description="A random name of this stream. A later one of the same name, or one "
        "that comes `instead_of` it, ends it.",
    ),
]


async def a_stream(
    who: Reader, operations: Operations, stream: Name = None, instead_of: Name = None
) -> AsyncIterator[EventStream]:
    """Open a stream for the length of one request."""
    listener = f"{who.tenant_id} {who.user_id or who.credential or who.name}"
    opened = operations.broker.open(who.tenant_id, listener, stream, instead_of)
    try:
        yield opened
    finally:
        opened.close()


@router.get(
    "",
    operation_id="listen",
    response_class=EventSourceResponse,
    responses={429: {"model": Problem, "description": "Too many streams"}},
)
async def listen(
    request: Request,
    who: Reader,
    stream: Annotated[EventStream, Depends(a_stream)],
    last_event_id: Annotated[str | None, Header(max_length=MAX_CURSOR_CHARS)] = None,
) -> AsyncIterator[ServerSentEvent]:
    """Report what changes, as it changes: `stages`, `records`, `batch`, `action`.

    After a lost connection send `Last-Event-ID`; what was missed follows, or `reset`
    if that is too much: then fetch anew what you show. Ends when the identity that
    opened it is no longer good.
    """
    yield ServerSentEvent(retry=RETRY_MILLISECONDS, comment="welcome")
    for event in await stream.begin(last_event_id):
        yield sent(event)
    spoke = asked = time.monotonic()
    while stream.is_open:
        event_or_none = await stream.next(POLL_SECONDS)
        now = time.monotonic()
        if now - asked >= POLL_SECONDS:
            if not await may_still_listen(request, who):
                return
            asked = now
        if event_or_none is not None:
            spoke = now
            yield sent(event_or_none)
        elif now - spoke >= HEARTBEAT_SECONDS:
            spoke = now
            yield ServerSentEvent(comment="still here")


def sent(event: ServerEvent) -> ServerSentEvent:
    """Write an event as it is sent."""
    return ServerSentEvent(raw_data=event.data, event=event.name, id=event.id)


async def may_still_listen(request: Request, who: Identity) -> bool:
    """Ask the authenticator again: tokens expire, keys are revoked, people leave."""
    authenticator: Authenticator = request.app.state.authenticator
    try:
        now = await authenticator.identify_again(request)
    except ScraperSkyError:
        return False
    except (OSError, SQLAlchemyError) as error:
        # Nobody can be asked while the database is away, and nothing is sent either.
        log.warning("events.identity_not_checked", error=str(error)[:300])
        return True
    return now.tenant_id == who.tenant_id and now.may(Permission.READ)
