"""What happens in the CRM comes back, and nobody is ever subscribed again."""

import json
from datetime import timedelta
from uuid import UUID

import pytest

from scrapersky.connectors.account import open_connection
from scrapersky.connectors.control import change_credential, connection_of
from scrapersky.connectors.difference import difference
from scrapersky.connectors.protocol import CrmKind
from scrapersky.connectors.question import DifferenceAnswer, answer_difference
from scrapersky.errors import CrmTokenRejected
from scrapersky.privacy.person import erase_person
from scrapersky.privacy.subject import whole_subject
from scrapersky.records.audit import Actor
from tests.connectors.desk import CIPHER, CrmDesk
from tests.connectors.plain_crm import Fault


async def synced(crm_desk: CrmDesk, count: int = 1) -> tuple[list[UUID], list[UUID]]:
    companies, contacts = await crm_desk.leads(count)
    await crm_desk.desk.push(crm_desk.sync_id, *companies)
    await crm_desk.desk.work(crm_desk.sync_id)
    return companies, contacts


async def test_what_was_deleted_there_is_unlinked_and_not_made_again(
    crm_desk: CrmDesk,
) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    [company], [contact] = await synced(crm_desk)
    crm._handle("DELETE", f"/person/{crm.of('person', contact)[0]['id']}", b"")

    await desk.poll(sync_id)
    await desk.push(sync_id, company)
    await desk.work(sync_id)

    assert crm.of("person", contact) == []
    assert (await desk.record(sync_id, contact)).state == "unlinked"


async def test_the_map_follows_a_merge(crm_desk: CrmDesk) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    companies, _ = await synced(crm_desk, 2)
    first, second = (crm.of("company", one)[0]["id"] for one in companies)
    kept = crm.merge("company", first, second)

    await desk.poll(sync_id)
    await desk.run("UPDATE companies SET name = name || ' Ltd'")
    await desk.work_until_idle(sync_id)

    assert [*crm.rows["company"]] == [kept]
    maps = [await desk.record(sync_id, one) for one in companies]
    assert {one.their_id for one in maps} == {kept}
    assert sorted(one.is_shared for one in maps) == [False, True]


async def test_whoever_unsubscribed_there_is_suppressed_here_and_stays_there(
    crm_desk: CrmDesk,
) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    [company], [contact] = await synced(crm_desk)
    (row,) = crm.of("person", contact)
    crm.edit("person", row["id"], unsubscribed=True)

    await desk.poll(sync_id)
    await desk.push(sync_id, company)
    await desk.work_until_idle(sync_id)

    assert await desk.run("SELECT id FROM contacts") == []
    (entry,) = await desk.run("SELECT kind, reason FROM suppressions")
    assert (entry.kind, entry.reason) == ("email", "unsubscribed in Any HTTP API")
    (row,) = crm.of("person", contact)
    assert row["unsubscribed"] is True
    writes = [target for method, target in crm.calls if method == "PATCH"]
    assert writes == []


async def test_who_had_objected_there_before_we_came_is_not_written_to(
    crm_desk: CrmDesk,
) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    [company], [contact] = await crm_desk.leads(1)
    there = crm.add("person", email="p0@c0.example", unsubscribed=True)
    row = await connection_of(desk.engine, desk.tenant, sync_id)
    opened = open_connection(desk.engine, row, desk.tools)
    found = await difference(desk.engine, opened, CrmKind.PERSON, [contact])
    assert (found.refused, found.updates) == (1, 0)
    assert len(await desk.run("SELECT id FROM contacts")) == 1

    await desk.push(sync_id, company)
    await desk.work_until_idle(sync_id)

    assert "scrapersky_id" not in crm.rows["person"][there]
    assert await desk.run("SELECT id FROM contacts") == []
    (entry,) = await desk.run("SELECT kind, reason FROM suppressions")
    assert (entry.kind, entry.reason) == ("email", "unsubscribed in Any HTTP API")


