"""Make and change tenants, people and keys; for the API and the command line."""

import re
import secrets
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from sqlalchemy import and_, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.api.account.authority import Authority, lock_accounts
from scrapersky.api.auth.credential import AnyRow, NewKey, new_key
from scrapersky.api.auth.identity import Permission
from scrapersky.errors import RecordConflict, UnknownRecord
from scrapersky.records import (
    ApiKey,
    SelectionRule,
    Tenant,
    User,
)
from scrapersky.records.status import Role

USER_COLUMNS: Final = (
    User.id,
    User.tenant_id,
    User.email,
    User.name,
    User.role,
    User.subject,
    User.disabled_at,
    User.created_at,
    User.updated_at,
    and_(User.password_hash.is_(None), User.subject.is_(None)).label("is_invited"),
)
KEY_COLUMNS: Final = (
    ApiKey.id,
    ApiKey.name,
    ApiKey.prefix,
    ApiKey.role,
    ApiKey.scopes,
    ApiKey.created_at,
    ApiKey.expires_at,
    ApiKey.last_used_at,
    ApiKey.revoked_at,
)
TENANT_COLUMNS: Final = (
    Tenant.id,
    Tenant.name,
    Tenant.slug,
    Tenant.suspended_at,
    Tenant.created_at,
    Tenant.budget,
)
MAX_PEOPLE: Final = 1_000
"""People or keys that one list shows."""
CONTACT_LIKE: Final = {
    "all": [{"field": "contact_likelihood", "comparison": "at_least", "value": 0.05}]
}
"""The rule every tenant begins with; it can be switched off like any other."""


async def users_of(connection: AsyncConnection, tenant_id: UUID) -> Sequence[AnyRow]:
    """List the people of a tenant, without ScraperSky itself."""
    query = (
        select(*USER_COLUMNS)
        .where(User.tenant_id == tenant_id, User.is_system.is_(False))
        .order_by(User.email)
        .limit(MAX_PEOPLE)
    )
    return (await connection.execute(query)).all()


async def user_of(
    connection: AsyncConnection, tenant_id: UUID, user_id: UUID
) -> AnyRow:
    """Return one person, or raise UnknownRecord."""
    query = select(*USER_COLUMNS).where(
        User.tenant_id == tenant_id, User.id == user_id, User.is_system.is_(False)
    )
    found = (await connection.execute(query)).one_or_none()
    if found is None:
        raise UnknownRecord("There is no such user.")
    return found


async def add_user(
    connection: AsyncConnection,
    by: Authority,
    tenant_id: UUID,
    *,
    email: str,
    role: Role,
    name: str | None = None,
    password_hash: str | None = None,
    subject: str | None = None,
    issuer: str | None = None,
) -> AnyRow:
    """Let a person in; raise RecordConflict if the tenant has them already."""
    by.refuse_user(tenant_id, role)
    statement = (
        insert(User)
        .values(
            tenant_id=tenant_id,
            email=email,
            name=name,
            role=role,
            password_hash=password_hash,
            subject=subject,
            issuer=issuer if subject else None,
        )
        .returning(*USER_COLUMNS)
    )
    try:
        return (await connection.execute(statement)).one()
    except IntegrityError as error:
        raise RecordConflict(
            f"There is a user {email} already, or someone with the same subject.",
            hint="Change that user instead.",
        ) from error


async def change_user(
    connection: AsyncConnection, by: Authority, user: AnyRow, values: dict[str, Any]
) -> AnyRow:
    """Change a person; raise RecordConflict if nobody could look after the tenant."""
    for role in (user.role, values.get("role", user.role)):
        by.refuse_user(user.tenant_id, role)
    await lock_accounts(connection, user.tenant_id)
    loses_rights = (
        values.get("role", Role.ADMIN) is not Role.ADMIN
        or values.get("disabled_at") is not None
    )
    if loses_rights:
        await keep_an_admin(connection, user)
    statement = (
        update(User)
        .where(User.id == user.id, User.tenant_id == user.tenant_id)
        .values(**values)
        .returning(*USER_COLUMNS)
    )
    try:
        return (await connection.execute(statement)).one()
    except IntegrityError as error:
        raise RecordConflict("Someone else has the same subject.") from error


