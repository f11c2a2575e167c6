"""Leads reach a CRM once, with every field, and what people typed there stays."""

import csv
import json
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from scrapersky.connectors.generic import GenericConnector
from scrapersky.connectors.mapping import FieldMapping, mapped
from scrapersky.connectors.outbox import queue
from scrapersky.connectors.protocol import CrmField, CrmFieldType, CrmKind, CrmOption
from scrapersky.privacy.key import keys_of
from scrapersky.privacy.subject import whole_subject
from scrapersky.privacy.suppression import add_entries, entry
from scrapersky.records.audit import Actor
from tests.connectors.desk import CrmDesk, FakeClock, SalesDesk
from tests.connectors.plain_crm import Fault


def lines(desk: SalesDesk, sync_id: UUID, kind: CrmKind) -> list[Any]:
    return list(desk.files(sync_id)._rows(kind).values())


async def test_a_company_goes_with_its_best_contact_and_their_origin(
    desk: SalesDesk,
) -> None:
    sync_id = await desk.connect()
    company = await desk.add_company(
        "Acme Dental", "acme.example", phone="+15125550100"
    )
    contact = await desk.add_contact("ada@acme.example", "Ada Lovelace", company)

    await desk.push(sync_id, company)
    await desk.work(sync_id)

    (row,) = lines(desk, sync_id, CrmKind.COMPANY)
    (person,) = lines(desk, sync_id, CrmKind.PERSON)
    assert await desk.states(sync_id) == {"company": ["done"], "person": ["done"]}
    assert row["name"] == "Acme Dental"
    assert row["phone"] == "+15125550100"
    assert row["scrapersky_id"] == str(company)
    assert row["scrapersky_verified_on"] == "2026-11-01"
    assert person["email"] == "ada@acme.example"
    assert person["scrapersky_id"] == str(contact)
    assert person["scrapersky_evidence_url"] == "https://site.example/contact"
    assert person["company_id"] == str(company)


async def test_a_folder_of_csv_is_a_table_that_runs_nothing(desk: SalesDesk) -> None:
    sync_id = await desk.connect(options={"format": "csv"})
    company = await desk.add_company('=cmd|"Acme, Ltd"', "acme.example", city="Graz")
    for _ in range(2):
        await desk.push(sync_id, company)
        await desk.work(sync_id)

    path = desk.folder / str(sync_id) / "companies.csv"
    [row] = csv.DictReader(path.read_text(encoding="utf-8-sig").splitlines())
    assert row["name"] == '\'=cmd|"Acme, Ltd"'
    assert (row["city"], row["scrapersky_id"]) == ("Graz", str(company))
    assert (await desk.record(sync_id, company)).differs == {}


async def test_what_a_person_typed_there_stays_and_the_difference_is_shown(
    crm_desk: CrmDesk,
) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    [company], _ = await crm_desk.leads(1)
    await desk.push(sync_id, company)
    await desk.work(sync_id)
    (row,) = crm.of("company", company)
    crm.edit("company", row["id"], city="Austin, by hand", phone="+15125550199")
    await desk.run(
        "UPDATE companies SET city = 'Dallas', name = 'New name', phone = '+15125550100'"
        " WHERE id = :c",
        c=company,
    )

    await desk.work(sync_id)

    (row,) = crm.of("company", company)
    assert row["city"] == "Austin, by hand"
    assert row["phone"] == "+15125550199"
    assert row["name"] == "New name"
    kept = await desk.record(sync_id, company)
    assert kept.differs["city"] == {"ours": "Dallas", "theirs": "Austin, by hand"}


async def test_what_a_person_emptied_there_stays_empty(crm_desk: CrmDesk) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    [company], _ = await crm_desk.leads(1)
    await desk.push(sync_id, company)
    await desk.work(sync_id)
    (row,) = crm.of("company", company)
    crm.edit("company", row["id"], city="")

    await desk.push(sync_id, company)
    await desk.work(sync_id)

    assert crm.of("company", company)[0]["city"] == ""


