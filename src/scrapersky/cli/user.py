"""`scrapersky user` and `scrapersky key`: who may come in."""

import getpass
import secrets
import sys
from collections.abc import Callable
from typing import Any

from cyclopts import App
from sqlalchemy import delete, func, select
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from scrapersky.api.account.authority import MACHINE
from scrapersky.api.account.people import (
    TENANT_COLUMNS,
    USER_COLUMNS,
    add_key,
    add_user,
    change_user,
)
from scrapersky.api.account.schema import a_plain_email, an_email
from scrapersky.api.auth.credential import AnyRow
from scrapersky.api.auth.identity import ROLES, Permission
from scrapersky.api.auth.password import HASHER, refuse_weak
from scrapersky.cli.database import a_database
from scrapersky.cli.operator import operator
from scrapersky.cli.options import CARE, AsJson, TenantName
from scrapersky.cli.signals import raised_signals, run_stoppable
from scrapersky.cli.stages import with_engine
from scrapersky.cli.table import PlainTable, print_done, print_json, print_table
from scrapersky.cli.up import say
from scrapersky.configuration import load_settings
from scrapersky.errors import InvalidUserChange, UnknownRecord
from scrapersky.records import LoginSession, Tenant, User
from scrapersky.records.audit import note
from scrapersky.records.status import Role
from scrapersky.scheduler.prepare import prepare

user_commands = App(
    name="user",
    group=CARE,
    help="""\
Manage accounts: create, list, deactivate, set a password.

`scrapersky user create YOU@EXAMPLE.COM --role admin` creates the first administrator.
""",
)


key_commands = App(
    name="key",
    group=CARE,
    help="""\
Create an API key for a program.
""",
)


@user_commands.command(name="create")
def create_user(
    email: str,
    *,
    role: Role = Role.VIEWER,
    tenant: TenantName = None,
    subject: str | None = None,
    json: AsJson = False,
) -> None:
    """Let a person in.

    Asks for a password on a terminal; elsewhere one is made and printed once.

    Parameters
    ----------
    email
        The e-mail address to log in with.
    role
        viewer, curator or admin.
    subject
        Who they are to the issuer of access tokens; then they need no password.
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

    made = on_database(act)
    if json:
        facts = {"id": made.id, "email": address, "role": granted.value}
        print_json(facts | ({"password": password} if is_new else {}))
        return
    print(f"{address} can now log in as {granted.value}.")
    if is_new:
        print(f"Password (shown once): {password}")


@user_commands.command(name="list")
def list_users(*, json: AsJson = False) -> None:
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

    rows = on_database(act) or ()
    if json:
        print_json([shown_user(row) for row in rows])
        return
    table = PlainTable("tenant", "e-mail", "role", "disabled", "subject")
    for row in rows:
        disabled = (
            row.disabled_at.isoformat(timespec="minutes") if row.disabled_at else ""
        )
        table.add_row(row.slug, row.email, row.role.value, disabled, row.subject or "")
    print_table(table, whole=("tenant", "e-mail"))


def shown_user(row: AnyRow) -> dict[str, Any]:
    """Return a user as `--json` prints it."""
    return {
        "id": row.id,
        "tenant": row.slug,
        "email": row.email,
        "role": row.role.value,
        "disabled_at": row.disabled_at,
        "subject": row.subject,
    }


@user_commands.command(name="disable")
def disable_user(
    email: str, *, tenant: TenantName = None, json: AsJson = False
) -> None:
    """Shut a person out, everywhere and at once.

    Parameters
    ----------
    email
        Whom.
    """
    update_user(email, tenant, {"disabled_at": func.clock_timestamp()})
    facts = {"email": email, "is_active": False}
    print_done(f"{email} is deactivated.", facts, as_json=json)


@user_commands.command(name="password")
def set_password(
    email: str, *, tenant: TenantName = None, json: AsJson = False
) -> None:
    """Set a new password; every session of that person ends.

    Parameters
    ----------
    email
        Whose.
    """
    password, is_new = a_password()
    values = {"password_hash": HASHER.hash(password), "disabled_at": None}
    update_user(email, tenant, values)
    facts = {"email": email, "password": password if is_new else None}
    print_done(f"{email} has a new password.", facts, as_json=json)
    if is_new and not json:
        print(f"Password (shown once): {password}")


@key_commands.command(name="create")
def create_key(
    name: str,
    *,
    role: Role = Role.VIEWER,
    tenant: TenantName = None,
    scope: list[Permission] | None = None,
    json: AsJson = False,
) -> None:
    """Make an API key; its secret is printed once.

    Parameters
    ----------
    name
        What it is for.
    role
        viewer, curator or admin.
    scope
        What it is limited to (may be given several times).
    """
    granted = Role(role)
    scopes = [Permission(one) for one in scope or sorted(ROLES[granted])]

    async def act(engine: AsyncEngine) -> dict[str, Any]:
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
        return {
            "id": row.id,
            "name": name,
            "role": granted.value,
            "scopes": scopes,
            "secret": made.secret,
        }

    made = on_database(act)
    if json:
        print_json(made)
    else:
        print(made["secret"])


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


def update_user(email: str, tenant: str | None, values: dict[str, Any]) -> None:
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
