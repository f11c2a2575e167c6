"""Brevo: nobody is mailed again, and nothing is believed that was not read back."""

from collections.abc import AsyncIterator, Mapping
from typing import Any
from uuid import UUID

import pytest

from scrapersky.connectors.brevo import BrevoConnector
from scrapersky.connectors.mapping import own_fields
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
from scrapersky.errors import CrmBusy, CrmError, CrmRejected, CrmTokenRejected
from tests.connectors.conformance import ConformanceTarget, ConnectorConformance
from tests.connectors.fakes import trouble
from tests.connectors.fakes.brevo import KEY, FakeBrevo
from tests.connectors.fakes.clock import StillClock
from tests.connectors.fakes.store import Record
from tests.connectors.fakes.trouble import Trouble, answered
from tests.connectors.rig import connected, write

PERSON, COMPANY = CrmKind.PERSON, CrmKind.COMPANY
OWN = (CrmField(name=OWN_ID, label="ScraperSky"),)
MINE = {PERSON: OWN_ID.upper(), COMPANY: OWN_ID}
THEIRS = {PERSON: "contacts", COMPANY: "companies"}


@pytest.fixture
def clock() -> StillClock:
    return StillClock()


@pytest.fixture
async def fake(clock: StillClock) -> AsyncIterator[FakeBrevo]:
    async with FakeBrevo(clock) as server:
        yield server


@pytest.fixture
async def brevo(fake: FakeBrevo, clock: StillClock) -> AsyncIterator[BrevoConnector]:
    async with connected(
        BrevoConnector, fake.url, KEY, clock, list_id="7"
    ) as connector:
        for kind in CrmKind:
            made = await connector.make_fields(kind, OWN)
            assert made == {OWN_ID: MINE[kind]}
        yield connector


def people(count: int, first: int = 0) -> list[RecordWrite]:
    return [
        write(PERSON, n, {"EMAIL": f"p{n}@x{n}.com", "FIRSTNAME": f"P{n}"})
        for n in range(first, first + count)
    ]


def companies(count: int) -> list[RecordWrite]:
    return [
        write(COMPANY, n, {"name": f"C{n}", "domain": f"x{n}.com"})
        for n in range(count)
    ]


def ids(results: object) -> list[str]:
    assert isinstance(results, list)
    assert all(isinstance(one, Written) for one in results), results
    return [one.their_id for one in results]


def of(fake: FakeBrevo, number: str) -> Record:
    record = fake.store.get("contacts", number)
    assert record is not None
    return record


async def insisting(
    brevo: BrevoConnector, records: list[RecordWrite], clock: StillClock
) -> dict[UUID, WriteResult]:
    """Write as the engine does: what is unknown is read back before it is sent again."""
    kind, waiting, done = records[0].kind, records, dict[UUID, WriteResult]()
    sent_at = clock.now()
    for _ in range(30):
        try:
            results = [*await brevo.write(kind, waiting)]
        except CrmBusy as error:
            clock.advance(error.after.total_seconds())
            results = []
        except CrmError as error:
            results = [Unknown(str(error)) for _ in waiting]
        pairs = zip(waiting, results, strict=False)
        done |= {r.our_id: one for r, one in pairs if not isinstance(one, Unknown)}
        left = [one for one in waiting if one.our_id not in done]
        made = [one.our_id for one in left if one.their_id is None]
        found: Mapping[UUID, CrmRecord] | None = None
        while made and found is None:
            try:
                found = await brevo.read_own(kind, made, (), sent_at)
            except CrmBusy as error:
                clock.advance(error.after.total_seconds())
        done |= {k: Written(v.id, is_new=True) for k, v in (found or {}).items()}
        waiting = [one for one in left if one.our_id not in done]
        if not waiting:
            return done
    raise AssertionError(waiting)


@pytest.mark.parametrize("count", [1, 20, 21, 2000])
async def test_people_are_made_once_however_many(
    brevo: BrevoConnector, fake: FakeBrevo, count: int
) -> None:
    first = ids(await brevo.write(PERSON, people(count)))
    assert len(set(first)) == count
    again = ids(await brevo.write(PERSON, people(count)))
    assert again == first
    assert len(fake.store.having("contacts", MINE[PERSON])) == count


