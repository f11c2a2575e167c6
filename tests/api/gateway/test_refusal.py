"""When the database is busy, slow or away, callers are told so, and soon."""

import asyncio
import time
from datetime import timedelta
from typing import Annotated, Any

import pytest
from fastapi import APIRouter
from sqlalchemy import text

from scrapersky.api.gateway.dependency import Database, allow
from scrapersky.api.gateway.identity import Identity, Permission
from scrapersky.api.gateway.tenancy import patient
from tests.api.gateway.rig import House

pytestmark = pytest.mark.asyncio(loop_scope="module")

Reader = Annotated[Identity, allow(Permission.READ)]
HANGING = (
    "INSERT INTO contacts (tenant_id, domain_id, email) "
    "SELECT id, gen_random_uuid(), 'a@b.c' FROM tenants"
)
TWICE = (
    "INSERT INTO domains (tenant_id, domain) "
    "SELECT id, 'twice.example' FROM tenants, generate_series(1, 2)"
)
router = APIRouter(prefix="/api/v3/trial")


@router.get("/slow")
async def slow(_who: Reader, engine: Database) -> str:
    with patient(timedelta(milliseconds=200)):
        async with engine.connect() as connection:
            await connection.execute(text("SELECT pg_sleep(9)"))
    return "done"


@router.get("/busy")
async def busy(_who: Reader, engine: Database) -> str:
    for _ in range(2):
        async with engine.connect() as connection:
            await connection.execute(text("SELECT pg_sleep(0.25)"))
    return "done"


@router.get("/value")
async def value(_who: Reader, engine: Database, kind: str) -> str:
    statements: dict[str, tuple[str, dict[str, Any]]] = {
        "nul": ("SELECT CAST(:v AS text)", {"v": "a\x00b"}),
        "range": ("SELECT CAST(:v AS bigint)", {"v": 2**70}),
        "cast": ("SELECT CAST('x' AS uuid)", {}),
        "zero": ("SELECT 1 / 0", {}),
        "reference": (HANGING, {}),
        "twice": (TWICE, {}),
        "bug": ("SELECT nothing FROM nowhere", {}),
    }
    async with engine.begin() as connection:
        await connection.execute(text(statements[kind][0]), statements[kind][1])
    return "done"


@pytest.fixture(autouse=True)
def trial(started: House) -> None:
    if not any("/trial" in str(getattr(r, "path", "")) for r in started.app.routes):
        started.app.include_router(router)


async def test_a_question_that_takes_too_long_is_stopped(house: House) -> None:
    started = time.monotonic()

    answer = await house.get("/trial/slow", house.viewer)

    assert answer.status_code == 503
    assert answer.json()["type"].endswith("/query-too-slow")
    assert answer.headers["retry-after"]
    assert time.monotonic() - started < 8


async def test_a_burst_degrades_and_never_deadlocks(house: House) -> None:
    async def ask() -> tuple[int, float]:
        started = time.monotonic()
        answer = await house.get("/trial/busy", house.viewer)
        if answer.status_code == 503:
            assert answer.json()["type"].endswith("/database-busy")
        return answer.status_code, time.monotonic() - started

    answers = await asyncio.gather(*(ask() for _ in range(200)))

    codes = [status for status, _ in answers]
    assert set(codes) == {200, 503}
    # Each waits for a connection twice, 1.5 s at most each time; the rest is this machine.
    assert max(taken for _, taken in answers) < 10
    assert (await house.get("/session", house.viewer)).status_code == 200
    assert house.app.state.engine.sync_engine.pool.checkedout() == 0


@pytest.mark.parametrize(
    ("kind", "status", "said"),
    [
        ("nul", 422, "not-storable"),
        ("range", 422, "not-storable"),
        ("cast", 422, "not-storable"),
        ("zero", 422, "not-storable"),
        ("reference", 422, "foreign-reference"),
        ("twice", 409, "record-conflict"),
        ("bug", 500, "internal-server-error"),
    ],
)
async def test_what_the_database_refuses_has_a_name(
    house: House, kind: str, status: int, said: str
) -> None:
    answer = await house.get("/trial/value", house.admin, params={"kind": kind})

    assert (answer.status_code, answer.json()["type"].rpartition("/")[2]) == (
        status,
        said,
    )
    assert "SELECT" not in answer.text


async def test_a_killed_connection_is_a_503_and_then_all_is_well(house: House) -> None:
    await house.get("/users", house.admin)
    await house.run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE application_name = 'scrapersky-api' AND datname = current_database()"
    )

    answers = [await house.get("/users", house.admin) for _ in range(12)]

    codes = [answer.status_code for answer in answers]
    assert set(codes) <= {200, 503}
    assert codes[-1] == 200
