"""What an endpoint was sent: the log of messages, a test, and sending again."""

from typing import Any, Final
from uuid import UUID, uuid4

from fastapi import APIRouter, Request
from sqlalchemy import func, insert, select, update

from scrapersky.api.dependency import Admin, BulkEngine, Transaction, actor_of
from scrapersky.api.schema import NOT_FOUND, ListOut
from scrapersky.api.tenancy import acting_for
from scrapersky.api.time_list import PageAsked, read_latest
from scrapersky.api.webhooks.endpoint import (
    ANEW,
    endpoint_of,
    noted,
    secrets_of,
    update_of,
)
from scrapersky.api.webhooks.schema import (
    DeliveryAttemptOut,
    ReplayIn,
    ReplayOut,
    WebhookDeliveryOut,
    WebhookTestOut,
    delivery_out,
)
from scrapersky.kit.clock import utc_now
from scrapersky.records import WebhookDelivery
from scrapersky.records.webhook import DELIVERED, FAILED, PENDING
from scrapersky.webhooks.delivery import attempt_delivery, message_id
from scrapersky.webhooks.message import TEST, WebhookMessage, written
from scrapersky.webhooks.sender import WebhookSender

router = APIRouter(prefix="/webhooks")

LISTED: Final[tuple[Any, ...]] = (
    WebhookDelivery.id,
    WebhookDelivery.type,
    WebhookDelivery.event_count,
    WebhookDelivery.state,
    WebhookDelivery.attempts,
    WebhookDelivery.next_at,
    WebhookDelivery.created_at,
    WebhookDelivery.delivered_at,
)


@router.get(
    "/{webhook_id}/deliveries",
    operation_id="list_webhook_deliveries",
    responses=NOT_FOUND,
)
async def list_deliveries(
    webhook_id: UUID, who: Admin, connection: Transaction, page: PageAsked
) -> ListOut[WebhookDeliveryOut]:
    """List the messages of an endpoint, the latest first, with every attempt."""
    await endpoint_of(connection, who, webhook_id)
    found = await read_latest(
        connection,
        select(*LISTED).where(WebhookDelivery.endpoint_id == webhook_id),
        WebhookDelivery.created_at,
        WebhookDelivery.id,
        scope=["webhook-deliveries", str(webhook_id)],
        page=page,
    )
    return found.listing([delivery_out(row) for row in found.rows])


@router.post("/{webhook_id}/test", operation_id="test_webhook", responses=NOT_FOUND)
async def test_webhook(
    request: Request, webhook_id: UUID, who: Admin, engine: BulkEngine
) -> WebhookTestOut:
    """Post a test message now, once, and say how it went."""
    with acting_for(who.tenant_id):
        async with engine.connect() as connection:
            row = await endpoint_of(connection, who, webhook_id)
        secrets, delivery = secrets_of(request, row), uuid4()
        about = {"message": "This is a test.", "webhook_id": webhook_id}
        message = WebhookMessage(TEST, 0, written(TEST, utc_now(), about))
        sender: WebhookSender = request.app.state.webhook_sender
        # No connection is held while somebody else's server answers.
        attempt = await attempt_delivery(sender, row, secrets, delivery, message.body)
        stored = insert(WebhookDelivery).values(
            id=delivery,
            tenant_id=who.tenant_id,
            created_by=who.user_id,
            endpoint_id=webhook_id,
            type=TEST,
            event_count=0,
            cursor="",
            state=DELIVERED if attempt.is_delivered else FAILED,
            attempts=[attempt.noted()],
            delivered_at=func.clock_timestamp() if attempt.is_delivered else None,
        )
        async with engine.begin() as connection:
            await connection.execute(stored)
            await noted(connection, actor_of(who, request), "tested", row)
    return WebhookTestOut(
        is_delivered=attempt.is_delivered,
        message_id=message_id(delivery),
        attempt=DeliveryAttemptOut(**attempt.noted()),
    )


@router.post("/{webhook_id}/replay", operation_id="replay_webhook", responses=NOT_FOUND)
async def replay_webhook(
    request: Request,
    webhook_id: UUID,
    who: Admin,
    connection: Transaction,
    given: ReplayIn,
) -> ReplayOut:
    """Send again what was given up since a moment, or every change since then."""
    row = await endpoint_of(connection, who, webhook_id)
    # First: nobody writes to the endpoint beside this any more.
    await connection.execute(update_of(webhook_id).values(ANEW | {"is_active": True}))
    replay = replay_failed if given.failed_only else replay_all
    outcome = await replay(connection, webhook_id, given)
    about = f"since {given.since.isoformat()}"
    await noted(connection, actor_of(who, request), "replayed", row, about)
    return outcome


async def replay_failed(
    connection: Transaction, webhook_id: UUID, given: ReplayIn
) -> ReplayOut:
    """Queue the messages that were given up, as they were."""
    statement = update(WebhookDelivery).where(
        *in_range(webhook_id, given),
        WebhookDelivery.state == FAILED,
        WebhookDelivery.body.is_not(None),
    )
    again = {"state": PENDING, "attempt_count": 0, "next_at": None}
    done = await connection.execute(statement.values(again))
    return ReplayOut(messages=done.rowcount, starts_at=None)


async def replay_all(
    connection: Transaction, webhook_id: UUID, given: ReplayIn
) -> ReplayOut:
    """Go back in the log to where it was read then; what waits is read again with it."""
    query = (
        select(WebhookDelivery.cursor, WebhookDelivery.created_at)
        .where(*in_range(webhook_id, given), WebhookDelivery.cursor != "")
        .order_by(WebhookDelivery.position)
        .limit(1)
    )
    first = (await connection.execute(query)).one_or_none()
    if first is None:
        return ReplayOut(messages=0, starts_at=None)
    given_up = {"state": FAILED, "body": None, "next_at": None}
    waiting = update(WebhookDelivery).where(
        WebhookDelivery.endpoint_id == webhook_id, WebhookDelivery.state == PENDING
    )
    await connection.execute(waiting.values(given_up))
    await connection.execute(update_of(webhook_id).values(cursor=first.cursor))
    return ReplayOut(messages=0, starts_at=first.created_at)


def in_range(webhook_id: UUID, given: ReplayIn) -> list[Any]:
    """Choose the messages of an endpoint within a time."""
    chosen = [
        WebhookDelivery.endpoint_id == webhook_id,
        WebhookDelivery.created_at >= given.since,
        WebhookDelivery.type != TEST,
    ]
    if given.until is not None:
        chosen.append(WebhookDelivery.created_at < given.until)
    return chosen
