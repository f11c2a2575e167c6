"""Local mode: the laptop's owner needs nothing, everyone else needs credentials."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import httpx
import pytest
import pytest_asyncio
from fastapi import FastAPI
from sqlalchemy import text

from scrapersky.api.app import create_app
from scrapersky.api.auth.local import host_of, is_loopback
from scrapersky.configuration import load_settings
from scrapersky.db.connection import connect, parse_target
from scrapersky.errors import ConfigurationError
from tests.api.gateway.rig import HASHED, SECRET
from tests.api.records.rig import AT_REST
from tests.conftest import TestDatabase

pytestmark = pytest.mark.asyncio(loop_scope="module")

OWN = {"Host": "127.0.0.1:8000"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def laptop(module_database: TestDatabase) -> AsyncIterator[FastAPI]:
    settings = load_settings(AT_REST, dotenv=None).settings
    app = create_app(settings, parse_target(module_database.url))
    async with app.router.lifespan_context(app):
        yield app


async def ask(
    app: FastAPI,
    headers: Mapping[str, str],
    *,
    client: str = "127.0.0.1",
    method: str = "GET",
) -> int:
    transport = httpx.ASGITransport(app, client=(client, 4000))
    async with httpx.AsyncClient(transport=transport, base_url="http://x") as sender:
        path = "/api/v3/session" if method == "GET" else "/api/v3/users"
        answer = await sender.request(method, path, headers=headers, json={})
    return answer.status_code


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8000", "localhost:8000", "[::1]:8000", "127.9.9.9", "LOCALHOST"]
)
async def test_the_laptops_owner_is_its_admin(laptop: FastAPI, host: str) -> None:
    assert await ask(laptop, {"Host": host}) == 200
    assert await ask(laptop, {"Host": host}, client="::1") == 200


@pytest.mark.parametrize(
    ("headers", "client"),
    [
        ({"Host": "rebound.example"}, "127.0.0.1"),
        ({"Host": "127.0.0.1.nip.io"}, "127.0.0.1"),
        ({"Host": "localhost.evil.example"}, "127.0.0.1"),
        ({"Host": ""}, "127.0.0.1"),
        ({"Host": "0.0.0.0:8000"}, "127.0.0.1"),
        (OWN, "192.168.1.20"),
        (OWN, "8.8.8.8"),
        ({**OWN, "X-Forwarded-For": "127.0.0.1"}, "127.0.0.1"),
        ({**OWN, "Forwarded": "for=127.0.0.1"}, "127.0.0.1"),
        ({**OWN, "X-Real-IP": "127.0.0.1"}, "127.0.0.1"),
        ({**OWN, "Via": "1.1 proxy"}, "127.0.0.1"),
        ({**OWN, "Authorization": "Bearer wrong"}, "127.0.0.1"),
        ({**OWN, "X-API-Key": "ssk_wrong"}, "127.0.0.1"),
        ({**OWN, "Cookie": "scrapersky_session_8000=junk"}, "127.0.0.1"),
    ],
    ids=str,
)
async def test_nobody_else_is(
    laptop: FastAPI, headers: dict[str, str], client: str
) -> None:
    assert await ask(laptop, headers, client=client) == 401


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9000"},
        {"Origin": "https://127.0.0.1:8000"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
    ids=str,
)
async def test_another_page_in_the_owners_browser_changes_nothing(
    laptop: FastAPI, headers: dict[str, str]
) -> None:
    assert await ask(laptop, {**OWN, **headers}, method="POST") == 403


async def test_a_cookie_that_is_nobodys_was_passed_over_for_the_machine(
    laptop: FastAPI,
) -> None:
    transport = httpx.ASGITransport(laptop, client=("127.0.0.1", 4000))
    async with httpx.AsyncClient(
        transport=transport, base_url="http://127.0.0.1:8000"
    ) as browser:
        browser.cookies.set("scrapersky_session_8000", "junk", "127.0.0.1")
        refused = await browser.get("/api/v3/session")
        again = await browser.get("/api/v3/session")

    assert refused.status_code == 401
    assert refused.json()["detail"] == "Your session has ended."
    assert "Max-Age=0" in refused.headers["set-cookie"]
    assert again.status_code == 200


async def test_the_cookie_of_another_workspace_on_the_laptop_means_nothing(
    laptop: FastAPI,
) -> None:
    others = "scrapersky_session=junk; scrapersky_session_8001=junk"

    assert await ask(laptop, {**OWN, "Cookie": others}) == 200


async def test_the_own_page_may_change_things(laptop: FastAPI) -> None:
    own = {**OWN, "Origin": "http://127.0.0.1:8000", "Sec-Fetch-Site": "same-origin"}

    assert await ask(laptop, own, method="POST") == 422


async def test_local_mode_ends_with_the_first_password(
    laptop: FastAPI, module_database: TestDatabase
) -> None:
    engine = connect(parse_target(module_database.url))
    async with engine.begin() as connection:
        await connection.execute(
            text(
                "INSERT INTO users (tenant_id, email, role, password_hash) "
                "SELECT id, 'first@example.com', 'admin', :hash FROM tenants LIMIT 1"
            ),
            {"hash": HASHED},
        )
    laptop.state.authenticator.forget()

    after = await ask(laptop, OWN)

    async with engine.begin() as connection:
        await connection.execute(text("DELETE FROM users WHERE NOT is_system"))
    await engine.dispose()
    laptop.state.authenticator.forget()
    assert after == 401


@asynccontextmanager
async def started(database: TestDatabase, **more: str) -> AsyncIterator[FastAPI]:
    settings = load_settings({**AT_REST, **more}, dotenv=None).settings
    app = create_app(settings, parse_target(database.url))
    async with app.router.lifespan_context(app):
        yield app


@pytest.mark.parametrize(
    "more",
    [
        {"HOST": "0.0.0.0"},
        {"HOST": "192.168.1.5"},
        {"HOST": "::"},
        {"HOST": "app.example.com"},
        {"ENVIRONMENT": "production"},
        {"ENVIRONMENT": "staging"},
        {"LOCAL_ACCESS": "false"},
    ],
    ids=str,
)
async def test_it_refuses_to_listen_where_nobody_could_log_in(
    module_database: TestDatabase, more: dict[str, str]
) -> None:
    with pytest.raises(ConfigurationError, match="nobody has any yet") as refused:
        async with started(module_database, **more):
            pass

    assert "scrapersky user create" in str(refused.value.hint)


async def test_with_tokens_set_up_the_machine_is_nobody(
    module_database: TestDatabase,
) -> None:
    tokens = {"JWT_SECRET": SECRET, "JWT_AUDIENCE": "a", "JWT_ISSUER": "i"}

    async with started(module_database, **tokens) as app:
        assert await ask(app, OWN) == 401


@pytest.mark.parametrize(
    ("header", "host"),
    [("a:80", "a"), ("[::1]:80", "::1"), ("[::1]", "::1"), ("", ""), ("A", "a")],
)
async def test_a_host_header_is_read(header: str, host: str) -> None:
    assert host_of(header) == host


@pytest.mark.parametrize(
    "host", ["127.1", "2130706433", "0x7f.1", "::ffff:8.8.8.8", "localhost.", "1.1.1.1"]
)
async def test_strange_spellings_are_not_this_machine(host: str) -> None:
    assert not is_loopback(host)
