"""What routes ask for in their signatures: an identity with a right, a transaction."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from fastapi import Depends, Request
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from starlette.exceptions import HTTPException

from scrapersky.api.auth.authenticator import Authenticator
from scrapersky.api.auth.identity import Identity, Permission
from scrapersky.api.tenancy import change_scope
from scrapersky.api.transaction import RequestTransaction
from scrapersky.errors import NotAllowed
from scrapersky.records.audit import Actor


@dataclass(frozen=True, slots=True)
class Allowed:
    """Lets callers with one permission through; tests read it off the route."""

    permission: Permission
    hidden: bool = False
    """Whether those without it get "not found"."""

    async def __call__(self, request: Request) -> Identity:
        """Return who is asking, with their rows in sight, or raise why not."""
        authenticator: Authenticator = request.app.state.authenticator
        identity = await authenticator.identify(request)
        request.state.answer_headers = authenticator.spend(identity)
        if not identity.may(self.permission):
            if self.hidden:
                raise HTTPException(404)
            raise NotAllowed(
                f"This needs the permission '{self.permission}', which "
                f"{identity.name} does not have.",
                hint="Ask your administrator.",
            )
        change_scope(tenant_id=identity.tenant_id, actor=identity.name)
        return identity


def allow(permission: Permission, *, hidden: bool = False) -> Any:  # noqa: ANN401 - what FastAPI's Depends returns
    """Declare in `Annotated[Identity, ...]` what a route asks of its caller."""
    return Depends(Allowed(permission, hidden))


Reader = Annotated[Identity, allow(Permission.READ)]
Curator = Annotated[Identity, allow(Permission.CURATE)]
Exporter = Annotated[Identity, allow(Permission.EXPORT)]
Admin = Annotated[Identity, allow(Permission.ADMINISTER)]
Operator = Annotated[Identity, allow(Permission.OPERATE)]
HiddenOperator = Annotated[Identity, allow(Permission.OPERATE, hidden=True)]
"""Others get "not found"."""


async def public() -> None:
    """Mark a route that anyone may call."""


PUBLIC: Final = Depends(public)
"""For `dependencies=[PUBLIC]` of the few routes that need no identity."""


EngineName = Literal["engine", "system_engine", "operations_engine"]
"""Whose rows: the caller's tenant's; everyone's; everyone's, for what counts and reports."""


@dataclass(frozen=True, slots=True)
class InTransaction:
    """Hands a route the connection of its one transaction; tests read it off the route."""

    engine: EngineName
    in_chunks: bool = False
    """Whether the route commits between chunks of its work: the named exception."""

    # Not a plain function: those are sent through a thread, for every request.
    async def __call__(self, request: Request) -> AsyncConnection:
        """Return the connection; what is done on it is committed with the answer."""
        transaction: RequestTransaction = request.state.transaction
        return await transaction.join(getattr(request.app.state, self.engine))


@dataclass(frozen=True, slots=True)
class EngineDependency:
    """Hands a route an engine, for work that no single transaction can hold."""

    engine: EngineName

    async def __call__(self, request: Request) -> AsyncEngine:
        """Return the engine."""
        found: AsyncEngine = getattr(request.app.state, self.engine)
        return found


Transaction = Annotated[AsyncConnection, Depends(InTransaction("engine"))]
"""The transaction of the request; it sees the rows of the caller's tenant only."""
SystemTransaction = Annotated[AsyncConnection, Depends(InTransaction("system_engine"))]
"""The same, but it sees everything: for accounts, and for the control of stages."""
OperationsTransaction = Annotated[
    AsyncConnection, Depends(InTransaction("operations_engine"))
]
"""The same, for queries that name their tenant and are slow under row-level security."""
ChunkedConnection = Annotated[
    AsyncConnection, Depends(InTransaction("engine", in_chunks=True))
]
"""A named exception: the route commits after each chunk but the last."""
SystemChunkedConnection = Annotated[
    AsyncConnection, Depends(InTransaction("system_engine", in_chunks=True))
]
OperationsChunkedConnection = Annotated[
    AsyncConnection, Depends(InTransaction("operations_engine", in_chunks=True))
]
BulkEngine = Annotated[AsyncEngine, Depends(EngineDependency("engine"))]
"""A named exception: the work waits for others (a client, a hash) between transactions."""
SystemBulkEngine = Annotated[AsyncEngine, Depends(EngineDependency("system_engine"))]


def after_commit(request: Request, act: Callable[[], None]) -> None:
    """Do this once others can see what the request did, and not if it failed."""
    transaction: RequestTransaction = request.state.transaction
    transaction.after_commit(act)


def actor_of(who: Identity, request: Request) -> Actor:
    """Name the caller for decisions and the audit log."""
    request_id = getattr(request.state, "request_id", None)
    traceparent = getattr(request.state, "traceparent", None)
    return Actor(who.tenant_id, who.user_id, who.name, request_id, traceparent)
