"""Two records there that bear one id of ours: by a frozen process, a person, or a merge."""

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import pytest

from scrapersky.connectors.control import NewConnection, connect_account
from scrapersky.connectors.outbox import open_problems
from tests.conftest import TestDatabase
from tests.connectors.desk import CIPHER, SalesDesk
from tests.connectors.fakes.clock import StillClock
from tests.connectors.fakes.pipedrive import TOKEN, FakePipedrive
from tests.connectors.fakes.store import Record


@dataclass
class Sales:
    """A tenant that is connected to Pipedrive, where nothing is looked for before a write."""

    desk: SalesDesk
    crm: FakePipedrive
    sync_id: UUID

    async def company(self) -> UUID:
        made = await self.desk.add_company("Acme", "acme.example", city="Austin")
        await self.desk.push(self.sync_id, made)
        return made

    def theirs(self) -> list[Record]:
        """Return the live companies there that bear an id of ours."""
        return [one for one in self.crm.store.live("organizations") if self.own_of(one)]

    def own_of(self, record: Record) -> str | None:
        custom = self.crm.custom["organizations"].items()
        [code] = [code for code, row in custom if row["field_name"] == "ScraperSky ID"]
        found: str | None = record.values["custom_fields"].get(code)
        return found

    def copies(self, record: Record) -> Record:
        """Let a person make the same record once more, with everything that is in it."""
        return self.crm.enters("organizations", **record.values)

    async def poll(self) -> None:
        await self.desk.clock.sleep(60)
        await self.desk.poll(self.sync_id)


@pytest.fixture
async def sales(desk: SalesDesk) -> AsyncIterator[Sales]:
    clock = desk.clock = StillClock()
    async with FakePipedrive(clock) as fake:
        given = NewConnection(
            connector="pipedrive",
            name=None,
            credential=TOKEN,
            options={"base_url": fake.url, "match_existing": "no"},
        )
        sync_id = await connect_account(
            desk.engine,
            desk.tools,
            given,
            cipher=CIPHER,
            tenant_id=desk.tenant,
            user_id=None,
        )
        await desk.run("UPDATE sync_connections SET is_active = true, paused_at = NULL")
        yield Sales(desk, fake, sync_id)


async def frozen(
    sales: Sales, url: str, folder: Path, when: str
) -> asyncio.subprocess.Process:
    """Start a process that freezes where it writes; return it when it has."""
    command = ["-m", "tests.connectors.frozen", url, str(sales.desk.tenant)]
    process = await asyncio.create_subprocess_exec(
        sys.executable, *command, str(sales.sync_id), str(folder), when
    )
    stat = Path(f"/proc/{process.pid}/stat")
    async with asyncio.timeout(120):
        while stat.read_text().rpartition(")")[2].split()[0] != "T":  # noqa: ASYNC240
            assert process.returncode is None
            await asyncio.sleep(0.05)
    return process


@pytest.mark.slow
async def test_a_process_frozen_after_its_last_look_at_the_lease_left_no_second_record(
    sales: Sales, database: TestDatabase, tmp_path: Path
) -> None:
    desk, sync_id = sales.desk, sales.sync_id
    company = await sales.company()
    process = await frozen(sales, database.url, tmp_path, "late")
    await desk.work_until_idle(sync_id)
    [first] = sales.theirs()

    process.send_signal(signal.SIGCONT)
    assert await process.wait() == 0
    assert len(sales.theirs()) == 2
    await sales.poll()

    assert [one.id for one in sales.theirs()] == [first.id]
    kept = await desk.record(sync_id, company)
    assert (kept.state, kept.their_id) == ("done", str(first.id))
    log = await desk.run("SELECT their_id, undone_at FROM sync_writes ORDER BY id")
    assert {one.their_id for one in log if one.undone_at is None} == {str(first.id)}
    assert len(log) == 2


@pytest.mark.slow
async def test_a_process_frozen_before_its_last_look_at_the_lease_sends_nothing(
    sales: Sales, database: TestDatabase, tmp_path: Path
) -> None:
    await sales.company()
    process = await frozen(sales, database.url, tmp_path, "early")
    await sales.desk.work_until_idle(sales.sync_id)
    await asyncio.sleep(1)

    process.send_signal(signal.SIGCONT)
    assert await process.wait() == 0

    assert len(sales.theirs()) == 1
    assert sales.crm.count("POST /api/v2/organizations") == 1


