"""The server that stands for HubSpot, asked by HubSpot's own client."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from hubspot import HubSpot
from hubspot.crm.associations.v4.models import (
    BatchInputPublicDefaultAssociationMultiPost,
)
from hubspot.crm.contacts.exceptions import ApiException
from hubspot.crm.properties.models import PropertyCreate

from tests.connectors.fakes.hubspot import TOKEN, FakeHubSpot
from tests.connectors.fakes.store import Record
from tests.connectors.fakes.trouble import bad_gateway, half_a_batch, lost_answer

pytestmark = pytest.mark.slow
KEY = "scrapersky_id"


@pytest.fixture
async def fake() -> AsyncIterator[FakeHubSpot]:
    async with FakeHubSpot(legacy=True) as server:
        yield server


@pytest.fixture
async def client(fake: FakeHubSpot) -> HubSpot:
    client = HubSpot(access_token=TOKEN, host=fake.url)
    for kind, group in (
        ("contacts", "contactinformation"),
        ("companies", "companyinformation"),
    ):
        made = PropertyCreate(
            name=KEY, label="ScraperSky", type="string", field_type="text",
            group_name=group, has_unique_value=True,
        )  # fmt: skip
        await told(client.crm.properties.core_api.create, kind, made)
    return client


async def told(call: Callable[..., Any], *args: Any, **named: Any) -> Any:
    return await asyncio.to_thread(call, *args, **named)


def upserts(*rows: dict[str, str], key: str = KEY) -> dict[str, Any]:
    return {
        "inputs": [
            {"id": row[key], "idProperty": key, "properties": row, "objectWriteTraceId": row[key]}
            for row in rows
        ]
    }  # fmt: skip


def refused(error: ApiException) -> tuple[int, Any]:
    return error.status, json.loads(error.body)


async def test_the_fields_of_an_object_are_listed_whole(client: HubSpot) -> None:
    found = await told(client.crm.properties.core_api.get_all, "contacts")

    by_name = {prop.name: prop for prop in found.results}
    assert by_name[KEY].has_unique_value
    assert by_name["hs_email_optout"].modification_metadata.read_only_value
    assert [o.value for o in by_name["hs_lead_status"].options][:1] == ["NEW"]


async def test_the_second_upsert_of_a_record_makes_no_other(
    client: HubSpot, fake: FakeHubSpot
) -> None:
    batch = client.crm.contacts.batch_api
    body = upserts({KEY: "a", "email": "Ann@Example.com"}, {KEY: "b"})

    first = await told(batch.upsert, body)
    second = await told(batch.upsert, body)

    assert [row.new for row in first.results] == [True, True]
    assert [row.new for row in second.results] == [False, False]
    assert first.results[0].id == second.results[0].id
    assert first.results[0].properties["email"] == "ann@example.com"
    assert first.results[0].object_write_trace_id == "a"
    assert fake.portal.store.twice("contacts", KEY) == set()


async def test_an_address_in_other_case_is_the_same_contact(client: HubSpot) -> None:
    batch = client.crm.contacts.batch_api
    first = await told(batch.upsert, upserts({"email": "ann@x.com"}, key="email"))
    second = await told(batch.upsert, upserts({"email": "ANN@x.com"}, key="email"))
    assert first.results[0].id == second.results[0].id


@pytest.mark.parametrize(
    ("bad", "status", "category"),
    [
        ({KEY: "z", "nope": "1"}, 400, "VALIDATION_ERROR"),
        ({KEY: "z", "email": "no address"}, 400, "VALIDATION_ERROR"),
        ({KEY: "z", "hs_lead_status": "Fresh"}, 400, "VALIDATION_ERROR"),
        ({KEY: "z", "hs_email_optout": "false"}, 400, "VALIDATION_ERROR"),
        ({KEY: "A"}, 400, "VALIDATION_ERROR"),
        ({KEY: "z", "email": "taken@x.com"}, 409, "CONFLICT"),
    ],
    ids=["unknown", "e-mail", "option", "read-only", "same key", "taken"],
)
async def test_one_bad_row_refuses_the_whole_batch(
    client: HubSpot, fake: FakeHubSpot, bad: dict[str, str], status: int, category: str
) -> None:
    fake.portal.enters("contacts", email="taken@x.com")
    before = len(list(fake.portal.store.live("contacts")))

    with pytest.raises(ApiException) as caught:
        await told(client.crm.contacts.batch_api.upsert, upserts({KEY: "a"}, bad))

    assert refused(caught.value)[0] == status
    assert refused(caught.value)[1]["category"] == category
    assert len(list(fake.portal.store.live("contacts"))) == before


async def test_a_key_that_others_may_share_is_refused(client: HubSpot) -> None:
    body = upserts({"domain": "x.com"}, key="domain")
    with pytest.raises(Exception, match="non-unique 0-2 property domain"):
        await told(client.crm.companies.batch_api.upsert, body)


async def test_rows_are_told_apart_where_that_is_offered(
    client: HubSpot, fake: FakeHubSpot
) -> None:
    fake.multi_status = True
    batch = client.crm.contacts.batch_api
    told_apart = await told(batch.upsert, upserts({KEY: "a"}, {KEY: "z", "nope": "1"}))

    assert [row.object_write_trace_id for row in told_apart.results] == ["a"]
    assert told_apart.num_errors == 1
    assert told_apart.errors[0].context["objectWriteTraceId"] == ["z"]


async def test_records_are_read_by_our_key_and_the_lost_ones_named(
    client: HubSpot,
) -> None:
    await told(client.crm.contacts.batch_api.upsert, upserts({KEY: "a"}))
    body = {
        "inputs": [{"id": "a"}, {"id": "gone"}], "idProperty": KEY,
        "properties": [KEY, "email"], "propertiesWithHistory": [],
    }  # fmt: skip
    read = await told(client.crm.contacts.batch_api.read, body)

    assert [row.properties[KEY] for row in read.results] == ["a"]
    assert read.errors[0].context["ids"] == ["gone"]


async def test_a_merged_record_answers_by_another_number(
    client: HubSpot, fake: FakeHubSpot
) -> None:
    one, two = (fake.portal.enters("contacts", email=f"{n}@x.com") for n in "ab")
    kept = fake.portal.merges(one, two)

    api = client.crm.contacts.basic_api
    for old in (one, two):
        found = await told(api.get_by_id, str(old.id))
        assert found.id == str(kept.id)
    body = {
        "inputs": [{"id": str(one.id)}],
        "properties": [],
        "propertiesWithHistory": [],
    }
    read = await told(client.crm.contacts.batch_api.read, body)
    assert read.results == []


async def test_searching_follows_writing_only_after_a_while(
    client: HubSpot, fake: FakeHubSpot
) -> None:
    fake.portal.store.lag = lambda: 20.0
    fake.portal.enters("companies", domain="https://www.X.com/", name="X")
    by_domain = {"propertyName": "domain", "operator": "EQ", "value": "x.com"}
    search = {
        "filterGroups": [{"filters": [by_domain]}],
        "sorts": [{"propertyName": "hs_lastmodifieddate", "direction": "ASCENDING"}],
        "properties": ["name"], "limit": 100,
    }  # fmt: skip
    api = client.crm.companies.search_api
    assert (await told(api.do_search, search)).total == 0
    fake.clock.advance(21)
    found = await told(api.do_search, search)
    assert found.results[0].properties["name"] == "X"


async def test_contacts_and_companies_are_linked(
    client: HubSpot, fake: FakeHubSpot
) -> None:
    one: Record = fake.portal.enters("contacts", email="a@x.com")
    other = fake.portal.enters("companies", name="X")
    pair = {"from": {"id": str(one.id)}, "to": {"id": str(other.id)}}
    api = client.crm.associations.v4.batch_api
    body = BatchInputPublicDefaultAssociationMultiPost(inputs=[pair])
    for _ in range(2):
        made = await told(api.create_default, "contacts", "companies", body)
        assert made.results[0].association_spec.association_type_id == 279
    assert fake.portal.links == {(one.id, other.id)}


async def test_erasing_an_address_nobody_has_blocks_it_for_good(
    client: HubSpot, fake: FakeHubSpot
) -> None:
    api = client.crm.contacts.basic_api
    known = fake.portal.enters("contacts", email="known@x.com")
    await told(api.purge, {"objectId": str(known.id)})
    assert known.purged
    assert fake.portal.blocklist == set()

    await told(api.purge, {"objectId": "new@x.com", "idProperty": "email"})
    with pytest.raises(ApiException):
        await told(
            client.crm.contacts.batch_api.upsert,
            upserts({KEY: "n", "email": "new@x.com"}),
        )


async def test_the_hundred_and_first_call_of_ten_seconds_is_refused(
    client: HubSpot, fake: FakeHubSpot
) -> None:
    api = client.crm.properties.core_api
    while fake.burst.left:
        fake.burst.take()
    with pytest.raises(Exception, match="TEN_SECONDLY_ROLLING"):
        await told(api.get_all, "contacts")
    fake.clock.advance(10)
    await told(api.get_all, "contacts")


async def test_what_the_vendor_withdrew_is_gone() -> None:
    async with FakeHubSpot() as fake:
        client = HubSpot(access_token=TOKEN, host=fake.url)
        with pytest.raises(Exception, match="410"):
            await told(client.crm.contacts.basic_api.get_page)


@pytest.mark.parametrize("revoked", [True, False])
async def test_a_dead_token_and_a_narrowed_one_differ(
    client: HubSpot, fake: FakeHubSpot, *, revoked: bool
) -> None:
    if revoked:
        fake.token = "another"
    else:
        fake.scopes.remove("crm.objects.contacts.write")
    with pytest.raises(ApiException) as caught:
        await told(client.crm.contacts.batch_api.upsert, upserts({KEY: "a"}))
    told_of = "INVALID_AUTHENTICATION" if revoked else "MISSING_SCOPES"
    assert refused(caught.value)[1]["category"] == told_of


async def test_a_mishap_happens_at_its_step(client: HubSpot, fake: FakeHubSpot) -> None:
    batch = client.crm.contacts.batch_api
    fake.troubles = [
        bad_gateway("upsert"),
        half_a_batch("upsert"),
        lost_answer("upsert"),
    ]
    for held in (0, 2, 4):
        with pytest.raises(Exception):  # noqa: B017, PT011
            await told(batch.upsert, upserts(*({KEY: key} for key in "abcd")))
        assert len(fake.portal.store.having("contacts", KEY)) == held
