"""Keys for programs."""

from datetime import timedelta
from uuid import UUID

from fastapi import APIRouter, Request
from sqlalchemy import select

from scrapersky.api.account.authority import authority_of
from scrapersky.api.account.people import KEY_COLUMNS, MAX_PEOPLE, add_key, revoke_key
from scrapersky.api.account.schema import KeyIn, KeyMade, KeyOut
from scrapersky.api.auth.authenticator import Authenticator
from scrapersky.api.auth.identity import ROLES
from scrapersky.api.dependency import Admin, Transaction, actor_of, after_commit
from scrapersky.api.schema import ListOut, whole_list
from scrapersky.records import ApiKey
from scrapersky.records.audit import note

router = APIRouter(prefix="/api-keys", tags=["api keys"])


@router.get("", operation_id="list_api_keys")
async def list_keys(who: Admin, connection: Transaction) -> ListOut[KeyOut]:
    """List the tenant's keys, the newest first; their secrets are not kept."""
    query = select(*KEY_COLUMNS).where(ApiKey.tenant_id == who.tenant_id)
    rows = await connection.execute(
        query.order_by(ApiKey.created_at.desc(), ApiKey.id).limit(MAX_PEOPLE)
    )
    return whole_list([KeyOut.model_validate(row) for row in rows])


@router.post("", operation_id="create_api_key", status_code=201)
async def create(
    request: Request, who: Admin, connection: Transaction, given: KeyIn
) -> KeyMade:
    """Make a key; the answer is the only time its secret is shown."""
    scopes = sorted(ROLES[given.role] if given.scopes is None else set(given.scopes))
    lasts = timedelta(days=given.expires_in_days) if given.expires_in_days else None
    key, made = await add_key(
        connection,
        await authority_of(request, who, connection),
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
    by = await authority_of(request, who, connection)
    await revoke_key(connection, by, who.tenant_id, key_id)
    await note(connection, actor_of(who, request), "key.revoked", f"api-keys/{key_id}")
    authenticator: Authenticator = request.app.state.authenticator
    after_commit(request, authenticator.forget)
