"""Endpoints of webhooks: whom changes are posted to."""

from datetime import timedelta
from typing import Any, Final
from uuid import UUID, uuid4

from fastapi import APIRouter, Request
from sqlalchemy import Row, delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.api.auth.identity import Identity
from scrapersky.api.dependency import Admin, BulkEngine, Transaction, actor_of
from scrapersky.api.schema import NOT_FOUND, ListOut, whole_list
from scrapersky.api.tenancy import acting_for
from scrapersky.api.webhooks.schema import (
    RotationIn,
    WebhookChange,
    WebhookIn,
    WebhookMade,
    WebhookOut,
)
from scrapersky.changes.reader import head_cursor
from scrapersky.errors import RecordConflict, UnknownRecord
from scrapersky.kit.cipher import Cipher
from scrapersky.kit.clock import utc_now
from scrapersky.records import WebhookDelivery, WebhookEndpoint
from scrapersky.records.audit import Actor, note
from scrapersky.records.webhook import DELIVERED, PENDING
from scrapersky.scheduler.webhook import find_cipher
from scrapersky.webhooks.signature import (
    ASYMMETRIC,
    SigningSecret,
    dump_secrets,
    load_secrets,
    new_secret,
    rotate,
)

router = APIRouter(prefix="/webhooks")

MAX_ENDPOINTS: Final = 20
"""Of one tenant."""
MAX_COUNTED: Final = 1_000
ENDPOINT: Final = WebhookEndpoint.__table__
WAITING: Final = (
    select(WebhookDelivery.id)
    .where(
        WebhookDelivery.endpoint_id == WebhookEndpoint.id,
        WebhookDelivery.state == PENDING,
    )
    .limit(MAX_COUNTED)
    .correlate(WebhookEndpoint)
    .subquery()
)
LAST: Final = (
    select(WebhookDelivery.delivered_at)
    .where(
        WebhookDelivery.endpoint_id == WebhookEndpoint.id,
        WebhookDelivery.state == DELIVERED,
    )
    .order_by(WebhookDelivery.position.desc())
    .limit(1)
    .correlate(WebhookEndpoint)
)
SHOWN: Final = select(
    ENDPOINT,
    select(func.count()).select_from(WAITING).scalar_subquery().label("pending"),
    LAST.scalar_subquery().label("last_delivery_at"),
)


@router.get("", operation_id="list_webhooks")
async def list_webhooks(who: Admin, connection: Transaction) -> ListOut[WebhookOut]:
    """List the endpoints of the tenant, and how each one is doing."""
    query = SHOWN.where(WebhookEndpoint.tenant_id == who.tenant_id)
    rows = await connection.execute(
        query.order_by(WebhookEndpoint.created_at).limit(MAX_ENDPOINTS)
    )
    return whole_list([WebhookOut.model_validate(row) for row in rows])


@router.post("", operation_id="create_webhook", status_code=201)
async def create_webhook(
    request: Request, who: Admin, engine: BulkEngine, given: WebhookIn
) -> WebhookMade:
    """Make an endpoint; it receives what changes from now on.

    The answer is the only time that its secret is shown.
    """
    secret, cipher = new_secret(), cipher_of(request, make=True)
    endpoint_id = uuid4()
    with acting_for(who.tenant_id):
        async with engine.connect() as connection:
            cursor = await head_cursor(connection, who.tenant_id)
            await refuse_too_many(connection, who.tenant_id)
            made = insert(WebhookEndpoint).values(
                id=endpoint_id,
                tenant_id=who.tenant_id,
                created_by=who.user_id,
                cursor=str(cursor),
                name=given.name or given.url[:200],
                secrets=cipher.encrypt(dump_secrets([secret]), str(endpoint_id)),
                public_key=secret.public if ASYMMETRIC in given.schemes else None,
                **given.model_dump(exclude={"name"}),
            )
            await connection.execute(made)
            row = await endpoint_of(connection, who, endpoint_id)
            await noted(connection, actor_of(who, request), "created", row)
            await connection.commit()
    request.state.holds_secret = True
    return with_secret(row, secret)


@router.get("/{webhook_id}", operation_id="get_webhook", responses=NOT_FOUND)
async def get_webhook(
    webhook_id: UUID, who: Admin, connection: Transaction
) -> WebhookOut:
    """Show one endpoint."""
    return WebhookOut.model_validate(await endpoint_of(connection, who, webhook_id))


@router.patch("/{webhook_id}", operation_id="change_webhook", responses=NOT_FOUND)
async def change_webhook(
    request: Request,
    webhook_id: UUID,
    who: Admin,
    connection: Transaction,
    given: WebhookChange,
) -> WebhookOut:
    """Change an endpoint; switched on again, it goes on with what was not delivered."""
    row = await endpoint_of(connection, who, webhook_id)
    changes = given.model_dump(exclude_none=True)
    if given.schemes is not None:
        newest, *_ = secrets_of(request, row)
        changes["public_key"] = newest.public if ASYMMETRIC in given.schemes else None
    if given.is_active or given.url is not None:
        changes |= ANEW
        await connection.execute(begin_anew(webhook_id))
    if changes:
        await connection.execute(update_of(webhook_id).values(changes))
    what = ", ".join(sorted(given.model_fields_set))
    row = await endpoint_of(connection, who, webhook_id)
    await noted(connection, actor_of(who, request), "changed", row, what)
    return WebhookOut.model_validate(row)


