"""When the database is busy, slow or away, callers are told so, and soon."""

import asyncio
import time
from datetime import timedelta
from typing import Annotated, Any

import pytest
from fastapi import APIRouter
from sqlalchemy import text

from scrapersky.api.auth.identity import Identity, Permission
from scrapersky.api.dependency import Transaction, allow
from scrapersky.api.tenancy import (
    statement_timeout,
)
from sdk_tests.rig.waiting import HUNG
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
REFUSED = asyncio.Event()
"""Whoever has a connection keeps it until somebody else was refused one."""
router = APIRouter(prefix="/api/v3/trial")


@router.get("/slow")
async def slow(_who: Reader, connection: Transaction) -> str:
    async with statement_timeout(timedelta(milliseconds=200), connection):
        await connection.execute(text("SELECT pg_sleep(600)"))
    return "done"


@router.get("/busy")
async def busy(_who: Reader, connection: Transaction) -> str:
    await connection.execute(text("SELECT 1"))
    await REFUSED.wait()
    await connection.execute(text("SELECT 1"))
    return "done"


@router.post("/value")
async def value(_who: Reader, connection: Transaction, kind: str) -> str:
    statements: dict[str, tuple[str, dict[str, Any]]] = {
        "nul": ("SELECT CAST(:v AS text)", {"v": "a\x00b"}),
        "range": ("SELECT CAST(:v AS bigint)", {"v": 2**70}),
        "cast": ("SELECT CAST('x' AS uuid)", {}),
        "zero": ("SELECT 1 / 0", {}),
        "reference": (HANGING, {}),
        "twice": (TWICE, {}),
        "bug": ("SELECT nothing FROM nowhere", {}),
    }
    await connection.execute(text(statements[kind][0]), statements[kind][1])
    return "done"


@pytest.fixture(autouse=True, scope="module")
def wait_for_the_database() -> None:
    """Wait for it as long as the product does: who waits longer is refused."""


@pytest.fixture(autouse=True)
def trial(started: House) -> None:
    if not any("/trial" in str(getattr(r, "path", "")) for r in started.app.routes):
        started.app.include_router(router)


async def test_a_question_that_takes_too_long_is_stopped(house: House) -> None:
    answer = await house.get("/trial/slow", house.viewer)

    assert answer.status_code == 503
    assert answer.json()["type"].endswith("/query-too-slow")
    assert answer.headers["retry-after"]


async def burst(house: House) -> dict[int, list[float]]:
    """Let 200 ask at once for what takes two statements each; return times by status."""
    REFUSED.clear()
    taken: dict[int, list[float]] = {}

    async def ask() -> None:
        started = time.monotonic()
        answer = await house.get("/trial/busy", house.viewer)
        if answer.status_code == 503:
            # On a machine that is busy besides, a statement may be cut off too.
            refusals = ("/database-busy", "/query-too-slow")
            assert answer.json()["type"].endswith(refusals)
            assert answer.headers["retry-after"]
            REFUSED.set()
        taken.setdefault(answer.status_code, []).append(time.monotonic() - started)

    await asyncio.gather(*(ask() for _ in range(200)))
    assert (await house.get("/session", house.viewer)).status_code == 200
    assert house.app.state.engine.sync_engine.pool.checkedout() == 0
    return taken


@pytest.mark.slow
async def test_a_burst_degrades_and_never_deadlocks(house: House) -> None:
    async with asyncio.timeout(HUNG):
        taken = await burst(house)

    assert set(taken) == {200, 503}


@pytest.mark.long
async def test_who_cannot_be_served_is_refused_as_soon_as_others_are_answered(
    house: House,
) -> None:
    await burst(house)
    for turn in range(5):
        taken = await burst(house)
        answered, refused = sorted(taken[200]), sorted(taken[503])
        print(
            f"burst {turn + 1}: {len(answered)} answered, {len(refused)} refused; "
            f"slowest answer {answered[-1]:.2f} s, slowest refusal {refused[-1]:.2f} s"
        )

        # Both wait a second for a connection; who waits for a deadlock waits for half a
        # minute. How long a second takes is the machine's.
        assert refused[-1] <= 3 * answered[-1]


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
    answer = await house.send(
        "POST", "/trial/value", house.admin, params={"kind": kind}
    )

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
