"""Authentication: finds out who a request comes from, or refuses it."""

import hmac
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Final
from uuid import UUID

from fastapi import Request
from sqlalchemy import exists, select, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.api.auth.credential import (
    Account,
    AnyRow,
    account,
    account_of_key,
    account_of_session,
    account_of_token,
    csrf_token,
    digest,
)
from scrapersky.api.auth.identity import Identity, Via
from scrapersky.api.auth.key_set import KeySet
from scrapersky.api.auth.local import (
    SAFE_METHODS,
    is_from_this_machine,
    is_loopback,
    refuse_other_sites,
)
from scrapersky.api.auth.open_id import OpenId
from scrapersky.api.auth.password import Passwords
from scrapersky.api.auth.rate_limit import Limiter, counted_as, refuse
from scrapersky.api.auth.token import TokenRules, read_token
from scrapersky.errors import (
    ConfigurationError,
    NotAllowed,
    NotAuthenticated,
)
from scrapersky.kit.clock import Clock, utc_now
from scrapersky.kit.lookup import LookupCache
from scrapersky.records import ApiKey, Installation, Tenant, User
from scrapersky.records.status import Role
from scrapersky.settings import Settings

COOKIE: Final = "scrapersky_session"
CSRF_HEADER: Final = "x-csrf-token"
CACHE_AGE: Final = timedelta(seconds=10)
"""How long a look-up is believed: a disabled user is out after that at the latest."""
REMEMBERED_WHILE_OPEN: Final = timedelta(seconds=0.5)
"""The same for requests that stay open and ask again: a logout ends them."""
TENANT_SHARE: Final = 4
"""A tenant's callers together may ask as often as this many of them."""


