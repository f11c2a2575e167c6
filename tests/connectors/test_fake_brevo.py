"""The server that stands for Brevo, asked by Brevo's own client."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest
from brevo import Brevo
from brevo.core.api_error import ApiError

from tests.connectors.fakes.brevo import KEY, FakeBrevo
from tests.connectors.fakes.trouble import half_a_batch

pytestmark = pytest.mark.slow


@pytest.fixture
async def fake() -> AsyncIterator[FakeBrevo]:
    async with FakeBrevo() as server:
        yield server


@pytest.fixture
async def client(fake: FakeBrevo) -> AsyncIterator[Any]:
    with httpx.Client() as connections:
        yield Brevo(
            api_key=KEY,
            base_url=f"{fake.url}/v3",
            max_retries=0,
            httpx_client=connections,
        )


async def told(call: Callable[..., Any], *args: Any, **named: Any) -> Any:
    return await asyncio.to_thread(call, *args, **named)


async def test_a_contact_is_made_once_and_changed_after(
    client: Any, fake: FakeBrevo
) -> None:
    contacts = client.contacts
    made = await told(contacts.create_contact, email="Ann@x.com", update_enabled=True)
    assert made.id
    again = await told(
        contacts.create_contact,
        email="ANN@X.com",
        update_enabled=True,
        attributes={"FIRSTNAME": "Ann", "NOPE": "1", "AGE": "old"},
    )
    assert again is None
    assert [call.status for call in fake.calls] == [201, 204]

    found = await told(contacts.get_contact_info, "ann@x.com")
    assert (found.id, found.email) == (made.id, "ann@x.com")
    assert found.email_blacklisted is False
    # What does not fit is dropped without a word.
    assert dict(found.attributes) == {"FIRSTNAME": "Ann"}


async def test_an_address_that_is_taken_is_refused_with_its_name(client: Any) -> None:
    contacts = client.contacts
    await told(contacts.create_contact, email="a@x.com")
    with pytest.raises(ApiError) as caught:
        await told(contacts.create_contact, email="a@x.com")
    assert caught.value.status_code == 400
    assert "duplicate_parameter" in str(caught.value.body)


async def test_an_import_takes_its_time_and_answers_with_counts(
    client: Any, fake: FakeBrevo
) -> None:
    begun = await told(
        client.contacts.import_contacts,
        json_body=[{"email": "a@x.com"}, {"email": "none"}],
        list_ids=[7],
        update_existing_contacts=False,
    )
    process = await told(client.process.get_process, begun.process_id)
    assert process.status == "queued"
    assert list(fake.store.live("contacts")) == []
    fake.clock.advance(60)
    process = await told(client.process.get_process, begun.process_id)
    assert process.status == "completed"
    assert process.info.import_.invalid_emails == 1
    page = await told(client.contacts.get_contacts, limit=1000, sort="asc")
    assert [row.email for row in page.contacts] == ["a@x.com"]


async def test_an_import_needs_a_list(client: Any) -> None:
    with pytest.raises(ApiError):
        await told(client.contacts.import_contacts, json_body=[{"email": "a@x.com"}])


async def test_companies_come_by_a_file_and_are_linked(
    client: Any, fake: FakeBrevo
) -> None:
    person = fake.enters("a@x.com")
    table = b"name,domain\r\nAcme,acme.com\r\n,nameless.com\r\n"
    api = client.companies
    await told(
        api.import_companies_creation_and_updation,
        file=("companies.csv", table),
        mapping={"link_entities": True, "update_existing_records": False},
    )
    fake.clock.advance(60)
    (company,) = (await told(api.get_all_companies, limit=50)).items
    assert company.attributes["name"] == "Acme"

    link = api.link_and_unlink_company_with_contact_and_deal
    await told(link, company.id, link_contact_ids=[person.id])
    found = await told(api.get_a_company, company.id)
    assert found.linked_contacts_ids == [person.id]
    await told(api.delete_a_company, company.id)
    with pytest.raises(ApiError):
        await told(api.get_a_company, company.id)


async def test_attributes_are_made_and_listed(client: Any) -> None:
    await told(client.contacts.create_attribute, "normal", "OURS", type="text")
    found = await told(client.contacts.get_attributes)
    assert "OURS" in {row.name for row in found.attributes}
    made = client.companies.create_a_company_deal_attribute
    await told(made, label="ours", attribute_type="text", object_type="companies")
    found = await told(client.companies.get_company_attributes)
    assert "ours" in {row.internal_name for row in found}


async def test_all_else_than_contacts_has_a_hundred_calls_an_hour(
    client: Any, fake: FakeBrevo
) -> None:
    while fake.slow.left:
        fake.slow.take()
    with pytest.raises(ApiError) as caught:
        await told(client.companies.get_all_companies)
    assert caught.value.status_code == 429
    assert int((caught.value.headers or {})["x-sib-ratelimit-reset"]) > 60
    await told(client.contacts.get_contacts)
    fake.clock.advance(3600)
    await told(client.companies.get_all_companies)


async def test_a_key_and_a_withdrawn_route_are_refused(
    client: Any, fake: FakeBrevo
) -> None:
    with pytest.raises(ApiError) as caught:
        await told(client.contacts.update_batch_contacts, contacts=[])
    assert caught.value.status_code == 410
    fake.key = "another"
    with pytest.raises(ApiError) as caught:
        await told(client.account.get_account)
    assert caught.value.status_code == 401


async def test_a_mishap_happens_at_its_step(client: Any, fake: FakeBrevo) -> None:
    fake.troubles = [half_a_batch("POST /v3/contacts")]
    with pytest.raises(ApiError):
        await told(client.contacts.create_contact, email="a@x.com")
    assert len(list(fake.store.live("contacts"))) == 1
