"""HubSpot: nothing twice, nothing missing, and nothing of a person lost."""

import random
from collections.abc import AsyncIterator, Mapping
from uuid import UUID

import pytest

from scrapersky.connectors.hubspot import HubspotConnector
from scrapersky.connectors.protocol import (
    OWN_ID,
    CrmField,
    CrmKind,
    CrmRecord,
    CrmValue,
    PersonOfCompany,
    RecordWrite,
    Refused,
    Unknown,
    WriteResult,
    Written,
)
from scrapersky.connectors.values import normalised
from scrapersky.errors import (
    CrmBusy,
    CrmCannot,
    CrmError,
    CrmScopeMissing,
    CrmTokenRejected,
)
from tests.connectors.fakes import trouble
from tests.connectors.fakes.clock import StillClock
from tests.connectors.fakes.hubspot import TOKEN, FakeHubSpot
from tests.connectors.fakes.trouble import Trouble, answered
from tests.connectors.rig import connected, our, write

PERSON, COMPANY = CrmKind.PERSON, CrmKind.COMPANY
OWN = (CrmField(name=OWN_ID, label="ScraperSky"),)
ALWAYS = 1_000_000


@pytest.fixture
def clock() -> StillClock:
    return StillClock()


@pytest.fixture
async def fake(clock: StillClock) -> AsyncIterator[FakeHubSpot]:
    async with FakeHubSpot(clock) as server:
        yield server


@pytest.fixture
async def hubspot(
    fake: FakeHubSpot, clock: StillClock
) -> AsyncIterator[HubspotConnector]:
    async with connected(HubspotConnector, fake.url, TOKEN, clock) as connector:
        for kind in CrmKind:
            await connector.make_fields(kind, OWN)
        yield connector


def people(count: int, first: int = 0) -> list[RecordWrite]:
    return [
        write(PERSON, n, {"email": f"p{n}@x{n}.com", "firstname": f"P{n}"})
        for n in range(first, first + count)
    ]


def ids(results: object) -> list[str]:
    assert isinstance(results, list)
    assert all(isinstance(one, Written) for one in results), results
    return [one.their_id for one in results]


async def insisting(
    hubspot: HubspotConnector, records: list[RecordWrite], turns: int = 8
) -> dict[str, WriteResult]:
    """Write as the engine does: what is unknown is read back before it is sent again."""
    kind, waiting, done = records[0].kind, records, dict[str, WriteResult]()
    for _ in range(turns):
        results: list[WriteResult]
        try:
            results = [*await hubspot.write(kind, waiting)]
        except CrmError as error:
            results = [Unknown(str(error)) for _ in waiting]
        left = []
        for record, result in zip(waiting, results, strict=True):
            if isinstance(result, Unknown):
                left.append(record)
            else:
                done[str(record.our_id)] = result
        if not left:
            return done
        made = [one.our_id for one in left if one.their_id is None]
        found: Mapping[UUID, CrmRecord] = {}
        for _ in range(turns):
            try:
                found = await hubspot.read_own(kind, made, ())
                break
            except CrmError:
                continue
        done |= {str(k): Written(v.id, is_new=False) for k, v in found.items()}
        waiting = [one for one in left if one.our_id not in found]
        if not waiting:
            return done
    raise AssertionError(f"{len(waiting)} were never settled")


async def all_changes(
    hubspot: HubspotConnector, kind: CrmKind, cursor: str
) -> tuple[dict[str, CrmRecord], str]:
    seen: dict[str, CrmRecord] = {}
    while True:
        page = await hubspot.changes(kind, cursor, ("email", "firstname"))
        seen |= {record.id: record for record in page.records}
        cursor = page.cursor
        if not page.has_more:
            return seen, cursor


# What is written.


async def test_a_record_is_made_once_and_changed_after(
    hubspot: HubspotConnector, fake: FakeHubSpot
) -> None:
    first = await hubspot.write(PERSON, people(3))
    again = await hubspot.write(PERSON, people(3))

    assert [one.is_new for one in first if isinstance(one, Written)] == [True] * 3
    assert [one.is_new for one in again if isinstance(one, Written)] == [False] * 3
    assert ids(first) == ids(again)
    assert fake.portal.store.twice("contacts", OWN_ID) == set()