async def test_an_import_leaves_the_hourly_meter_alone(
    brevo: BrevoConnector, fake: FakeBrevo
) -> None:
    before = fake.slow.used
    ids(await brevo.write(PERSON, people(500)))
    assert fake.slow.used == before
    assert fake.count("POST /v3/contacts/import") == 1


async def test_companies_come_by_one_file(
    brevo: BrevoConnector, fake: FakeBrevo
) -> None:
    before = fake.slow.used
    made = ids(await brevo.write(COMPANY, companies(1000)))
    assert fake.slow.used - before <= 8

    rows = [
        write(COMPANY, n, {"domain": f"y{n}.com"}, one) for n, one in enumerate(made)
    ]
    assert ids(await brevo.write(COMPANY, rows)) == made
    assert {r.values["domain"] for r in fake.store.live("companies")} == {
        f"y{n}.com" for n in range(1000)
    }
    assert fake.store.twice("companies", OWN_ID) == set()
    assert fake.slow.used - before <= 14


@pytest.mark.parametrize("kind", [PERSON, COMPANY])
@pytest.mark.parametrize("step", ["before", "instead", "midway", "half", "after"])
@pytest.mark.parametrize("count", [3, 40])
async def test_a_cut_at_any_step_makes_nothing_twice_and_loses_nothing(
    brevo: BrevoConnector, fake: FakeBrevo, kind: CrmKind, step: str, count: int
) -> None:
    records = people(count) if kind is PERSON else companies(count)
    fake.troubles = [Trouble(step, f"POST /v3/{THEIRS[kind]}", times=2)]  # type: ignore[arg-type]
    done = await insisting(brevo, records, fake.clock)

    assert all(isinstance(one, Written) for one in done.values())
    assert fake.store.twice(THEIRS[kind], MINE[kind]) == set()
    assert fake.store.having(THEIRS[kind], MINE[kind]) == {
        str(one.our_id) for one in records
    }


async def test_an_import_that_runs_for_long_is_not_made_again(
    fake: FakeBrevo, brevo: BrevoConnector, clock: StillClock
) -> None:
    fake._import_time = 5000.0
    await insisting(brevo, companies(50), clock)
    assert fake.store.twice("companies", OWN_ID) == set()
    assert fake.count("POST /v3/companies/import") == 1


async def test_what_brevo_would_drop_is_refused_by_name(
    brevo: BrevoConnector, fake: FakeBrevo
) -> None:
    wrong: list[tuple[str, Any]] = [
        ("SHOE_SIZE", "44"),
        ("AGE", "old"),
        ("VIP", "perhaps"),
        ("GENDER", "7"),
    ]
    for name, value in wrong:
        record = write(PERSON, 1, {"EMAIL": "a@x.com", name: value})
        [refused] = await brevo.write(PERSON, [record])
        assert isinstance(refused, Refused)
        assert set(refused.reasons) == {name}
    [refused] = await brevo.write(PERSON, [write(PERSON, 1, {"FIRSTNAME": "A"})])
    assert isinstance(refused, Refused)
    assert list(fake.store.live("contacts")) == []


async def test_every_kind_of_value_arrives(
    brevo: BrevoConnector, fake: FakeBrevo
) -> None:
    values: dict[str, CrmValue] = {
        "EMAIL": "a@x.com",
        "AGE": 3.0,
        "VIP": True,
        "GENDER": "2",
        "SINCE": "2026-11-18",
    }
    [one] = ids(await brevo.write(PERSON, [write(PERSON, 1, values)]))
    stored = of(fake, one).values
    assert {k: stored[k] for k in values} == {**values, "GENDER": "Men"}


async def test_the_rows_an_import_does_not_take_are_told_apart(
    brevo: BrevoConnector, fake: FakeBrevo
) -> None:
    theirs = fake.enters("taken@x.com", FIRSTNAME="Ann")
    rows = people(30)
    rows[3] = write(PERSON, 3, {"EMAIL": "no address"})
    rows[9] = write(PERSON, 9, {"EMAIL": "Taken@x.com", "FIRSTNAME": "B"})
    results = await brevo.write(PERSON, rows)

    bad = {at: one for at, one in enumerate(results) if isinstance(one, Refused)}
    assert set(bad) == {3, 9}
    assert bad[9].existing_id == str(theirs.id)
    assert theirs.values["FIRSTNAME"] == "Ann"


