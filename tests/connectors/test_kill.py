"""Whatever is killed, and whatever answer is lost: no record twice, none missing."""

import contextlib
import itertools
from typing import Any

import pytest

from scrapersky.connectors.account import open_connection
from scrapersky.connectors.control import connection_of
from scrapersky.connectors.push import MAX_LOST
from scrapersky.connectors.undo import undo_next
from scrapersky.connectors.work import ConnectionWork
from scrapersky.errors import SubscriptionTaken
from tests.connectors.desk import CrmDesk
from tests.connectors.killing import Executioner, Killed
from tests.connectors.plain_crm import Fault


def first_is_quick(*values: Any) -> list[Any]:
    """Leave all but one to the slow tests."""
    return [
        pytest.param(value, marks=pytest.mark.slow if number else ())
        for number, value in enumerate(values)
    ]


@pytest.fixture(autouse=True)
def a_search_that_lags(crm_desk: CrmDesk) -> None:
    """Let nothing be found again but by reading our id."""
    crm_desk.crm.index_lags = True


@pytest.mark.slow
async def test_a_kill_at_every_step_leaves_no_duplicate_and_no_loss(
    crm_desk: CrmDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, crm = crm_desk.desk, crm_desk.crm
    [company], [contact] = await crm_desk.leads(1)

    for at in itertools.count(1):
        for kind in crm.rows:
            crm.rows[kind].clear()
        await desk.run("DELETE FROM sync_records")
        await desk.run("UPDATE sync_connections SET polled_at = NULL, run_at = NULL")
        await desk.push(crm_desk.sync_id, company)
        with monkeypatch.context() as patch, contextlib.suppress(Killed):
            Executioner(at).arm(patch)
            await desk.work(crm_desk.sync_id)
            break
        await desk.work_until_idle(crm_desk.sync_id)

        assert len(crm.of("company", company)) == 1, at
        (person,) = crm.of("person", contact)
        assert person["company"] in crm.rows["company"]
        assert await desk.states(crm_desk.sync_id) == {
            "company": ["done"],
            "person": ["done"],
        }
    print(f"any API: killed at {at - 1} steps")
    assert at > 30


@pytest.mark.parametrize("how", first_is_quick("lost", "half", "unsent"))
@pytest.mark.parametrize("method", first_is_quick("POST", "GET", "PUT"))
async def test_a_lost_answer_is_read_back(
    crm_desk: CrmDesk, how: str, method: str
) -> None:
    desk, crm = crm_desk.desk, crm_desk.crm
    companies, contacts = await crm_desk.leads(2)
    await desk.push(crm_desk.sync_id, *companies)
    crm.faults = [Fault(method, how, times=2)]

    await desk.work_until_idle(crm_desk.sync_id)

    assert [len(crm.of("company", one)) for one in companies] == [1, 1]
    assert [len(crm.of("person", one)) for one in contacts] == [1, 1]


@pytest.mark.parametrize(
    "status", first_is_quick(423, 425, 429, 477, 500, 502, 503, 524)
)
async def test_an_error_of_the_server_is_no_duplicate(
    crm_desk: CrmDesk, status: int
) -> None:
    desk, crm = crm_desk.desk, crm_desk.crm
    companies, _ = await crm_desk.leads(2)
    await desk.push(crm_desk.sync_id, *companies)
    crm.faults = [Fault("POST", "status", status=status, times=3)]

    await desk.work_until_idle(crm_desk.sync_id)

    assert [len(crm.of("company", one)) for one in companies] == [1, 1]


@pytest.mark.parametrize(
    "body", first_is_quick(b'{"message": "out of order"}', b"{}", b"[]", b"7")
)
async def test_an_error_that_says_200_is_not_taken_for_there_is_nothing(
    crm_desk: CrmDesk, body: bytes
) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    companies, contacts = await crm_desk.leads(1)
    await desk.push(sync_id, *companies)
    crm.faults = [Fault("POST", "lost")]
    await desk.work(sync_id)
    crm.faults = [Fault("GET", "status", status=200, body=body, times=6)]

    await desk.work_until_idle(sync_id)

    assert [len(crm.of("company", one)) for one in companies] == [1]
    assert [len(crm.of("person", one)) for one in contacts] == [1]


async def test_what_changes_while_it_is_written_goes_once_more(
    crm_desk: CrmDesk,
) -> None:
    desk, crm = crm_desk.desk, crm_desk.crm
    (company,), _ = await crm_desk.leads(1)
    await desk.push(crm_desk.sync_id, company)
    crm.faults = [Fault("POST", "lost")]
    await desk.work(crm_desk.sync_id)
    await desk.run("UPDATE companies SET city = 'Dallas' WHERE id = :c", c=company)

    await desk.work_until_idle(crm_desk.sync_id)
    await desk.work_until_idle(crm_desk.sync_id)

    (row,) = crm.of("company", company)
    assert row["city"] == "Dallas"


async def test_a_lost_answer_did_not_keep_a_record_out_of_the_log_and_the_undo(
    crm_desk: CrmDesk,
) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    companies, _ = await crm_desk.leads(2)
    crm.faults = [Fault("POST", "lost", path="/company")]

    await desk.push(sync_id, *companies)
    await desk.work_until_idle(sync_id)

    notes = await desk.run("SELECT record_id, is_new, after FROM sync_writes")
    made = {one.record_id: one.after for one in notes if one.is_new}
    assert {*companies} <= {*made}
    assert made[companies[0]]["city"] == "Austin"
    await desk.run("UPDATE sync_connections SET is_active = false")
    row = await connection_of(desk.engine, desk.tenant, sync_id)
    await undo_next(desk.engine, open_connection(desk.engine, row, desk.tools))
    assert crm.rows == {"company": {}, "person": {}}


async def test_a_run_that_wrote_nothing_hid_the_one_before_from_the_undo(
    crm_desk: CrmDesk,
) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    companies, _ = await crm_desk.leads(2)
    for _ in range(2):
        await desk.push(sync_id, *companies)
        await desk.work_until_idle(sync_id)
    await desk.run("UPDATE sync_connections SET is_active = false")
    row = await connection_of(desk.engine, desk.tenant, sync_id)

    undone = await undo_next(desk.engine, open_connection(desk.engine, row, desk.tools))

    assert (undone.deleted, undone.left) == (4, 0)
    assert crm.rows == {"company": {}, "person": {}}


@pytest.mark.parametrize("times", first_is_quick(1, 4, 5))
async def test_an_update_without_an_answer_did_not_freeze_its_field(
    crm_desk: CrmDesk, times: int
) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    [company], _ = await crm_desk.leads(1)
    await desk.push(sync_id, company)
    await desk.work_until_idle(sync_id)

    crm.faults = [Fault("PATCH", "lost", times=times)]
    for city in ("Dallas", "Houston"):
        await desk.run("UPDATE companies SET city = :city", city=city)
        await desk.work_until_idle(sync_id)
        await desk.work_until_idle(sync_id)

    (row,) = crm.of("company", company)
    assert row["city"] == "Houston"
    assert (await desk.record(sync_id, company)).differs == {}


async def test_a_create_that_was_lost_too_often_is_not_made_by_the_next_run(
    crm_desk: CrmDesk,
) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    company = await desk.add_company("No Site Ltd")
    crm.faults = [Fault("POST", "unsent", times=MAX_LOST), Fault("POST", "lost")]

    for _ in range(2):
        await desk.push(sync_id, company)
        await desk.work_until_idle(sync_id)

    assert len(crm.of("company", company)) == 1
    assert await desk.states(sync_id) == {"company": ["done"]}


async def test_a_process_that_was_held_up_too_long_sends_nothing_more(
    crm_desk: CrmDesk,
) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    companies, contacts = await crm_desk.leads(2)
    await desk.push(sync_id, *companies)
    held_up = ConnectionWork(await desk.lease(sync_id), desk.tools)

    async def sleeps(method: str, _target: str) -> None:
        if method == "POST":
            held_up.renewed -= 3600

    crm.on_call = sleeps
    with pytest.raises(SubscriptionTaken):
        await held_up.work()
    assert [method for method, _ in crm.calls].count("POST") == 1
    crm.on_call = None

    await desk.work_until_idle(sync_id)

    assert [len(crm.of("company", one)) for one in companies] == [1, 1]
    assert [len(crm.of("person", one)) for one in contacts] == [1, 1]