async def test_every_kind_of_value_arrives(
    hubspot: HubspotConnector, fake: FakeHubSpot
) -> None:
    values: dict[str, CrmValue] = {
        "name": "Zahnärzte",
        "domain": "Example.com",
        "phone": "+15125550100",
        "numberofemployees": 12.0,
        "industry": "RETAIL",
        "city": None,
    }
    [done] = ids(await hubspot.write(COMPANY, [write(COMPANY, 1, values)]))
    record = (await hubspot.read(COMPANY, [done], list(values)))[done]

    assert record.our_id == our(1)
    assert record.values["numberofemployees"] == "12"
    assert record.values["city"] is None
    fields = {one.name: one for one in await hubspot.fields(COMPANY)}
    for name, value in values.items():
        stored = normalised(record.values[name], fields[name])
        assert stored == normalised(value, fields[name]), name


async def test_the_bad_row_of_a_hundred_is_the_only_one_refused(
    hubspot: HubspotConnector, fake: FakeHubSpot
) -> None:
    rows = people(100)
    rows[57] = write(PERSON, 57, {"email": "no address", "firstname": "P57"})
    results = await hubspot.write(PERSON, rows)

    bad = [at for at, one in enumerate(results) if isinstance(one, Refused)]
    assert bad == [57]
    refused = results[57]
    assert isinstance(refused, Refused)
    assert "no address" in refused.reasons["email"]
    assert len(fake.portal.store.having("contacts", OWN_ID)) == 99
    assert fake.count("batch/upsert") <= 16


async def test_a_field_that_is_gone_costs_one_call_and_not_two_hundred(
    hubspot: HubspotConnector, fake: FakeHubSpot
) -> None:
    rows = people(60)
    gone = [write(PERSON, n, {"shoe_size": "44"}) for n in range(60, 100)]
    results = await hubspot.write(PERSON, [*rows, *gone])

    assert [isinstance(one, Refused) for one in results] == [False] * 60 + [True] * 40
    assert fake.count("batch/upsert") == 2


async def test_an_address_that_another_contact_has_names_that_contact(
    hubspot: HubspotConnector, fake: FakeHubSpot
) -> None:
    theirs = fake.portal.enters("contacts", email="info@x.com", firstname="Ann")
    rows = [*people(9), write(PERSON, 50, {"email": "INFO@x.com"})]
    refused = (await hubspot.write(PERSON, rows))[9]

    assert isinstance(refused, Refused)
    assert refused.existing_id == str(theirs.id)
    assert theirs.values["firstname"] == "Ann"


async def test_one_address_of_two_people_is_given_to_the_first(
    hubspot: HubspotConnector, fake: FakeHubSpot
) -> None:
    rows = [write(PERSON, n, {"email": "info@x.com"}) for n in range(2)]
    first, second = await hubspot.write(PERSON, rows)

    assert isinstance(first, Written)
    assert isinstance(second, Refused)
    assert second.existing_id == first.their_id


async def test_the_same_record_twice_in_a_batch_is_folded(
    hubspot: HubspotConnector, fake: FakeHubSpot
) -> None:
    rows = [write(PERSON, 1, {"firstname": "A"}), write(PERSON, 1, {"lastname": "B"})]
    one, other = ids(await hubspot.write(PERSON, rows))

    assert one == other
    record = fake.portal.store.get("contacts", one)
    assert record is not None
    assert (record.values["firstname"], record.values["lastname"]) == ("A", "B")


async def test_a_rule_that_no_schema_shows_is_told_by_its_field(
    hubspot: HubspotConnector, fake: FakeHubSpot
) -> None:
    fake.portal.schema["contacts"]["jobtitle"].required_if = {"lifecyclestage": "lead"}
    rows = [*people(4), write(PERSON, 9, {"lifecyclestage": "lead"})]
    results = await hubspot.write(PERSON, rows)

    assert [type(one) for one in results] == [Written] * 4 + [Refused]
    assert isinstance(results[4], Refused)
    assert set(results[4].reasons) == {"jobtitle"}


async def test_rows_that_are_told_apart_need_no_halving(
    hubspot: HubspotConnector, fake: FakeHubSpot
) -> None:
    fake.multi_status = True
    rows = [*people(20), write(PERSON, 99, {"email": "bad"})]
    results = await hubspot.write(PERSON, rows)

    assert [type(one) for one in results] == [Written] * 20 + [Refused]
    assert fake.count("batch/upsert") == 1


# What goes wrong, and when.


