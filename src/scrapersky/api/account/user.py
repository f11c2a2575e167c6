"""The people of a tenant."""

from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request
from sqlalchemy import func

from scrapersky.api.account.authority import authority_of
from scrapersky.api.account.people import (
    add_user,
    change_user,
    remove_user,
    user_of,
    users_of,
)
from scrapersky.api.account.schema import UserChange, UserIn, UserOut
from scrapersky.api.auth.authenticator import Authenticator
from scrapersky.api.auth.credential import revoke_sessions
from scrapersky.api.auth.password import refuse_weak
from scrapersky.api.dependency import (
    Admin,
    SystemTransaction,
    actor_of,
    after_commit,
)
from scrapersky.api.schema import ListOut, whole_list
from scrapersky.errors import InvalidUserChange
from scrapersky.records.audit import note

router = APIRouter(prefix="/users", tags=["users"])


@router.get("", operation_id="list_users")
async def list_users(who: Admin, connection: SystemTransaction) -> ListOut[UserOut]:
    """List the people of the tenant."""
    rows = await users_of(connection, who.tenant_id)
    return whole_list([UserOut.model_validate(row) for row in rows])


@router.post("", operation_id="create_user", status_code=201)
async def create(
    request: Request, who: Admin, connection: SystemTransaction, given: UserIn
) -> UserOut:
    """Let a person in."""
    authenticator: Authenticator = request.app.state.authenticator
    hashed = await hash_of(authenticator, given.password)
    made = await add_user(
        connection,
        await authority_of(request, who, connection),
        who.tenant_id,
        email=given.email,
        name=given.name,
        role=given.role,
        password_hash=hashed,
        subject=given.subject,
        issuer=authenticator.issuer,
    )
    details = {"email": given.email, "role": given.role.value}
    actor = actor_of(who, request)
    await note(connection, actor, "user.created", f"users/{made.id}", details)
    after_commit(request, authenticator.forget)
    return UserOut.model_validate(made)


@router.get("/{user_id}", operation_id="get_user")
async def show(user_id: UUID, who: Admin, connection: SystemTransaction) -> UserOut:
    """Show one person."""
    return UserOut.model_validate(await user_of(connection, who.tenant_id, user_id))


@router.patch("/{user_id}", operation_id="update_user")
async def change_user_account(
    request: Request,
    user_id: UUID,
    who: Admin,
    *,
    connection: SystemTransaction,
    given: UserChange,
) -> UserOut:
    """Change a person's name, role, password or subject, or shut them out."""
    authenticator: Authenticator = request.app.state.authenticator
    values = user_changes(given)
    if "password" in values:
        values["password_hash"] = await hash_of(authenticator, values.pop("password"))
    if "subject" in values:
        values["issuer"] = authenticator.issuer if values["subject"] else None
    by = await authority_of(request, who, connection)
    user = await user_of(connection, who.tenant_id, user_id)
    changed = await change_user(connection, by, user, values)
    named = sorted(given.model_fields_set)
    actor = actor_of(who, request)
    await note(connection, actor, "user.changed", f"users/{user_id}", {"fields": named})
    if {"password_hash", "disabled_at"} & values.keys():
        await revoke_sessions(connection, user_id)
    after_commit(request, authenticator.forget)
    return UserOut.model_validate(changed)


@router.delete("/{user_id}", operation_id="delete_user", status_code=204)
async def remove(
    request: Request, user_id: UUID, who: Admin, connection: SystemTransaction
) -> None:
    """Remove a person and revoke their keys; what else they made stays."""
    by = await authority_of(request, who, connection)
    user = await user_of(connection, who.tenant_id, user_id)
    await remove_user(connection, by, user)
    await note(connection, actor_of(who, request), "user.removed", f"users/{user_id}")
    authenticator: Authenticator = request.app.state.authenticator
    after_commit(request, authenticator.forget)


def user_changes(given: UserChange) -> dict[str, Any]:
    """Return the columns a request changes."""
    values = given.model_dump(exclude_unset=True)
    if values.get("role", "") is None or values.get("password", "") is None:
        raise InvalidUserChange("A role or password can be changed, not removed.")
    if "disabled" in values:
        is_out = values.pop("disabled")
        values["disabled_at"] = func.clock_timestamp() if is_out else None
    if not values:
        raise InvalidUserChange("The request changes nothing.")
    return values


async def hash_of(authenticator: Authenticator, password: str | None) -> str | None:
    """Hash a new password that is good enough."""
    if password is None:
        return None
    refuse_weak(password)
    return await authenticator.passwords.hash(password)
