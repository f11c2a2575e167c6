"""Look up who a cookie, a key or a token's subject belongs to, and make new ones."""

import hashlib
import hmac
import re
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, TypeAlias
from uuid import UUID

from sqlalchemy import Row, Select, and_, delete, func, insert, or_, select, update
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from scrapersky.api.auth.identity import ROLES, Permission
from scrapersky.api.auth.token import Token
from scrapersky.records import (
    ApiKey,
    LoginSession,
    RevokedToken,
    Tenant,
    User,
)
from scrapersky.records.status import Role

AnyRow: TypeAlias = Row[*tuple[Any, ...]]

KEY_FORM: Final = re.compile(r"^(ssk_[A-Za-z0-9]{10})_([A-Za-z0-9_-]{43})$")
SEEN_INTERVAL: Final = timedelta(minutes=1)
"""How exactly the last use of a key or session is kept."""
IDLE_TIMEOUT: Final = timedelta(days=2)
"""A session that nobody used for this long is over, whatever its end."""
MOST_SESSIONS: Final = 200
"""Sessions that one list shows."""
SWEPT_ROWS: Final = 100
"""Rows past their time that go with each new one."""
LETTERS: Final = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789"


@dataclass(frozen=True, slots=True)
class Account:
    """Whom a credential belongs to, as the database says."""

    tenant_id: UUID
    tenant_name: str
    user_id: UUID | None
    name: str
    email: str | None
    role: Role
    scopes: frozenset[Permission] | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class NewKey:
    """An API key that was just made: the secret is here and nowhere else."""

    secret: str
    prefix: str
    digest: bytes


def digest(secret: str) -> bytes:
    """Hash a secret of ours; it is random and long, so a fast hash keeps it."""
    return hashlib.sha256(secret.encode()).digest()


def new_key() -> NewKey:
    """Make an API key."""
    prefix = "ssk_" + "".join(secrets.choice(LETTERS) for _ in range(10))
    secret = f"{prefix}_{secrets.token_urlsafe(32)}"
    return NewKey(secret, prefix, digest(secret))


def csrf_token(session: str) -> str:
    """Derive from a session's cookie what its page must send along."""
    signed = hmac.digest(session.encode(), b"csrf", "sha256")
    return urlsafe_b64encode(signed).rstrip(b"=").decode()


def active_users() -> Select[*tuple[Any, ...]]:
    """Select people who may come in: not disabled, in a tenant that is not suspended."""
    return (
        select(
            User.id,
            User.tenant_id,
            User.name,
            User.email,
            User.role,
            Tenant.name.label("tenant_name"),
        )
        .join(Tenant, Tenant.id == User.tenant_id)
        .where(
            User.disabled_at.is_(None),
            User.is_system.is_(False),
            Tenant.suspended_at.is_(None),
        )
    )


async def account_of_token(
    engine: AsyncEngine, token: Token, issuer: str, home: UUID
) -> Account | None:
    """Return whose access token this is, unless it was revoked.

    A subject is looked up in the tenant that the token names, or else in the
    installation's own: any admin may write any subject beside a user of theirs.
    """
    revoked = select(RevokedToken).where(RevokedToken.token_hash == token.digest)
    meant = and_(
        User.subject == token.subject,
        User.issuer == issuer,
        User.tenant_id == (token.tenant_id or home),
    )
    query = active_users().where(meant, ~revoked.exists())
    with suppress(ValueError):
        # Our own id comes first: nobody gets in its way by calling themselves so.
        by_id = User.id == UUID(token.subject)
        query = (
            active_users()
            .where(or_(by_id, meant), ~revoked.exists())
            .order_by(by_id.desc())
            .limit(1)
        )
    async with engine.connect() as connection:
        found = (await connection.execute(query)).one_or_none()
    return None if found is None else account(found)


async def account_of_session(engine: AsyncEngine, session: str) -> Account | None:
    """Return who logged in with this cookie; note that they were seen."""
    hashed = digest(session)
    now = func.clock_timestamp()
    query = (
        active_users()
        .join(LoginSession, LoginSession.user_id == User.id)
        .add_columns(
            LoginSession.expires_at, LoginSession.seen_at < now - SEEN_INTERVAL
        )
        .where(
            LoginSession.token_hash == hashed,
            LoginSession.expires_at > now,
            LoginSession.seen_at > now - IDLE_TIMEOUT,
        )
    )
    async with engine.begin() as connection:
        found = (await connection.execute(query)).one_or_none()
        if found is not None and found[-1]:
            await connection.execute(
                update(LoginSession)
                .where(LoginSession.token_hash == hashed)
                .values(seen_at=now)
            )
    return None if found is None else account(found, expires_at=found.expires_at)


