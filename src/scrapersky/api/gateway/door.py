"""The door every request comes through before anyone asks who it is."""

from starlette.types import ASGIApp, Receive, Scope, Send

from scrapersky.api.gateway.tenancy import TENANT


class Door:
    """Middleware that gives every request a clean start: no tenant until it has one."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        before = TENANT.set(None)
        try:
            await self.app(scope, receive, send)
        finally:
            TENANT.reset(before)