@pytest.mark.parametrize("count", [1, 30])
async def test_nobody_who_objected_is_mailed_again(
    brevo: BrevoConnector, fake: FakeBrevo, count: int
) -> None:
    made = ids(await brevo.write(PERSON, people(count)))
    record = of(fake, made[0])
    fake.unsubscribes(record)
    fake.leaves(record)

    moved = write(PERSON, 0, {"EMAIL": "other@x.com", "FIRSTNAME": "N"}, made[0])
    [refused] = await brevo.write(PERSON, [moved])
    assert isinstance(refused, Refused)
    assert set(refused.reasons) == {"EMAIL"}
    same = write(PERSON, 0, {"EMAIL": "P0@x0.com", "FIRSTNAME": "N"}, made[0])
    ids(await brevo.write(PERSON, [same]))
    await brevo.write(PERSON, people(count))
    rest = [write(PERSON, n, {"LASTNAME": "L"}, one) for n, one in enumerate(made)]
    ids(await brevo.write(PERSON, rest))

    assert record.values["_blocked"] is True
    assert record.values["FIRSTNAME"] == "N"
    assert all(b"lacklist" not in call.raw for call in fake.calls)
    updates = [call for call in fake.calls if call.method == "PUT"]
    assert all("listIds" not in call.json for call in updates)


async def test_the_double_mails_again_whom_the_vendor_would(
    brevo: BrevoConnector, fake: FakeBrevo
) -> None:
    [one] = ids(await brevo.write(PERSON, people(1)))
    fake.unsubscribes(of(fake, one))
    body = {"attributes": {"EMAIL": "other@x.com"}}
    await brevo._api.ask("PUT", f"/contacts/{one}", body)
    assert of(fake, one).values["_blocked"] is False


@pytest.mark.parametrize(
    "mishap",
    [
        trouble.bad_gateway("PUT", times=2),
        answered("PUT", 425, times=2),
        answered("PUT", 429, times=2),
        answered("PUT", 503, times=2),
    ],
    ids=lambda one: str(one.status),
)
async def test_a_passing_trouble_is_waited_out(
    brevo: BrevoConnector, fake: FakeBrevo, mishap: Trouble
) -> None:
    [one] = ids(await brevo.write(PERSON, people(1)))
    fake.troubles = [mishap]
    ids(await brevo.write(PERSON, [write(PERSON, 0, {"LASTNAME": "L"}, one)]))
    assert of(fake, one).values["LASTNAME"] == "L"


@pytest.mark.parametrize("headers", ["present", "missing", "wrong"])
async def test_no_limit_is_passed(
    brevo: BrevoConnector, fake: FakeBrevo, clock: StillClock, headers: str
) -> None:
    fake.meter_headers = headers  # type: ignore[assignment]
    began, calls = clock.seconds, len(fake.calls)
    for n in range(100):
        ids(await brevo.write(PERSON, people(1, first=n)))
    assert not any(call.status == 429 for call in fake.calls)
    assert (len(fake.calls) - calls) / (clock.seconds - began) >= 8


async def test_the_hundred_calls_of_an_hour_end_in_saying_so(
    brevo: BrevoConnector, fake: FakeBrevo
) -> None:
    async def go_on() -> None:
        while True:
            await brevo.fields(COMPANY)

    with pytest.raises(CrmBusy) as caught:
        await go_on()
    assert caught.value.after.total_seconds() > 30
    assert fake.slow.used <= 100
    assert not any(call.status == 429 for call in fake.calls)
    ids(await brevo.write(PERSON, people(1)))


async def test_what_people_did_comes_back(
    brevo: BrevoConnector, fake: FakeBrevo, clock: StillClock
) -> None:
    made = ids(await brevo.write(PERSON, people(30)))
    start = (await brevo.changes(PERSON, None, ())).cursor
    clock.advance(3600)
    fake.types(of(fake, made[0]), FIRSTNAME="Typed")
    fake.unsubscribes(of(fake, made[1]))
    fake.deletes(of(fake, made[2]))

    page = await brevo.changes(PERSON, start, ())
    seen = {record.id: record for record in page.records}
    assert seen[made[0]].values["FIRSTNAME"] == "Typed"
    assert seen[made[1]].is_unsubscribed
    assert made[2] not in seen
    assert made[2] not in await brevo.read(PERSON, made, ())
    [gone] = await brevo.write(PERSON, [write(PERSON, 2, {"LASTNAME": "L"}, made[2])])
    assert isinstance(gone, Refused)
    assert gone.is_gone
    again = await brevo.changes(PERSON, page.cursor, ())
    assert {record.id for record in again.records} <= set(seen)