@dataclass(slots=True)
class Authenticator:
    """What the authenticator knows of this installation."""

    engine: AsyncEngine
    home_tenant: UUID
    home_name: str
    secret: bytes
    may_be_local: bool
    session_life: timedelta
    cookie: str
    """The name of a session's cookie here."""
    rules: TokenRules | None
    open_id: OpenId | None
    """The provider that people log in through, if there is one."""
    callers: Limiter
    tenants: Limiter
    failures: Limiter
    """By address: whoever guesses keys or tokens must wait, and does not learn what is wrong."""
    attempts: Limiter
    """By address: logins. Its own, so that bad tokens keep nobody from logging in."""
    logins: Limiter
    """By account and address: a password is not tried out."""
    accounts: Limiter
    """By account: nor from many addresses at once."""
    passwords: Passwords = field(default_factory=Passwords)
    clock: Clock = utc_now
    _known: LookupCache[bytes, Account] = field(
        default_factory=partial(LookupCache, lasts=CACHE_AGE)
    )
    _has_people: LookupCache[str, bool] = field(
        default_factory=partial(LookupCache, lasts=CACHE_AGE)
    )
    _of_late: LookupCache[bytes, Account] = field(
        default_factory=partial(LookupCache, lasts=REMEMBERED_WHILE_OPEN)
    )

    async def identify(self, request: Request) -> Identity:
        """Return who is asking; raise NotAuthenticated if nobody we know."""
        known = getattr(request.state, "who", None)
        if isinstance(known, Identity):
            return known
        try:
            who = await self._recognise(request)
        except DBAPIError as error:
            if not error.connection_invalidated:
                raise
            # It ended between being checked and being used, and nothing was done on it.
            who = await self._recognise(request)
        request.state.who = who
        return who

    async def identify_again(self, request: Request) -> Identity:
        """Return who has been asking for a while, as the database says now."""
        request.state.who = None
        request.state.is_asked_again = True
        return await self.identify(request)

    def _memory(self, request: Request) -> LookupCache[bytes, Account]:
        is_again = getattr(request.state, "is_asked_again", False)
        return self._of_late if is_again else self._known

    @property
    def issuer(self) -> str | None:
        """Who issues the access tokens that are good here."""
        return self.rules.issuer if self.rules else None

    def person(self, user: AnyRow) -> Identity:
        """Return who a person is that has just logged in."""
        return self._identity(account(user), "session", str(user.id))

    def forget(self) -> None:
        """Look everyone up anew: someone's rights have changed."""
        self._known.clear()
        self._of_late.clear()
        self._has_people.clear()

    def spend(self, who: Identity) -> dict[str, str]:
        """Count one request against what the caller may; return the headers that report it.

        Keys of one person share what that person has: making more keys gains nothing.
        """
        if who.via == "local":
            return {}
        caller = str(who.user_id or who.credential)
        mine = self.callers.take(f"{who.tenant_id}:{caller}")
        all_of_us = self.tenants.take(str(who.tenant_id))
        if not mine.is_granted or not all_of_us.is_granted:
            allowance = all_of_us if mine.is_granted else mine
            raise refuse(allowance, "Too many requests.")
        return mine.headers()

    async def close(self) -> None:
        """Close the connection to the issuer of tokens."""
        if self.rules is not None and self.rules.keys is not None:
            await self.rules.keys.close()
        if self.open_id is not None:
            await self.open_id.close()

    async def _recognise(self, request: Request) -> Identity:
        authorization = request.headers.getlist("authorization")
        keys = request.headers.getlist("x-api-key")
        if len(authorization) + len(keys) > 1:
            raise self._failed(request, "More than one credential was sent.")
        if authorization:
            scheme, _, value = authorization[0].partition(" ")
            if scheme.lower() != "bearer":
                raise self._failed(request, "Only Bearer tokens are accepted.")
            return await self._by_header(request, value.strip())
        if keys:
            return await self._by_header(request, keys[0].strip())
        session = request.cookies.get(self.cookie)
        if session:
            return await self._by_session(request, session)
        if await self.is_local(request):
            refuse_other_sites(request)
            return self._local()
        raise NotAuthenticated(
            "Please log in, or send an access token or an API key.",
            hint="Send `Authorization: Bearer ...`, or log in with POST /api/v3/session.",
        )

    async def is_local(self, request: Request) -> bool:
        """Say whether a request is let in because it was sent at this machine."""
        if not self.may_be_local or not is_from_this_machine(request):
            return False
        return not await self._has_people.get("anyone", self._anyone_with_password)

    async def _by_header(self, request: Request, secret: str) -> Identity:
        if secret.startswith("ssk_"):
            found = await self._memory(request).get(
                digest(secret), lambda: account_of_key(self.engine, secret)
            )
            if found is None:
                raise self._failed(request, "The API key is not valid.")
            return self._identity(found, "key", secret[:14])
        rules = self.rules
        if rules is None:
            raise self._failed(request, "Access tokens are not set up on this server.")
        try:
            token = await read_token(rules, secret, self.clock())
        except NotAuthenticated as error:
            raise self._failed(request, str(error)) from None
        found = await self._memory(request).get(
            token.digest,
            lambda: account_of_token(
                self.engine, token, rules.issuer, self.home_tenant
            ),
        )
        if found is None or token.tenant_id not in {None, found.tenant_id}:
            raise self._failed(request, "The access token is not valid on this server.")
        request.state.token = token
        return self._identity(found, "token", token.subject)

    async def _by_session(self, request: Request, session: str) -> Identity:
        found = await self._memory(request).get(
            digest(session), lambda: account_of_session(self.engine, session)
        )
        if found is None:
            raise await self._ended(request)
        sent = request.headers.get(CSRF_HEADER, "")
        if request.method not in SAFE_METHODS and not hmac.compare_digest(
            sent.encode(), csrf_token(session).encode()
        ):
            raise NotAllowed(
                "The page did not send its token along, as a login by cookie asks.",
                hint="Send X-CSRF-Token with the csrf_token of GET /api/v3/session.",
            )
        if request.headers.get("sec-fetch-site") == "cross-site":
            raise NotAllowed("Another web page sent this request.")
        request.state.session = session
        return self._identity(found, "session", str(found.user_id))

    def _identity(self, account: Account, via: Via, credential: str) -> Identity:
        return Identity(
            tenant_id=account.tenant_id,
            tenant_name=account.tenant_name,
            user_id=account.user_id,
            name=account.name,
            email=account.email,
            role=account.role,
            via=via,
            scopes=account.scopes,
            is_home_admin=account.tenant_id == self.home_tenant
            and account.role is Role.ADMIN,
            credential=credential,
            expires_at=account.expires_at,
        )

    def _local(self) -> Identity:
        return Identity(
            tenant_id=self.home_tenant,
            tenant_name=self.home_name,
            user_id=None,
            name="this machine",
            role=Role.ADMIN,
            via="local",
            is_home_admin=True,
            credential="local",
        )

    async def _ended(self, request: Request) -> NotAuthenticated:
        # In local mode nobody has a session, nor a way to get one that would take the
        # place of this cookie: the browser drops it, or it would be refused for ever.
        if await self.is_local(request):
            gone = f"{self.cookie}=; Path=/; Max-Age=0; HttpOnly; SameSite=lax"
            request.state.answer_headers = {"Set-Cookie": gone}
        return NotAuthenticated("Your session has ended.", hint="Please log in again.")

    def _failed(self, request: Request, why: str) -> Exception:
        allowance = self.failures.take(counted_address(request))
        if not allowance.is_granted:
            return refuse(allowance, "Too many wrong credentials came from here.")
        return NotAuthenticated(why, hint="Check the credential, or get a new one.")

    async def _anyone_with_password(self) -> bool:
        return await anyone_with_password(self.engine)