@router.delete(
    "/{webhook_id}",
    operation_id="delete_webhook",
    status_code=204,
    responses=NOT_FOUND,
)
async def delete_webhook(
    request: Request, webhook_id: UUID, who: Admin, connection: Transaction
) -> None:
    """Delete an endpoint with everything it was, and was to be, sent."""
    row = await endpoint_of(connection, who, webhook_id)
    await connection.execute(
        delete(WebhookEndpoint).where(WebhookEndpoint.id == webhook_id)
    )
    await noted(connection, actor_of(who, request), "deleted", row)


@router.post(
    "/{webhook_id}/secret", operation_id="rotate_webhook_secret", responses=NOT_FOUND
)
async def rotate_secret(
    request: Request,
    webhook_id: UUID,
    who: Admin,
    connection: Transaction,
    given: RotationIn,
) -> WebhookMade:
    """Give an endpoint a new secret; messages are signed with both for a while.

    The answer is the only time that it is shown.
    """
    row = await endpoint_of(connection, who, webhook_id)
    until = utc_now() + timedelta(hours=given.overlap_hours)
    made = rotate(secrets_of(request, row), until)
    cipher = cipher_of(request, make=True)
    changes = {
        "secrets": cipher.encrypt(dump_secrets(made), str(webhook_id)),
        "public_key": made[0].public if ASYMMETRIC in row.schemes else None,
    }
    await connection.execute(update_of(webhook_id).values(changes))
    await noted(connection, actor_of(who, request), "secret_rotated", row)
    request.state.holds_secret = True
    return with_secret(await endpoint_of(connection, who, webhook_id), made[0])


ANEW: Final[dict[str, Any]] = {
    "disabled_at": None,
    "problem": None,
    "failing_since": None,
    # Whoever is at it begins anew too.
    "lease": None,
    "leased_until": None,
    "next_at": func.clock_timestamp(),
}


def update_of(webhook_id: UUID) -> Any:  # noqa: ANN401 - a statement
    """Change one endpoint."""
    return update(WebhookEndpoint).where(WebhookEndpoint.id == webhook_id)


def begin_anew(webhook_id: UUID) -> Any:  # noqa: ANN401 - a statement
    """Let what waits be sent now, with all its attempts before it."""
    return (
        update(WebhookDelivery)
        .where(
            WebhookDelivery.endpoint_id == webhook_id, WebhookDelivery.state == PENDING
        )
        .values(attempt_count=0, next_at=None)
    )


async def endpoint_of(
    connection: AsyncConnection, who: Identity, webhook_id: UUID
) -> Row[Any]:
    """Return one endpoint of the tenant, or raise UnknownRecord."""
    query = SHOWN.where(
        WebhookEndpoint.tenant_id == who.tenant_id, WebhookEndpoint.id == webhook_id
    )
    found = (await connection.execute(query)).one_or_none()
    if found is None:
        raise UnknownRecord("There is no such webhook.")
    return found


async def refuse_too_many(connection: AsyncConnection, tenant_id: UUID) -> None:
    """Raise RecordConflict if a tenant has as many endpoints as it may have."""
    query = select(func.count()).where(WebhookEndpoint.tenant_id == tenant_id)
    if (await connection.scalar(query) or 0) >= MAX_ENDPOINTS:
        raise RecordConflict(
            f"There are {MAX_ENDPOINTS} webhooks already.",
            hint="Delete one that is not needed, or tell several of one address.",
        )


async def noted(
    connection: AsyncConnection, actor: Actor, what: str, row: Row[Any], about: str = ""
) -> None:
    """Write down in the audit log what was done to an endpoint."""
    details = {"url": row.url, "about": about}
    await note(connection, actor, f"webhook.{what}", f"webhooks/{row.id}", details)


def cipher_of(request: Request, *, make: bool = False) -> Cipher:
    """Return what the secrets of this installation are encrypted with."""
    return find_cipher(request.app.state.settings, make=make)


def secrets_of(request: Request, row: Row[Any]) -> tuple[SigningSecret, ...]:
    """Read what the messages of an endpoint are signed with."""
    return load_secrets(cipher_of(request).decrypt(row.secrets, str(row.id)))


def with_secret(row: Row[Any], secret: SigningSecret) -> WebhookMade:
    """Show an endpoint with its new secret."""
    shown = WebhookOut.model_validate(row).model_dump()
    return WebhookMade(**shown, secret=secret.shared)
