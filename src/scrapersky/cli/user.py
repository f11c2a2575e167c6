"""`scrapersky user`, `scrapersky tenant`, `scrapersky key`: who may come in."""

import getpass
import secrets
import sys
from collections.abc import Callable, Iterable
from typing import Any

from sqlalchemy import delete, func, select
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from scrapersky.api.account.authority import MACHINE
from scrapersky.api.account.people import (
    TENANT_COLUMNS,
    USER_COLUMNS,
    add_key,
    add_tenant,
    add_user,
    change_user,
)
from scrapersky.api.account.schema import a_plain_email, an_email
from scrapersky.api.auth.credential import AnyRow
from scrapersky.api.auth.identity import ROLES, Permission
from scrapersky.api.auth.password import HASHER, refuse_weak
from scrapersky.cli.database import a_database
from scrapersky.cli.operator import operator
from scrapersky.cli.prepare import prepare
from scrapersky.cli.signals import raised_signals, run_stoppable
from scrapersky.cli.stages import with_engine
from scrapersky.cli.table import PlainTable, print_table
from scrapersky.cli.up import say
from scrapersky.configuration import load_settings
from scrapersky.errors import InvalidUserChange, UnknownRecord
from scrapersky.records import LoginSession, Tenant, User
from scrapersky.records.audit import note
from scrapersky.records.status import Role


def create_user(
    email: str,
    *,
    role: str = "viewer",
    tenant: str | None = None,
    subject: str | None = None,
) -> None:
    """Let a person in.

    Asks for a password on a terminal; elsewhere one is made and printed once.
    """
    address, granted = checked(email, a_plain_email), Role(role)
    password, is_new = (None, False) if subject else a_password()

    async def act(engine: AsyncEngine) -> AnyRow:
        async with engine.begin() as connection:
            place = await tenant_named(connection, tenant)
            made = await add_user(
                connection,
                MACHINE,
                place.id,
                email=address,
                role=granted,
                password_hash=HASHER.hash(password) if password else None,
                subject=subject,
                issuer=load_settings().settings.jwt_issuer,
            )
            await note(
                connection,
                operator(place.id),
                "user.created",
                f"users/{made.id}",
                {"email": address, "role": granted.value},
            )
            return made

    on_database(act)
    print(f"{address} can now log in as {granted.value}.")
    if is_new:
        print(f"Password (shown once): {password}")


def list_users() -> None:
    """List everyone who may come in."""

    async def act(engine: AsyncEngine) -> Any:  # noqa: ANN401 - rows
        query = (
            select(*USER_COLUMNS, Tenant.slug)
            .join(Tenant, Tenant.id == User.tenant_id)
            .where(User.is_system.is_(False))
            .order_by(Tenant.created_at, User.email)
        )
        async with engine.connect() as connection:
            return (await connection.execute(query)).all()

    table = PlainTable("tenant", "e-mail", "role", "disabled", "subject")
    for row in on_database(act) or ():
        disabled = (
            row.disabled_at.isoformat(timespec="minutes") if row.disabled_at else ""
        )
        table.add_row(row.slug, row.email, row.role.value, disabled, row.subject or "")
    print_table(table, whole=("tenant", "e-mail"))


def disable_user(email: str, *, tenant: str | None = None) -> None:
    """Shut a person out, everywhere and at once."""
    change(email, tenant, {"disabled_at": func.clock_timestamp()})
    print(f"{email} is deactivated.")


def set_password(email: str, *, tenant: str | None = None) -> None:
    """Set a new password; every session of that person ends."""
    password, is_new = a_password()
    values = {"password_hash": HASHER.hash(password), "disabled_at": None}
    change(email, tenant, values)
    print(f"{email} has a new password.")
    if is_new:
        print(f"Password (shown once): {password}")


def create_tenant(name: str, *, slug: str | None = None) -> None:
    """Make a tenant: its data is invisible to every other."""

    async def act(engine: AsyncEngine) -> AnyRow:
        async with engine.begin() as connection:
            home = await tenant_named(connection, None)
            made = await add_tenant(connection, name=name, slug=slug)
            await note(
                connection,
                operator(home.id),
                "tenant.created",
                f"tenants/{made.id}",
                {"slug": made.slug},
            )
            return made

    made = on_database(act)
    print(f"{made.name} is a tenant now; its short name is {made.slug}.")
    print(f"Next: scrapersky user create EMAIL --role admin --tenant {made.slug}")


