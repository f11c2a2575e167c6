"""A house with two tenants: people, keys and tokens for each, and the API's door."""

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import httpx
import jwt
from fastapi import FastAPI
from sqlalchemy import insert, text
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.api.account.authority import MACHINE
from scrapersky.api.account.people import add_key, add_tenant, add_user
from scrapersky.api.app import create_app
from scrapersky.api.auth.identity import ROLES
from scrapersky.api.auth.password import HASHER
from scrapersky.configuration import load_settings
from scrapersky.db.connection import connect, parse_target
from scrapersky.records.status import Role
from tests.api.records.rig import AT_REST
from tests.conftest import TestDatabase

SECRET = "Kq3vZ8-rT5yWm2Xc9Lp7Nb4Hf6Jd1Gs0AeUiOo_QzVx"
AUDIENCE = "authenticated"
ISSUER = "https://issuer.example/auth/v1"
PASSWORD = "a horse, a battery and a staple"
WITH_TOKENS = {
    **AT_REST,
    "JWT_SECRET": SECRET,
    "JWT_AUDIENCE": AUDIENCE,
    "JWT_ISSUER": ISSUER,
    "API_RATE_PER_SECOND": "0",
}


@dataclass(frozen=True, slots=True)
class Person:
    """Someone who may come in, and their key."""

    id: UUID
    tenant: UUID
    email: str
    role: Role
    key: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}


@dataclass(frozen=True, slots=True)
class House:
    """The application, the database beneath it, and who lives in it."""

    app: FastAPI
    engine: AsyncEngine
    client: httpx.AsyncClient
    home: UUID
    other: UUID
    admin: Person
    curator: Person
    viewer: Person
    stranger: Person
    """Admin of the other tenant."""

    async def run(self, statement: str, **values: Any) -> Any:
        async with self.engine.begin() as connection:
            result = await connection.execute(text(statement), values)
            return result.all() if result.returns_rows else result.rowcount

    async def scalar(self, statement: str, **values: Any) -> Any:
        async with self.engine.begin() as connection:
            return await connection.scalar(text(statement), values)

    async def add(self, model: Any, tenant: UUID, **values: Any) -> UUID:
        statement = insert(model).values(tenant_id=tenant, **values).returning(model.id)
        async with self.engine.begin() as connection:
            return UUID(str((await connection.execute(statement)).scalar_one()))

    async def get(self, path: str, who: Person | None = None, **more: Any) -> Any:
        return await self.send("GET", path, who, **more)

    async def send(
        self,
        method: str,
        path: str,
        who: Person | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        **more: Any,
    ) -> httpx.Response:
        sent = {**(who.headers if who else {}), **(headers or {})}
        return await self.client.request(method, f"/api/v3{path}", headers=sent, **more)

    async def with_token(self, token: str | bytes, path: str = "/session") -> int:
        value = token.decode() if isinstance(token, bytes) else token
        answer = await self.client.get(
            f"/api/v3{path}", headers={"Authorization": f"Bearer {value}"}
        )
        if answer.status_code == 401:
            assert answer.headers["content-type"] == "application/problem+json"
            assert answer.headers["www-authenticate"].startswith("Bearer")
        return answer.status_code

    def fresh(self) -> None:
        """Forget what was looked up, and who has asked how often."""
        gate = self.app.state.authenticator
        gate.forget()
        for limiter in (
            gate.failures, gate.attempts, gate.logins, gate.accounts, gate.callers, gate.tenants,
        ):  # fmt: skip
            limiter._buckets.clear()


def claims(subject: object, **more: Any) -> dict[str, Any]:
    """What a good token says; None takes a claim out."""
    now = int(time.time())
    said = {
        "sub": str(subject),
        "aud": AUDIENCE,
        "iss": ISSUER,
        "iat": now,
        "exp": now + 600,
        **more,
    }
    return {name: value for name, value in said.items() if value is not None}


def a_token(subject: object, *, key: Any = SECRET, **more: Any) -> str:
    headers = more.pop("headers", None)
    algorithm = more.pop("algorithm", "HS256")
    return jwt.encode(claims(subject, **more), key, algorithm, headers)


@asynccontextmanager
async def a_house(
    database: TestDatabase, settings: Mapping[str, str] = WITH_TOKENS
) -> AsyncIterator[House]:
    """Start the application over a database with two tenants."""
    target = parse_target(database.url)
    engine = connect(target)
    async with engine.begin() as connection:
        home = await connection.scalar(
            text("SELECT id FROM tenants ORDER BY created_at LIMIT 1")
        )
        other = (await add_tenant(connection, name="Other", slug="other")).id
    people = [
        await a_person(engine, tenant, role)
        for tenant, role in (
            (home, Role.ADMIN), (home, Role.CURATOR), (home, Role.VIEWER),
            (other, Role.ADMIN),
        )
    ]  # fmt: skip
    app = create_app(load_settings(settings, dotenv=None).settings, target)
    transport = httpx.ASGITransport(
        app, raise_app_exceptions=False, client=("192.0.2.7", 40000)
    )
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://app.test") as client,
    ):
        yield House(app, engine, client, home, other, *people)
    await engine.dispose()


async def a_person(engine: AsyncEngine, tenant: UUID, role: Role) -> Person:
    """Let someone in, with a password and a key that may all their role may."""
    email = f"{role.value}-{uuid4().hex[:8]}@example.com"
    async with engine.begin() as connection:
        user = await add_user(
            connection, MACHINE, tenant, email=email, role=role, password_hash=HASHED
        )
        scopes = sorted(ROLES[role])
        key, _ = await add_key(
            connection,
            MACHINE,
            tenant,
            name=email,
            role=role,
            scopes=scopes,
            made_by=user.id,
        )
    return Person(user.id, tenant, email, role, key.secret)


HASHED = HASHER.hash(PASSWORD)
