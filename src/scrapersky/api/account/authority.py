"""Nobody gives more than they have: what a caller may do to people and to keys."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from fastapi import Request
from sqlalchemy import Select, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.api.auth.authenticator import Authenticator
from scrapersky.api.auth.credential import lesser
from scrapersky.api.auth.identity import Identity, Permission, permissions_of
from scrapersky.errors import NotAllowed
from scrapersky.records import ApiKey, User
from scrapersky.records.status import Role

LOCK_ACCOUNTS: Final = text(
    "SELECT pg_advisory_xact_lock(hashtextextended('accounts ' || :tenant, 0))"
)


@dataclass(frozen=True, slots=True)
class Authority:
    """What somebody holds, and so the most that they may give, change or take away."""

    permissions: frozenset[Permission]
    home_tenant: UUID | None = None
    """The tenant whose admins also operate the installation."""

    def refuse_user(self, tenant_id: UUID, role: Role) -> None:
        """Raise NotAllowed if a user of this role may do more than this authority."""
        self.refuse_beyond(permissions_of(role, is_home=tenant_id == self.home_tenant))

    def refuse_key(self, tenant_id: UUID, role: Role, scopes: Iterable[str]) -> None:
        """Raise NotAllowed if a key that exists may do more than this authority."""
        limit = frozenset(map(Permission, scopes))
        is_home = tenant_id == self.home_tenant
        self.refuse_beyond(permissions_of(role, is_home=is_home, scopes=limit))

    def refuse_beyond(self, wanted: frozenset[Permission]) -> None:
        """Raise NotAllowed if any of these permissions is not held."""
        if beyond := sorted(wanted - self.permissions):
            raise NotAllowed(
                "Nobody makes, changes or removes users and keys that may do more than "
                f"themselves; here that is: {', '.join(beyond)}.",
                hint="Log in as a person with these permissions, or use a key with "
                "these scopes.",
            )


MACHINE: Final = Authority(frozenset(Permission))
"""Whoever is at the machine itself, and the settings made there."""


async def authority_of(
    request: Request, who: Identity, connection: AsyncConnection
) -> Authority:
    """Return what a caller may give away, by what the database says now.

    Who was demoted since the request began has lost it: with a request under way they
    could promote themselves again.
    """
    authenticator: Authenticator = request.app.state.authenticator
    home = authenticator.home_tenant
    await lock_accounts(connection, who.tenant_id)
    role = await role_now(connection, who)
    is_home = who.tenant_id == home
    permissions = permissions_of(role, is_home=is_home, scopes=who.scopes)
    if not who.permissions <= permissions:
        raise NotAllowed("Your permissions were changed a moment ago.")
    return Authority(permissions, home)


async def lock_accounts(connection: AsyncConnection, tenant_id: UUID) -> None:
    """Let changes to the accounts of one tenant happen one after another."""
    await connection.execute(LOCK_ACCOUNTS, {"tenant": str(tenant_id)})


async def role_now(connection: AsyncConnection, who: Identity) -> Role:
    """Return the role a caller has at this moment, or raise NotAllowed."""
    role = who.role
    if who.user_id is not None:
        person = select(User.role).where(
            User.id == who.user_id, User.disabled_at.is_(None)
        )
        role = lesser(role, await found_now(connection, person))
    if who.via == "key":
        key = select(ApiKey.role).where(
            ApiKey.prefix == who.credential, ApiKey.revoked_at.is_(None)
        )
        role = lesser(role, await found_now(connection, key))
    return role


async def found_now(connection: AsyncConnection, query: Select[Role]) -> Role:
    """Return the role that a query finds, or raise NotAllowed."""
    found: Role | None = await connection.scalar(query)
    if found is None:
        raise NotAllowed("Your account or key was withdrawn a moment ago.")
    return found