async def account_of_key(engine: AsyncEngine, secret: str) -> Account | None:
    """Return whose API key this is; note that it was used."""
    form = KEY_FORM.match(secret)
    if form is None:
        return None
    now = func.clock_timestamp()
    query = (
        select(
            ApiKey.id,
            ApiKey.name,
            ApiKey.tenant_id,
            ApiKey.role,
            ApiKey.scopes,
            ApiKey.created_by,
            ApiKey.secret_hash,
            ApiKey.expires_at,
            User.role.label("role_of_maker"),
            Tenant.name.label("tenant_name"),
            (
                ApiKey.last_used_at.is_(None)
                | (ApiKey.last_used_at < now - SEEN_INTERVAL)
            ).label("is_due"),
        )
        .join(Tenant, Tenant.id == ApiKey.tenant_id)
        .outerjoin(User, User.id == ApiKey.created_by)
        .where(
            ApiKey.prefix == form[1],
            ApiKey.revoked_at.is_(None),
            or_(ApiKey.expires_at.is_(None), ApiKey.expires_at > now),
            Tenant.suspended_at.is_(None),
            # A key is worth as much as who made it is now.
            or_(ApiKey.is_personal.is_(False), User.id.is_not(None)),
            User.disabled_at.is_(None),
        )
    )
    async with engine.begin() as connection:
        found = (await connection.execute(query)).one_or_none()
        if found is None or not hmac.compare_digest(found.secret_hash, digest(secret)):
            return None
        if found.is_due:
            await connection.execute(
                update(ApiKey).where(ApiKey.id == found.id).values(last_used_at=now)
            )
    return Account(
        tenant_id=found.tenant_id,
        tenant_name=found.tenant_name,
        user_id=found.created_by,
        name=f"key {found.name}",
        email=None,
        role=lesser(found.role, found.role_of_maker),
        scopes=frozenset(Permission(scope) for scope in found.scopes),
        expires_at=found.expires_at,
    )


def lesser(role: Role, other: Role | None) -> Role:
    """Return which of two roles may less; None has no say."""
    if other is None:
        return role
    return min(role, other, key=lambda one: len(ROLES[one]))


@dataclass(frozen=True, slots=True)
class Opener:
    """From where a session was opened, for the person to know it again by."""

    device: str | None = None
    address: str | None = None


async def open_session(
    connection: AsyncConnection, user: AnyRow, lasts: timedelta, opener: Opener
) -> str:
    """Log a person in and return the cookie; sessions past their end go."""
    session = secrets.token_urlsafe(32)
    now = func.clock_timestamp()
    over = select(LoginSession.token_hash).where(LoginSession.expires_at < now)
    await connection.execute(
        delete(LoginSession).where(LoginSession.token_hash.in_(over.limit(SWEPT_ROWS)))
    )
    await connection.execute(
        insert(LoginSession).values(
            token_hash=digest(session),
            tenant_id=user.tenant_id,
            user_id=user.id,
            expires_at=now + lasts,
            device=opener.device,
            address=opener.address,
        )
    )
    return session


async def sessions_of(
    connection: AsyncConnection, tenant_id: UUID, user_id: UUID
) -> Sequence[AnyRow]:
    """List where a person is logged in, the one used last first."""
    now = func.clock_timestamp()
    query = (
        select(
            LoginSession.id,
            LoginSession.device,
            LoginSession.address,
            LoginSession.created_at,
            LoginSession.seen_at,
            LoginSession.expires_at,
            LoginSession.token_hash,
        )
        .where(
            LoginSession.tenant_id == tenant_id,
            LoginSession.user_id == user_id,
            LoginSession.expires_at > now,
            LoginSession.seen_at > now - IDLE_TIMEOUT,
        )
        .order_by(LoginSession.seen_at.desc(), LoginSession.id)
        .limit(MOST_SESSIONS)
    )
    return (await connection.execute(query)).all()


async def revoke_sessions(
    connection: AsyncConnection,
    user_id: UUID,
    *,
    only: UUID | None = None,
    but: str | None = None,
) -> int:
    """End the sessions of a person: one, or all but that of one cookie; say how many."""
    over = delete(LoginSession).where(LoginSession.user_id == user_id)
    if only is not None:
        over = over.where(LoginSession.id == only)
    if but is not None:
        over = over.where(LoginSession.token_hash != digest(but))
    return (await connection.execute(over)).rowcount


async def close_session(connection: AsyncConnection, session: str) -> None:
    """Log out."""
    await connection.execute(
        delete(LoginSession).where(LoginSession.token_hash == digest(session))
    )


async def revoke_token(
    connection: AsyncConnection, token: bytes, until: datetime
) -> None:
    """Refuse an access token from now on until it would have expired."""
    over = select(RevokedToken.token_hash).where(
        RevokedToken.expires_at < func.clock_timestamp()
    )
    await connection.execute(
        delete(RevokedToken).where(RevokedToken.token_hash.in_(over.limit(SWEPT_ROWS)))
    )
    await connection.execute(
        upsert(RevokedToken)
        .values(token_hash=token, expires_at=until)
        .on_conflict_do_nothing()
    )


def account(row: AnyRow, *, expires_at: datetime | None = None) -> Account:
    """Read a person's row."""
    return Account(
        tenant_id=row.tenant_id,
        tenant_name=row.tenant_name,
        user_id=row.id,
        name=row.name or row.email,
        email=row.email,
        role=row.role,
        expires_at=expires_at,
    )