def address_of(request: Request) -> str:
    """Return where a request came from, as the middleware has found out."""
    return str(getattr(request.state, "address", "unknown"))


def counted_address(request: Request) -> str:
    """Return what limits per address count a request under."""
    return counted_as(address_of(request))


async def anyone_with_password(engine: AsyncEngine) -> bool:
    """Say whether anyone can log in."""
    people = (
        exists()
        .where(User.password_hash.is_not(None))
        .where(User.disabled_at.is_(None), User.is_system.is_(False))
    )
    async with engine.connect() as connection:
        return bool(await connection.scalar(select(people)))


async def any_key(engine: AsyncEngine) -> bool:
    """Say whether any API key is good."""
    async with engine.connect() as connection:
        keys = exists().where(ApiKey.revoked_at.is_(None))
        return bool(await connection.scalar(select(keys)))


async def open_authenticator(settings: Settings, engine: AsyncEngine) -> Authenticator:
    """Read what the authenticator must know before the first request."""
    await bind_subjects(engine, settings.jwt_issuer)
    oldest = select(Tenant.id, Tenant.name).order_by(Tenant.created_at, Tenant.id)
    async with engine.connect() as connection:
        home = (await connection.execute(oldest.limit(1))).one()
        secret = await connection.scalar(select(Installation.secret))
    rate, burst = settings.api_rate_per_second, settings.api_rate_burst
    return Authenticator(
        engine=engine,
        home_tenant=home.id,
        home_name=home.name,
        secret=bytes(secret or b""),
        may_be_local=may_be_local(settings),
        session_life=timedelta(hours=settings.session_hours),
        cookie=cookie_name(settings),
        rules=token_rules(settings),
        open_id=OpenId(settings) if settings.oidc_issuer else None,
        callers=Limiter(burst=burst, per_second=rate),
        tenants=Limiter(burst=burst * TENANT_SHARE, per_second=rate * TENANT_SHARE),
        failures=Limiter(burst=100, per_second=0.5),
        attempts=Limiter(burst=100, per_second=0.5),
        logins=Limiter(burst=10, per_second=1 / 30),
        accounts=Limiter(burst=50, per_second=1 / 10),
    )


async def bind_subjects(engine: AsyncEngine, issuer: str | None) -> None:
    """Bind subjects of which nobody knew whose they are to the issuer of now.

    Another issuer may call another person so: after a change they are written anew.
    """
    if issuer is None:
        return
    unbound = update(User).where(User.subject.is_not(None), User.issuer.is_(None))
    async with engine.begin() as connection:
        await connection.execute(unbound.values(issuer=issuer))


def cookie_name(settings: Settings) -> str:
    """Return the name of the cookie, which browsers send to every port of a host.

    On a laptop the demo has a port of its own beside the real workspace, and would be
    shown the cookie of the other.
    """
    return f"{COOKIE}_{settings.port}" if may_be_local(settings) else COOKIE


def may_be_local(settings: Settings) -> bool:
    """Say whether this installation may trust whoever sits at its machine."""
    return (
        settings.local_access
        and is_loopback(settings.host)
        and not settings.environment.is_deployed
        and settings.jwt_secret is None
        and settings.jwt_jwks_url is None
        and settings.oidc_issuer is None
    )


async def require_a_way_to_log_in(settings: Settings, engine: AsyncEngine) -> None:
    """Raise if the application would listen where nobody could ever log in."""
    if may_be_local(settings) or settings.jwt_secret or settings.jwt_jwks_url:
        return
    if settings.oidc_roles or settings.oidc_default_role:
        return
    if await anyone_with_password(engine) or await any_key(engine):
        return
    where = (
        f"HOST={settings.host}"
        if not is_loopback(settings.host)
        else f"ENVIRONMENT={settings.environment}"
        if settings.environment.is_deployed
        else "LOCAL_ACCESS=false"
    )
    raise ConfigurationError(
        f"{where} asks for credentials, and nobody has any yet.",
        hint="Make the first admin with `scrapersky user create YOU@EXAMPLE.COM --role "
        "admin`, or set JWT_SECRET or JWT_JWKS_URL (docs/how-to/let-people-in.md).",
    )


def token_rules(settings: Settings) -> TokenRules | None:
    """Return which access tokens are good here, if any."""
    if settings.jwt_secret is None and settings.jwt_jwks_url is None:
        return None
    secret, url = settings.jwt_secret, settings.jwt_jwks_url
    return TokenRules(
        audience=settings.jwt_audience or "",
        issuer=settings.jwt_issuer or "",
        algorithms=frozenset(settings.jwt_algorithms),
        longest_life=timedelta(minutes=settings.jwt_max_lifetime_minutes),
        secret=secret.get_secret_value().encode() if secret else None,
        keys=KeySet(url, user_agent=settings.user_agent) if url else None,
    )
