"""The MCP server over stdio and streamable HTTP, for both eras of the protocol."""

import asyncio
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

import aiohttp
import uvicorn
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.transport_security import TransportSecuritySettings

from scrapersky.kit.build import version
from scrapersky.mcp.gateway import VERB_SECONDS, Gateway
from scrapersky.mcp.verbs import INSTRUCTIONS, Verbs

NAME: Final = "scrapersky"


@dataclass(frozen=True, slots=True)
class KeyVerifier:
    """Believes the keys and tokens that the API believes."""

    session: aiohttp.ClientSession
    url: str
    resource: str

    async def verify_token(self, token: str) -> AccessToken | None:
        """Ask the API who has this token; None if it lets nobody in."""
        headers = {"Authorization": f"Bearer {token}"}
        address = f"{self.url}/api/v3/session"
        try:
            async with self.session.get(
                address, headers=headers, timeout=aiohttp.ClientTimeout(VERB_SECONDS)
            ) as answer:
                if answer.status != 200:  # noqa: PLR2004
                    return None
                who = await answer.json()
        except (aiohttp.ClientError, TimeoutError):
            return None
        return AccessToken(
            token=token,
            client_id=str(who.get("name") or who.get("email") or ""),
            scopes=[str(one) for one in who["permissions"]],
            resource=self.resource,
        )


def make_server(
    session: aiohttp.ClientSession,
    url: str,
    *,
    key: str | None = None,
    resource: str | None = None,
    issuer: str | None = None,
) -> MCPServer[Any]:
    """Make a server of the verbs: with one key (stdio), or with the key of each request."""

    def gateway_of(_: Context) -> Gateway:
        token = get_access_token()
        used = token.token if token is not None else key
        if used is None:
            raise ToolError("No API key was given.")
        return Gateway(session, url, used)

    secured: dict[str, Any] = {}
    if key is None and resource is not None:
        # Of text: an address without a path keeps its form, which clients compare.
        auth = AuthSettings.model_validate(
            {
                "issuer_url": issuer or url,
                "resource_server_url": resource,
                # The API has checked for whom the token is.
                "validate_token_resource": True,
            }
        )
        verifier = KeyVerifier(session, url, resource)
        secured = {"auth": auth, "token_verifier": verifier}
    server: MCPServer[Any] = MCPServer(
        NAME, version=version(), instructions=INSTRUCTIONS, log_level="ERROR", **secured
    )
    for verb in Verbs(gateway_of).all:
        server.add_tool(verb, structured_output=False)
    return server


@asynccontextmanager
async def client_session() -> AsyncIterator[aiohttp.ClientSession]:
    """Open what the API is called with; it follows no redirect with a key."""
    async with aiohttp.ClientSession(
        requote_redirect_url=False, trust_env=False
    ) as session:
        yield session


async def serve_stdio(url: str, key: str) -> None:
    """Serve one client over standard input and output."""
    async with client_session() as session:
        await make_server(session, url, key=key).run_stdio_async()


async def serve_http(
    url: str, listener: socket.socket, names: Sequence[str], issuer: str | None
) -> None:
    """Serve many over HTTP, each with a key or token of its own."""
    host, port = listener.getsockname()[:2]
    address = f"http://{host}:{port}"
    public = f"https://{names[0]}" if names else address
    allowed = [f"{host}:{port}", f"localhost:{port}", *names]
    security = TransportSecuritySettings(
        allowed_hosts=allowed,
        allowed_origins=[address, *(f"https://{name}" for name in names)],
    )
    async with client_session() as session:
        server = make_server(session, url, resource=f"{public}/mcp", issuer=issuer)
        app = server.streamable_http_app(
            stateless_http=True, json_response=True, transport_security=security
        )
        config = uvicorn.Config(app, log_level="error")
        running = uvicorn.Server(config)
        try:
            await running.serve(sockets=[listener])
        except asyncio.CancelledError:
            running.should_exit = True
            raise