async def test_who_unsubscribed_there_is_suppressed_here_though_nobody_linked_them(
    crm_desk: CrmDesk,
) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    _, contacts = await crm_desk.leads(2)
    await desk.work(sync_id)
    theirs = [crm.add("person", email=f"P{at}@C{at}.example") for at in range(4)]
    crm.edit("person", theirs[0], unsubscribed=True)
    crm.edit("person", theirs[1], bounced=True)
    # Of the last we hold nothing yet: when they are found, they are not stored.
    crm.edit("person", theirs[3], unsubscribed=True)

    for _ in range(2):
        await desk.poll(sync_id)

    [left] = await desk.run("SELECT id, deliverability FROM contacts")
    assert (left.id, left.deliverability) == (contacts[1], "undeliverable")
    told = await desk.run("SELECT reason FROM suppressions WHERE kind = 'email'")
    assert [one.reason for one in told] == ["unsubscribed in Any HTTP API"] * 2
    assert await desk.run("SELECT id FROM sync_records") == []


async def test_an_address_that_is_not_mapped_did_not_hide_who_unsubscribed(
    crm_desk: CrmDesk,
) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    await crm_desk.leads(1)
    await desk.run(
        "UPDATE sync_connections SET mapping ="
        ' \'{"person": {"email": {"field": null}}}\''
    )
    await desk.work(sync_id)
    crm.add("person", email="p0@c0.example", unsubscribed=True)

    await desk.poll(sync_id)

    assert await desk.run("SELECT id FROM contacts") == []


async def test_who_objected_and_was_deleted_there_is_suppressed_all_the_same(
    crm_desk: CrmDesk,
) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    _, [contact] = await synced(crm_desk)
    (row,) = crm.of("person", contact)
    crm.edit("person", row["id"], unsubscribed=True, is_deleted=True)

    await desk.poll(sync_id)

    assert await desk.run("SELECT id FROM contacts") == []
    assert (await desk.record(sync_id, contact)).state == "unlinked"


async def test_a_mapping_that_does_not_fit_did_not_keep_an_objection_from_us(
    crm_desk: CrmDesk,
) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    [company], [contact] = await synced(crm_desk)
    await desk.run(
        "UPDATE sync_connections SET mapping ="
        ' \'{"company": {"name": {"field": "gone"}}}\''
    )
    crm.edit("person", crm.of("person", contact)[0]["id"], unsubscribed=True)
    await desk.push(sync_id, company)

    await desk.poll(sync_id)

    assert await desk.run("SELECT id FROM contacts") == []
    assert "gone" in (await desk.connection(sync_id)).problem


@pytest.mark.slow
async def test_a_run_of_days_did_not_keep_objections_and_erasures_waiting(
    crm_desk: CrmDesk,
) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    companies, contacts = await crm_desk.leads(4)
    written: list[tuple[str, str]] = []

    async def time_goes_by(method: str, target: str) -> None:
        written.append((method, target))
        if (method, target) != ("POST", "/person"):
            return
        await desk.clock.sleep(3600)
        if [*written].count((method, target)) == 2:
            first, second = (crm.of("person", one) for one in contacts[:2])
            crm.edit("person", (first or second)[0]["id"], unsubscribed=True)

    crm.on_call = time_goes_by
    await desk.push(sync_id, *companies)
    await desk.work(sync_id)

    made = [at for at, one in enumerate(written) if one == ("POST", "/person")]
    asked = [at for at, (_, to) in enumerate(written) if to.startswith("/person-ch")]
    assert len(made) == 4
    assert [one for one in asked if made[1] < one < made[3]]
    assert len(await desk.run("SELECT id FROM contacts")) == 3


