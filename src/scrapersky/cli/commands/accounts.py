"""Who may come in: users, tenants, keys."""

from cyclopts import App

from scrapersky.cli.commands.options import CARE, Role, Scope, TenantName
from scrapersky.cli.garbage import without_collector

user = App(
    name="user",
    group=CARE,
    help="""\
Manage accounts: create, list, deactivate, set a password.

`scrapersky user create YOU@EXAMPLE.COM --role admin` creates the first administrator.
""",
)


tenant = App(
    name="tenant",
    group=CARE,
    help="Create, list and delete tenants, each with its own data.",
)


key = App(name="key", group=CARE, help="Create an API key for a program.")


@user.command(name="create")
def create_user(
    email: str,
    *,
    role: Role = "viewer",
    tenant: TenantName = None,
    subject: str | None = None,
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
    with without_collector():
        from scrapersky.cli.user import create_user as work

    work(email, role=role, tenant=tenant, subject=subject)


@user.command(name="list")
def list_users() -> None:
    """List everyone who may come in."""
    with without_collector():
        from scrapersky.cli.user import list_users as work

    work()


@user.command(name="disable")
def disable_user(email: str, *, tenant: TenantName = None) -> None:
    """Shut a person out, everywhere and at once.

    Parameters
    ----------
    email
        Whom.
    """
    with without_collector():
        from scrapersky.cli.user import disable_user as work

    work(email, tenant=tenant)


@user.command(name="password")
def set_password(email: str, *, tenant: TenantName = None) -> None:
    """Set a new password; every session of that person ends.

    Parameters
    ----------
    email
        Whose.
    """
    with without_collector():
        from scrapersky.cli.user import set_password as work

    work(email, tenant=tenant)


@tenant.command(name="create")
def create_tenant(name: str, *, slug: str | None = None) -> None:
    """Make a tenant: its data is invisible to every other.

    Parameters
    ----------
    name
        Its name.
    slug
        Its short name; without it, made out of the name.
    """
    with without_collector():
        from scrapersky.cli.user import create_tenant as work

    work(name, slug=slug)


@tenant.command(name="list")
def list_tenants() -> None:
    """List all tenants."""
    with without_collector():
        from scrapersky.cli.user import list_tenants as work

    work()


@tenant.command(name="delete")
def delete_tenant(slug: str, *, dry_run: bool = False, yes: bool = False) -> None:
    """Delete a tenant and everything it has.

    Beside running workers, in short steps; one that was stopped goes on where it was. It cannot
    be undone.

    Parameters
    ----------
    slug
        Its short name, as `scrapersky tenant list` prints it.
    dry_run
        Count what would be deleted, by table, and delete nothing.
    yes
        Do not ask.
    """
    with without_collector():
        from scrapersky.cli.tenant_deletion import delete_tenant as work

    work(slug, dry_run=dry_run, yes=yes)


@key.command(name="create")
def create_key(
    name: str,
    *,
    role: Role = "viewer",
    tenant: TenantName = None,
    scope: list[Scope] | None = None,
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
    with without_collector():
        from scrapersky.cli.user import create_key as work

    work(name, role=role, tenant=tenant, scope=scope)
