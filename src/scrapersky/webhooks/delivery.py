"""Deliver to one endpoint: in order, one message after the other, each until it is taken.

A message is stored with its id before it is posted, so that whoever takes over after a crash
posts the same one again. That it was taken is written down with what is queued next, or after a
second: a transaction for each would cost more than posting it. A message that is not taken
holds up those after it: what happened to a record is delivered in its order, or not at all.
"""

import contextlib
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import structlog
from sqlalchemy import Row, func, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.changes.cursor import parse_cursor
from scrapersky.changes.reader import head_cursor, read_changes
from scrapersky.changes.subscriber import NOTHING, Lease, Subscriber
from scrapersky.errors import ChangesForgotten, ConfigurationError, SubscriptionTaken
from scrapersky.kit.cipher import Cipher
from scrapersky.kit.clock import utc_now
from scrapersky.records.base import Base
from scrapersky.records.webhook import WebhookEndpoint
from scrapersky.webhooks.message import (
    FORGOTTEN,
    WebhookMessage,
    chooser,
    messages,
    written,
)
from scrapersky.webhooks.outbox import (
    QueuedMessage,
    TakenMessage,
    disable,
    mark_failed,
    mark_taken,
    refuses_all,
    store_messages,
    stored_messages,
)
from scrapersky.webhooks.schedule import is_refusal, next_pause
from scrapersky.webhooks.sender import GONE_STATUS, DeliveryAttempt, WebhookSender
from scrapersky.webhooks.signature import SigningSecret, load_secrets, sign_message

log = structlog.get_logger(__name__)

PAGE_ENTRIES: Final = 500
QUEUED_MESSAGES: Final = 50
"""How many stored messages are read at once."""
UNWRITTEN_SECONDS: Final = 1.0
"""How long it may be unknown that messages were taken: a crash posts them again."""
KEY_PAUSE: Final = timedelta(minutes=1)
ENDPOINTS: Final = Base.metadata.tables[WebhookEndpoint.__tablename__]
RECOVERED: Final = {"failing_since": None, "problem": None}


def message_id(delivery: UUID) -> str:
    """Return the id of a message, which stays the same however often it is posted."""
    return f"msg_{delivery.hex}"