async def remove_user(connection: AsyncConnection, by: Authority, user: AnyRow) -> None:
    """Remove a person with their keys; what else they made stays."""
    by.refuse_user(user.tenant_id, user.role)
    await lock_accounts(connection, user.tenant_id)
    await keep_an_admin(connection, user)
    await connection.execute(
        update(ApiKey)
        .where(ApiKey.created_by == user.id, ApiKey.revoked_at.is_(None))
        .values(revoked_at=func.clock_timestamp())
    )
    await connection.execute(
        delete(User).where(User.id == user.id, User.tenant_id == user.tenant_id)
    )


async def keep_an_admin(connection: AsyncConnection, user: AnyRow) -> None:
    """Raise RecordConflict if this is the last admin of a tenant.

    The accounts are locked: two admins cannot remove each other at the same moment.
    """
    if user.role is not Role.ADMIN or user.disabled_at is not None:
        return
    admins = select(User.id).where(
        User.tenant_id == user.tenant_id,
        User.role == Role.ADMIN,
        User.disabled_at.is_(None),
        User.is_system.is_(False),
    )
    if set((await connection.scalars(admins)).all()) <= {user.id}:
        raise RecordConflict(
            "This is the last admin of the tenant.",
            hint="Make someone else admin first.",
        )


async def add_key(
    connection: AsyncConnection,
    by: Authority,
    tenant_id: UUID,
    *,
    name: str,
    role: Role,
    scopes: Sequence[Permission],
    made_by: UUID | None,
    lasts: timedelta | None = None,
) -> tuple[NewKey, AnyRow]:
    """Make an API key; its secret is returned and not kept."""
    by.refuse_beyond(frozenset(scopes))
    key = new_key()
    statement = (
        insert(ApiKey)
        .values(
            tenant_id=tenant_id,
            name=name,
            prefix=key.prefix,
            secret_hash=key.digest,
            role=role,
            scopes=[scope.value for scope in scopes],
            created_by=made_by,
            is_personal=made_by is not None,
            expires_at=None if lasts is None else func.clock_timestamp() + lasts,
        )
        .returning(*KEY_COLUMNS)
    )
    return key, (await connection.execute(statement)).one()


async def revoke_key(
    connection: AsyncConnection, by: Authority, tenant_id: UUID, key_id: UUID
) -> None:
    """Revoke an API key, or raise UnknownRecord."""
    mine = (ApiKey.id == key_id, ApiKey.tenant_id == tenant_id)
    found = (
        await connection.execute(select(ApiKey.role, ApiKey.scopes).where(*mine))
    ).one_or_none()
    if found is None:
        raise UnknownRecord("There is no such key.")
    by.refuse_key(tenant_id, found.role, found.scopes)
    now = func.coalesce(ApiKey.revoked_at, func.clock_timestamp())
    await connection.execute(update(ApiKey).where(*mine).values(revoked_at=now))


async def add_tenant(
    connection: AsyncConnection, *, name: str, slug: str | None
) -> AnyRow:
    """Make a tenant with the rule that everyone begins with."""
    statement = (
        insert(Tenant)
        .values(name=name, slug=slug or slug_of(name))
        .returning(*TENANT_COLUMNS)
    )
    try:
        made = (await connection.execute(statement)).one()
    except IntegrityError as error:
        raise RecordConflict(
            "There is a tenant with this short name already.",
            hint="Choose another slug.",
        ) from error
    await connection.execute(
        insert(SelectionRule).values(
            tenant_id=made.id,
            name="Contact-like pages",
            kind="pages",
            conditions=CONTACT_LIKE,
            status="Selected",
            best_first=True,
        )
    )
    return made


def slug_of(name: str) -> str:
    """Make a short name out of a name."""
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40]
    return plain or f"tenant-{secrets.token_hex(4)}"
