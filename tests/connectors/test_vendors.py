"""The engine with each vendor's CRM: kills at every step, people's edits, and the price."""

import contextlib
import itertools
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from scrapersky.connectors.account import (
    CONNECTIONS,
    CrmConnection,
    open_connection,
)
from scrapersky.connectors.brevo_values import OWN
from scrapersky.connectors.control import (
    SHOWN,
    NewConnection,
    connect_account,
    connection_of,
    learn_account,
)
from scrapersky.connectors.difference import difference
from scrapersky.connectors.forecast import RunForecast, forecast, time_needed
from scrapersky.connectors.meter import MeterRule
from scrapersky.connectors.protocol import OWN_ID, CrmKind
from scrapersky.connectors.session import CrmSession
from scrapersky.connectors.work import ConnectionWork
from tests.connectors.desk import CIPHER, CrmDesk, SalesDesk
from tests.connectors.fakes import brevo, hubspot, mautic, pipedrive
from tests.connectors.fakes.clock import StillClock
from tests.connectors.fakes.store import Record, Store
from tests.connectors.fakes.trouble import (
    answered,
    bad_gateway,
    half_a_batch,
    half_an_answer,
    lost_answer,
)
from tests.connectors.killing import Executioner, Killed

pytestmark = pytest.mark.slow  # the conformance suites are quick

NAMES = {
    "hubspot": {"company": "companies", "person": "contacts", "phone": "phone"},
    "pipedrive": {"company": "organizations", "person": "persons", "phone": "phones"},
    "brevo": {"company": "companies", "person": "contacts", "phone": "SMS"},
    "mautic": {"company": "companies", "person": "contacts", "phone": "phone"},
}
FAKES: dict[str, Any] = {
    "hubspot": (hubspot.FakeHubSpot, hubspot.TOKEN, {}),
    "pipedrive": (pipedrive.FakePipedrive, pipedrive.TOKEN, {}),
    "brevo": (brevo.FakeBrevo, brevo.KEY, {"list_id": "7"}),
    "mautic": (mautic.FakeMautic, mautic.CREDENTIAL, {}),
}
ERROR = {
    "status": "error",
    "success": False,
    "message": "It is out of order.",
    "error": "It is out of order.",
    "errors": [{"message": "It is out of order.", "details": {}}],
    "code": "internal_error",
}


@dataclass(slots=True)
class VendorDesk(CrmDesk):
    """A tenant that is connected to a vendor's CRM."""

    crm: Any
    vendor: str

    @property
    def store(self) -> Store:
        """Return what is there."""
        found: Store = getattr(self.crm, "portal", self.crm).store
        return found

    def rows(self, kind: str) -> Iterator[tuple[str, Record]]:
        """Yield the live records there that bear an id of ours."""
        named = NAMES[self.vendor][kind]
        for record in self.store.live(named):
            if self.vendor == "pipedrive":
                custom = self.crm.custom[named].items()
                codes = {row["field_name"]: code for code, row in custom}
                own = record.values["custom_fields"].get(codes["ScraperSky ID"])
            else:
                own = record.values.get(OWN[CrmKind(kind)]) or record.values.get(OWN_ID)
            if own:
                yield own, record

    def own(self, kind: str) -> Counter[str]:
        """Count the live records there by our id."""
        return Counter(own for own, _ in self.rows(kind))

    def there(self, kind: str, our_id: UUID) -> Record:
        """Return the record there that bears one of our ids."""
        return dict(self.rows(kind))[str(our_id)]

    def types(self, record: Record, value: str) -> None:
        """Let a person give a contact another phone number there."""
        name = NAMES[self.vendor]["phone"]
        given: Any = value
        if self.vendor == "pipedrive":
            given = [{"value": value, "primary": True, "label": "work"}]
        getattr(self.crm, "portal", self.crm).types(record, **{name: given})

    def deletes_field(self) -> None:
        """Let a person delete the field there that says where a company was read."""
        match self.vendor:
            case "hubspot":
                del self.crm.portal.schema["companies"]["scrapersky_evidence_url"]
            case "brevo":
                del self.crm.company_schema["scrapersky_evidence_url"]
            case "mautic":
                del self.crm.schema["company"]["scrapersky_evidence_url"]
            case _:
                custom = self.crm.custom["organizations"]
                named = {row["field_name"]: code for code, row in custom.items()}
                del custom[named["Evidence (ScraperSky)"]]

    def objects(self, record: Record) -> None:
        """Let a person say there that they want no mail."""
        hand = getattr(self.crm, "portal", self.crm)
        (hand.objects if self.vendor == "mautic" else hand.unsubscribes)(record)

    def once(self, kind: str, ids: list[UUID]) -> bool:
        return self.own(kind) == Counter(str(one) for one in ids)