async def test_a_record_that_was_there_is_taken_up_and_only_its_empty_fields_filled(
    crm_desk: CrmDesk,
) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    [company], [contact] = await crm_desk.leads(1)
    there = crm.add("person", email="P0@C0.example", name="Patricia by hand", phone="")

    await desk.push(sync_id, company)
    await desk.work(sync_id)

    (row,) = crm.of("person", contact)
    assert row["id"] == there
    assert row["name"] == "Patricia by hand"
    assert (await desk.record(sync_id, contact)).is_adopted


async def test_an_address_shared_by_two_companies_is_one_person_of_both(
    crm_desk: CrmDesk,
) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    first = await desk.add_company("First", "first.example")
    second = await desk.add_company("Second", "second.example")
    ours = await desk.add_contact(
        "info@shared.example", None, first, domain="first.example"
    )
    other = await desk.add_contact(
        "info@shared.example", None, second, domain="second.example"
    )

    await desk.push(sync_id, first, second)
    await desk.work_until_idle(sync_id)

    (row,) = crm.rows["person"].values()
    assert row["scrapersky_id"] in {str(ours), str(other)}
    assert await desk.states(sync_id) == {
        "company": ["done"] * 2,
        "person": ["done"] * 2,
    }
    linked = await desk.run("SELECT linked_to FROM sync_records WHERE kind = 'person'")
    assert {row.linked_to for row in linked} == {*crm.rows["company"]}


async def test_two_people_of_one_address_in_one_batch_were_two_records(
    desk: SalesDesk,
) -> None:
    sync_id = await desk.connect()
    companies, _ = await desk.add_shared_address()

    await desk.push(sync_id, *companies)
    await desk.work_until_idle(sync_id)

    assert len(lines(desk, sync_id, CrmKind.PERSON)) == 1
    assert await desk.states(sync_id) == {
        "company": ["done"] * 2,
        "person": ["done"] * 2,
    }
    made = await desk.run("SELECT record_id FROM sync_writes WHERE kind = 'person'")
    assert len(made) == 1


@pytest.mark.parametrize("lost", [0, 1])
async def test_a_search_that_lags_showed_nobody_and_the_second_was_made_too(
    crm_desk: CrmDesk, lost: int
) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    crm.index_lags = True
    companies, contacts = await desk.add_shared_address()
    crm.faults = [Fault("POST", "lost", path="/person", times=lost)] * lost

    await desk.push(sync_id, *companies)
    await desk.work_until_idle(sync_id)

    (row,) = crm.rows["person"].values()
    assert row["scrapersky_id"] in {str(one) for one in contacts}
    assert await desk.states(sync_id) == {
        "company": ["done"] * 2,
        "person": ["done"] * 2,
    }


async def test_a_company_without_a_domain_goes_once(crm_desk: CrmDesk) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    company = await desk.add_company("No Site Ltd", None, phone="+15125550100")

    for _ in range(2):
        await desk.push(sync_id, company)
        await desk.work(sync_id)

    assert len(crm.of("company", company)) == 1


async def test_several_records_that_fit_are_a_question_to_a_person(
    crm_desk: CrmDesk,
) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    [company], _ = await crm_desk.leads(1)
    crm.add("company", domain="c0.example", name="One")
    crm.add("company", domain="c0.example", name="Two")

    await desk.push(sync_id, company)
    await desk.work(sync_id)

    kept = await desk.record(sync_id, company)
    assert kept.state == "refused"
    assert "Several" in kept.problem[""]
    assert len(crm.rows["company"]) == 2