@pytest.mark.slow
async def test_a_day_that_a_run_has_spent_left_enough_to_hear_of_an_objection(
    crm_desk: CrmDesk,
) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    await desk.run("UPDATE sync_connections SET daily_budget = 60")
    companies, contacts = await crm_desk.leads(20)
    await desk.push(sync_id, *companies[:3])
    await desk.work(sync_id)
    await desk.push(sync_id, *companies)

    after = await desk.work(sync_id)

    assert "queued" in str(await desk.states(sync_id))
    assert after is not None
    assert after <= timedelta(minutes=5)
    spent = len(crm.calls)
    crm.edit("person", crm.of("person", contacts[0])[0]["id"], unsubscribed=True)
    await desk.clock.sleep(300)
    await desk.work(sync_id)
    assert len(await desk.run("SELECT id FROM contacts")) == 19
    assert 54 <= spent < len(crm.calls) <= 60


async def test_a_feed_of_theirs_that_is_broken_did_not_stop_what_goes_there(
    crm_desk: CrmDesk,
) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    companies, _ = await crm_desk.leads(2)
    broken = b'{"message": "you may not"}'
    crm.faults = [
        Fault("GET", "status", status=403, body=broken, times=99, path="-changes")
    ]

    await desk.push(sync_id, *companies)
    await desk.work(sync_id)

    assert [len(crm.of("company", one)) for one in companies] == [1, 1]
    assert "you may not" in (await desk.connection(sync_id)).problem


async def test_a_bounce_there_is_undeliverable_here(crm_desk: CrmDesk) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    _, [contact] = await synced(crm_desk)
    crm.edit("person", crm.of("person", contact)[0]["id"], bounced=True)

    await desk.poll(sync_id)

    row = await desk.one("SELECT deliverability FROM contacts")
    assert row.deliverability == "undeliverable"


async def test_our_own_writes_are_no_news(crm_desk: CrmDesk) -> None:
    desk, sync_id = crm_desk.desk, crm_desk.sync_id
    [company], _ = await synced(crm_desk)
    await desk.run(
        'UPDATE sync_connections SET cursors = \'{"company": "0", "person": "0"}\''
    )
    written = "SELECT xmin::text FROM sync_records WHERE kind = 'company'"
    [before] = await desk.run(written)

    await desk.poll(sync_id)

    kept = await desk.record(sync_id, company)
    assert (kept.state, kept.differs) == ("done", {})
    assert (await desk.run(written))[0].xmin == before.xmin


async def test_a_run_stopped_until_all_that_it_had_written_was_read_back(
    crm_desk: CrmDesk,
) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    companies, _ = await crm_desk.leads(24)
    await desk.push(sync_id, *companies[:12])
    await desk.work(sync_id)
    await desk.run(
        'UPDATE sync_connections SET cursors = \'{"company": "0", "person": "0"}\''
    )
    crm.changes_a_page, crm.calls = 4, []
    await desk.push(sync_id, *companies)

    async def time_goes_by(method: str, _target: str) -> None:
        await desk.clock.sleep(60 if method == "POST" else 0)

    crm.on_call = time_goes_by
    await desk.work(sync_id)

    order = "".join("r" if "-changes" in target else "w" for _, target in crm.calls)
    run = order.rstrip("r")
    assert run.count("r") > 10
    assert "rr" not in run


async def test_a_long_reading_back_was_followed_by_the_next_one_at_once(
    crm_desk: CrmDesk,
) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    companies, _ = await crm_desk.leads(12)
    await desk.push(sync_id, *companies)
    await desk.work(sync_id)
    await desk.run(
        'UPDATE sync_connections SET cursors = \'{"company": "0", "person": "0"}\''
    )
    crm.changes_a_page = 1

    async def time_goes_by(_method: str, _target: str) -> None:
        await desk.clock.sleep(60)

    crm.on_call, crm.calls = time_goes_by, []
    await desk.poll(sync_id)

    kinds = [target[1] for _, target in crm.calls if "-changes" in target]
    assert set(kinds) == {"c", "p"}
    assert kinds == sorted(kinds)


async def test_an_edit_there_is_shown_beside_ours(crm_desk: CrmDesk) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    [company], _ = await synced(crm_desk)
    crm.edit("company", crm.of("company", company)[0]["id"], city="Houston")

    await desk.poll(sync_id)

    kept = await desk.record(sync_id, company)
    assert kept.differs == {"city": {"ours": "Austin", "theirs": "Houston"}}


