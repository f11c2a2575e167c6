"""The gate itself: finds out who a request comes from, or refuses it."""

from dataclasses import dataclass
from uuid import UUID

from fastapi import Request
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.api.gateway.identity import Identity
from scrapersky.api.gateway.local import (
    is_from_this_machine,
    is_loopback,
    refuse_other_sites,
)
from scrapersky.errors import NotAuthenticated
from scrapersky.models.status import Role
from scrapersky.models.tenant import Tenant
from scrapersky.settings import Settings


@dataclass(frozen=True, slots=True)
class Gate:
    """What the gate knows of this installation."""

    home_tenant: UUID
    home_name: str
    is_local: bool

    async def identify(self, request: Request) -> Identity:
        """Return who is asking; raise NotAuthenticated if nobody we know."""
        if self.is_local and is_from_this_machine(request):
            refuse_other_sites(request)
            return Identity(
                tenant_id=self.home_tenant,
                tenant_name=self.home_name,
                user_id=None,
                name="this machine",
                role=Role.ADMIN,
                via="local",
                is_operator=True,
                credential="local",
            )
        raise NotAuthenticated(
            "This needs a login, an access token or an API key.",
            hint="Send `Authorization: Bearer ...`, or log in with POST /api/v3/session.",
        )


async def open_gate(settings: Settings, engine: AsyncEngine) -> Gate:
    """Read what the gate must know before the first request."""
    oldest = select(Tenant.id, Tenant.name).order_by(Tenant.created_at, Tenant.id)
    async with engine.connect() as connection:
        home = (await connection.execute(oldest.limit(1))).one()
    return Gate(
        home_tenant=home.id, home_name=home.name, is_local=is_loopback(settings.host)
    )