async def test_do_not_contact_never_leaves(crm_desk: CrmDesk) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    [company], [contact] = await crm_desk.leads(1)
    await desk.run(
        "UPDATE companies SET lead_status = 'Do Not Contact' WHERE id = :c", c=company
    )

    await desk.push(sync_id, company)
    await desk.push_contacts(sync_id, contact)
    await desk.work(sync_id)

    assert crm.rows == {"company": {}, "person": {}}
    assert await desk.states(sync_id) == {"company": ["refused"], "person": ["refused"]}


async def test_a_suppressed_address_never_leaves(crm_desk: CrmDesk) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    [company], _ = await crm_desk.leads(1)
    async with desk.engine.begin() as connection:
        subject = whole_subject("p0@c0.example")
        assert subject is not None
        keys = await keys_of(connection)
        await add_entries(
            connection, Actor(desk.tenant, None, "test"), [entry(keys, subject, None)]
        )

    await desk.push(sync_id, company)
    await desk.work(sync_id)

    assert crm.rows["person"] == {}
    assert len(crm.rows["company"]) == 1


async def test_who_was_marked_while_the_crm_was_read_did_not_leave(
    crm_desk: CrmDesk,
) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    [company], _ = await crm_desk.leads(1)

    async def marked(method: str, _target: str) -> None:
        if method == "GET":
            await desk.run("UPDATE companies SET lead_status = 'Do Not Contact'")

    crm.on_call = marked
    await desk.push(sync_id, company)
    await desk.work_until_idle(sync_id)

    assert crm.rows == {"company": {}, "person": {}}
    assert await desk.states(sync_id) == {"company": ["refused"], "person": ["refused"]}


async def test_an_option_that_the_crm_does_not_know_is_left_out_and_shown(
    desk: SalesDesk,
) -> None:
    schema = {
        "status": CrmField(
            name="status",
            label="Status",
            type=CrmFieldType.CHOICE,
            options=(CrmOption("1", "New"), CrmOption("9", "Closed")),
        )
    }
    rules = [
        FieldMapping(ours="lead_status", theirs="status", choices={"Won": "Closed"})
    ]

    assert mapped({"lead_status": "New"}, rules, schema).values == {"status": "1"}
    assert mapped({"lead_status": "Won"}, rules, schema).values == {"status": "9"}
    unknown = mapped({"lead_status": "Replied"}, rules, schema)
    assert unknown.values == {}
    assert unknown.unmatched == {"lead_status": "Replied"}


async def test_a_field_deleted_there_stops_the_run_before_anything_is_written(
    crm_desk: CrmDesk,
) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    [company], _ = await crm_desk.leads(1)
    mapping = {"company": {"name": {"field": "legal_name"}}}
    await desk.run(
        "UPDATE sync_connections SET mapping = CAST(:m AS jsonb)", m=json.dumps(mapping)
    )

    await desk.push(sync_id, company)
    await desk.work(sync_id)

    assert crm.rows["company"] == {}
    assert "legal_name" in (await desk.connection(sync_id)).problem
    assert await desk.states(sync_id) == {"company": ["queued"], "person": ["queued"]}


async def test_a_token_revoked_in_the_middle_stops_the_connection_and_loses_nothing(
    crm_desk: CrmDesk,
) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    companies, contacts = await crm_desk.leads(3)
    crm.faults = [
        Fault("PUT", "status", status=401, body=b'{"message": "the-token expired"}')
    ]
    await desk.push(sync_id, *companies)

    await desk.work_until_idle(sync_id)

    stopped = await desk.connection(sync_id)
    assert not stopped.is_active
    assert "401" in stopped.problem
    assert "the-token" not in stopped.problem
    await desk.run("UPDATE sync_connections SET is_active = true, problem = NULL")
    await desk.work_until_idle(sync_id)
    assert [len(crm.of("person", one)) for one in contacts] == [1, 1, 1]
    assert all(row["company"] for row in crm.rows["person"].values())


