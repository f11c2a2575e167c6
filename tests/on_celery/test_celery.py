"""Stages on Celery: a message is a hint, and PostgreSQL stays the truth."""

import os
import signal
import threading
import time
from collections.abc import Iterable
from pathlib import Path

import httpx
import psycopg
import pytest
from sqlalchemy.ext.asyncio import create_async_engine

from scrapersky.celery import MOST_HINTS, app, hints_for
from scrapersky.kit.build import full_version
from scrapersky.reporting.stage_stats import due
from scrapersky.stages import PIPELINE
from sdk_tests.rig.port import free_port
from sdk_tests.rig.waiting import wait_until
from tests.conftest import TestDatabase
from tests.on_celery.rig import (
    BROKERS,
    QUEUED,
    STAGE,
    Fleet,
    Program,
    a_fleet,
)

DONE = (
    "SELECT count(*) FROM local_businesses WHERE domain_extraction_status = 'Completed'"
)
DOUBLED = f"""
SELECT count(*) FROM (SELECT item FROM curation.attempt
  WHERE stage = '{STAGE}' AND outcome = 'done' GROUP BY item HAVING count(*) > 1) d
"""
LEFT = "SELECT count(*) FROM curation.claim"
DEAD = "SELECT count(*) FROM curation.dead_letter"
MADE = "SELECT count(*) FROM domains"
PARENTS = "SELECT pid, address FROM processes WHERE role = 'celery'"
WORKERS = "SELECT pid, version, address FROM processes WHERE role = 'worker'"
SETTLED = f'scrapersky_items_settled_total{{outcome="done",stage="{STAGE}"}}'

READY, CUT_OFF = {(200, "ok")}, {(503, "not connected")}


@pytest.mark.parametrize("stage", PIPELINE, ids=lambda stage: stage.name)
def test_every_stage_is_a_task_with_a_queue_of_its_own(stage: object) -> None:
    name = f"scrapersky.{stage.name}"  # type: ignore[attr-defined]

    assert name in app.tasks
    assert app.amqp.router.route({}, name)["queue"].name == name
    assert name in app.amqp.queues


@pytest.mark.parametrize(
    ("items", "hints"), [(0, 0), (1, 1), (20, 1), (21, 2), (10_000, MOST_HINTS)]
)
def test_hints_grow_with_what_waits_up_to_a_limit(items: int, hints: int) -> None:
    assert hints_for(items, 20) == hints


async def test_what_is_due_is_counted_and_what_waits_for_later_is_not(
    database: TestDatabase,
) -> None:
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        connection.execute("INSERT INTO tenants (name, slug) VALUES ('ours', 'ours')")
        connection.execute(QUEUED, (1, 3))
        connection.execute(
            "INSERT INTO curation.claim (stage, item, tries, due_at)"
            " VALUES (%(s)s, gen_random_uuid(), 1, clock_timestamp() + interval '1 hour'),"
            " (%(s)s, gen_random_uuid(), 1, clock_timestamp() - interval '1 hour')",
            {"s": STAGE},
        )
    engine = create_async_engine(database.url)

    found = await due(engine)

    await engine.dispose()
    assert found == {STAGE: 4}


@pytest.mark.long
@pytest.mark.parametrize("broker", BROKERS)
def test_no_item_is_lost_or_doubled_whatever_becomes_of_messages_and_workers(
    broker: str, tmp_path: Path, scratch: Path
) -> None:
    with a_fleet(broker, tmp_path, scratch) as fleet:
        feeder = threading.Thread(target=feed, args=(fleet, 60))
        feeder.start()
        for turn in range(12):
            time.sleep(2)
            fleet.kill_somebody()
            if turn % 4 == 1:
                fleet.restart_broker(seconds=3)
            if turn % 4 == 2:
                fleet.lose_messages()
            fleet.hint(20)
        feeder.join()
        wait_until(lambda: fleet.query(DONE) == [(600,)], "every business")
        for worker in fleet.workers:
            worker.stop()

        counted = [fleet.query(one) for one in (MADE, DOUBLED, LEFT, DEAD)]
        assert counted == [[(600,)], [(0,)], [(0,)], [(0,)]]