class EndpointDelivery:
    """Takes the changes of one tenant to one endpoint, as long as the lease holds."""

    def __init__(
        self, lease: Lease, sender: WebhookSender, find_cipher: Callable[[], Cipher]
    ) -> None:
        self._lease = lease
        # A transaction around one question would be two more.
        self._reading = lease.engine.execution_options(isolation_level="AUTOCOMMIT")
        self._sender = sender
        self._find_cipher = find_cipher
        self._secrets: tuple[SigningSecret, ...] = ()
        self._read_secrets = b""
        self._endpoint: Row[Any]
        self._queued: deque[QueuedMessage] = deque()
        """What is stored and not posted yet, in its order."""
        self._are_more_stored = False
        self._taken: list[TakenMessage] = []
        """What was posted and taken, and is not written down yet."""
        self._written_at = time.monotonic()

    async def work(self) -> timedelta | None:
        """Deliver until nothing is left; return when to try again what was not taken."""
        try:
            await self._load()
            while True:
                while self._queued:
                    if (
                        pause := await self._deliver(self._queued.popleft())
                    ) is not None:
                        return pause
                if self._are_more_stored:
                    await self._write()
                    await self._load()
                elif not await self._read():
                    return None
        finally:
            # Also where the process stops: what is not written down is posted again.
            with contextlib.suppress(SubscriptionTaken, OSError, SQLAlchemyError):
                if self._taken:
                    await self._write()

    async def _load(self) -> None:
        """Read the endpoint as it is now, and what it has not been sent yet."""
        async with self._reading.connect() as connection:
            query = select(ENDPOINTS).where(ENDPOINTS.c.id == self._lease.id)
            endpoint = (await connection.execute(query)).one_or_none()
            if endpoint is None or endpoint.lease != self._lease.token:
                raise SubscriptionTaken(f"webhook {self._lease.id} is not ours")
            found = await stored_messages(connection, self._lease.id, QUEUED_MESSAGES)
        self._endpoint = endpoint
        self._queued.extend(found)
        self._are_more_stored = len(found) == QUEUED_MESSAGES

    async def _read(self) -> bool:
        """Queue the next changes as messages; say whether there may be more to do."""
        endpoint = self._endpoint
        cursor = parse_cursor(endpoint.cursor)
        try:
            async with self._reading.connect() as connection:
                page = await read_changes(
                    connection, self._lease.tenant_id, cursor, PAGE_ENTRIES
                )
        except ChangesForgotten:
            await self._start_over()
            return True
        is_chosen = chooser(endpoint.events, endpoint.ignored_actors)
        chosen = [entry for entry in page.entries if is_chosen(entry)]
        if page.cursor != cursor and (page.entries or page.more):
            found = list(messages(chosen, endpoint.format))
            await self._write(found, {"cursor": str(page.cursor)})
        elif self._taken:
            await self._write()
        return bool(chosen) or page.more

    async def _start_over(self) -> None:
        """Say that changes were forgotten before they could be sent, and go on from now."""
        async with self._reading.connect() as connection:
            cursor = await head_cursor(connection, self._lease.tenant_id)
        what = "Changes were forgotten before they could be sent: read everything anew."
        body = written(FORGOTTEN, utc_now(), {"message": what})
        found = [WebhookMessage(FORGOTTEN, 0, body)]
        await self._write(found, {"cursor": str(cursor)})

    async def _write(
        self,
        found: Sequence[WebhookMessage] = (),
        changes: Mapping[str, Any] = NOTHING,
    ) -> None:
        """Store in one transaction what was taken, and what is to be posted next."""
        if self._taken and self._endpoint.failing_since is not None:
            changes = {**RECOVERED, **changes}
        cursor = self._endpoint.cursor
        async with self._lease.engine.begin() as connection:
            self._endpoint = await self._lease.change(connection, changes)
            await mark_taken(connection, self._taken)
            queued = await store_messages(connection, self._endpoint, cursor, found)
        self._taken.clear()
        self._queued.extend(queued)
        self._written_at = time.monotonic()

    async def _deliver(self, message: QueuedMessage) -> timedelta | None:
        """Post one message if it is time; return when to try again if it was not taken."""
        now = utc_now()
        if message.next_at is not None and message.next_at > now:
            return message.next_at - now
        try:
            secrets = self._signing_secrets()
        except ConfigurationError as error:
            await self._lease.give_back(KEY_PAUSE, {"problem": str(error)})
            raise
        attempt = await attempt_delivery(
            self._sender, self._endpoint, secrets, message.id, message.body
        )
        if not attempt.is_delivered:
            return await self._settle_failed(message, attempt)
        self._taken.append(TakenMessage(message, attempt))
        if time.monotonic() - self._written_at > UNWRITTEN_SECONDS:
            await self._write()
        return None

    def _signing_secrets(self) -> tuple[SigningSecret, ...]:
        endpoint = self._endpoint
        if self._read_secrets != endpoint.secrets:
            self._secrets = load_secrets(
                self._find_cipher().decrypt(endpoint.secrets, str(endpoint.id))
            )
            self._read_secrets = endpoint.secrets
        return self._secrets

    async def _settle_failed(
        self, message: QueuedMessage, attempt: DeliveryAttempt
    ) -> timedelta | None:
        """Write down an attempt that failed; return when the next one is, if one is."""
        pause = next_pause(message.attempt_count + 1, attempt)
        is_refused = pause is None and is_refusal(attempt)
        since = (
            attempt.at
            if self._taken
            else func.coalesce(ENDPOINTS.c.failing_since, attempt.at)
        )
        failing = {"failing_since": since, "problem": attempt.why}
        async with self._lease.engine.begin() as connection:
            self._endpoint = await self._lease.change(connection, failing)
            await mark_taken(connection, self._taken)
            await mark_failed(
                connection, message, attempt, pause, is_given_up=is_refused
            )
            is_over = attempt.status == GONE_STATUS or (
                pause is None and not is_refused
            )
            if is_over or (
                is_refused and await refuses_all(connection, self._endpoint.id)
            ):
                await disable(connection, self._endpoint.id, attempt.why or "")
                is_over = True
        self._taken.clear()
        if is_over:
            log.warning(
                "webhook.disabled", endpoint=str(self._lease.id), why=attempt.why
            )
            raise SubscriptionTaken(f"webhook {self._lease.id} is disabled")
        return pause


async def attempt_delivery(
    sender: WebhookSender,
    endpoint: Row[Any],
    secrets: Sequence[SigningSecret],
    delivery: UUID,
    body: bytes,
) -> DeliveryAttempt:
    """Sign a message now, and post it once."""
    now = utc_now()
    headers = sign_message(message_id(delivery), body, secrets, endpoint.schemes, now)
    return await sender.post(endpoint.url, headers, body, now)


def webhook_subscriber(
    engine: AsyncEngine, sender: WebhookSender, find_cipher: Callable[[], Cipher]
) -> Subscriber:
    """Make what delivers to all endpoints that this process gets a lease of."""

    async def work(lease: Lease) -> timedelta | None:
        return await EndpointDelivery(lease, sender, find_cipher).work()

    return Subscriber(engine, ENDPOINTS, work)
