"""Where people are logged in: seen by themselves and their admins, and ended."""

from uuid import UUID

from fastapi import APIRouter, Request

from scrapersky.api.account.authority import authority_of
from scrapersky.api.account.people import user_of
from scrapersky.api.account.schema import OpenSession, SessionsEnded
from scrapersky.api.auth.authenticator import Authenticator
from scrapersky.api.auth.credential import digest, revoke_sessions, sessions_of
from scrapersky.api.auth.identity import Identity
from scrapersky.api.dependency import (
    Admin,
    Reader,
    SystemTransaction,
    actor_of,
    after_commit,
)
from scrapersky.api.schema import ListOut, whole_list
from scrapersky.errors import UnknownRecord
from scrapersky.records.audit import note

router = APIRouter(tags=["session"])


@router.get("/sessions", operation_id="list_sessions")
async def list_mine(
    request: Request, who: Reader, connection: SystemTransaction
) -> ListOut[OpenSession]:
    """List where the caller is logged in; whoever is nobody's account is nowhere."""
    if who.user_id is None:
        return whole_list([])
    return await listed(request, connection, who.tenant_id, who.user_id)


@router.delete("/sessions", operation_id="end_other_sessions")
async def end_others(
    request: Request, who: Reader, connection: SystemTransaction
) -> SessionsEnded:
    """Log the caller out everywhere but here."""
    if who.user_id is None:
        return SessionsEnded(ended=0)
    return await end(
        request,
        who,
        connection,
        who.user_id,
        but=getattr(request.state, "session", None),
    )


@router.delete("/sessions/{session_id}", operation_id="end_session", status_code=204)
async def end_one(
    request: Request, session_id: UUID, who: Reader, connection: SystemTransaction
) -> None:
    """End one session of the caller."""
    ended = (
        await end(request, who, connection, who.user_id, only=session_id)
        if who.user_id is not None
        else SessionsEnded(ended=0)
    )
    if not ended.ended:
        raise UnknownRecord("There is no such session.")


@router.get("/users/{user_id}/sessions", operation_id="list_sessions_of_user")
async def list_theirs(
    request: Request, user_id: UUID, who: Admin, connection: SystemTransaction
) -> ListOut[OpenSession]:
    """List where a person of the tenant is logged in."""
    await user_of(connection, who.tenant_id, user_id)
    return await listed(request, connection, who.tenant_id, user_id)


@router.delete("/users/{user_id}/sessions", operation_id="end_sessions_of_user")
async def end_theirs(
    request: Request, user_id: UUID, who: Admin, connection: SystemTransaction
) -> SessionsEnded:
    """Log a person of the tenant out everywhere."""
    return await end(request, who, connection, user_id)


async def listed(
    request: Request, connection: SystemTransaction, tenant_id: UUID, user_id: UUID
) -> ListOut[OpenSession]:
    """Write down the sessions of a person, without what makes them theirs."""
    mine = getattr(request.state, "session", None)
    here = None if mine is None else digest(mine)
    rows = await sessions_of(connection, tenant_id, user_id)
    found = [
        OpenSession.model_validate(row).model_copy(
            update={"is_this": bytes(row.token_hash) == here}
        )
        for row in rows
    ]
    return whole_list(found)


async def end(
    request: Request,
    who: Identity,
    connection: SystemTransaction,
    user_id: UUID,
    *,
    only: UUID | None = None,
    but: str | None = None,
) -> SessionsEnded:
    """End sessions of a person, and write down who did."""
    by = await authority_of(request, who, connection)
    user = await user_of(connection, who.tenant_id, user_id)
    by.refuse_user(user.tenant_id, user.role)
    ended = await revoke_sessions(connection, user_id, only=only, but=but)
    if ended:
        actor = actor_of(who, request)
        subject = f"users/{user_id}"
        await note(connection, actor, "session.ended", subject, {"sessions": ended})
        authenticator: Authenticator = request.app.state.authenticator
        after_commit(request, authenticator.forget)
    return SessionsEnded(ended=ended)