def feed(fleet: Fleet, turns: int) -> None:
    """Queue ten businesses twice a second."""
    for turn in range(turns):
        fleet.query(QUEUED, turn * 10 + 1, turn * 10 + 10)
        time.sleep(0.5)


@pytest.mark.long
def test_what_the_processes_of_a_worker_did_is_read_at_its_own_port(
    tmp_path: Path, scratch: Path
) -> None:
    with a_fleet("redis", tmp_path, scratch) as fleet:
        fleet.query(QUEUED, 1, 60)
        wait_until(lambda: fleet.query(DONE) == [(60,)], "every business")
        wait_until(lambda: len(fleet.query(PARENTS)) == 2, "both workers in the list")
        parents = {pid: str(address) for pid, address in fleet.query(PARENTS)}
        wait_until(lambda: settled_at(parents.values()) == 60, "the figures of all")
        killed = fleet.query(WORKERS)
        for pid, *_ in killed:
            os.kill(int(str(pid)), signal.SIGKILL)
        fleet.query(QUEUED, 61, 120)
        wait_until(lambda: fleet.query(DONE) == [(120,)], "the other businesses")
        # What those that were killed had counted is still there.
        wait_until(lambda: settled_at(parents.values()) == 120, "the figures of all")
        workers = [row for row in fleet.query(WORKERS) if row not in killed]
        assert {address for _, _, address in workers} <= {*parents.values()}
        assert {version for _, version, _ in workers} == {full_version()}
        second = fleet.workers[1].process
        assert second is not None
        ready = f"{parents[second.pid]}/health/ready"
        assert {*httpx.get(ready).json()["checks"].values()} == {"ok"}
        fleet.workers[0].stop()
        assert [row[0] for row in fleet.query(PARENTS)] == [second.pid]


@pytest.mark.long
@pytest.mark.parametrize("broker", BROKERS)
def test_a_worker_without_its_broker_is_not_ready_until_the_broker_is_back(
    broker: str, tmp_path: Path, scratch: Path
) -> None:
    with a_fleet(broker, tmp_path, scratch) as fleet:
        wait_until(lambda: len(fleet.query(PARENTS)) == 2, "both workers in the list")
        addresses = [str(address) for _, address in fleet.query(PARENTS)]
        wait_until(lambda: readiness_of(addresses) == READY, "both workers ready")
        fleet.broker.kill()
        wait_until(
            lambda: readiness_of(addresses) == CUT_OFF, "both workers without it"
        )
        alive = {httpx.get(f"{one}/health/live").status_code for one in addresses}
        assert alive == {httpx.codes.OK}
        fleet.broker.start()
        wait_until(lambda: readiness_of(addresses) == READY, "both workers ready again")
        fleet.query(QUEUED, 1, 10)
        wait_until(lambda: fleet.query(DONE) == [(10,)], "every business")


def readiness_of(addresses: Iterable[str]) -> set[tuple[int, str]]:
    """Say whether these workers are ready, and how they find their broker."""
    answers = [httpx.get(f"{address}/health/ready") for address in addresses]
    return {(one.status_code, str(one.json()["checks"]["broker"])) for one in answers}


def settled_at(addresses: Iterable[object]) -> float:
    """Add up what the workers at these addresses have settled."""
    return sum(
        float(line.rpartition(" ")[2])
        for address in addresses
        for line in text_of(f"{address}", "/metrics").splitlines()
        if line.startswith(SETTLED)
    )


@pytest.mark.long
def test_flower_shows_the_tasks(tmp_path: Path, scratch: Path) -> None:
    with a_fleet("redis", tmp_path, scratch) as fleet:
        port = free_port()
        place = tmp_path / "flower"
        place.mkdir()
        words = [*fleet.command("flower"), f"--port={port}", "--address=127.0.0.1"]
        flower = Program(
            words, place, {**fleet.environment, "FLOWER_UNAUTHENTICATED_API": "true"}
        )
        flower.start()
        try:
            fleet.query(QUEUED, 1, 10)
            wait_until(
                lambda: f"scrapersky.{STAGE}" in text_of(f"http://127.0.0.1:{port}"),
                "the task in Flower",
            )
        finally:
            flower.kill()


def text_of(address: str, path: str = "/api/tasks") -> str:
    try:
        return httpx.get(f"{address}{path}").text
    except httpx.HTTPError:
        return ""
