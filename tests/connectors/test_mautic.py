"""Mautic, the connector that was written by the how-to alone."""

import inspect
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from uuid import UUID

import pytest

from scrapersky.connectors.mapping import own_fields
from scrapersky.connectors.mautic import MauticConnector
from scrapersky.connectors.protocol import (
    OWN_ID,
    CrmKind,
    RecordWrite,
    Refused,
    Unknown,
    Written,
)
from scrapersky.errors import CrmBusy
from tests.connectors.conformance import ConformanceTarget, ConnectorConformance
from tests.connectors.fakes import trouble
from tests.connectors.fakes.clock import StillClock
from tests.connectors.fakes.mautic import CREDENTIAL, FakeMautic
from tests.connectors.fakes.trouble import Trouble
from tests.connectors.rig import connected, write

PERSON, COMPANY = CrmKind.PERSON, CrmKind.COMPANY
THEIRS = {PERSON: "contacts", COMPANY: "companies"}


@pytest.fixture
def clock() -> StillClock:
    return StillClock()


@pytest.fixture
async def fake(clock: StillClock) -> AsyncIterator[FakeMautic]:
    async with FakeMautic(clock) as server:
        yield server


@pytest.fixture
async def mautic(fake: FakeMautic, clock: StillClock) -> AsyncIterator[MauticConnector]:
    async with connected(MauticConnector, fake.url, CREDENTIAL, clock) as connector:
        for kind in CrmKind:
            await connector.make_fields(kind, own_fields())
        yield connector


class TestConformance(ConnectorConformance):
    @pytest.fixture
    async def target(
        self, mautic: MauticConnector, fake: FakeMautic, clock: StillClock
    ) -> ConformanceTarget:
        def count(kind: CrmKind, our_id: UUID) -> int:
            live = fake.store.live(THEIRS[kind])
            return sum(one.values.get(OWN_ID) == str(our_id) for one in live)

        def edit(kind: CrmKind, their_id: str, values: Mapping[str, str]) -> None:
            record = fake.store.get(THEIRS[kind], their_id)
            assert record is not None
            fake.types(record, **values)

        return ConformanceTarget(
            mautic,
            count,
            edit,
            lambda: fake.troubles.append(trouble.lost_answer("/new")),
            lambda: clock.advance(60),
            {
                COMPANY: {"name": "Acme", "domain": "acme.example"},
                PERSON: {"last_name": "Ada", "email": "ada@acme.example"},
            },
        )


@pytest.mark.parametrize("kind", [PERSON, COMPANY])
@pytest.mark.parametrize("step", ["before", "instead", "midway", "half", "after"])
async def test_a_cut_at_any_step_makes_nothing_twice(
    mautic: MauticConnector, fake: FakeMautic, kind: CrmKind, step: str
) -> None:
    name = "lastname" if kind is PERSON else "companyname"
    fake.troubles = [Trouble(step, "/new", times=2)]  # type: ignore[arg-type]
    records: list[RecordWrite] = [write(kind, n, {name: f"N{n}"}) for n in range(3)]
    for record in records:
        for _ in range(6):
            try:
                [result] = await mautic.write(kind, [record])
            except CrmBusy:
                continue
            found = await mautic.read_own(kind, [record.our_id], ())
            if not isinstance(result, Unknown) or found:
                break
    assert fake.store.twice(THEIRS[kind], OWN_ID) == set()
    assert fake.store.having(THEIRS[kind], OWN_ID) == {str(r.our_id) for r in records}


async def test_a_contact_that_is_there_is_not_written_over(
    mautic: MauticConnector, fake: FakeMautic
) -> None:
    theirs = fake.enters("contacts", email="ann@x.com", firstname="Ann")
    values = {"email": "Ann@X.com", "firstname": "B"}
    [refused] = await mautic.write(PERSON, [write(PERSON, 1, values)])
    assert isinstance(refused, Refused)
    assert refused.existing_id == str(theirs.id)
    assert fake.store.lost() == []


async def test_who_objects_comes_back_though_no_field_changed(
    mautic: MauticConnector, fake: FakeMautic, clock: StillClock
) -> None:
    results = await mautic.write(PERSON, [write(PERSON, n) for n in range(3)])
    made = [one.their_id for one in results if isinstance(one, Written)]
    clock.advance(3600)
    cursor = (await mautic.changes(PERSON, None, ())).cursor
    clock.advance(3600)
    for number, reason in zip(made, (1, 2, 3), strict=True):
        record = fake.store.get("contacts", number)
        assert record is not None
        fake.objects(record, reason)

    page = await mautic.changes(PERSON, cursor, ())
    seen = {one.id: (one.is_unsubscribed, one.is_bounced) for one in page.records}
    assert seen == dict(
        zip(made, [(True, False), (False, True), (True, False)], strict=True)
    )


def test_it_is_one_file_of_under_250_lines() -> None:
    source = Path(inspect.getfile(MauticConnector)).read_text(encoding="utf-8")
    assert len(source.splitlines()) < 250


async def test_an_error_that_says_200_is_an_error(
    mautic: MauticConnector, fake: FakeMautic
) -> None:
    body = {"errors": [{"message": "no", "details": {"lastname": ["Too odd."]}}]}
    fake.troubles = [Trouble("instead", "/new", status=200, body=body)]
    [refused] = await mautic.write(PERSON, [write(PERSON, 1, {"lastname": "X"})])
    assert refused == Refused({"lastname": "Too odd."})


async def test_a_refused_field_is_named(
    mautic: MauticConnector, fake: FakeMautic
) -> None:
    for name, value in (("email", "none"), ("shoe_size", "44")):
        [refused] = await mautic.write(PERSON, [write(PERSON, 1, {name: value})])
        assert isinstance(refused, Refused)
        assert set(refused.reasons) == {name}
    assert list(fake.store.live("contacts")) == []