def list_tenants() -> None:
    """List all tenants."""

    async def act(engine: AsyncEngine) -> Any:  # noqa: ANN401 - rows
        query = select(*TENANT_COLUMNS).order_by(Tenant.created_at, Tenant.id)
        async with engine.connect() as connection:
            return (await connection.execute(query)).all()

    table = PlainTable("short name", "name", "id", "suspended")
    for row in on_database(act) or ():
        table.add_row(row.slug, row.name, str(row.id), str(row.suspended_at or ""))
    print_table(table, whole=("short name", "id"))


def create_key(
    name: str,
    *,
    role: str = "viewer",
    tenant: str | None = None,
    scope: Iterable[str] | None = None,
) -> None:
    """Make an API key; its secret is printed once."""
    granted = Role(role)
    scopes = [Permission(one) for one in scope or sorted(ROLES[granted])]

    async def act(engine: AsyncEngine) -> str:
        async with engine.begin() as connection:
            place = await tenant_named(connection, tenant)
            made, row = await add_key(
                connection,
                MACHINE,
                place.id,
                name=name,
                role=granted,
                scopes=scopes,
                made_by=None,
            )
            await note(
                connection,
                operator(place.id),
                "key.created",
                f"api-keys/{row.id}",
                {"name": name, "role": granted.value, "scopes": scopes},
            )
        return made.secret

    print(on_database(act))


def on_database(act: Any) -> Any:  # noqa: ANN401 - whatever the action returns
    """Do something with the database; on its first use it is made ready."""
    settings = load_settings().settings
    with raised_signals(), a_database(settings) as target:
        run_stoppable(prepare(target, settings, say))
        return run_stoppable(with_engine(target, act))


def checked(email: str, read: Callable[[str], str] = an_email) -> str:
    """Read an e-mail address, or say that it is none."""
    try:
        return read(email)
    except ValueError as error:
        raise InvalidUserChange(f"'{email}': {error}.") from None


def a_password() -> tuple[str, bool]:
    """Ask for a password twice, or make one where nobody can be asked."""
    if not sys.stdin.isatty():
        return secrets.token_urlsafe(15), True
    first = getpass.getpass("Password (empty: make one): ")
    if not first:
        return secrets.token_urlsafe(15), True
    refuse_weak(first)
    if getpass.getpass("The same again: ") != first:
        raise InvalidUserChange("The two passwords differ.")
    return first, False


def change(email: str, tenant: str | None, values: dict[str, Any]) -> None:
    """Change a person and end their sessions."""
    address = checked(email)

    async def act(engine: AsyncEngine) -> None:
        async with engine.begin() as connection:
            place = await tenant_named(connection, tenant)
            query = select(*USER_COLUMNS).where(
                User.tenant_id == place.id,
                User.email == address,
                User.is_system.is_(False),
            )
            found = (await connection.execute(query)).one_or_none()
            if found is None:
                raise UnknownRecord(
                    f"Nobody in the tenant {place.slug} has the address {address}.",
                    hint="`scrapersky user list` shows everyone.",
                )
            await change_user(connection, MACHINE, found, values)
            await connection.execute(
                delete(LoginSession).where(LoginSession.user_id == found.id)
            )
            await note(
                connection,
                operator(place.id),
                "user.changed",
                f"users/{found.id}",
                {"fields": sorted(values)},
            )

    on_database(act)


async def tenant_named(connection: AsyncConnection, slug: str | None) -> AnyRow:
    """Return a tenant by its short name; without one, the installation's own."""
    query = select(*TENANT_COLUMNS).order_by(Tenant.created_at, Tenant.id).limit(1)
    if slug is not None:
        query = query.where(Tenant.slug == slug)
    found = (await connection.execute(query)).one_or_none()
    if found is None:
        raise UnknownRecord(
            f"There is no tenant '{slug}'.",
            hint="`scrapersky tenant list` shows all.",
        )
    return found
