"""Published keys: fetched seldom, kept when the issuer is away, never a secret."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from scrapersky.api.auth.key_set import KeySet
from tests.api.gateway.rig import AUDIENCE, ISSUER, WITH_TOKENS, a_house, a_token
from tests.conftest import TestDatabase

RSA = rsa.generate_private_key(65537, 2048)
CURVE = ec.generate_private_key(ec.SECP256R1())
EDWARDS = ed25519.Ed25519PrivateKey.generate()


def published(algorithm: Any, key: Any, name: str, **more: Any) -> dict[str, Any]:
    return {**json.loads(algorithm.to_jwk(key.public_key())), "kid": name, **more}


KEYS = [
    published(jwt.algorithms.RSAAlgorithm, RSA, "r", use="sig", alg="RS256"),
    published(jwt.algorithms.ECAlgorithm, CURVE, "c"),
    published(jwt.algorithms.OKPAlgorithm, EDWARDS, "e"),
    {"kty": "oct", "k": "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LTEyMzQ", "kid": "o"},
    {"kty": "RSA", "kid": "broken", "n": "x"},
]


@dataclass(slots=True)
class Issuer:
    """A web server that publishes keys, as it is told to."""

    body: bytes = json.dumps({"keys": KEYS}).encode()
    status: str = "200 OK"
    asked: int = 0
    url: str = ""
    kind: str = "application/json"
    extra: list[str] = field(default_factory=list)

    async def answer(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            self.asked += 1
            head = [
                f"HTTP/1.1 {self.status}", f"Content-Type: {self.kind}",
                f"Content-Length: {len(self.body)}", "Connection: close", *self.extra,
            ]  # fmt: skip
            writer.write("\r\n".join([*head, "", ""]).encode() + self.body)
        finally:
            writer.close()


@asynccontextmanager
async def an_issuer() -> AsyncIterator[Issuer]:
    issuer = Issuer()
    server = await asyncio.start_server(issuer.answer, "127.0.0.1", 0)
    issuer.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/jwks.json"
    yield issuer
    server.close()
    await server.wait_closed()


def settings_for(issuer: Issuer) -> dict[str, str]:
    return {
        **{name: value for name, value in WITH_TOKENS.items() if name != "JWT_SECRET"},
        "JWT_JWKS_URL": issuer.url,
        "JWT_AUDIENCE": AUDIENCE,
        "JWT_ISSUER": ISSUER,
    }


async def test_tokens_signed_with_published_keys_are_good(
    database: TestDatabase,
) -> None:
    async with an_issuer() as issuer, a_house(database, settings_for(issuer)) as house:
        who = house.admin.id
        good = [
            a_token(who, key=RSA, algorithm="RS256", headers={"kid": "r"}),
            a_token(who, key=CURVE, algorithm="ES256", headers={"kid": "c"}),
            a_token(who, key=EDWARDS, algorithm="EdDSA", headers={"kid": "e"}),
        ]
        bad = [
            a_token(who, key=RSA, algorithm="PS256", headers={"kid": "r"}),
            a_token(who, key=CURVE, algorithm="ES256", headers={"kid": "r"}),
            a_token(who, key=RSA, algorithm="RS256", headers={"kid": "gone"}),
            a_token(who, key=RSA, algorithm="RS256", headers={"kid": "../../etc"}),
            a_token(who, key=RSA, algorithm="RS256"),
            a_token(who, algorithm="HS256", headers={"kid": "o"}),
        ]

        assert [await house.with_token(token) for token in good] == [200, 200, 200]
        assert [await house.with_token(token) for token in bad] == [401] * len(bad)

        # However many unknown names come, the issuer is asked once.
        assert issuer.asked == 1


@pytest.mark.slow
async def test_known_keys_stay_good_while_the_issuer_is_away(
    database: TestDatabase,
) -> None:
    async with an_issuer() as issuer, a_house(database, settings_for(issuer)) as house:
        token = a_token(
            house.admin.id, key=RSA, algorithm="RS256", headers={"kid": "r"}
        )
        assert await house.with_token(token) == 200
        keys = house.app.state.authenticator.rules.keys
        loop = asyncio.get_running_loop()
        keys._clock = lambda: loop.time() + 3600

        issuer.status = "503 Gone Fishing"
        assert await house.with_token(token) == 200

        keys._clock = lambda: loop.time() + 7200
        issuer.status, issuer.body = "200 OK", json.dumps({"keys": []}).encode()
        assert await house.with_token(token) == 401


@pytest.mark.parametrize(
    ("status", "body", "extra"),
    [
        ("200 OK", b"not json", []),
        ("200 OK", b"[]", []),
        ("200 OK", b'{"keys": {"a": 1}}', []),
        ("200 OK", b'{"keys": [1, null, "x"]}', []),
        ("200 OK", b" " * 300_000, []),
        ("302 Found", b"", ["Location: http://127.0.0.1:1/elsewhere"]),
        ("500 Oops", b"{}", []),
    ],
    ids=["text", "list", "object", "rubbish", "too big", "redirect", "error"],
)
async def test_an_issuer_that_misbehaves_gives_no_key(
    status: str, body: bytes, extra: list[str]
) -> None:
    async with an_issuer() as issuer:
        issuer.status, issuer.body, issuer.extra = status, body, extra
        keys = KeySet(issuer.url, user_agent="test")

        assert await keys.find("r", "RS256") is None
        assert await keys.find("r", "RS256") is None
        await keys.close()

        assert issuer.asked == 1
