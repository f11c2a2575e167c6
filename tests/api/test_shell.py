"""The application shell: health, errors, request ids, the reference page."""

import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import httpx
import pytest
import pytest_asyncio
import structlog
from fastapi import APIRouter, FastAPI
from sqlalchemy import text

from scrapersky.api import health
from scrapersky.api.app import create_app
from scrapersky.configuration import load_settings
from scrapersky.db.connection import connect, parse_target
from scrapersky.errors import (
    ConfigurationError,
    DatabaseUnreachable,
    ItemNotFound,
    SchemaMismatch,
)
from tests.conftest import TestDatabase, TestServer, a_database

pytestmark = pytest.mark.asyncio(loop_scope="module")
SETTINGS = load_settings({}, dotenv=None).settings


@asynccontextmanager
async def client_of(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(
            transport=transport, base_url="http://127.0.0.1:8000"
        ) as client,
    ):
        yield client


@pytest.fixture
def app(database: TestDatabase) -> FastAPI:
    return create_app(SETTINGS, parse_target(database.url))


@pytest.fixture(scope="module")
def shared_database(
    postgres_server: TestServer, template: str
) -> Iterator[TestDatabase]:
    yield from a_database(postgres_server, template)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(shared_database: TestDatabase) -> AsyncIterator[httpx.AsyncClient]:
    """A client of one application for the tests that leave it as it is."""
    app = create_app(SETTINGS, parse_target(shared_database.url))
    app.include_router(trial)
    async with client_of(app) as client:
        yield client


trial = APIRouter()


@trial.get("/bug")
async def bug() -> None:
    raise RuntimeError("postgresql://u:secret@host")


@trial.get("/missing")
async def missing() -> None:
    raise ItemNotFound("There is no such item.", hint="Check the id.")


@trial.get("/down")
async def down() -> None:
    raise DatabaseUnreachable("No database answers at 10.0.0.7.")


@trial.get("/page")
async def page(number: int) -> int:
    return number


async def execute(database: TestDatabase, statement: str) -> None:
    engine = connect(parse_target(database.url))
    async with engine.begin() as connection:
        await connection.execute(text(statement))
    await engine.dispose()


async def test_it_is_alive_and_ready(client: httpx.AsyncClient) -> None:
    assert (await client.get("/health/live")).json()["status"] == "alive"
    ready = await client.get("/health/ready")
    assert ready.status_code == 200
    assert set(ready.json()["checks"].values()) == {"ok"}


async def test_it_was_ready_on_a_full_disk(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "MIN_DISK_BYTES", 1 << 60)

    ready = await client.get("/health/ready")

    assert ready.status_code == 503
    assert "MiB are free" in ready.json()["checks"]["disk"]


async def test_it_is_not_ready_when_the_schema_changes_under_it(
    app: FastAPI, database: TestDatabase
) -> None:
    async with client_of(app) as client:
        await execute(database, "ALTER TABLE pages DROP COLUMN title")

        answer = await client.get("/health/ready")

    assert answer.status_code == 503
    assert answer.json()["checks"]["migrations"].startswith("1 differences")


async def test_it_was_ready_where_no_row_could_be_written(
    app: FastAPI, database: TestDatabase
) -> None:
    async with client_of(app) as client:
        await execute(
            database,
            "CREATE OR REPLACE FUNCTION time_ordered_uuid() RETURNS uuid LANGUAGE plpgsql"
            " AS $$ BEGIN RETURN what_an_older_server_lacks(); END $$",
        )
        answer = await client.get("/health/ready")

    assert answer.status_code == 503
    assert answer.json()["checks"]["writing"].startswith("no row can be written")


async def test_it_is_alive_but_not_ready_without_its_database(
    app: FastAPI, database: TestDatabase
) -> None:
    async with client_of(app) as client:
        await close(database)

        assert (await client.get("/health/live")).status_code == 200
        answer = await client.get("/health/ready")
    assert answer.status_code == 503
    assert answer.json()["checks"]["database"] == "failed; the log has the reason"


async def close(database: TestDatabase) -> None:
    engine = connect(parse_target(database.url.replace(database.name, "postgres")))
    ending = text(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = :name"
    )
    async with engine.begin() as connection:
        await connection.execute(
            text(f'ALTER DATABASE "{database.name}" ALLOW_CONNECTIONS false')
        )
        await connection.execute(ending, {"name": database.name})
    await engine.dispose()


