"""Secrets planted everywhere are found nowhere: not in logs, errors or the database."""

import asyncio
import json
import os
import re
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import jwt
import pytest
from sqlalchemy import text

from scrapersky.api.account.authority import MACHINE
from scrapersky.api.account.people import add_user
from scrapersky.api.auth.password import HASHER
from scrapersky.db.connection import connect, parse_target
from scrapersky.db.embedded import EmbeddedPostgres
from scrapersky.records.status import Role
from sdk_tests.rig.port import free_port
from sdk_tests.rig.waiting import HUNG
from tests.api.gateway.rig import a_person, claims
from tests.api.records.rig import AT_REST
from tests.conftest import TestDatabase
from tests.db.prepared import prepare_home

EMAIL = "canary@example.com"
pytestmark = pytest.mark.xdist_group("migrated-copies")  # of one cluster


@dataclass(slots=True)
class Canaries:
    """Secrets that sing if they are seen."""

    made: dict[str, str] = field(default_factory=dict)

    def new(self, where: str) -> str:
        value = f"Zq{secrets.token_hex(12)}Xv{len(self.made):02d}"
        self.made[where] = value
        return value

    def sing_in(self, text: str) -> set[str]:
        return {where for where, value in self.made.items() if value in text}


@contextmanager
def a_process(settings: dict[str, str], log: Path) -> Iterator[str]:
    """Run the real program and wait until it answers."""
    port = free_port()
    kept = {
        name: value for name, value in os.environ.items() if "SCRAPERSKY" not in name
    }
    command = Path(sys.executable).with_name("scrapersky")
    with log.open("wb") as out:
        process = subprocess.Popen(
            [command, "up"],
            env={**kept, **settings, "PORT": str(port)},
            cwd=log.parent,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
        url = f"http://127.0.0.1:{port}"
        try:
            wait_for(url, process)
            yield url
        finally:
            process.send_signal(signal.SIGTERM)
            ended = process.wait(HUNG)
    assert ended == 0


def wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + HUNG
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if httpx.get(f"{url}/health/live", timeout=5).is_success:
                return
        except httpx.TransportError:
            time.sleep(0.1)
    raise AssertionError("the application did not start")


async def furnish(database: TestDatabase, password: str) -> str:
    """Make a person with a password and return an API key of the tenant's admin."""
    engine = connect(parse_target(database.url))
    async with engine.begin() as connection:
        home = UUID(
            str(await connection.scalar(text("SELECT id FROM tenants LIMIT 1")))
        )
        await add_user(
            connection,
            MACHINE,
            home,
            email=EMAIL,
            role=Role.ADMIN,
            password_hash=HASHER.hash(password),
        )
    person = await a_person(engine, home, Role.ADMIN)
    await engine.dispose()
    return person.key


async def break_something(database: TestDatabase) -> None:
    """Let questions fail in the middle, with everything they carry."""
    engine = connect(parse_target(database.url))
    async with engine.begin() as connection:
        await connection.execute(
            text("ALTER TABLE users RENAME COLUMN subject TO gone")
        )
        await connection.execute(text("ALTER TABLE audit_log RENAME TO gone"))
    await engine.dispose()


async def everything_kept(database: TestDatabase) -> str:
    """Return every text in the database."""
    engine = connect(parse_target(database.url))
    async with engine.connect() as connection:
        names = await connection.scalars(
            text(
                "SELECT c.oid::regclass::text FROM pg_class c WHERE c.relkind = 'r' AND "
                "c.relnamespace IN ('public'::regnamespace, 'curation'::regnamespace)"
            )
        )
        parts = [
            await connection.scalar(
                text(f"SELECT string_agg(t::text, ' ') FROM {name} t")
            )
            for name in names.all()
        ]
    await engine.dispose()
    return " ".join(str(part) for part in parts)


def provoke(
    url: str, canaries: Canaries, password: str, key: str, secret: str
) -> list[str]:
    """Send secrets wherever they can be sent; return every answer."""
    answers: list[httpx.Response] = []
    bearer = {"Authorization": f"Bearer {key}"}
    with httpx.Client(base_url=f"{url}/api/v3", timeout=30) as client:

        def send(method: str, path: str, **more: Any) -> httpx.Response:
            answer = client.request(method, path, **more)
            answers.append(answer)
            return answer

        good = send("POST", "/session", json={"email": EMAIL, "password": password})
        canaries.made["session cookie"] = good.cookies["scrapersky_session"]
        client.cookies.clear()
        token = jwt.encode(
            claims("nobody", note=canaries.new("claim")), secret, "HS256"
        )
        canaries.made["token"] = token
        canaries.made["api key"] = key
        for number in range(3):
            wrong = canaries.new(f"wrong password {number}")
            send("POST", "/session", json={"email": EMAIL, "password": wrong})
            send("POST", "/session", json={"email": wrong, "password": 5})
        for name in (
            "Authorization",
            "X-API-Key",
            "Cookie",
            "X-CSRF-Token",
            "If-Match",
        ):
            for form in ("{}", "Bearer {}", "Basic {}", "ssk_AbCdEfGhJk_{}"):
                value = form.format(canaries.new(f"{name} {form}"))
                send("GET", "/users", headers={name: value})
        send("GET", "/users", headers={"Authorization": f"Bearer {token}"})
        for name in ("token", "api_key", "access_token"):
            send(
                "GET", f"/users?{name}={canaries.new(f'query {name}')}", headers=bearer
            )
        for path in ("/users", "/api-keys", "/rules", "/people/erase", "/suppressions"):
            body = {"password": canaries.new(f"body {path}"), "email": 7}
            send("POST", path, headers=bearer, json=body)
            send("POST", path, headers=bearer, content=canaries.new(f"text {path}"))
        made = canaries.new("new password")
        send(
            "POST",
            "/users",
            headers=bearer,
            json={"email": "a@b.example", "password": made},
        )
        yours = send("POST", "/api-keys", headers=bearer, json={"name": "x"})
        canaries.made["new key"] = yours.json()["secret"]
        answers.remove(yours)
    return [
        answer.text + str(answer.headers) for answer in answers if answer is not good
    ]


def provoke_broken(url: str, canaries: Canaries, key: str) -> list[httpx.Response]:
    bearer = {"Authorization": f"Bearer {key}"}
    with httpx.Client(base_url=f"{url}/api/v3", timeout=30) as client:
        return [
            client.post(
                "/users",
                headers=bearer,
                json={"email": "c@d.example", "password": canaries.new("broken user")},
            ),
            client.post(
                "/api-keys", headers=bearer, json={"name": canaries.new("broken")}
            ),
            client.post(
                "/session",
                json={"email": EMAIL, "password": canaries.new("broken login")},
            ),
        ]


@pytest.fixture
def database(scratch: Path) -> Iterator[TestDatabase]:
    """A durable one: the real program starts on no other."""
    home = prepare_home(scratch / "leak", migrated=True)
    with EmbeddedPostgres(home) as server:
        yield TestDatabase(url=server.url, dsn="", name="scrapersky")


@pytest.mark.slow
def test_planted_secrets_are_found_nowhere(
    database: TestDatabase, tmp_path: Path
) -> None:
    canaries = Canaries()
    password, secret = canaries.new("password"), canaries.new("jwt secret") + "-Kp7"
    key = asyncio.run(furnish(database, password))
    url = database.url.replace("scrapersky@", f"scrapersky:{canaries.new('database')}@")
    settings = {
        **AT_REST,
        "DATABASE_URL": url,
        "JWT_SECRET": secret,
        "JWT_AUDIENCE": "authenticated",
        "JWT_ISSUER": "https://issuer.example/auth/v1",
        "GOOGLE_MAPS_API_KEY": canaries.new("google"),
        "LOG_LEVEL": "DEBUG",
        "LOG_FORMAT": "json",
    }
    log = tmp_path / "log"

    with a_process(settings, log) as address:
        reported = provoke(address, canaries, password, key, secret)
        kept = asyncio.run(everything_kept(database))
        asyncio.run(break_something(database))
        broken = provoke_broken(address, canaries, key)

    lines = log.read_text()
    assert len(canaries.made) >= 40
    assert canaries.sing_in(lines) == set()
    assert canaries.sing_in(" ".join(reported)) == set()
    assert canaries.sing_in(kept) == set()
    assert {answer.status_code for answer in broken} & {500}
    assert canaries.sing_in(" ".join(answer.text for answer in broken)) == set()
    # The log was written, and a line of it is one line whatever was sent.
    events = [
        json.loads(line)["event"] for line in lines.splitlines() if line.startswith("{")
    ]
    assert {"request.done", "request.crashed"} <= set(events)
    assert not re.search(r"[\x00-\x08\x0b-\x1f]", lines)
