"""The stored messages of an endpoint: what is queued, what was taken, what was given up."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

import orjson
from sqlalchemy import Row, func, insert, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.kit.clock import utc_now
from scrapersky.kit.time_ordered import time_ordered_uuid
from scrapersky.records.webhook import (
    DELIVERED,
    FAILED,
    PENDING,
    WebhookDelivery,
    WebhookEndpoint,
)
from scrapersky.webhooks.message import WebhookMessage, unpacked
from scrapersky.webhooks.schedule import MAX_FAILED_IN_A_ROW
from scrapersky.webhooks.sender import DeliveryAttempt

MAX_ATTEMPTS_NOTED: Final = 20
STORED: Final = (
    select(
        WebhookDelivery.id,
        WebhookDelivery.body,
        WebhookDelivery.attempts,
        WebhookDelivery.attempt_count,
        WebhookDelivery.next_at,
    )
    .where(WebhookDelivery.state == PENDING)
    .order_by(WebhookDelivery.position)
)
TAKEN: Final = text(
    """UPDATE webhook_deliveries d SET state = :delivered, body = NULL, next_at = NULL,
      delivered_at = clock_timestamp(), attempt_count = d.attempt_count + 1,
      attempts = CAST(t.attempts AS jsonb)
    FROM unnest(CAST(:ids AS uuid[]), CAST(:attempts AS text[])) AS t (id, attempts)
    WHERE d.id = t.id"""
).bindparams(delivered=DELIVERED)
FAILED_IN_A_ROW: Final = text(
    """SELECT count(*) FROM (SELECT state FROM webhook_deliveries
      WHERE endpoint_id = :endpoint AND state <> :pending
      ORDER BY position DESC LIMIT :most) AS last WHERE state = :failed"""
).bindparams(pending=PENDING, failed=FAILED)


@dataclass(frozen=True, slots=True)
class QueuedMessage:
    """A message that is stored and was not taken yet."""

    id: UUID
    body: bytes
    attempts: Sequence[dict[str, Any]] = ()
    attempt_count: int = 0
    next_at: datetime | None = None

    def with_attempt(self, attempt: DeliveryAttempt) -> list[dict[str, Any]]:
        """Return the latest attempts, this one among them."""
        return [*self.attempts, attempt.noted()][-MAX_ATTEMPTS_NOTED:]


@dataclass(frozen=True, slots=True)
class TakenMessage:
    """A message that its receiver has taken."""

    message: QueuedMessage
    attempt: DeliveryAttempt


async def stored_messages(
    connection: AsyncConnection, endpoint: UUID, limit: int
) -> list[QueuedMessage]:
    """Read what an endpoint is to be sent, in its order."""
    query = STORED.where(WebhookDelivery.endpoint_id == endpoint).limit(limit)
    return [
        QueuedMessage(
            row.id, unpacked(row.body), row.attempts, row.attempt_count, row.next_at
        )
        for row in await connection.execute(query)
    ]


async def store_messages(
    connection: AsyncConnection,
    endpoint: Row[Any],
    cursor: str,
    found: Sequence[WebhookMessage],
) -> list[QueuedMessage]:
    """Store messages that were read from a cursor on, in their order."""
    queued = [QueuedMessage(time_ordered_uuid(), one.body) for one in found]
    rows = [
        {
            "id": message.id,
            "tenant_id": endpoint.tenant_id,
            "endpoint_id": endpoint.id,
            "type": one.type,
            "event_count": one.event_count,
            "cursor": cursor,
            "body": one.packed,
            "state": PENDING,
        }
        for message, one in zip(queued, found, strict=True)
    ]
    if rows:
        await connection.execute(insert(WebhookDelivery), rows)
    return queued


async def mark_taken(
    connection: AsyncConnection, taken: Sequence[TakenMessage]
) -> None:
    """Write down that messages were taken; their bodies are not needed any more."""
    if taken:
        attempts = [one.message.with_attempt(one.attempt) for one in taken]
        given = {
            "ids": [one.message.id for one in taken],
            "attempts": [orjson.dumps(one).decode() for one in attempts],
        }
        await connection.execute(TAKEN, given)


async def mark_failed(
    connection: AsyncConnection,
    message: QueuedMessage,
    attempt: DeliveryAttempt,
    pause: timedelta | None,
    *,
    is_given_up: bool,
) -> None:
    """Write down an attempt that failed, and when the next one is."""
    noted = {
        "state": FAILED if is_given_up else PENDING,
        "attempts": message.with_attempt(attempt),
        "attempt_count": message.attempt_count + 1,
        "next_at": None if pause is None else utc_now() + pause,
    }
    await connection.execute(
        update(WebhookDelivery).where(WebhookDelivery.id == message.id).values(noted)
    )


async def refuses_all(connection: AsyncConnection, endpoint: UUID) -> bool:
    """Say whether so many messages were refused in a row that it is not about them."""
    counted = {"endpoint": endpoint, "most": MAX_FAILED_IN_A_ROW}
    failed = await connection.scalar(FAILED_IN_A_ROW, counted)
    return bool(failed == MAX_FAILED_IN_A_ROW)


async def disable(connection: AsyncConnection, endpoint: UUID, why: str) -> None:
    """Send nothing any more, until a person says so; what is not sent waits."""
    await connection.execute(
        update(WebhookEndpoint)
        .where(WebhookEndpoint.id == endpoint)
        .values(
            is_active=False,
            lease=None,
            leased_until=None,
            disabled_at=func.clock_timestamp(),
            problem=why,
        )
    )
