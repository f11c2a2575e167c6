"""An OpenID provider as the specification has it, which can also be told to lie."""

import base64
import hashlib
import json
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import jwt
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import ec

CLIENT = "scrapersky"
CLIENT_SECRET = "r7:Vt%2 kQ9+zW"
"""With characters that must be encoded before they are sent."""
KEY = ec.generate_private_key(ec.SECP256R1())
OTHER_KEY = ec.generate_private_key(ec.SECP256R1())


@dataclass(slots=True)
class Provider:
    """Lets in whoever it is told to, asks for consent never, and hands out each code once."""

    issuer: str = ""
    person: dict[str, Any] = field(default_factory=dict)
    """What it says of the person at the browser."""
    more: dict[str, Any] = field(default_factory=dict)
    """What an ID token says beside or instead of the truth."""
    key: Any = KEY
    algorithm: str = "ES256"
    facts_apart: bool = False
    """Whether facts about a person are in userinfo only."""
    about: str | None = None
    """Whom the facts are about, instead of the person."""
    named: str | None = None
    """What it calls itself in its answer, instead of its name."""
    asked: list[str] = field(default_factory=list)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/.well-known/openid-configuration", self.configuration),
            web.get("/authorize", self.authorize),
            web.post("/token", self.token),
            web.get("/me", self.facts),
            web.get("/keys", self.keys),
        ]

    async def configuration(self, request: web.Request) -> web.Response:
        self.asked.append("configuration")
        return web.json_response(
            {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "userinfo_endpoint": f"{self.issuer}/me",
                "jwks_uri": f"{self.issuer}/keys",
                "response_types_supported": ["code"],
                "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": ["ES256"],
                "authorization_response_iss_parameter_supported": True,
            }
        )

    async def authorize(self, request: web.Request) -> web.Response:
        asked = dict(request.query)
        assert (asked["response_type"], asked["client_id"]) == ("code", CLIENT)
        assert asked["code_challenge_method"] == "S256"
        assert "openid" in asked["scope"].split()
        code = secrets.token_urlsafe(16)
        self.codes[code] = asked
        answer = {
            "code": code,
            "state": asked["state"],
            "iss": self.named or self.issuer,
        }
        return web.Response(
            status=302,
            headers={"Location": f"{asked['redirect_uri']}?{urlencode(answer)}"},
        )

    async def token(self, request: web.Request) -> web.Response:
        self.asked.append("token")
        given = await request.post()
        asked = self.codes.pop(str(given["code"]), None)
        pair = "scrapersky:r7%3AVt%252%20kQ9%2BzW"
        basic = f"Basic {base64.b64encode(pair.encode()).decode()}"
        proof = hashlib.sha256(str(given["code_verifier"]).encode()).digest()
        shown = base64.urlsafe_b64encode(proof).rstrip(b"=").decode()
        if (
            asked is None
            or request.headers.get("Authorization") != basic
            or given["redirect_uri"] != asked["redirect_uri"]
            or shown != asked["code_challenge"]
        ):
            return web.json_response({"error": "invalid_grant"}, status=400)
        return web.json_response(
            {
                "access_token": "an access token",
                "token_type": "Bearer",
                "id_token": self.id_token(asked["nonce"]),
            }
        )

    def id_token(self, nonce: str) -> str:
        now = int(time.time())
        said = {
            "iss": self.issuer, "aud": CLIENT, "sub": self.person["sub"], "nonce": nonce,
            "iat": now, "exp": now + 300, **({} if self.facts_apart else self.person),
            **self.more,
        }  # fmt: skip
        return jwt.encode(said, self.key, self.algorithm, {"kid": "one"})

    async def facts(self, request: web.Request) -> web.Response:
        assert request.headers["Authorization"] == "Bearer an access token"
        return web.json_response(
            {**self.person, "sub": self.about or self.person["sub"]}
        )

    async def keys(self, request: web.Request) -> web.Response:
        made = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(KEY.public_key()))
        return web.json_response({"keys": [{**made, "kid": "one", "alg": "ES256"}]})


@asynccontextmanager
async def a_provider() -> AsyncIterator[Provider]:
    """Run a provider on a free port."""
    provider = Provider()
    app = web.Application()
    app.add_routes(provider.routes())
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        provider.issuer = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield provider
    finally:
        await runner.cleanup()