@pytest.mark.parametrize("step", ["before", "midway", "half", "after"])
@pytest.mark.parametrize("passes", [0, 1])
@pytest.mark.parametrize("known", [False, True], ids=["new", "known"])
async def test_a_cut_at_any_step_makes_nothing_twice_and_loses_nothing(
    hubspot: HubspotConnector, fake: FakeHubSpot, step: str, passes: int, *, known: bool
) -> None:
    rows = people(30)
    if known:
        made = ids(await hubspot.write(PERSON, rows))
        for one in made:
            record = fake.portal.store.get("contacts", one)
            assert record is not None
            fake.portal.types(record, jobtitle="typed")
        rows = [
            write(PERSON, n, {"lastname": f"L{n}"}, one) for n, one in enumerate(made)
        ]
    rows[7] = write(PERSON, 7, {"email": "bad"}, rows[7].their_id)
    fake.troubles = [Trouble(step, "batch/up", passes=passes, times=2)]  # type: ignore[arg-type]
    done = await insisting(hubspot, rows)

    assert sum(isinstance(one, Written) for one in done.values()) == 29
    store = fake.portal.store
    assert store.twice("contacts", OWN_ID) == set()
    expected = {str(row.our_id) for n, row in enumerate(rows) if n != 7 or known}
    assert store.having("contacts", OWN_ID) == expected
    assert store.lost() == []
    if known:
        written = {record.values.get("lastname") for record in store.live("contacts")}
        assert written == {f"L{n}" for n in range(30) if n != 7} | {None}


@pytest.mark.parametrize(
    "mishap",
    [
        trouble.bad_gateway("batch", times=2),
        answered("batch", 423, times=2),
        answered("batch", 425, times=2),
        answered("batch", 477, headers={"Retry-After": "7"}, times=2),
        answered("batch", 429, times=2),
        answered("batch", 503, times=2),
    ],
    ids=lambda one: str(one.status),
)
async def test_a_passing_trouble_is_waited_out(
    hubspot: HubspotConnector, fake: FakeHubSpot, mishap: Trouble, clock: StillClock
) -> None:
    fake.troubles = [mishap]
    began = clock.seconds
    assert len(ids(await hubspot.write(COMPANY, [write(COMPANY, 1, {"name": "A"})])))
    assert clock.seconds - began >= 2
    assert len(list(fake.portal.store.live("companies"))) == 1


async def test_a_lock_is_not_made_longer_by_asking_too_soon(
    hubspot: HubspotConnector, fake: FakeHubSpot, clock: StillClock
) -> None:
    fake.locked_until = clock.seconds + 3
    ids(await hubspot.write(COMPANY, [write(COMPANY, 1, {"name": "A"})]))
    assert fake.count("batch/upsert") <= 3


async def test_a_spent_day_is_not_waited_for_inside(
    hubspot: HubspotConnector, fake: FakeHubSpot
) -> None:
    while fake.daily.left:
        fake.daily.take(fake.daily.left)
    with pytest.raises(CrmBusy) as caught:
        await hubspot.write(PERSON, people(1))
    assert caught.value.after.total_seconds() > 600
    before = len(fake.calls)
    with pytest.raises(CrmBusy):
        await hubspot.write(PERSON, people(1))
    assert len(fake.calls) == before


async def test_a_token_that_ends_in_the_middle_of_a_batch_leaves_nothing_unsaid(
    hubspot: HubspotConnector, fake: FakeHubSpot
) -> None:
    rows = [*people(8), write(PERSON, 9, {"email": "bad"})]
    fake.troubles = [answered("batch/upsert", 401, passes=2, times=ALWAYS)]
    results = await hubspot.write(PERSON, rows)

    held = fake.portal.store.having("contacts", OWN_ID)
    for row, one in zip(rows, results, strict=True):
        assert isinstance(one, Written) == (str(row.our_id) in held)
        assert isinstance(one, Written | Unknown)
    with pytest.raises(CrmTokenRejected):
        await hubspot.write(PERSON, people(1))


async def test_a_right_that_was_taken_away_is_named(
    hubspot: HubspotConnector, fake: FakeHubSpot
) -> None:
    assert (await hubspot.account()).missing == ()
    fake.scopes -= {"crm.objects.companies.write"}
    assert (await hubspot.account()).missing == ("write companies",)
    with pytest.raises(CrmScopeMissing):
        await hubspot.write(COMPANY, [write(COMPANY, 1)])
    ids(await hubspot.write(PERSON, people(1)))