async def test_it_refuses_to_serve_a_schema_it_does_not_know(
    app: FastAPI, database: TestDatabase
) -> None:
    await execute(database, "DROP TABLE suppressions CASCADE")

    with pytest.raises(SchemaMismatch, match="table suppressions is missing"):
        async with client_of(app):
            pass


async def test_it_refuses_to_start_without_its_system_user(
    app: FastAPI, database: TestDatabase
) -> None:
    await execute(database, "DELETE FROM users")

    with pytest.raises(ConfigurationError, match="SCHEDULER_SYSTEM_USER_ID"):
        async with client_of(app):
            pass


async def test_an_unknown_address_is_a_problem(client: httpx.AsyncClient) -> None:
    answer = await client.get("/api/v3/nowhere")

    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["status"] == 404
    assert problem["type"].endswith("/not-found")
    assert problem["request_id"] == answer.headers["x-request-id"]


async def test_a_wrong_method_is_a_problem(client: httpx.AsyncClient) -> None:
    answer = await client.post("/health/live")

    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET"


async def test_a_bug_says_the_caller_nothing_from_inside(
    client: httpx.AsyncClient,
) -> None:
    answer = await client.get("/bug")

    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert answer.json()["request_id"] == answer.headers["x-request-id"]


async def test_an_error_of_ours_answers_with_its_own_status(
    client: httpx.AsyncClient,
) -> None:
    foreseen = await client.get("/missing")
    unavailable = await client.get("/down")

    assert (foreseen.status_code, foreseen.json()["hint"]) == (404, "Check the id.")
    assert unavailable.status_code == 503
    assert unavailable.headers["retry-after"]
    assert "10.0.0.7" not in unavailable.text


async def test_invalid_input_is_named_but_not_repeated(
    client: httpx.AsyncClient,
) -> None:
    answer = await client.get("/page", params={"number": "<script>"})

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["where"] == "query.number"
    assert "script" not in answer.text


@pytest.mark.parametrize(
    ("given", "is_kept"),
    [
        ("trace-12345678", True),
        ("x", False),
        ("a" * 65, False),
        ("a\tb c d e f", False),
    ],
)
async def test_a_harmless_request_id_is_kept(
    client: httpx.AsyncClient, given: str, is_kept: bool
) -> None:
    answer = await client.get("/health/live", headers={"X-Request-ID": given})

    assert (answer.headers["x-request-id"] == given) is is_kept


async def test_every_request_leaves_one_line_with_its_id(
    client: httpx.AsyncClient,
) -> None:
    with structlog.testing.capture_logs(
        processors=[structlog.contextvars.merge_contextvars]
    ) as lines:
        answer = await client.get("/api/v3/nowhere")

    (line,) = [line for line in lines if line["event"] == "request.done"]
    assert line["request_id"] == answer.headers["x-request-id"]
    assert (line["path"], line["status"]) == ("/api/v3/nowhere", 404)


async def test_the_reference_page_needs_nothing_from_elsewhere(
    client: httpx.AsyncClient,
) -> None:
    page = await client.get("/docs")
    links = re.findall(r'(?:src|href|data-document)="([^"]+)"', page.text)

    assert len(links) == 5
    for link in links:
        assert link.startswith("/")
        assert (await client.get(link)).status_code == 200


async def test_unknown_assets_are_not_found(client: httpx.AsyncClient) -> None:
    assert (await client.get("/docs/assets/..%2f__init__.py")).status_code == 404


async def test_the_openapi_document_is_whole(client: httpx.AsyncClient) -> None:
    document = (await client.get("/openapi.json")).json()

    assert {"/health/live", "/health/ready"} <= set(document["paths"])
    assert "Problem" in document["components"]["schemas"]
    assert json.dumps(document)


async def test_the_stages_tell_how_they_stand(client: httpx.AsyncClient) -> None:
    stages = (await client.get("/api/v3/stages")).json()

    assert [stage["stage"] for stage in stages][:2] == ["place_search", "deep_scan"]
    assert {stage["queued"] for stage in stages} == {0}
