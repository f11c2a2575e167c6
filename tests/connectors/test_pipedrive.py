"""Pipedrive: nothing twice without an upsert, and never into what is left to others."""

import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from scrapersky.connectors.pipedrive import PipedriveConnector
from scrapersky.connectors.protocol import (
    OWN_ID,
    CrmField,
    CrmKind,
    CrmRecord,
    CrmValue,
    PersonOfCompany,
    RecordWrite,
    Refused,
    SyncVolume,
    Unknown,
    WriteResult,
    Written,
)
from scrapersky.errors import (
    CrmAnswerLost,
    CrmBusy,
    CrmRejected,
    CrmScopeMissing,
    CrmTokenRejected,
)
from tests.connectors.fakes import trouble
from tests.connectors.fakes.clock import START, StillClock
from tests.connectors.fakes.pipedrive import PAGE, TOKEN, FakePipedrive
from tests.connectors.fakes.trouble import Step, Trouble, answered
from tests.connectors.rig import connected, our, write

PERSON, COMPANY = CrmKind.PERSON, CrmKind.COMPANY
FIELDS = (
    CrmField(name=OWN_ID, label="ScraperSky id"),
    CrmField(name="scrapersky_source", label="ScraperSky source"),
)


@pytest.fixture
def clock() -> StillClock:
    return StillClock()


@pytest.fixture
async def fake(clock: StillClock) -> AsyncIterator[FakePipedrive]:
    async with FakePipedrive(clock) as server:
        yield server


@pytest.fixture
async def pipedrive(
    fake: FakePipedrive, clock: StillClock
) -> AsyncIterator[PipedriveConnector]:
    async with with_our_fields(fake, clock) as connector:
        yield connector


@asynccontextmanager
async def with_our_fields(
    fake: FakePipedrive, clock: StillClock, **options: str
) -> AsyncIterator[PipedriveConnector]:
    async with connected(PipedriveConnector, fake.url, TOKEN, clock) as connector:
        for kind in CrmKind:
            made = await connector.make_fields(kind, FIELDS)
            assert made == await connector.make_fields(kind, FIELDS)
            options |= {f"field:{kind}:{name}": code for name, code in made.items()}
    async with connected(
        PipedriveConnector, fake.url, TOKEN, clock, **options
    ) as connector:
        yield connector


def own(fake: FakePipedrive, kind: str = "persons") -> list[str]:
    codes = {row["field_name"]: code for code, row in fake.custom[kind].items()}
    return fake.own(kind, codes["ScraperSky id"])


def people(count: int) -> list[RecordWrite]:
    return [
        write(PERSON, n, {"name": f"P{n}", "emails": f"p{n}@x{n}.com"})
        for n in range(count)
    ]


async def insisting(
    pipedrive: PipedriveConnector, records: list[RecordWrite], turns: int = 6
) -> list[WriteResult]:
    """Write as the engine does: one by one, and what is unknown is read back first."""
    results: list[WriteResult] = []
    for record in records:
        for _ in range(turns):
            try:
                [result] = await pipedrive.write(record.kind, [record])
            except CrmBusy:
                continue
            if isinstance(result, Unknown) and record.their_id is None:
                found = await pipedrive.read_own(
                    record.kind, [record.our_id], (), START
                )
                if record.our_id in found:
                    result = Written(found[record.our_id].id, is_new=True)
            if not isinstance(result, Unknown):
                results.append(result)
                break
        else:
            raise AssertionError(record)
    return results


def ids(results: object) -> list[str]:
    assert isinstance(results, list)
    assert all(isinstance(one, Written) for one in results), results
    return [one.their_id for one in results]


def of(fake: FakePipedrive, number: str, kind: str = "persons") -> Any:
    record = fake.store.get(kind, number)
    assert record is not None
    return record


async def all_changes(
    pipedrive: PipedriveConnector, cursor: str
) -> tuple[dict[str, CrmRecord], str]:
    seen: dict[str, CrmRecord] = {}
    while True:
        page = await pipedrive.changes(PERSON, cursor, ())
        seen |= {record.id: record for record in page.records}
        cursor = page.cursor
        if not page.has_more:
            return seen, cursor


async def test_a_record_arrives_with_every_field(
    pipedrive: PipedriveConnector, fake: FakePipedrive
) -> None:
    values: dict[str, CrmValue] = {
        "name": "Acme",
        "website": "https://acme.example",
        "address.route": "Main St 1",
        "address.locality": "Austin",
        "address.postal_code": "78701",
        "industry": "12",
        "annual_revenue": 1.5,
    }
    [one] = ids(await pipedrive.write(COMPANY, [write(COMPANY, 1, values)]))
    record = (await pipedrive.read(COMPANY, [one], list(values)))[one]

    assert record.our_id == our(1)
    assert {name: record.values[name] for name in values} == values
    assert of(fake, one, "organizations").values["address"]["value"] == (
        "Main St 1, 78701 Austin"
    )