@pytest.mark.parametrize("headers", ["present", "missing", "wrong"])
async def test_the_limit_is_used_and_never_passed(
    hubspot: HubspotConnector, fake: FakeHubSpot, clock: StillClock, headers: str
) -> None:
    fake.meter_headers = headers  # type: ignore[assignment]
    began, calls = clock.seconds, len(fake.calls)
    for n in range(300):
        await hubspot.write(PERSON, people(1, first=n))
    took = clock.seconds - began

    assert not any(call.status == 429 for call in fake.calls)
    assert (len(fake.calls) - calls) / took >= 10 * 0.9


# Other hands.


@pytest.mark.parametrize("conflicts_first", [False, True])
async def test_a_merge_is_followed_and_makes_no_second_record(
    hubspot: HubspotConnector, fake: FakeHubSpot, *, conflicts_first: bool
) -> None:
    fake.conflicts_first = conflicts_first
    [one, other] = ids(await hubspot.write(PERSON, people(2)))
    first, second = (fake.portal.store.get("contacts", n) for n in (one, other))
    assert first is not None
    assert second is not None
    kept = fake.portal.merges(first, second)

    found = await hubspot.read(PERSON, [one, other], ("email",))
    assert {record.id for record in found.values()} == {str(kept.id)}
    [done] = await hubspot.write(PERSON, [write(PERSON, 0, {"lastname": "New"}, one)])
    assert done == Written(str(kept.id), is_new=False)
    assert kept.values["lastname"] == "New"
    assert len(list(fake.portal.store.live("contacts"))) == 1


async def test_a_record_that_was_deleted_is_said_to_be_gone(
    hubspot: HubspotConnector, fake: FakeHubSpot
) -> None:
    made = ids(await hubspot.write(PERSON, people(3)))
    record = fake.portal.store.get("contacts", made[1])
    assert record is not None
    fake.portal.deletes(record)

    rows = [write(PERSON, n, {"lastname": "L"}, one) for n, one in enumerate(made)]
    results = await hubspot.write(PERSON, rows)
    assert [type(one) for one in results] == [Written, Refused, Written]
    assert isinstance(results[1], Refused)
    assert results[1].is_gone
    assert set(await hubspot.read(PERSON, made, ())) == {made[0], made[2]}


async def test_a_company_that_is_there_first_is_not_made_by_the_portal(
    hubspot: HubspotConnector, fake: FakeHubSpot
) -> None:
    fake.portal.makes_companies = True
    company = write(COMPANY, 1, {"domain": "x.com", "name": "X"})
    [their_company] = ids(await hubspot.write(COMPANY, [company]))
    [person] = ids(
        await hubspot.write(PERSON, [write(PERSON, 2, {"email": "a@x.com"})])
    )
    pair = PersonOfCompany(person, their_company)

    assert await hubspot.link([pair]) == {}
    assert await hubspot.link([pair]) == {}
    assert len(list(fake.portal.store.live("companies"))) == 1
    assert fake.portal.links == {(int(person), int(their_company))}


async def test_a_link_to_nobody_fails_alone(
    hubspot: HubspotConnector, fake: FakeHubSpot
) -> None:
    made = ids(await hubspot.write(PERSON, people(4)))
    [company] = ids(await hubspot.write(COMPANY, [write(COMPANY, 9, {"name": "X"})]))
    pairs = [PersonOfCompany(one, company) for one in [*made, "999999"]]

    assert set(await hubspot.link(pairs)) == {pairs[4]}
    assert len(fake.portal.links) == 4


async def test_what_changed_is_read_with_what_people_did(
    hubspot: HubspotConnector, fake: FakeHubSpot, clock: StillClock
) -> None:
    made = ids(await hubspot.write(PERSON, people(6)))
    start = (await hubspot.changes(PERSON, None, ())).cursor
    clock.advance(3600)
    records = [fake.portal.store.get("contacts", one) for one in made]
    typed, gone, left, bounced, one, other = [r for r in records if r is not None]
    fake.portal.types(typed, firstname="Typed")
    fake.portal.deletes(gone)
    fake.portal.unsubscribes(left)
    fake.portal.bounces(bounced)
    kept = fake.portal.merges(one, other)
    clock.advance(60)

    seen, cursor = await all_changes(hubspot, PERSON, start)
    assert seen[str(typed.id)].values["firstname"] == "Typed"
    assert seen[str(gone.id)].is_deleted
    assert seen[str(left.id)].is_unsubscribed
    assert seen[str(bounced.id)].is_bounced
    assert set(seen[str(kept.id)].old_ids) == {str(one.id), str(other.id)}
    again, _ = await all_changes(hubspot, PERSON, cursor)
    assert set(again) <= set(seen)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("skew", [0, 360, -360])