async def test_a_mapped_status_comes_back_into_the_lead(crm_desk: CrmDesk) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    await desk.run(
        "UPDATE sync_connections SET mapping ="
        ' \'{"company": {"lead_status": {"field": "status"}}}\''
    )
    [company], _ = await synced(crm_desk)
    (row,) = crm.of("company", company)
    assert row["status"] == "1"
    crm.edit("company", row["id"], status="2")

    await desk.poll(sync_id)
    await desk.work_until_idle(sync_id)

    assert (await desk.one("SELECT lead_status FROM companies")).lead_status == "Won"
    assert crm.of("company", company)[0]["status"] == "2"


async def erase(crm_desk: CrmDesk) -> None:
    await crm_desk.desk.run(
        "WITH said AS MATERIALIZED (SELECT set_config('scrapersky.removal', 'erased', true) s)"
        " DELETE FROM contacts WHERE (SELECT s FROM said) = 'erased'"
    )


async def test_who_is_erased_here_is_erased_there_by_their_records_id(
    crm_desk: CrmDesk,
) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    _, [contact] = await synced(crm_desk)
    (row,) = crm.of("person", contact)

    await erase(crm_desk)

    waiting = await desk.record(sync_id, contact)
    assert (waiting.state, waiting.snapshot) == ("erasing", {})
    assert await desk.run("SELECT id FROM sync_writes WHERE kind = 'person'") == []
    await desk.work(sync_id)
    assert crm.rows["person"] == {}
    assert ("DELETE", f"/person/{row['id']}") in crm.calls
    assert await desk.run("SELECT id FROM sync_records WHERE kind = 'person'") == []


async def test_who_is_erased_while_the_answer_is_lost_is_erased_there_too(
    crm_desk: CrmDesk,
) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    companies, [contact] = await crm_desk.leads(1)
    crm.faults = [Fault("POST", "lost", path="/person")]
    await desk.push(sync_id, *companies)
    await desk.work(sync_id)
    assert len(crm.of("person", contact)) == 1

    await erase(crm_desk)
    await desk.work(sync_id)

    assert crm.rows["person"] == {}


async def test_what_cannot_be_erased_there_says_so(crm_desk: CrmDesk) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    _, [contact] = await synced(crm_desk)
    crm.faults = [
        Fault("DELETE", "status", status=403, body=b'{"message": "no right"}')
    ]

    await erase(crm_desk)
    await desk.work(sync_id)

    kept = await desk.record(sync_id, contact)
    assert kept.state == "erasing"
    assert "no right" in kept.problem[""]


@pytest.mark.slow
async def test_who_objected_there_and_asks_for_erasure_later_is_erased_there_too(
    crm_desk: CrmDesk,
) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    _, contacts = await synced(crm_desk, 2)
    (row,) = crm.of("person", contacts[0])
    crm.edit("person", row["id"], unsubscribed=True)
    await desk.poll(sync_id)
    kept = await desk.record(sync_id, contacts[0])
    assert kept.state == "unlinked"
    assert "c0.example" not in str(kept)

    subject = whole_subject("P0@c0.example")
    assert subject is not None
    await erase_person(desk.engine, Actor(desk.tenant, None, "Ada"), subject)
    await desk.work(sync_id)

    assert ("DELETE", f"/person/{row['id']}") in crm.calls
    assert [*crm.rows["person"]] == [crm.of("person", contacts[1])[0]["id"]]
    left = await desk.run("SELECT record_id FROM sync_records WHERE kind = 'person'")
    assert [one.record_id for one in left] == [contacts[1]]