async def test_an_answer_that_says_200_and_an_error_is_a_refusal(
    crm_desk: CrmDesk,
) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    [company], _ = await crm_desk.leads(1)
    crm.faults = [
        Fault("POST", "status", status=200, body=b'{"error": "name is taken"}')
    ]

    await desk.push(sync_id, company)
    await desk.work(sync_id)

    kept = await desk.record(sync_id, company)
    assert kept.state == "refused"
    assert "name is taken" in kept.problem[""]


async def test_an_answer_of_another_shape_is_shown_and_loses_nothing(
    crm_desk: CrmDesk,
) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    [company], _ = await crm_desk.leads(1)
    crm.faults = [Fault("GET", "status", status=200, body=b'"nothing of the kind"')]

    await desk.push(sync_id, company)
    await desk.work_until_idle(sync_id)

    assert len(crm.of("company", company)) == 1


async def test_a_page_of_the_network_with_403_is_no_revoked_token(
    crm_desk: CrmDesk,
) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    [company], _ = await crm_desk.leads(1)
    crm.faults = [Fault("POST", "status", status=403)]

    await desk.push(sync_id, company)
    after = await desk.work(sync_id)

    assert after == timedelta(minutes=10)
    assert (await desk.connection(sync_id)).is_active


async def test_a_clock_six_minutes_off_makes_no_duplicate(crm_desk: CrmDesk) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    companies, _ = await crm_desk.leads(1)
    assert isinstance(desk.clock, FakeClock)
    desk.clock.time += timedelta(minutes=6)
    crm.faults = [Fault("POST", "lost")]
    await desk.push(sync_id, *companies)
    await desk.work(sync_id)
    desk.clock.time -= timedelta(minutes=12)

    await desk.work_until_idle(sync_id)

    assert len(crm.rows["company"]) == 1


async def test_two_contacts_with_one_address_in_other_case_are_one_person(
    crm_desk: CrmDesk,
) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    [company], _ = await crm_desk.leads(1)
    there = crm.add("person", email="P0@c0.EXAMPLE")

    await desk.push(sync_id, company)
    await desk.work(sync_id)

    assert [*crm.rows["person"]] == [there]


async def test_the_contacts_own_column_queues_it_and_says_how_it_went(
    crm_desk: CrmDesk,
) -> None:
    desk, crm = crm_desk.desk, crm_desk.crm
    desk.connectors["hubspot"] = GenericConnector
    sync_id = await desk.connect(
        "hubspot", crm.token, options={"description": crm.description()}
    )
    _, [contact] = await crm_desk.leads(1)

    await desk.run(
        "UPDATE contacts SET hubspot_sync_status = 'Queued' WHERE id = :c", c=contact
    )
    await desk.work(sync_id)

    row = await desk.one("SELECT hubspot_sync_status AS s FROM contacts")
    assert row.s == "Complete"
    assert len(crm.of("person", contact)) == 1
    assert len(crm.rows["company"]) == 1


async def test_a_second_run_without_a_change_writes_nothing(crm_desk: CrmDesk) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    companies, _ = await crm_desk.leads(3)
    await desk.push(sync_id, *companies)
    await desk.work(sync_id)
    crm.calls.clear()

    await desk.push(sync_id, *companies)
    await desk.work(sync_id)

    assert {method for method, _ in crm.calls} == {"GET"}


async def test_another_tenants_records_are_not_sent(crm_desk: CrmDesk) -> None:
    desk, crm, sync_id = crm_desk.desk, crm_desk.crm, crm_desk.sync_id
    [company], _ = await crm_desk.leads(1)
    await desk.run("INSERT INTO tenants (name, slug) VALUES ('o', 'o')")
    await desk.run(
        "UPDATE companies SET tenant_id = (SELECT id FROM tenants WHERE slug = 'o')"
    )

    async with desk.engine.begin() as connection:
        await queue(connection, desk.tenant, sync_id, CrmKind.COMPANY, {company: None})
    await desk.work(sync_id)

    assert crm.rows["company"] == {}
