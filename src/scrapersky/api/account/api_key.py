"""Keys for programs."""

from datetime import timedelta
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Request
from sqlalchemy import func, select, update

from scrapersky.api.account.people import KEY_COLUMNS, MOST, add_key
from scrapersky.api.account.schema import (
    Everything,
    KeyIn,
    KeyMade,
    KeyOut,
    everything,
)
from scrapersky.api.auth.authenticator import Authenticator
from scrapersky.api.auth.identity import ROLES, Identity, Permission
from scrapersky.api.dependency import Transaction, actor_of, after_commit, allow
from scrapersky.errors import NotAllowed, UnknownRecord
from scrapersky.records import ApiKey
from scrapersky.records.audit import note

router = APIRouter(prefix="/api-keys", tags=["api keys"])

Admin = Annotated[Identity, allow(Permission.ADMINISTER)]


@router.get("", operation_id="list_api_keys")
async def list_keys(who: Admin, connection: Transaction) -> Everything[KeyOut]:
    """List the tenant's keys, the newest first; their secrets are not kept."""
    query = select(*KEY_COLUMNS).where(ApiKey.tenant_id == who.tenant_id)
    rows = await connection.execute(
        query.order_by(ApiKey.created_at.desc(), ApiKey.id).limit(MOST)
    )
    return everything([KeyOut.model_validate(row) for row in rows])


@router.post("", operation_id="create_api_key", status_code=201)
async def create(
    request: Request, who: Admin, connection: Transaction, given: KeyIn
) -> KeyMade:
    """Make a key; the answer is the only time its secret is shown."""
    scopes = sorted(scopes_of(who, given))
    lasts = timedelta(days=given.expires_in_days) if given.expires_in_days else None
    key, made = await add_key(
        connection,
        who.tenant_id,
        name=given.name,
        role=given.role,
        scopes=scopes,
        made_by=who.user_id,
        lasts=lasts,
    )
    details = {"name": given.name, "role": given.role.value, "scopes": scopes}
    actor = actor_of(who, request)
    await note(connection, actor, "key.created", f"api-keys/{made.id}", details)
    request.state.holds_secret = True
    shown = KeyOut.model_validate(made).model_dump()
    return KeyMade(**shown, secret=key.secret)


@router.delete("/{key_id}", operation_id="revoke_api_key", status_code=204)
async def revoke(
    request: Request, key_id: UUID, who: Admin, connection: Transaction
) -> None:
    """Revoke a key, at once in this process, within seconds in others."""
    statement = (
        update(ApiKey)
        .where(ApiKey.id == key_id, ApiKey.tenant_id == who.tenant_id)
        .values(revoked_at=func.coalesce(ApiKey.revoked_at, func.clock_timestamp()))
        .returning(ApiKey.id)
    )
    if (await connection.execute(statement)).first() is None:
        raise UnknownRecord("There is no such key.")
    await note(connection, actor_of(who, request), "key.revoked", f"api-keys/{key_id}")
    authenticator: Authenticator = request.app.state.authenticator
    after_commit(request, authenticator.forget)


def scopes_of(who: Identity, given: KeyIn) -> frozenset[Permission]:
    """Return what a key may do; never more than whoever makes it."""
    usual = ROLES[given.role]
    scopes = usual if given.scopes is None else frozenset(given.scopes)
    beyond = scopes - who.permissions
    if beyond or not usual <= ROLES[who.role]:
        raise NotAllowed(
            "A key cannot have more permissions than the person who creates it.",
            hint=f"Leave out: {', '.join(sorted(beyond)) or given.role.value}.",
        )
    return scopes