async def test_no_change_escapes_a_lagging_index(
    hubspot: HubspotConnector,
    fake: FakeHubSpot,
    clock: StillClock,
    seed: int,
    skew: int,
) -> None:
    fake.skew, draw = skew, random.Random(seed)
    made = ids(await hubspot.write(PERSON, people(40)))
    cursor = (await hubspot.changes(PERSON, None, ())).cursor
    clock.advance(3600)
    wanted: dict[str, str] = {}
    got: dict[str, object] = {}
    for turn in range(30):
        for one in draw.sample(made, 3):
            record = fake.portal.store.get("contacts", one)
            assert record is not None
            fake.portal.types(record, firstname=f"T{turn}")
            wanted[one] = f"T{turn}"
            clock.advance(draw.uniform(0, 20))
        if turn % 3 == 0:
            seen, cursor = await all_changes(hubspot, PERSON, cursor)
            got |= {key: record.values["firstname"] for key, record in seen.items()}
    clock.advance(60)
    seen, cursor = await all_changes(hubspot, PERSON, cursor)
    got |= {key: record.values["firstname"] for key, record in seen.items()}

    assert {key: got.get(key) for key in wanted} == wanted


async def test_more_changes_than_a_page_holds_are_all_read(
    hubspot: HubspotConnector, fake: FakeHubSpot, clock: StillClock
) -> None:
    cursor = (await hubspot.changes(PERSON, None, ())).cursor
    for n in range(450):
        fake.portal.enters("contacts", email=f"n{n}@x.com")
        if n > 300:
            clock.advance(0.5)
    clock.advance(60)
    seen, _ = await all_changes(hubspot, PERSON, cursor)
    assert len(seen) == 450


# Finding and erasing.


async def test_people_are_found_by_any_address_of_theirs(
    hubspot: HubspotConnector, fake: FakeHubSpot, clock: StillClock
) -> None:
    one, other = (fake.portal.enters("contacts", email=f"{n}@x.com") for n in "ab")
    kept = fake.portal.merges(one, other)
    for _ in range(2):
        fake.portal.enters("companies", domain="x.com")
    clock.advance(60)

    found = await hubspot.find(PERSON, ["A@x.com", "b@x.com", "c@x.com"], ())
    assert {key: [r.id for r in rows] for key, rows in found.items()} == {
        "A@x.com": [str(kept.id)],
        "b@x.com": [str(kept.id)],
    }
    assert len((await hubspot.find(COMPANY, ["x.com"], ()))["x.com"]) == 2


async def test_erasing_is_by_number_and_never_blocks_an_address(
    hubspot: HubspotConnector, fake: FakeHubSpot
) -> None:
    one, other = ids(await hubspot.write(PERSON, people(2)))
    first, second = (fake.portal.store.get("contacts", n) for n in (one, other))
    assert first is not None
    assert second is not None
    kept = fake.portal.merges(first, second)
    await hubspot.erase(PERSON, one)
    await hubspot.erase(PERSON, one)

    assert kept.purged
    assert fake.portal.blocklist == set()
    assert all(
        "idProperty" not in call.json for call in fake.calls if "gdpr" in call.path
    )
    ids(await hubspot.write(PERSON, [write(PERSON, 7, {"email": "p0@x0.com"})]))


async def test_a_company_can_only_be_put_into_the_bin(
    hubspot: HubspotConnector, fake: FakeHubSpot
) -> None:
    [one] = ids(await hubspot.write(COMPANY, [write(COMPANY, 1, {"name": "X"})]))
    with pytest.raises(CrmCannot, match="bin"):
        await hubspot.erase(COMPANY, one)
    assert list(fake.portal.store.live("companies")) == []


# Fields.


async def test_a_field_of_ours_that_is_not_unique_is_refused(
    fake: FakeHubSpot, clock: StillClock
) -> None:
    async with connected(HubspotConnector, fake.url, TOKEN, clock) as connector:
        await connector.make_fields(PERSON, OWN)
        fake.portal.schema["contacts"][OWN_ID].is_unique = False
        with pytest.raises(CrmCannot, match=OWN_ID):
            await connector.make_fields(PERSON, OWN)
