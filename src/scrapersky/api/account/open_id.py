"""Log in through the team's own provider: there, back, and into a session."""

from typing import Annotated, Any
from urllib.parse import urlencode

import structlog
from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.exceptions import HTTPException

from scrapersky.api.account.authority import MACHINE
from scrapersky.api.account.people import USER_COLUMNS, add_user, change_user
from scrapersky.api.account.schema import LoginWays, a_plain_email
from scrapersky.api.account.session import forms_of, hand_over, opener_of
from scrapersky.api.auth.authenticator import Authenticator, counted_address
from scrapersky.api.auth.credential import (
    AnyRow,
    close_session,
    open_session,
    revoke_sessions,
)
from scrapersky.api.auth.identity import ROLES
from scrapersky.api.auth.local import is_from_this_machine
from scrapersky.api.auth.open_id import (
    LOGIN_TIMEOUT,
    LoginAttempt,
    OpenId,
    ProviderUser,
)
from scrapersky.api.auth.rate_limit import refuse
from scrapersky.api.dependency import PUBLIC, SystemBulkEngine
from scrapersky.errors import (
    MalformedRequest,
    NotAllowed,
    RecordConflict,
    ScraperSkyError,
)
from scrapersky.records import User
from scrapersky.records.audit import Actor, note
from scrapersky.records.status import Role

log = structlog.get_logger(__name__)

router = APIRouter(prefix="/session", tags=["session"])

VISIT = "scrapersky_openid"
CALLBACK = "/api/v3/session/openid/callback"


@router.get("/ways", operation_id="list_login_ways", dependencies=[PUBLIC])
async def ways(request: Request) -> LoginWays:
    """Tell how people log in here; the login page asks."""
    authenticator: Authenticator = request.app.state.authenticator
    found = authenticator.open_id
    return LoginWays(provider=found.name if found else None)


@router.get(
    "/openid",
    operation_id="begin_openid",
    dependencies=[PUBLIC],
    include_in_schema=False,
)
async def begin(
    request: Request, back: Annotated[str, Query(max_length=2_000)] = "/"
) -> RedirectResponse:
    """Send a browser to the provider."""
    provider = provider_of(request)
    authenticator: Authenticator = request.app.state.authenticator
    take_turn(request)
    visit, callback = (
        LoginAttempt.begin(back, authenticator.clock()),
        redirect_uri(request),
    )
    try:
        address = await provider.way_there(visit, callback)
    except ScraperSkyError as error:
        return failed(error)
    response = RedirectResponse(address, 303)
    request.state.holds_secret = True
    response.set_cookie(
        VISIT,
        visit.sealed(authenticator.secret),
        max_age=int(LOGIN_TIMEOUT.total_seconds()),
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
        path=CALLBACK,
    )
    return response


@router.get(
    "/openid/callback",
    operation_id="end_openid",
    dependencies=[PUBLIC],
    include_in_schema=False,
)
async def end(request: Request, engine: SystemBulkEngine) -> RedirectResponse:
    """Take back a browser that the provider has sent, and open its session."""
    provider = provider_of(request)
    authenticator: Authenticator = request.app.state.authenticator
    take_turn(request)
    sealed, callback = request.cookies.get(VISIT, ""), redirect_uri(request)
    visit = LoginAttempt.unsealed(sealed, authenticator.secret, authenticator.clock())
    if visit is None:
        return RedirectResponse("/?login=expired", 303)
    try:
        answer = dict(request.query_params)
        guest = await provider.welcome(visit, answer, callback)
        async with engine.begin() as connection:
            user = await user_of_provider(connection, authenticator, provider, guest)
            if before := request.cookies.get(authenticator.cookie):
                await close_session(connection, before)
            session = await open_session(
                connection, user, authenticator.session_life, opener_of(request)
            )
    except ScraperSkyError as error:
        return failed(error)
    authenticator.forget()
    response = RedirectResponse(visit.back, 303)
    hand_over(request, response, session)
    response.delete_cookie(VISIT, path=CALLBACK, httponly=True, samesite="lax")
    return response


