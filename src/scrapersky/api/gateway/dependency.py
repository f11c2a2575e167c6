"""What routes ask for in their signatures: an identity with a right, a database."""

from dataclasses import dataclass
from typing import Annotated, Any, Final

from fastapi import Depends, Request
from sqlalchemy.ext.asyncio import AsyncEngine
from starlette.exceptions import HTTPException

from scrapersky.api.gateway.access import Gate
from scrapersky.api.gateway.identity import Identity, Permission
from scrapersky.api.gateway.tenancy import TENANT
from scrapersky.errors import NotAllowed
from scrapersky.records.audit import Actor


@dataclass(frozen=True, slots=True)
class Allowed:
    """Lets callers with one permission through; tests read it off the route."""

    permission: Permission
    hidden: bool = False
    """Whether those without it are told that there is nothing here."""

    async def __call__(self, request: Request) -> Identity:
        """Return who is asking, with their rows in sight, or raise why not."""
        gate: Gate = request.app.state.gate
        identity = await gate.identify(request)
        request.state.answer_headers = gate.spend(identity)
        if not identity.may(self.permission):
            if self.hidden:
                raise HTTPException(404)
            raise NotAllowed(
                f"This needs the permission '{self.permission}', which "
                f"{identity.name} does not have.",
                hint="Ask an admin of your tenant.",
            )
        TENANT.set(identity.tenant_id)
        return identity


def allow(permission: Permission, *, hidden: bool = False) -> Any:  # noqa: ANN401 - what FastAPI's Depends returns
    """Declare in `Annotated[Identity, ...]` what a route asks of its caller."""
    return Depends(Allowed(permission, hidden))


async def public() -> None:
    """Mark a route that anyone may call."""


PUBLIC: Final = Depends(public)
"""For `dependencies=[PUBLIC]` of the few routes that need no identity."""


# Not plain functions: those are sent through a thread, for every request.
async def engine_of(request: Request) -> AsyncEngine:
    """Return the engine whose transactions see the caller's tenant only."""
    found: AsyncEngine = request.app.state.engine
    return found


async def system_engine_of(request: Request) -> AsyncEngine:
    """Return the engine that sees everything: for stage control and the gate itself."""
    found: AsyncEngine = request.app.state.system_engine
    return found


Database = Annotated[AsyncEngine, Depends(engine_of)]
SystemDatabase = Annotated[AsyncEngine, Depends(system_engine_of)]


def actor_of(who: Identity, request: Request) -> Actor:
    """Name the caller for decisions and the audit log."""
    request_id = getattr(request.state, "request_id", None)
    return Actor(who.tenant_id, who.user_id, who.name, request_id)
