"""The tenants of this installation, for whoever runs it."""

from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request
from sqlalchemy import func, literal, select, update
from sqlalchemy.dialects.postgresql import JSONB

from scrapersky.api.account.authority import authority_of
from scrapersky.api.account.people import (
    MAX_PEOPLE,
    TENANT_COLUMNS,
    add_tenant,
    add_user,
)
from scrapersky.api.account.schema import TenantChange, TenantIn, TenantOut
from scrapersky.api.account.user import hash_of
from scrapersky.api.auth.authenticator import Authenticator
from scrapersky.api.dependency import (
    Operator,
    SystemTransaction,
    actor_of,
    after_commit,
)
from scrapersky.api.schema import ListOut, whole_list
from scrapersky.errors import InvalidUserChange, RecordConflict, UnknownRecord
from scrapersky.records import Tenant
from scrapersky.records.audit import note
from scrapersky.records.status import Role

router = APIRouter(prefix="/tenants", tags=["tenants"])


@router.get("", operation_id="list_tenants")
async def list_tenants(
    _who: Operator, connection: SystemTransaction
) -> ListOut[TenantOut]:
    """List all tenants, the oldest first."""
    query = (
        select(*TENANT_COLUMNS).order_by(Tenant.created_at, Tenant.id).limit(MAX_PEOPLE)
    )
    rows = await connection.execute(query)
    return whole_list([TenantOut.model_validate(row) for row in rows])


@router.post("", operation_id="create_tenant", status_code=201)
async def create(
    request: Request, who: Operator, connection: SystemTransaction, given: TenantIn
) -> TenantOut:
    """Make a tenant, with its first admin if one is named."""
    authenticator: Authenticator = request.app.state.authenticator
    admin = given.admin
    hashed = await hash_of(authenticator, admin.password) if admin else None
    made = await add_tenant(connection, name=given.name, slug=given.slug)
    if admin is not None:
        await add_user(
            connection,
            await authority_of(request, who, connection),
            made.id,
            email=admin.email,
            name=admin.name,
            role=Role.ADMIN,
            password_hash=hashed,
            subject=admin.subject,
            issuer=authenticator.issuer,
        )
    actor = actor_of(who, request)
    await note(
        connection,
        actor,
        "tenant.created",
        f"tenants/{made.id}",
        {"slug": made.slug},
    )
    after_commit(request, authenticator.forget)
    return TenantOut.model_validate(made)


@router.patch("/{tenant_id}", operation_id="update_tenant")
async def change_tenant(
    request: Request,
    tenant_id: UUID,
    who: Operator,
    connection: SystemTransaction,
    given: TenantChange,
) -> TenantOut:
    """Rename a tenant, or suspend it: nobody of it is let in until it is not."""
    authenticator: Authenticator = request.app.state.authenticator
    values = tenant_changes(given)
    if (
        values.get("suspended_at") is not None
        and tenant_id == authenticator.home_tenant
    ):
        raise RecordConflict("The installation's own tenant cannot be suspended.")
    statement = (
        update(Tenant)
        .where(Tenant.id == tenant_id)
        .values(**values)
        .returning(*TENANT_COLUMNS)
    )
    changed = (await connection.execute(statement)).one_or_none()
    if changed is None:
        raise UnknownRecord("There is no such tenant.")
    named = sorted(given.model_fields_set)
    actor = actor_of(who, request)
    await note(
        connection,
        actor,
        "tenant.changed",
        f"tenants/{tenant_id}",
        {"fields": named},
    )
    after_commit(request, authenticator.forget)
    return TenantOut.model_validate(changed)


def tenant_changes(given: TenantChange) -> dict[str, Any]:
    """Return the columns a request changes."""
    values = given.model_dump(exclude_unset=True)
    if values.get("name", "") is None or not values:
        raise InvalidUserChange("The request contains no field that can be changed.")
    if "suspended" in values:
        is_out = values.pop("suspended")
        values["suspended_at"] = func.clock_timestamp() if is_out else None
    if (limits := values.pop("budget", None)) is not None:
        kept = {name: most for name, most in limits.items() if most is not None}
        values["budget"] = Tenant.budget.concat(literal(kept, JSONB))
    return values