@dataclass(slots=True)
class WrongClock:
    """A clock of ours that goes wrong by so much against theirs."""

    right: StillClock
    wrong_by: timedelta

    def now(self) -> datetime:
        return self.right.now() + self.wrong_by

    async def sleep(self, seconds: float) -> None:
        await self.right.sleep(seconds)


@pytest.fixture
def wrong_by() -> timedelta:
    """How wrong our clock is."""
    return timedelta()


@pytest.fixture(params=[*FAKES])
async def world(
    request: pytest.FixtureRequest, desk: SalesDesk, wrong_by: timedelta
) -> AsyncIterator[VendorDesk]:
    fake_of, credential, options = FAKES[request.param]
    clock = StillClock()
    desk.clock = WrongClock(clock, wrong_by)
    async with fake_of(clock) as fake:
        given = NewConnection(
            connector=request.param,
            name=None,
            credential=credential,
            options={"base_url": fake.url, **options},
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
        yield VendorDesk(desk, fake, sync_id, request.param)


async def test_leads_reach_the_vendor_once_and_linked(world: VendorDesk) -> None:
    companies, contacts = await world.leads(5)

    await world.desk.push(world.sync_id, *companies)
    await world.desk.work_until_idle(world.sync_id)

    found = await world.desk.connection(world.sync_id)
    assert found.problem is None
    assert world.once("company", companies)
    assert world.once("person", contacts)
    assert await world.desk.states(world.sync_id) == {
        "company": ["done"] * 5,
        "person": ["done"] * 5,
    }


async def test_an_address_of_two_companies_was_two_people_there(
    world: VendorDesk,
) -> None:
    companies, contacts = await world.desk.add_shared_address()

    await world.desk.push(world.sync_id, *companies)
    await world.desk.work_until_idle(world.sync_id)

    assert world.once("company", companies)
    (own,) = world.own("person").elements()
    assert own in {str(one) for one in contacts}
    assert (await world.desk.states(world.sync_id))["person"] == ["done"] * 2


async def test_the_price_that_a_difference_names_is_what_the_run_takes(
    world: VendorDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, sync_id = world.desk, world.sync_id
    companies, contacts = await world.leads(8)
    named: Counter[str] = Counter()
    for kind, ids in ((CrmKind.COMPANY, companies), (CrmKind.PERSON, contacts)):
        row = await connection_of(desk.engine, desk.tenant, sync_id)
        opened = open_connection(desk.engine, row, desk.tools)
        named.update((await difference(desk.engine, opened, kind, ids)).price)
    # What changed there is asked for by a rhythm of its own, and not by a run.
    await desk.run("UPDATE sync_connections SET polled_at = now() + interval '9 years'")
    spent: Counter[str] = Counter()
    waiting = CrmSession._wait_for_room

    async def counted(session: CrmSession, call: Any) -> None:
        spent.update(call.meter)
        await waiting(session, call)

    monkeypatch.setattr(CrmSession, "_wait_for_room", counted)
    await desk.push(sync_id, *companies)
    await desk.work_until_idle(sync_id)

    for name, units in spent.items():
        assert named[name] == pytest.approx(units, rel=0.2, abs=6), (named, spent)


async def test_a_kill_at_every_step_leaves_no_duplicate_and_no_loss_there(
    world: VendorDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, companies, contacts = world.desk, [], []
    for at in itertools.count(1):
        company = await desk.add_company(f"Company {at}", f"k{at}.example")
        companies.append(company)
        contacts.append(
            await desk.add_contact(f"p@k{at}.example", f"Pat {at}", company)
        )
        await desk.push(world.sync_id, company)
        with monkeypatch.context() as patch, contextlib.suppress(Killed):
            Executioner(at).arm(patch)
            await desk.work(world.sync_id)
            break
        await desk.work_until_idle(world.sync_id)
        assert world.once("company", companies), at
        assert world.once("person", contacts), at
    print(f"{world.vendor}: killed at {at - 1} steps")
    assert at > 20


@pytest.mark.parametrize(
    "how", [lost_answer, half_an_answer, half_a_batch, bad_gateway]
)
async def test_whatever_becomes_of_an_answer_nothing_is_there_twice(
    world: VendorDesk, how: Any
) -> None:
    companies, contacts = await world.leads(4)
    world.crm.troubles = [how("POST", times=3)]

    await world.desk.push(world.sync_id, *companies)
    await world.desk.work_until_idle(world.sync_id)

    assert world.once("company", companies)
    assert world.once("person", contacts)


async def test_a_kill_in_a_second_run_loses_no_edit_and_no_objection_there(
    world: VendorDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, sync_id = world.desk, world.sync_id
    companies, contacts = await world.leads(2)
    await desk.push(sync_id, *companies)
    await desk.work_until_idle(sync_id)
    doomed: list[UUID] = []
    for at in itertools.count(1):
        company = await desk.add_company(f"Company {at}", f"k{at}.example")
        contact = await desk.add_contact(f"p@k{at}.example", f"Pat {at}", company)
        await desk.push(sync_id, company)
        await desk.work_until_idle(sync_id)
        theirs, ours = f"+1512555{at:04}", f"+1512666{at:04}"
        world.types(world.there("person", contacts[0]), theirs)
        world.objects(world.there("person", contact))
        doomed.append(contact)
        await desk.run(
            "UPDATE contacts SET phone = :p WHERE id = :c", p=ours, c=contacts[0]
        )
        await desk.run(
            "UPDATE companies SET name = :n WHERE id = :c",
            n=f"Renamed {at}",
            c=companies[0],
        )
        await desk.clock.sleep(7200)
        with monkeypatch.context() as patch, contextlib.suppress(Killed):
            Executioner(at).arm(patch)
            await desk.work(sync_id)
            break
        await desk.work_until_idle(sync_id)
        await desk.poll(sync_id)
        assert world.store.lost() == [], at
        assert f"Renamed {at}" in world.there("company", companies[0]).values.values()
        left = {row.id for row in await desk.run("SELECT id FROM contacts")}
        assert left == {*contacts}, at
        assert not [one for one, many in world.own("person").items() if many > 1]
    print(f"{world.vendor}: killed at {at - 1} steps")
    assert at > 15


async def test_a_kill_while_somebody_is_erased_leaves_nobody_there(
    world: VendorDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, sync_id = world.desk, world.sync_id
    for at in itertools.count(1):
        company = await desk.add_company(f"Company {at}", f"k{at}.example")
        contact = await desk.add_contact(f"p@k{at}.example", f"Pat {at}", company)
        await desk.push(sync_id, company)
        await desk.work_until_idle(sync_id)
        await desk.run(
            "WITH said AS MATERIALIZED (SELECT set_config('scrapersky.removal', 'erased',"
            " true) s) DELETE FROM contacts WHERE (SELECT s FROM said) = 'erased'"
        )
        with monkeypatch.context() as patch, contextlib.suppress(Killed):
            Executioner(at).arm(patch)
            await desk.work(sync_id)
            break
        await desk.work_until_idle(sync_id)
        assert str(contact) not in world.own("person"), at
        text_there = str([one.values for one in world.store.live("contacts")])
        assert f"p@k{at}.example" not in text_there
        assert not await desk.run("SELECT id FROM sync_records WHERE kind = 'person'")
    print(f"{world.vendor}: killed at {at - 1} steps")
    assert at > 5


async def insist(world: VendorDesk) -> None:
    """Work as a process does, which begins again after an answer that nobody understands."""
    for _ in range(12):
        with contextlib.suppress(LookupError, TypeError, ValueError, AttributeError):
            await world.desk.work_until_idle(world.sync_id)
            return
    raise AssertionError("it never understands an answer")


@pytest.mark.parametrize("method", ["POST", "GET"])
@pytest.mark.parametrize("body", [ERROR, {}, []], ids=["error", "empty", "list"])
async def test_an_answer_that_says_200_and_an_error_is_no_success_there(
    world: VendorDesk, method: str, body: Any
) -> None:
    companies, contacts = await world.leads(3)
    lost = lost_answer("POST", passes=2)
    world.crm.troubles = [lost, answered(method, 200, body, passes=3, times=3)]

    await world.desk.push(world.sync_id, *companies)
    await insist(world)
    # What was refused for it goes again when a person says so.
    world.crm.troubles = []
    await world.desk.push(world.sync_id, *companies)
    await insist(world)

    assert world.once("company", companies)
    assert world.once("person", contacts)
    states = await world.desk.states(world.sync_id)
    assert states == {"company": ["done"] * 3, "person": ["done"] * 3}


async def test_a_page_that_says_404_is_not_taken_for_a_deletion(
    world: VendorDesk,
) -> None:
    desk, sync_id = world.desk, world.sync_id
    companies, _ = await world.leads(2)
    await desk.push(sync_id, *companies)
    await desk.work_until_idle(sync_id)
    page = "<html><body>The service is being moved.</body></html>"
    world.crm.troubles = [answered("", 404, page, times=8)]

    await desk.run("UPDATE companies SET name = name || ' Ltd'")
    await insist(world)

    assert world.crm.troubles[0].times == 0
    assert await desk.states(sync_id) == {
        "company": ["done"] * 2,
        "person": ["done"] * 2,
    }
    for one in companies:
        values = world.there("company", one).values.values()
        assert any(str(value).endswith(" Ltd") for value in values)


@pytest.mark.parametrize("passes", [0, 1, 3, 6])
async def test_a_token_revoked_in_the_middle_stops_it_and_loses_nothing_there(
    world: VendorDesk, passes: int
) -> None:
    desk, sync_id = world.desk, world.sync_id
    companies, contacts = await world.leads(3)
    credential = FAKES[world.vendor][1]
    refusal = {"message": f"The key {credential} is not valid.", "errorCode": 401}
    world.crm.troubles = [answered("", 401, refusal, passes=passes, times=99)]
    await desk.push(sync_id, *companies)

    await desk.work_until_idle(sync_id)

    stopped = await desk.connection(sync_id)
    assert not stopped.is_active
    assert "401" in stopped.problem
    assert credential not in stopped.problem
    world.crm.troubles = []
    await desk.run("UPDATE sync_connections SET is_active = true, problem = NULL")
    await desk.work_until_idle(sync_id)
    assert world.once("company", companies)
    assert world.once("person", contacts)


@pytest.mark.parametrize(
    "wrong_by", [timedelta(minutes=-6), timedelta(minutes=6)], ids=["slow", "fast"]
)
async def test_a_clock_six_minutes_off_makes_nothing_twice_and_hears_of_objections(
    world: VendorDesk,
) -> None:
    desk, sync_id = world.desk, world.sync_id
    companies, contacts = await world.leads(3)
    world.crm.troubles = [lost_answer("POST", passes=1, times=2)]
    await desk.push(sync_id, *companies)
    await desk.work_until_idle(sync_id)
    assert world.once("company", companies)
    assert world.once("person", contacts)

    await desk.clock.sleep(60)
    world.objects(world.there("person", contacts[1]))
    await desk.clock.sleep(600)
    await desk.poll(sync_id)

    left = {row.id for row in await desk.run("SELECT id FROM contacts")}
    assert left == {contacts[0], contacts[2]}


async def test_a_field_deleted_in_the_middle_of_a_run_was_not_dropped_in_silence(
    world: VendorDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, sync_id = world.desk, world.sync_id
    companies, contacts = await world.leads(2)
    await desk.push(sync_id, *companies)
    looked = ConnectionWork._refuse_missing

    async def then_deleted(work: ConnectionWork, account: CrmConnection) -> None:
        await looked(work, account)
        world.deletes_field()

    with monkeypatch.context() as patch:
        patch.setattr(ConnectionWork, "_refuse_missing", then_deleted)
        await desk.work(sync_id)

    told = [await desk.record(sync_id, one) for one in companies]
    assert {one.state for one in told} == {"refused"}
    assert all(
        "evidence" in str(one.problem).lower() or "field" in str(one.problem).lower()
        for one in told
    )
    await learn_account(desk.engine, desk.tools, desk.tenant, sync_id)
    await desk.push(sync_id, *companies)
    await desk.work_until_idle(sync_id)
    assert world.once("company", companies)
    assert world.once("person", contacts)


async def test_who_had_objected_there_before_we_came_is_left_and_suppressed(
    world: VendorDesk,
) -> None:
    desk, sync_id = world.desk, world.sync_id
    companies, contacts = await world.leads(2)
    await desk.push(sync_id, *companies)
    await desk.work_until_idle(sync_id)
    record = world.there("person", contacts[0])
    world.objects(record)
    before = dict(record.values)
    # Nothing of the time before is in their feed of changes.
    await desk.run("UPDATE sync_connections SET cursors = '{}', polled_at = NULL")
    await desk.clock.sleep(7200)

    await desk.run("UPDATE contacts SET name = 'Another Name'")
    await desk.work_until_idle(sync_id)

    left = {row.id for row in await desk.run("SELECT id FROM contacts")}
    assert left == {contacts[1]}
    assert record.values == before
    reasons = await desk.run("SELECT reason FROM suppressions WHERE kind = 'email'")
    assert "unsubscribed in" in reasons[0].reason


async def test_a_run_says_when_it_will_be_done_and_what_is_left_of_the_day(
    world: VendorDesk,
) -> None:
    desk, sync_id = world.desk, world.sync_id
    companies, _ = await world.leads(3)
    await desk.push(sync_id, *companies)

    async def seen() -> RunForecast:
        async with desk.engine.connect() as connection:
            query = SHOWN.where(CONNECTIONS.c.id == sync_id)
            row = (await connection.execute(query)).one()
            return await forecast(connection, row, desk.tools)

    waiting = await seen()
    await desk.run(
        "UPDATE sync_connections SET next_at = clock_timestamp() - interval '1 minute'"
    )
    alone = await seen()
    await desk.work_until_idle(sync_id)
    done = await seen()

    assert waiting.finish_at is not None
    assert waiting.finish_at >= desk.clock.now() - timedelta(days=1)
    assert not waiting.needs_worker
    # Nothing is promised while no process takes it.
    assert (alone.finish_at, alone.needs_worker) == (None, True)
    assert (done.finish_at, done.needs_worker) == (None, False)
    for before, after in zip(waiting.limits, done.limits, strict=True):
        assert 0 < after.left < before.left <= before.allowed


def test_what_a_day_does_not_allow_is_done_on_another_day() -> None:
    tokens = MeterRule(
        name="tokens",
        units=30_000,
        per=timedelta(days=1),
        reserve=1 / 3,
        resets_daily=True,
    )
    now = datetime(2026, 11, 19, 18, tzinfo=UTC)
    spent = {"tokens": {"left": 5_000.0, "at": now.isoformat()}}

    def needed(units: float) -> timedelta:
        return time_needed([tokens], spent, {"tokens": units}, now)

    # Two thousand of each day are for hearing what changed there.
    assert needed(2_999) == timedelta()
    assert needed(3_001) == timedelta(hours=6)
    assert needed(20_999) == timedelta(hours=6)
    assert needed(21_001) == timedelta(hours=30)


async def test_a_connection_that_was_made_anew_makes_nothing_twice(
    world: VendorDesk,
) -> None:
    desk = world.desk
    companies, contacts = await world.leads(3)
    plain = [await desk.add_company(f"No Site {n}") for n in range(3)]
    await desk.push(world.sync_id, *companies, *plain)
    await desk.work_until_idle(world.sync_id)
    await desk.run("DELETE FROM sync_connections")
    _, credential, options = FAKES[world.vendor]

    sync_id = await connect_account(
        desk.engine,
        desk.tools,
        NewConnection(
            connector=world.vendor,
            name=None,
            credential=credential,
            options={
                "base_url": world.crm.url,
                "match_existing": "no",
                **options,
            },
        ),
        cipher=CIPHER,
        tenant_id=desk.tenant,
        user_id=None,
    )
    await desk.run("UPDATE sync_connections SET is_active = true, paused_at = NULL")
    await desk.push(sync_id, *companies, *plain)
    await desk.work_until_idle(sync_id)

    assert world.once("company", [*companies, *plain])
    assert world.once("person", contacts)
    assert await desk.states(sync_id) == {
        "company": ["done"] * 6,
        "person": ["done"] * 3,
    }