@pytest.mark.parametrize("step", ["before", "instead", "half", "midway", "after"])
@pytest.mark.parametrize("known", [False, True], ids=["new", "known"])
async def test_a_cut_at_any_step_makes_nothing_twice_and_loses_nothing(
    pipedrive: PipedriveConnector, fake: FakePipedrive, step: str, *, known: bool
) -> None:
    rows = people(6)
    if known:
        made = ids(await insisting(pipedrive, rows))
        for one in made:
            fake.types(of(fake, one), name="Typed")
        rows = [
            write(PERSON, n, {"phones": "+15125550100"}, one)
            for n, one in enumerate(made)
        ]
    method = "PATCH" if known else "POST"
    fake.troubles = [Trouble(step, f"{method} /api/v2/persons", passes=2, times=3)]  # type: ignore[arg-type]
    ids(await insisting(pipedrive, rows))

    assert sorted(own(fake)) == sorted(str(row.our_id) for row in rows)
    assert fake.store.lost() == []


async def test_what_was_lost_is_looked_for_by_a_list_and_never_by_searching(
    pipedrive: PipedriveConnector, fake: FakePipedrive
) -> None:
    fake.store.lag = lambda: 3600.0
    fake.troubles = [trouble.lost_answer("POST /api/v2/persons")]
    before = fake.daily.used
    ids(await insisting(pipedrive, people(1)))

    assert fake.count("earch") == 0
    assert len(own(fake)) == 1
    assert fake.daily.used - before <= 30


@pytest.mark.parametrize(
    "mishap",
    [
        trouble.bad_gateway("PATCH", times=2),
        answered("PATCH", 429, times=2),
        answered("PATCH", 503, times=2),
    ],
    ids=lambda one: str(one.status),
)
async def test_a_passing_trouble_is_waited_out(
    pipedrive: PipedriveConnector, fake: FakePipedrive, mishap: Trouble
) -> None:
    [one] = ids(await pipedrive.write(PERSON, people(1)))
    fake.troubles = [mishap]
    [done] = ids(await pipedrive.write(PERSON, [write(PERSON, 0, {"name": "N"}, one)]))
    assert of(fake, done).values["name"] == "N"


async def test_an_error_that_says_200_is_an_error(
    pipedrive: PipedriveConnector, fake: FakePipedrive
) -> None:
    body = {"success": False, "error": "Something is wrong", "data": None}
    fake.troubles = [answered("POST /api/v2/persons", 200, body)]
    [refused] = await pipedrive.write(PERSON, people(1))
    assert isinstance(refused, Refused)
    assert "Something is wrong" in refused.reasons[""]


async def test_a_refused_field_is_named(
    pipedrive: PipedriveConnector, fake: FakePipedrive
) -> None:
    for values, field in (
        ({"name": "A", "emails": "none"}, "emails"),
        ({"name": "A", "f" * 40: "gone"}, "f" * 40),
        ({"name": "A", "job_title": "Dr"}, "job_title"),
    ):
        [refused] = await pipedrive.write(PERSON, [write(PERSON, 1, values)])
        assert isinstance(refused, Refused)
        assert set(refused.reasons) == {field}
    assert own(fake) == []


async def test_other_addresses_of_a_person_stay(
    pipedrive: PipedriveConnector, fake: FakePipedrive
) -> None:
    [one] = ids(await pipedrive.write(PERSON, people(1)))
    typed = [
        {"value": "p0@x0.com", "primary": True, "label": "work"},
        {"value": "home@x.com", "primary": False, "label": "home"},
    ]
    fake.types(of(fake, one), emails=typed)
    await pipedrive.write(PERSON, [write(PERSON, 0, {"emails": "new@x.com"}, one)])
    assert of(fake, one).values["emails"] == [
        {"value": "new@x.com", "primary": True, "label": "work"},
        {"value": "home@x.com", "primary": False, "label": "home"},
    ]


async def test_an_address_that_a_person_wrote_in_one_line_stays(
    pipedrive: PipedriveConnector, fake: FakePipedrive
) -> None:
    [one] = ids(await pipedrive.write(COMPANY, [write(COMPANY, 1, {"name": "A"})]))
    record = of(fake, one, "organizations")
    fake.types(record, address={"value": "the white house behind the church"})
    values = {"address.locality": "Austin"}
    await pipedrive.write(COMPANY, [write(COMPANY, 1, values, one)])
    address = record.values["address"]
    assert address["value"] == "the white house behind the church"
    assert address["locality"] == "Austin"