async def test_one_who_cannot_be_erased_now_did_not_stop_everything_else(
    crm_desk: CrmDesk,
) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    await synced(crm_desk, 2)
    (first, *_) = await desk.run(
        "SELECT their_id FROM sync_records WHERE kind = 'person' ORDER BY id"
    )
    crm.faults = [Fault("DELETE", "status", times=99, path=f"/person/{first.their_id}")]
    late = await desk.add_company("Late Ltd", "late.example")

    await erase(crm_desk)
    await desk.push(sync_id, late)
    await desk.work(sync_id)

    assert [*crm.rows["person"]] == [first.their_id]
    assert len(crm.of("company", late)) == 1
    crm.faults = []
    await desk.run("UPDATE sync_records SET next_at = now()")
    await desk.work(sync_id)
    assert crm.rows["person"] == {}


async def asked(crm_desk: CrmDesk) -> UUID:
    """Let a person there and one here change the same field, which is to be asked about."""
    desk, crm = crm_desk.desk, crm_desk.crm
    await desk.run(
        "UPDATE sync_connections SET mapping ="
        ' \'{"company": {"city": {"field": "city", "rule": "ask"}}}\''
    )
    [company], _ = await synced(crm_desk)
    crm.edit("company", crm.of("company", company)[0]["id"], city="Houston")
    await desk.run("UPDATE companies SET city = 'Dallas'")
    await desk.work_until_idle(crm_desk.sync_id)
    kept = await desk.record(crm_desk.sync_id, company)
    assert kept.differs["city"] == {"ours": "Dallas", "theirs": "Houston", "asks": True}
    return company


async def answer(crm_desk: CrmDesk, company: UUID, given: str) -> None:
    async with crm_desk.desk.engine.begin() as connection:
        await answer_difference(
            connection, crm_desk.sync_id, company, "city", DifferenceAnswer(given)
        )
    await crm_desk.desk.work_until_idle(crm_desk.sync_id)


async def test_ours_is_written_when_a_person_says_so_and_only_that_once(
    crm_desk: CrmDesk,
) -> None:
    desk, crm, company = crm_desk.desk, crm_desk.crm, await asked(crm_desk)

    await answer(crm_desk, company, "ours")

    (row,) = crm.of("company", company)
    assert row["city"] == "Dallas"
    assert (await desk.record(crm_desk.sync_id, company)).differs == {}
    crm.edit("company", row["id"], city="By hand")
    await desk.poll(crm_desk.sync_id)
    await desk.push(crm_desk.sync_id, company)
    await desk.work_until_idle(crm_desk.sync_id)
    assert crm.of("company", company)[0]["city"] == "By hand"


async def test_theirs_is_asked_about_again_only_when_a_value_changes(
    crm_desk: CrmDesk,
) -> None:
    desk, crm, company = crm_desk.desk, crm_desk.crm, await asked(crm_desk)

    await answer(crm_desk, company, "theirs")
    await desk.push(crm_desk.sync_id, company)
    await desk.poll(crm_desk.sync_id)
    kept = await desk.record(crm_desk.sync_id, company)
    assert kept.differs["city"]["answer"] == "theirs"
    assert "asks" not in kept.differs["city"]

    crm.edit("company", kept.their_id, city="El Paso")
    await desk.poll(crm_desk.sync_id)

    kept = await desk.record(crm_desk.sync_id, company)
    assert kept.differs["city"]["asks"]
    assert kept.differs["city"]["theirs"] == "El Paso"
    assert crm.of("company", company)[0]["city"] == "El Paso"


async def test_another_credential_is_tried_before_it_is_kept(
    crm_desk: CrmDesk,
) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    await synced(crm_desk)
    account = json.loads(crm.description())["base_url"]
    await desk.run("UPDATE sync_connections SET account_id = :a", a=account)
    before = (await desk.connection(sync_id)).secret

    async def give(secret: str) -> None:
        await change_credential(
            desk.engine, desk.tools, CIPHER,
            tenant_id=desk.tenant, sync_id=sync_id, secret=secret,
        )  # fmt: skip

    with pytest.raises(CrmTokenRejected):
        await give("wrong")
    assert (await desk.connection(sync_id)).secret == before
    crm.token = "another"
    await give("another")

    found = await desk.connection(sync_id)
    assert CIPHER.decrypt(found.secret, str(sync_id)) == b"another"