async def user_of_provider(
    connection: AsyncConnection,
    authenticator: Authenticator,
    provider: OpenId,
    guest: ProviderUser,
) -> AnyRow:
    """Return the account of who came back: known, invited by their address, or new.

    They live in the installation's own tenant: in another, its admin could write
    somebody else's subject beside an account of their own.
    """
    home = authenticator.home_tenant
    role = provider.role_of(guest)
    if provider.decides_roles and role is None:
        raise NotAllowed("None of your groups may use ScraperSky.")
    user = await known(connection, authenticator, guest)
    if user is None:
        if role is None or guest.email is None or not guest.is_verified:
            raise NotAllowed("Nobody has invited you to ScraperSky yet.")
        user = await add_user(
            connection,
            MACHINE,
            home,
            email=address_to_keep(guest.email),
            name=guest.name,
            role=role,
            subject=guest.subject,
            issuer=guest.issuer,
        )
        details = {"email": user.email, "role": role.value}
        actor = Actor(home, None, provider.name)
        await note(connection, actor, "user.created", f"users/{user.id}", details)
    if user.disabled_at is not None:
        raise NotAllowed("Your account is deactivated.")
    if role is not None and role is not user.role:
        user = await change_role(connection, user, role)
        details = {"role": role.value}
        actor = Actor(home, None, provider.name)
        await note(connection, actor, "user.changed", f"users/{user.id}", details)
    return user


def address_to_keep(email: str) -> str:
    """Return the address of a new account in its one form, or raise NotAllowed."""
    try:
        return a_plain_email(email)
    except ValueError as error:
        raise NotAllowed(
            f"The provider's e-mail address is refused: {error}."
        ) from None


async def change_role(connection: AsyncConnection, user: AnyRow, role: Role) -> AnyRow:
    """Give somebody the role of their groups.

    With a higher one the password and the sessions of before end: whoever made the
    account may have set them, and had no right to the new role.
    """
    values: dict[str, Any] = {"role": role}
    if ROLES[role] > ROLES[user.role]:
        values["password_hash"] = None
        await revoke_sessions(connection, user.id)
    return await change_user(connection, MACHINE, user, values)


async def known(
    connection: AsyncConnection, authenticator: Authenticator, guest: ProviderUser
) -> AnyRow | None:
    """Find an account by its subject, or by an address that the provider vouches for."""
    ours = select(*USER_COLUMNS).where(
        User.tenant_id == authenticator.home_tenant, User.is_system.is_(False)
    )
    by_subject = ours.where(
        User.subject == guest.subject, User.issuer == guest.issuer
    ).limit(1)
    user = (await connection.execute(by_subject)).one_or_none()
    if user is not None or guest.email is None or not guest.is_verified:
        return user
    by_address = (
        ours.where(User.email.in_(forms_of(guest.email)), User.subject.is_(None))
        .order_by(User.created_at)
        .limit(1)
    )
    user = (await connection.execute(by_address)).one_or_none()
    if user is None:
        return None
    bound = {"subject": guest.subject, "issuer": guest.issuer}
    return await change_user(connection, MACHINE, user, bound)


def provider_of(request: Request) -> OpenId:
    """Return the provider of this installation; without one there is no such page."""
    authenticator: Authenticator = request.app.state.authenticator
    if authenticator.open_id is None:
        raise HTTPException(404)
    return authenticator.open_id


def take_turn(request: Request) -> None:
    """Count a login against what its address may."""
    authenticator: Authenticator = request.app.state.authenticator
    allowance = authenticator.attempts.take(counted_address(request))
    if not allowance.is_granted:
        raise refuse(allowance, "Too many login attempts.")


def redirect_uri(request: Request) -> str:
    """Return where the provider sends people back to; it knows the address too.

    It is an address that an operator has set. A name that only the request gives could
    be anyone's, unless browser and server are on one machine.
    """
    settings = request.app.state.settings
    base, names = request.base_url, {name.lower() for name in settings.trusted_hosts}
    if settings.oidc_public_url:
        return str(settings.oidc_public_url).rstrip("/") + CALLBACK
    if base.hostname in names or is_from_this_machine(request):
        return str(base).rstrip("/") + CALLBACK
    raise MalformedRequest(
        "This server does not know by which name people open it, so that nobody can log "
        "in through the provider.",
        hint="An operator sets OIDC_PUBLIC_URL, or lists the name in TRUSTED_HOSTS.",
    )


def failed(error: ScraperSkyError) -> RedirectResponse:
    """Send a browser to the login page, which says in words what went wrong."""
    log.warning("openid.failed", why=str(error))
    kept_out = isinstance(error, NotAllowed | RecordConflict)
    why = "refused" if kept_out else "failed"
    return RedirectResponse(f"/?{urlencode({'login': why})}", 303)