async def test_a_person_is_linked_unless_somebody_linked_it_elsewhere(
    pipedrive: PipedriveConnector, fake: FakePipedrive
) -> None:
    first, second = ids(await insisting(pipedrive, people(2)))
    [company] = ids(await pipedrive.write(COMPANY, [write(COMPANY, 9, {"name": "X"})]))
    other = fake.enters("organizations", name="Other")
    fake.types(of(fake, second), org_id=other.id)
    pairs = [PersonOfCompany(one, company) for one in (first, second, "999")]

    for _ in range(2):
        assert set(await pipedrive.link(pairs)) == set(pairs[1:])
    assert of(fake, first).values["org_id"] == int(company)
    assert fake.store.lost() == []


async def test_a_person_is_made_with_its_organization_unless_that_is_gone(
    pipedrive: PipedriveConnector, fake: FakePipedrive
) -> None:
    [company] = ids(await pipedrive.write(COMPANY, [write(COMPANY, 9, {"name": "X"})]))
    one, other = (replace(record, company_id=company) for record in people(2))
    [made] = await pipedrive.write(PERSON, [one])
    assert isinstance(made, Written)
    assert made.linked_to == company
    fake.deletes(of(fake, company, "organizations"))
    [made] = await pipedrive.write(PERSON, [other])
    assert isinstance(made, Written)
    assert made.linked_to is None
    assert [r.values["org_id"] for r in fake.store.live("persons")] == [
        int(company),
        None,
    ]


@pytest.mark.parametrize("step", ["before", "instead", "half", "after"])
async def test_a_pair_becomes_one_lead_whatever_is_lost_and_goes_with_its_person(
    fake: FakePipedrive, clock: StillClock, step: Step
) -> None:
    async with with_our_fields(fake, clock, leads="yes") as pipedrive:
        company = {"name": "Acme"}
        [org] = ids(await pipedrive.write(COMPANY, [write(COMPANY, 9, company)]))
        one = replace(write(PERSON, 1, {"name": "Ann"}), company_id=org)
        [made] = await pipedrive.write(PERSON, [one])
        assert isinstance(made, Written)
        assert made.linked_to is None
        pair = PersonOfCompany(made.their_id, org)
        fake.troubles = [Trouble(step, "POST /api/v1/leads", times=2)]

        for _ in range(4):
            with contextlib.suppress(CrmAnswerLost):
                assert await pipedrive.link([pair]) == {}

        [lead] = fake.leads.values()
        assert (lead["title"], lead["organization_id"]) == ("Acme", int(org))
        assert lead["person_id"] == int(made.their_id)
        await pipedrive.erase(PERSON, made.their_id)
        assert fake.leads == {}


@pytest.mark.parametrize("lists_deleted", [False, True])
async def test_what_people_did_comes_back(
    pipedrive: PipedriveConnector,
    fake: FakePipedrive,
    clock: StillClock,
    *,
    lists_deleted: bool,
) -> None:
    fake.lists_deleted = lists_deleted
    made = ids(await insisting(pipedrive, people(5)))
    start = (await pipedrive.changes(PERSON, None, ())).cursor
    clock.advance(3600)
    typed, gone, left, kept, other = (of(fake, one) for one in made)
    fake.types(typed, name="Typed")
    fake.deletes(gone)
    second = {"value": "second@x2.com", "primary": False, "label": "home"}
    fake.types(left, emails=[*left.values["emails"], second])
    fake.unsubscribes(left)
    fake.merges(kept, other)

    seen, cursor = await all_changes(pipedrive, start)
    assert seen[made[0]].values["name"] == "Typed"
    assert seen[made[2]].is_unsubscribed
    assert seen[made[2]].more_emails == ("second@x2.com",)
    assert (made[1] in seen) == lists_deleted
    if lists_deleted:
        assert seen[made[1]].is_deleted
    assert set(await pipedrive.read(PERSON, made, ())) == {made[0], made[2], made[3]}
    again, _ = await all_changes(pipedrive, cursor)
    assert set(again) <= set(seen)
    for one in (made[1], made[4]):
        [result] = await pipedrive.write(PERSON, [write(PERSON, 1, {"name": "N"}, one)])
        assert isinstance(result, Refused)
        assert result.is_gone


async def test_more_changes_than_a_page_holds_are_all_read(
    pipedrive: PipedriveConnector, fake: FakePipedrive, clock: StillClock
) -> None:
    cursor = (await pipedrive.changes(PERSON, None, ())).cursor
    for n in range(1200):
        fake.enters("persons", name=f"N{n}")
        clock.advance(0.3)
    seen, _ = await all_changes(pipedrive, cursor)
    assert len(seen) == 1200


