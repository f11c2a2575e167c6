"""Log in, log out, and see who one is."""

from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, Request, Response
from sqlalchemy import Select
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.api.account.schema import LoginIn, SessionOut, SessionTenant
from scrapersky.api.auth.authenticator import (
    Authenticator,
    address_of,
    counted_address,
)
from scrapersky.api.auth.credential import (
    AnyRow,
    Opener,
    active_users,
    close_session,
    csrf_token,
    open_session,
    revoke_token,
)
from scrapersky.api.auth.identity import Identity
from scrapersky.api.auth.local import refuse_other_sites
from scrapersky.api.auth.rate_limit import refuse
from scrapersky.api.dependency import (
    PUBLIC,
    Reader,
    SystemBulkEngine,
    SystemTransaction,
    after_commit,
)
from scrapersky.errors import InvalidSubject, NotAllowed, NotAuthenticated
from scrapersky.kit.canonical import canonical_email
from scrapersky.kit.plain_text import plain_text
from scrapersky.records import Tenant, User

router = APIRouter(prefix="/session", tags=["session"])

LONGEST_DEVICE = 300
MOST_ACCOUNTS = 3
"""Accounts of one address that a password is tried on; a tenant's name makes it one."""


@router.get("", operation_id="get_session")
async def show(request: Request, who: Reader) -> SessionOut:
    """Report who is asking, and what they may do."""
    session = getattr(request.state, "session", None)
    return session_out(request, who, csrf_token(session) if session else None)


@router.post("", operation_id="log_in", status_code=201, dependencies=[PUBLIC])
async def log_in(
    request: Request, response: Response, given: LoginIn, engine: SystemBulkEngine
) -> SessionOut:
    """Log in with e-mail address and password; the answer sets a cookie."""
    # No connection is held while the password is hashed: those who are logged in
    # already are looked up on the same few.
    refuse_other_sites(request)
    user = await recognise(request.app.state.authenticator, request, given)
    return await enter(request, response, engine, user)


async def enter(
    request: Request, response: Response, engine: AsyncEngine, user: AnyRow
) -> SessionOut:
    """Open a session for a person who has shown who they are."""
    authenticator: Authenticator = request.app.state.authenticator
    before = request.cookies.get(authenticator.cookie)
    async with engine.begin() as connection:
        if before:
            await close_session(connection, before)
        session = await open_session(
            connection, user, authenticator.session_life, opener_of(request)
        )
    authenticator.forget()
    hand_over(request, response, session)
    return session_out(request, authenticator.person(user), csrf_token(session))


@router.delete("", operation_id="log_out", status_code=204)
async def log_out(
    request: Request,
    response: Response,
    who: Reader,
    connection: SystemTransaction,
) -> None:
    """End the session, or revoke the access token that asks."""
    authenticator: Authenticator = request.app.state.authenticator
    match who.via:
        case "session":
            await close_session(connection, request.state.session)
            response.delete_cookie(
                authenticator.cookie, path="/", httponly=True, samesite="lax"
            )
        case "token":
            token = request.state.token
            await revoke_token(connection, token.digest, token.expires_at)
        case "key":
            raise NotAllowed(
                "An API key has no session to log out of.",
                hint="Revoke it with DELETE /api/v3/api-keys.",
            )
        case "local":
            return
    after_commit(request, authenticator.forget)


async def recognise(
    authenticator: Authenticator, request: Request, given: LoginIn
) -> AnyRow:
    """Return whose password this is, with the same work whoever has the address."""
    address = counted_address(request)
    for limiter, caller in (
        (authenticator.attempts, address),
        (authenticator.logins, f"{given.email} {address}"),
        (authenticator.accounts, given.email),
    ):
        allowance = limiter.take(caller)
        if not allowance.is_granted:
            raise refuse(allowance, "Too many login attempts.")
    async with authenticator.engine.connect() as connection:
        found = (await connection.execute(candidates(given))).all()
    user = await owner_of(authenticator, given, found)
    if user is not None:
        authenticator.logins.forget(f"{given.email} {address}")
        return user
    raise NotAuthenticated(
        "Wrong e-mail address or password.",
        hint="Your administrator can set a new password.",
    )


def candidates(given: LoginIn) -> Select[*tuple[Any, ...]]:
    """Select the accounts that a login may mean, the oldest first."""
    query = (
        active_users()
        .add_columns(User.password_hash)
        .where(User.email.in_(forms_of(given.email)), User.password_hash.is_not(None))
        .order_by(User.created_at, User.id)
        .limit(MOST_ACCOUNTS)
    )
    if given.tenant is not None:
        query = query.where(Tenant.slug == given.tenant)
    return query


async def owner_of(
    authenticator: Authenticator, given: LoginIn, found: Sequence[AnyRow]
) -> AnyRow | None:
    """Return the first account that a password opens.

    As many hashes are verified whether none, one or all of them are somebody's: the time
    would say how many tenants know an address, or which of them the password is for.
    """
    owner = None
    times = MOST_ACCOUNTS if given.tenant is None else 1
    for user in [*found, *[None] * times][:times]:
        kept = user.password_hash if user is not None else None
        is_right = await authenticator.passwords.verify(given.password, kept)
        if is_right and owner is None:
            owner = user
    return owner


def opener_of(request: Request) -> Opener:
    """Tell from where somebody logs in."""
    device = plain_text(request.headers.get("user-agent", "")[:LONGEST_DEVICE])
    return Opener(device or None, address_of(request))


def hand_over(request: Request, response: Response, session: str) -> None:
    """Give a browser the cookie of its new session."""
    authenticator: Authenticator = request.app.state.authenticator
    request.state.holds_secret = True
    response.set_cookie(
        authenticator.cookie,
        session,
        max_age=int(authenticator.session_life.total_seconds()),
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
        path="/",
    )


def forms_of(email: str) -> set[str]:
    """Return an address as it may be kept: as written, or in its one form."""
    forms = {email}
    with suppress(InvalidSubject):
        forms.add(canonical_email(email))
    return forms


def session_out(request: Request, who: Identity, token: str | None) -> SessionOut:
    """Write down who someone is."""
    return SessionOut(
        via=who.via,
        name=who.name,
        email=who.email,
        role=who.role,
        is_operator=who.is_operator,
        permissions=sorted(who.permissions),
        tenant=SessionTenant(id=who.tenant_id, name=who.tenant_name),
        csrf_token=token,
        environment=request.app.state.settings.environment.value,
        version=version("scrapersky"),
    )
