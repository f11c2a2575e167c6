"""Processes of one kind each: an API without stages, a worker without an API."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from fastapi import FastAPI
from sqlalchemy import text

from scrapersky.api.app import create_app
from scrapersky.api.celery_app import create_celery_app
from scrapersky.api.server import Server
from scrapersky.api.worker_app import create_worker_app
from scrapersky.configuration import load_settings
from scrapersky.crawler.log import FetchRecord
from scrapersky.db.connection import connect, parse_target
from scrapersky.errors import ConfigurationError, ScraperSkyError
from scrapersky.kit.build import full_version
from scrapersky.observability.shared_metrics import SharedMetrics
from scrapersky.records.schedule import RunOutcome
from scrapersky.scheduler.app import serve, serve_beside_workers
from scrapersky.scheduler.overview import HOUSEKEEPING
from scrapersky.scheduler.presence import RestReasons, live_processes, state_of
from scrapersky.scheduler.run_log import RunLog
from scrapersky.stages import PIPELINE
from tests.conftest import TestDatabase, TestServer, a_database

pytestmark = pytest.mark.asyncio(loop_scope="module")

PAGES = "v2_page_curation_processor"
DEEP_SCANS = "process_deep_scan_queue"
NO_STAGES = {f"{stage.settings.prefix}_ENABLED": "false" for stage in PIPELINE}


@pytest.fixture(scope="module")
def shared(postgres_server: TestServer, template: str) -> Iterator[TestDatabase]:
    yield from a_database(postgres_server, template)


@pytest_asyncio.fixture(loop_scope="module")
async def api(shared: TestDatabase) -> AsyncIterator[FastAPI]:
    settings = load_settings({}, dotenv=None).settings
    app = create_app(settings, parse_target(shared.url), process=serve)
    async with app.router.lifespan_context(app):
        yield app


@pytest_asyncio.fixture(loop_scope="module")
async def worker(shared: TestDatabase) -> AsyncIterator[FastAPI]:
    app = a_worker(shared, NO_STAGES | {"PAGE_CURATION_SCHEDULER_ENABLED": "true"})
    async with app.router.lifespan_context(app):
        yield app


def a_worker(database: TestDatabase, given: dict[str, str]) -> FastAPI:
    settings = load_settings(given, dotenv=None).settings
    return create_worker_app(settings, parse_target(database.url), port=8001)


def asking(app: FastAPI, *, client: str = "127.0.0.1") -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app, client=(client, 1))
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1")


async def test_an_api_without_stages_was_running_and_then_a_traceback(
    api: FastAPI,
) -> None:
    async with asking(api) as client:
        ready = await client.get("/health/ready")
        stages = await client.get("/api/v3/stages")
        (process,) = (await client.get("/api/v3/workers")).json()

    checks = {"database": "ok", "migrations": "ok", "writing": "ok", "disk": "ok"}
    assert ready.json()["checks"] == checks
    assert len(stages.json()) == len(PIPELINE)
    assert (process["role"], process["state"]) == ("serve", "serving")


async def jobs_at(app: FastAPI) -> dict[str, dict[str, Any]]:
    async with asking(app) as client:
        listed = await client.get("/api/v3/scheduler/jobs")
    return {job["id"]: job for job in listed.json()}


async def test_the_jobs_of_workers_were_unknown_to_the_api(
    api: FastAPI, worker: FastAPI
) -> None:
    name = worker.state.background.presence.name
    engine = worker.state.background.engine
    await worker.state.background.schedule.trigger("reap_expired_claims")
    run_id = await RunLog(engine, name).begin(PAGES)
    assert run_id is not None

    jobs = await jobs_at(api)
    async with asking(api) as client:
        status = (await client.get("/api/v3/dev-tools/scheduler_status")).json()
        system = (await client.get("/api/v3/system")).json()

    assert len(jobs) == len(PIPELINE) + len(HOUSEKEEPING)
    assert jobs[PAGES]["processes"] == [name]
    assert jobs[PAGES]["next_run_at"] is not None
    assert jobs[PAGES]["running"] == 1
    assert jobs["reap_expired_claims"]["last_outcome"] == "executed"
    # This one worker has been told not to work the others.
    assert (jobs[DEEP_SCANS]["enabled"], jobs[DEEP_SCANS]["processes"]) == (True, [])
    assert jobs[DEEP_SCANS]["next_run_at"] is None
    assert (status["running"], len(status["jobs"])) == (True, len(jobs))
    assert system["scheduler_runs"] is True
    await RunLog(engine, name).end(run_id, RunOutcome.EXECUTED, None, None)


async def test_a_stage_that_is_switched_off_looked_like_one_nobody_works(
    shared: TestDatabase,
) -> None:
    given = load_settings({"DEEP_SCAN_SCHEDULER_ENABLED": "false"}, dotenv=None)
    target = parse_target(shared.url)
    app = create_app(given.settings, target, process=serve)
    async with app.router.lifespan_context(app):
        jobs = await jobs_at(app)
        async with asking(app) as client:
            status = (await client.get("/api/v3/dev-tools/scheduler_status")).json()

    assert (jobs[DEEP_SCANS]["enabled"], jobs[PAGES]["enabled"]) == (False, True)
    assert {tuple(job["processes"]) for job in jobs.values()} == {()}
    assert status["running"] is False


async def test_why_a_worker_cannot_run_a_job_was_known_to_it_alone(
    api: FastAPI, worker: FastAPI
) -> None:
    background = worker.state.background
    background.schedule.problems[PAGES] = "ValueError: no"
    await background.presence.beat()
    jobs = await jobs_at(api)
    del background.schedule.problems[PAGES]

    assert jobs[PAGES]["problem"] == "ValueError: no"
    assert jobs[PAGES]["next_run_at"] is None


async def test_an_api_beside_workers_ticked_only_to_say_when_they_do(
    shared: TestDatabase, worker: FastAPI
) -> None:
    settings = load_settings({}, dotenv=None).settings
    app = create_app(settings, parse_target(shared.url), process=serve_beside_workers)
    async with app.router.lifespan_context(app), asking(app) as client:
        jobs = await jobs_at(app)
        ready = await client.get("/health/ready")
        ran = await client.post(f"/api/v3/dev-tools/trigger/{DEEP_SCANS}")
        ticks = app.state.background.schedule.is_running

    assert not ticks
    assert jobs[PAGES]["processes"] == [worker.state.background.presence.name]
    assert jobs[DEEP_SCANS]["processes"] == []
    assert ready.status_code == 200
    assert ran.json() == {"job_id": DEEP_SCANS, "finished": True, "items": 0}


async def test_with_every_stage_switched_off_there_was_a_traceback(
    shared: TestDatabase,
) -> None:
    app = a_worker(shared, NO_STAGES)
    async with app.router.lifespan_context(app), asking(app) as client:
        ready = await client.get("/health/ready")

    assert ready.status_code == 200, ready.text


async def test_a_worker_had_no_health_and_no_figures(worker: FastAPI) -> None:
    fetch = FetchRecord(
        "http://a.bv/",
        "http://a.bv/",
        "a.bv",
        "ok",
        200,
        70,
        90,
        0.2,
        0.0,
        0,
        "allowed",
    )
    worker.state.metrics.count_fetch(fetch)
    async with asking(worker) as client:
        alive = await client.get("/health/live")
        ready = await client.get("/health/ready")
        figures = await client.get("/metrics")
    async with asking(worker, client="203.0.113.9") as stranger:
        refused = await stranger.get("/metrics")

    assert alive.json() == {"status": "alive", "version": full_version()}
    assert ready.json()["checks"] == {
        "database": "ok",
        "migrations": "ok",
        "writing": "ok",
        "scheduler": "ok",
        "machine": "ok",
    }
    assert 'scrapersky_fetches_total{outcome="ok"} 1.0' in figures.text
    assert "scrapersky_fetched_bytes_total 70.0" in figures.text
    assert 'scrapersky_robots_verdicts_total{verdict="allowed"} 1.0' in figures.text
    assert "scrapersky_worker_items 0.0" in figures.text
    assert 'scrapersky_overclaims_total{stage="page_curation"} 0.0' in figures.text
    assert refused.status_code == 401


async def test_a_worker_of_celery_had_no_health_and_no_figures(
    shared: TestDatabase, tmp_path: Path
) -> None:
    given = load_settings({}, dotenv=None).settings
    connected = [True]
    app = create_celery_app(
        given,
        parse_target(shared.url),
        SharedMetrics(tmp_path),
        port=8009,
        has_broker=lambda: connected[0],
    )
    child = (
        "INSERT INTO processes (name, role, host, pid, version, address, stages, resting)"
        " VALUES ('child', 'worker', :host, 1, '0', 'http://127.0.0.1:8009', '{pages}',"
        " 'no name is resolved')"
    )
    engine = connect(parse_target(shared.url))
    async with app.router.lifespan_context(app), asking(app) as client:
        alive = await client.get("/health/live")
        fit = await client.get("/health/ready")
        figures = await client.get("/metrics")
        connected[0] = False
        async with engine.begin() as connection:
            (parent,) = await live_processes(connection)
            await connection.execute(text(child), {"host": parent.host})
        unfit = await client.get("/health/ready")
        async with asking(app, client="203.0.113.9") as stranger:
            refused = await stranger.get("/metrics")
    async with engine.begin() as connection:
        deleted = text("DELETE FROM processes RETURNING name")
        left = (await connection.scalars(deleted)).all()
    await engine.dispose()

    assert alive.status_code == 200
    assert {*fit.json()["checks"].values()} == {"ok"}
    assert (parent.role, parent.state) == ("celery", "serving")
    assert parent.address == "http://127.0.0.1:8009"
    assert "process_cpu_seconds_total" in figures.text
    assert unfit.status_code == 503
    assert unfit.json()["checks"] == {
        "database": "ok",
        "migrations": "ok",
        "writing": "ok",
        "broker": "not connected",
        "machine": "child claims nothing: no name is resolved",
    }
    assert refused.status_code == 401
    assert left == ["child"]


async def test_a_process_that_said_goodbye_is_gone_and_one_that_died_is_shown(
    worker: FastAPI, shared: TestDatabase
) -> None:
    engine = connect(parse_target(shared.url))
    try:
        async with engine.begin() as connection:
            await connection.execute(
                text(
                    "INSERT INTO processes (name, role, host, pid, version, seen_at)"
                    " VALUES ('dead', 'worker', 'h', 1, '0', now() - interval '1 hour')"
                )
            )
        gone = a_worker(shared, NO_STAGES)
        async with gone.router.lifespan_context(gone):
            pass
        async with engine.begin() as connection:
            names = await connection.scalars(
                text("DELETE FROM processes WHERE name = 'dead' RETURNING name")
            )
            left = await connection.scalar(text("SELECT count(*) FROM processes"))
    finally:
        await engine.dispose()

    assert names.all() == ["dead"]
    assert left == 1
    assert (
        state_of(missed=3600, works=True, drains=False, resting=None, in_hand=3)
        == "gone"
    )


class Pausable:
    """A worker that only remembers."""

    why: str | None = None

    def rest(self, why: str) -> None:
        self.why = why

    def resume(self) -> None:
        self.why = None


async def test_a_machine_that_recovers_does_not_end_a_drain() -> None:
    worker = Pausable()
    reasons = RestReasons(worker)

    reasons.of("self-check").rest("no name is resolved here")
    reasons.change("operator", "asked to drain")
    reasons.of("self-check").resume()
    still = worker.why
    reasons.change("operator", None)

    assert still == "asked to drain"
    assert worker.why is None


async def test_what_the_start_failed_with_was_a_traceback(
    shared: TestDatabase,
) -> None:
    nobody = "5c7a9e0a-0000-4000-8000-00000000dead"
    settings = load_settings({"SCHEDULER_SYSTEM_USER_ID": nobody}, dotenv=None).settings
    server = Server(create_app(settings, parse_target(shared.url)), grace=1)

    with pytest.raises(ScraperSkyError, match="SCHEDULER_SYSTEM_USER_ID") as failed:
        await server.serve(sockets=[])

    assert isinstance(failed.value, ConfigurationError)