@pytest.mark.slow
async def test_the_reserve_is_left_to_others_and_no_limit_is_passed(
    pipedrive: PipedriveConnector, fake: FakePipedrive, clock: StillClock
) -> None:
    fake.daily.most = 30_000
    fake.daily.take(9_000)
    written = 0

    async def go_on() -> None:
        nonlocal written
        while True:
            ids(await pipedrive.write(PERSON, [write(PERSON, written, {"name": "N"})]))
            written += 1

    with pytest.raises(CrmBusy) as caught:
        await go_on()
    assert fake.daily.left >= 10_000 - 5
    assert not any(call.status in (403, 429) for call in fake.calls)
    assert caught.value.after.total_seconds() > 3600
    assert written > 2000
    clock.advance(clock.until_midnight() + 1)
    ids(await pipedrive.write(PERSON, [write(PERSON, 9999, {"name": "N"})]))


@pytest.mark.parametrize("headers", ["present", "missing", "wrong"])
async def test_the_limit_of_a_moment_is_used_and_never_passed(
    pipedrive: PipedriveConnector, fake: FakePipedrive, clock: StillClock, headers: str
) -> None:
    fake.meter_headers = headers  # type: ignore[assignment]
    began, calls = clock.seconds, len(fake.calls)
    for n in range(80):
        ids(await pipedrive.write(PERSON, [write(PERSON, n, {"name": "N"})]))
    took = clock.seconds - began

    assert not any(call.status in (403, 429) for call in fake.calls)
    assert (len(fake.calls) - calls) / took >= 10 * 0.9


async def test_a_spent_day_is_not_asked_again(
    pipedrive: PipedriveConnector, fake: FakePipedrive
) -> None:
    fake.daily.take(fake.daily.left)
    for _ in range(20):
        with pytest.raises(CrmBusy) as caught:
            await pipedrive.write(PERSON, people(1))
        assert caught.value.after.total_seconds() > 3600
    assert sum(call.status == 429 for call in fake.calls) <= 1


async def test_a_page_of_the_network_in_front_means_to_wait(
    pipedrive: PipedriveConnector, fake: FakePipedrive
) -> None:
    await pipedrive.fields(PERSON)
    fake.troubles = [answered("POST", 403, PAGE, times=99)]
    with pytest.raises(CrmBusy) as caught:
        await pipedrive.write(PERSON, people(1))
    assert caught.value.after.total_seconds() >= 600


async def test_a_dead_token_and_a_right_that_lacks_differ(
    pipedrive: PipedriveConnector, fake: FakePipedrive
) -> None:
    body = {"success": False, "error": "Forbidden", "error_info": "scope"}
    fake.troubles = [answered("POST /api/v2/persons", 403, body)]
    with pytest.raises(CrmScopeMissing):
        await pipedrive.write(PERSON, people(1))
    fake.token = "another"
    with pytest.raises(CrmTokenRejected):
        await pipedrive.write(PERSON, people(1))


async def test_people_and_companies_are_found(
    pipedrive: PipedriveConnector, fake: FakePipedrive, clock: StillClock
) -> None:
    email = [{"value": "Ann@X.com", "primary": True, "label": "work"}]
    person = fake.enters("persons", name="Ann", emails=email)
    company = fake.enters("organizations", name="X", website="https://www.x.com/de")
    fake.enters("organizations", name="Y", website="https://notx.com")
    clock.advance(60)
    found = await pipedrive.find(PERSON, ["ann@x.com", "b@x.com"], ())
    assert set(found) == {"ann@x.com"}
    assert [r.id for r in found["ann@x.com"]] == [str(person.id)]
    found = await pipedrive.find(COMPANY, ["x.com"], ())
    assert [r.id for r in found["x.com"]] == [str(company.id)]


async def test_erasing_leaves_no_name_in_the_bin(
    pipedrive: PipedriveConnector, fake: FakePipedrive
) -> None:
    [one] = ids(await pipedrive.write(PERSON, people(1)))
    for _ in range(2):
        await pipedrive.erase(PERSON, one)
    record = of(fake, one)
    assert record.deleted
    assert "p0" not in str(record.values).lower()
    assert own(fake) == []


async def test_a_pair_costs_what_was_said_before(
    pipedrive: PipedriveConnector, fake: FakePipedrive
) -> None:
    await pipedrive.fields(PERSON)
    made = ids(await insisting(pipedrive, people(10)))
    before = fake.daily.used
    rows = [write(PERSON, n, {"emails": "n@x.com"}, one) for n, one in enumerate(made)]
    ids(await insisting(pipedrive, rows))
    said = pipedrive.price(PERSON, SyncVolume(updates=10))
    assert fake.daily.used - before == said["tokens"] == 60


@pytest.mark.parametrize("path", ["persons", "organizations/1", "itemSearch?term=a"])
async def test_what_the_vendor_withdrew_is_gone(
    pipedrive: PipedriveConnector, fake: FakePipedrive, path: str
) -> None:
    with pytest.raises(CrmRejected) as caught:
        await pipedrive._ask("GET", f"/api/v1/{path}", 1)
    assert caught.value.status == 410