async def test_of_two_that_bear_our_id_a_person_s_own_is_left_and_told(
    sales: Sales,
) -> None:
    desk, sync_id = sales.desk, sales.sync_id
    company = await sales.company()
    await desk.work_until_idle(sync_id)
    [first] = sales.theirs()
    second = sales.copies(first)

    await sales.poll()

    assert sales.theirs() == [first, second]
    kept = await desk.record(sync_id, company)
    assert (kept.state, kept.their_id) == ("done", str(first.id))
    assert str(second.id) in kept.problem[""]
    async with desk.engine.connect() as connection:
        told = (await connection.execute(open_problems(sync_id))).all()
    assert [one.record_id for one in told] == [company]


async def test_a_second_record_of_ours_that_somebody_has_edited_is_left_and_told(
    sales: Sales,
) -> None:
    desk, sync_id = sales.desk, sales.sync_id
    company = await sales.company()
    await desk.work_until_idle(sync_id)
    [first] = sales.theirs()
    second = sales.copies(first)
    await desk.run(
        "INSERT INTO sync_writes (tenant_id, connection_id, run_id, kind, record_id,"
        " their_id, is_new, after) SELECT tenant_id, connection_id, run_id, kind, record_id,"
        " :second, true, after FROM sync_writes",
        second=str(second.id),
    )
    sales.crm.types(second, name="Acme of Austin")

    await sales.poll()

    assert sales.theirs() == [first, second]
    assert "Merge them" in (await desk.record(sync_id, company)).problem[""]
    sales.crm.merges(first, second)
    await desk.push(sync_id, company)
    await desk.work_until_idle(sync_id)
    assert (await desk.record(sync_id, company)).problem == {}


async def test_a_merge_that_kept_another_record_is_followed_by_our_id(
    sales: Sales,
) -> None:
    desk, sync_id = sales.desk, sales.sync_id
    company = await sales.company()
    await desk.work_until_idle(sync_id)
    [ours] = sales.theirs()
    theirs = sales.crm.enters("organizations", name="Acme Inc.", custom_fields={})

    sales.crm.merges(theirs, ours)
    await sales.poll()
    await desk.run("UPDATE companies SET city = 'Dallas'")
    await desk.work_until_idle(sync_id)

    assert (await desk.record(sync_id, company)).their_id == str(theirs.id)
    assert [one.id for one in sales.theirs()] == [theirs.id]
    assert theirs.values["address"]["locality"] == "Dallas"
    assert theirs.values["name"] == "Acme Inc."


# What is known of their schema is believed for a while: reading it costs as much as two pairs.


def schemas_read(sales: Sales) -> int:
    return sum(
        call.method == "GET" and call.path.endswith("Fields")
        for call in sales.crm.calls
    )


async def changed(sales: Sales, city: str) -> None:
    await sales.desk.run("UPDATE companies SET city = :c", c=city)
    await sales.desk.work_until_idle(sales.sync_id)


async def test_a_single_change_costs_no_schema_until_an_hour_has_passed(
    sales: Sales,
) -> None:
    await sales.company()
    await sales.desk.work_until_idle(sales.sync_id)
    before, calls = schemas_read(sales), len(sales.crm.calls)
    # What changed there is asked for by a rhythm of its own.
    await sales.desk.run(
        "UPDATE sync_connections SET polled_at = now() + interval '9 years'"
    )

    await changed(sales, "Dallas")

    assert schemas_read(sales) == before
    assert sum(call.cost for call in sales.crm.calls[calls:]) <= 10
    await sales.desk.clock.sleep(3600)
    await changed(sales, "Houston")
    assert schemas_read(sales) > before


async def test_a_field_deleted_within_the_hour_stops_the_run_and_nothing_is_half_written(
    sales: Sales,
) -> None:
    desk, sync_id = sales.desk, sales.sync_id
    await sales.company()
    await desk.work_until_idle(sync_id)
    custom = sales.crm.custom["organizations"]
    [code] = [
        c for c, row in custom.items() if row["field_name"].startswith("Verified")
    ]
    del custom[code]

    second = await sales.company()
    await desk.work(sync_id)

    assert "not there any more" in (await desk.connection(sync_id)).problem
    assert (await desk.record(sync_id, second)).state == "queued"
    assert len(sales.theirs()) == 1


async def test_a_field_that_is_new_there_can_be_mapped_at_once(sales: Sales) -> None:
    desk, sync_id = sales.desk, sales.sync_id
    await sales.company()
    await desk.work_until_idle(sync_id)
    made = sales.crm.field_row("f" * 40, "Town", "varchar", is_custom=True)
    sales.crm.custom["organizations"]["f" * 40] = made
    mapping = {"company": {"city": {"field": "f" * 40}}}
    await desk.run(
        "UPDATE sync_connections SET mapping = CAST(:m AS jsonb)", m=json.dumps(mapping)
    )

    await changed(sales, "Dallas")

    [there] = sales.theirs()
    assert there.values["custom_fields"]["f" * 40] == "Dallas"
