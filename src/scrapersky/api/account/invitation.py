"""Invitations: links by which people choose their own password, once."""

import hashlib
import hmac
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from fastapi import APIRouter, Request, Response
from itsdangerous import BadData, URLSafeSerializer
from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.api.account.authority import authority_of
from scrapersky.api.account.people import user_of
from scrapersky.api.account.schema import (
    InvitationIn,
    InvitationOut,
    PasswordIn,
    SessionOut,
)
from scrapersky.api.account.session import enter
from scrapersky.api.account.user import hash_of
from scrapersky.api.auth.authenticator import Authenticator, counted_address
from scrapersky.api.auth.credential import AnyRow, active_users, revoke_sessions
from scrapersky.api.auth.identity import ROLES
from scrapersky.api.auth.local import refuse_other_sites
from scrapersky.api.auth.rate_limit import refuse
from scrapersky.api.dependency import (
    PUBLIC,
    Admin,
    Reader,
    SystemBulkEngine,
    SystemTransaction,
    actor_of,
)
from scrapersky.errors import InvalidInvitation, InvalidUserChange
from scrapersky.records import User
from scrapersky.records.audit import note
from scrapersky.records.status import Role

router = APIRouter()

INVITATION_AGE: Final = timedelta(days=7)
PURPOSE: Final = b"invitations"


@dataclass(frozen=True, slots=True)
class InvitationLink:
    """What an invitation's link says."""

    user_id: UUID
    mark: str
    """Of the password before."""
    expires_at: datetime
    role: Role
    """The highest it is good for: who made it may have no right to another."""

    def written(self) -> list[str]:
        """Return it as it is signed."""
        end = self.expires_at.isoformat()
        return [str(self.user_id), self.mark, end, self.role.value]

    def fits(self, user: AnyRow) -> bool:
        """Say whether it is still good for a person as they are now."""
        is_enough = ROLES[user.role] <= ROLES[self.role]
        return is_enough and mark_of(user.password_hash) == self.mark


@router.post(
    "/users/{user_id}/invitation",
    operation_id="invite_user",
    status_code=201,
    tags=["users"],
)
async def invite(
    request: Request,
    user_id: UUID,
    who: Admin,
    connection: SystemTransaction,
) -> InvitationOut:
    """Make a link by which a person chooses a password; it works once, for a week."""
    by = await authority_of(request, who, connection)
    user = await user_of(connection, who.tenant_id, user_id)
    by.refuse_user(user.tenant_id, user.role)
    query = select(User.password_hash, func.clock_timestamp() + INVITATION_AGE).where(
        User.id == user.id
    )
    kept, expires_at = (await connection.execute(query)).one()
    link = InvitationLink(user_id, mark_of(kept), expires_at, user.role)
    token = signer(request).dumps(link.written())
    actor = actor_of(who, request)
    await note(connection, actor, "user.invited", f"users/{user_id}")
    request.state.holds_secret = True
    return InvitationOut(token=str(token), expires_at=expires_at)


@router.post(
    "/session/invitation",
    operation_id="accept_invitation",
    status_code=201,
    dependencies=[PUBLIC],
    tags=["session"],
)
async def accept(
    request: Request, response: Response, given: InvitationIn, engine: SystemBulkEngine
) -> SessionOut:
    """Choose a password with an invitation, and log in; the answer sets a cookie."""
    refuse_other_sites(request)
    authenticator: Authenticator = request.app.state.authenticator
    allowance = authenticator.attempts.take(counted_address(request))
    if not allowance.is_granted:
        raise refuse(allowance, "Too many attempts.")
    link = read_token(request, given.token)
    hashed = await hash_of(authenticator, given.password)
    async with engine.begin() as connection:
        # Locked, so that of two who have the link only one gets in.
        query = (
            active_users()
            .add_columns(User.password_hash)
            .where(User.id == link.user_id, func.clock_timestamp() < link.expires_at)
            .with_for_update(of=User)
        )
        user = (await connection.execute(query)).one_or_none()
        if user is None or not link.fits(user):
            raise refusal()
        await set_password(request, connection, user, hashed)
    return await enter(request, response, engine, user)


@router.post("/session/password", operation_id="change_password", tags=["session"])
async def change_password(
    request: Request,
    response: Response,
    given: PasswordIn,
    who: Reader,
    engine: SystemBulkEngine,
) -> SessionOut:
    """Change one's own password; all other sessions end."""
    authenticator: Authenticator = request.app.state.authenticator
    if who.via != "session":
        raise InvalidUserChange("Only a person who is logged in has a password.")
    allowance = authenticator.accounts.take(who.email or str(who.user_id))
    if not allowance.is_granted:
        raise refuse(allowance, "Too many attempts.")
    query = active_users().add_columns(User.password_hash).where(User.id == who.user_id)
    async with engine.connect() as connection:
        user = (await connection.execute(query)).one()
    if not await authenticator.passwords.verify(given.current, user.password_hash):
        raise InvalidUserChange("The current password is wrong.")
    hashed = await hash_of(authenticator, given.password)
    async with engine.begin() as connection:
        await set_password(request, connection, user, hashed)
    return await enter(request, response, engine, user)


async def set_password(
    request: Request, connection: AsyncConnection, user: AnyRow, hashed: str | None
) -> None:
    """Keep a new password, and log its owner out everywhere."""
    await connection.execute(
        update(User).where(User.id == user.id).values(password_hash=hashed)
    )
    await revoke_sessions(connection, user.id)
    authenticator: Authenticator = request.app.state.authenticator
    actor = actor_of(authenticator.person(user), request)
    details = {"fields": ["password"]}
    await note(connection, actor, "user.changed", f"users/{user.id}", details)


def signer(request: Request) -> URLSafeSerializer:
    """Return what signs invitations, with a key of this use alone."""
    secret: bytes = request.app.state.secret
    key = hmac.digest(secret, PURPOSE, hashlib.sha256)
    how = {"key_derivation": "hmac", "digest_method": hashlib.sha256}
    return URLSafeSerializer(key, salt=PURPOSE, signer_kwargs=how)


def mark_of(password_hash: str | None) -> str:
    """Name a password without revealing it: an invitation is good for the one before."""
    return hashlib.sha256((password_hash or "").encode()).hexdigest()[:16]


def read_token(request: Request, token: str) -> InvitationLink:
    """Return what an invitation says, if it is one of ours."""
    try:
        user_id, mark, expires_at, role = signer(request).loads(token)
    except (BadData, ValueError):
        raise refusal() from None
    return InvitationLink(
        UUID(user_id), mark, datetime.fromisoformat(expires_at), Role(role)
    )


def refusal() -> InvalidInvitation:
    """Say no more than that the link does not work."""
    return InvalidInvitation(
        "This invitation link no longer works.",
        hint="Links work once, for a week. Ask an administrator for a new one.",
    )