async def test_rows_that_move_while_pages_are_read_are_not_missed(
    brevo: BrevoConnector, fake: FakeBrevo, clock: StillClock
) -> None:
    cursor = (await brevo.changes(PERSON, None, ())).cursor
    entered = [fake.enters(f"n{n}@x.com") for n in range(2500)]
    clock.advance(60)
    seen: set[str] = set()
    has_more = True
    while has_more:
        page = await brevo.changes(PERSON, cursor, ())
        seen |= {record.id for record in page.records}
        cursor, has_more = page.cursor, page.has_more
        for record in entered[:40]:
            fake.deletes(record)
    assert seen == {str(record.id) for record in entered}


@pytest.mark.parametrize("count", [2, 12])
async def test_people_are_linked_and_older_links_stay(
    brevo: BrevoConnector, fake: FakeBrevo, count: int
) -> None:
    persons = ids(await brevo.write(PERSON, people(count)))
    firms = ids(await brevo.write(COMPANY, companies(count)))
    old = fake.enters("old@x.com")
    for record in fake.store.live("companies"):
        record.values["_links"] = [old.id]
    pairs = [PersonOfCompany(a, b) for a, b in zip(persons, firms, strict=True)]
    for _ in range(2):
        assert await brevo.link(pairs) == {}
    links = [record.values["_links"] for record in fake.store.live("companies")]
    assert links == [sorted([old.id, int(one)]) for one in persons]


async def test_people_and_companies_are_found(
    brevo: BrevoConnector, fake: FakeBrevo
) -> None:
    person = fake.enters("ann@x.com")
    ids(await brevo.write(COMPANY, companies(3)))
    found = await brevo.find(PERSON, ["Ann@x.com", "b@x.com"], ())
    assert {k: [r.id for r in v] for k, v in found.items()} == {
        "Ann@x.com": [str(person.id)]
    }
    assert set(await brevo.find(COMPANY, ["x1.com", "nobody.com"], ())) == {"x1.com"}


async def test_erasing_is_by_number(brevo: BrevoConnector, fake: FakeBrevo) -> None:
    [person] = ids(await brevo.write(PERSON, people(1)))
    [company] = ids(await brevo.write(COMPANY, companies(1)))
    for _ in range(2):
        await brevo.erase(PERSON, person)
        await brevo.erase(COMPANY, company)
    assert of(fake, person).purged
    assert list(fake.store.live("companies")) == []
    gone = [call for call in fake.calls if call.method == "DELETE"]
    assert all("@" not in call.path for call in gone)


async def test_a_key_that_is_not_taken_any_more(
    brevo: BrevoConnector, fake: FakeBrevo
) -> None:
    assert (await brevo.account()).name == "Acme"
    fake.key = "another"
    with pytest.raises(CrmTokenRejected):
        await brevo.account()


async def test_what_the_vendor_withdrew_is_gone(
    brevo: BrevoConnector, fake: FakeBrevo
) -> None:
    with pytest.raises(CrmRejected) as caught:
        await brevo._api.ask("POST", "/contacts/batch", {"contacts": []})
    assert caught.value.status == 410


class TestConformance(ConnectorConformance):
    @pytest.fixture
    async def target(
        self, brevo: BrevoConnector, fake: FakeBrevo, clock: StillClock
    ) -> ConformanceTarget:
        for kind in CrmKind:
            await brevo.make_fields(kind, own_fields())

        def count(kind: CrmKind, our_id: UUID) -> int:
            live = fake.store.live(THEIRS[kind])
            return sum(one.values.get(MINE[kind]) == str(our_id) for one in live)

        def edit(kind: CrmKind, their_id: str, values: Mapping[str, str]) -> None:
            number = their_id if kind is PERSON else int(their_id, 16)
            record = fake.store.get(THEIRS[kind], number)
            assert record is not None
            fake.types(record, **values)

        return ConformanceTarget(
            brevo,
            count,
            edit,
            lambda: fake.troubles.append(trouble.lost_answer("POST /v3/co")),
            lambda: clock.advance(60),
            {
                COMPANY: {"name": "Acme", "domain": "acme.example"},
                PERSON: {"last_name": "Ada", "email": "ada@acme.example"},
            },
        )
