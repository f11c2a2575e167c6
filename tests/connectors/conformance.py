"""What every connector has to do: a connector passes by giving a target of its own.

Subclass `ConnectorConformance` in a test module, with a fixture `target`.
"""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import pytest

from scrapersky.connectors.mapping import own_fields
from scrapersky.connectors.protocol import (
    OWN_ID,
    Connector,
    CrmKind,
    CrmRecord,
    CrmValue,
    PersonOfCompany,
    RecordWrite,
    SyncVolume,
    Unknown,
    Written,
)
from scrapersky.connectors.values import normalised
from scrapersky.errors import CrmAnswerLost, CrmBusy, CrmCannot

KINDS = pytest.mark.parametrize("kind", list(CrmKind))


def nothing(*_: Any) -> None:
    """Do nothing, where a target has no such hand."""


@dataclass
class ConformanceTarget:
    """A connector with a CRM that nobody else uses, and other hands in it."""

    connector: Connector
    count: Callable[[CrmKind, UUID], int]
    """How many records there bear one of our ids."""
    edit: Callable[[CrmKind, str, Mapping[str, str]], Any]
    """Change a record there by hand."""
    lose_next_answer: Callable[[], Any] = nothing
    """Let the next write be done, and its answer be lost."""
    wait: Callable[[], Any] = nothing
    """Let pass what an index of theirs lags behind."""
    values: dict[CrmKind, dict[str, CrmValue]] = field(
        default_factory=lambda: {
            CrmKind.COMPANY: {"name": "Acme Dental", "domain": "acme.example"},
            CrmKind.PERSON: {"name": "Ada Lovelace", "email": "ada@acme.example"},
        }
    )
    """Some values of ours."""

    def theirs(self, kind: CrmKind, at: int = 0) -> dict[str, CrmValue]:
        """Return the values under the names of their fields, another address each time."""
        mapping = self.connector.info.mapping[kind]
        return {
            mapping[ours]: f"{at or ''}{value}"
            for ours, value in self.values[kind].items()
            if ours in mapping
        }

    def name_field(self, kind: CrmKind) -> str:
        """Return a field of theirs that a name goes into."""
        mapping = self.connector.info.mapping[kind]
        return mapping.get("name") or mapping["last_name"]

    async def erase(self, kind: CrmKind, their_id: str) -> None:
        """Erase a record, or be told what a person has to do."""
        with contextlib.suppress(CrmCannot):
            await self.connector.erase(kind, their_id)

    def record(self, kind: CrmKind, at: int = 0, **more: Any) -> RecordWrite:
        given = {"our_id": uuid4(), "values": self.theirs(kind, at), **more}
        return RecordWrite(kind=kind, **given)

    async def written(self, kind: CrmKind, at: int = 0) -> tuple[RecordWrite, str]:
        record = self.record(kind, at)
        [result] = await self.connector.write(kind, [record])
        assert isinstance(result, Written), result
        return record, result.their_id


class ConnectorConformance:
    """The tests; they use the protocol alone."""

    async def test_it_says_what_it_is(self, target: ConformanceTarget) -> None:
        info = target.connector.info
        assert info.name.isidentifier()
        assert info.name == info.name.lower()
        assert info.title
        assert all(size > 0 for size in info.batch.values())
        assert {*info.mapping} == {*info.kinds}

    async def test_an_account_has_one_id(self, target: ConformanceTarget) -> None:
        first, second = [await target.connector.account() for _ in range(2)]
        assert first.id == second.id
        assert first.id

    @KINDS
    async def test_what_is_mapped_is_there_and_can_be_written(
        self, target: ConformanceTarget, kind: CrmKind
    ) -> None:
        fields = await target.connector.fields(kind)
        by_name = {one.name: one for one in fields}
        assert len(by_name) == len(fields)
        for theirs in target.connector.info.mapping[kind].values():
            assert not by_name[theirs].is_read_only

    @KINDS
    async def test_our_fields_are_made_once(
        self, target: ConformanceTarget, kind: CrmKind
    ) -> None:
        first, second = [
            await target.connector.make_fields(kind, own_fields()) for _ in range(2)
        ]
        assert first == second
        assert OWN_ID in first

    @KINDS
    async def test_what_is_written_is_read_by_their_id_and_by_ours(
        self, target: ConformanceTarget, kind: CrmKind
    ) -> None:
        record, their_id = await target.written(kind)
        names = [*record.values]

        by_theirs = await target.connector.read(kind, [their_id], names)
        by_ours = await target.connector.read_own(kind, [record.our_id], names)

        schema = {one.name: one for one in await target.connector.fields(kind)}
        for there in (by_theirs[their_id], by_ours[record.our_id]):
            assert (there.id, there.our_id) == (their_id, record.our_id)
            for name, value in record.values.items():
                known = schema.get(name)
                assert normalised(there.values[name], known) == normalised(value, known)

    @KINDS
    async def test_an_update_changes_what_it_names_and_nothing_else(
        self, target: ConformanceTarget, kind: CrmKind
    ) -> None:
        record, their_id = await target.written(kind)
        name = target.name_field(kind)
        change = RecordWrite(
            kind=kind, our_id=record.our_id, values={name: "Another"}, their_id=their_id
        )

        [result] = await target.connector.write(kind, [change])

        assert result == Written(their_id, is_new=False)
        there = (await target.connector.read(kind, [their_id], [*record.values]))[
            their_id
        ]
        assert there.values[name] == "Another"
        others = {*record.values} - {name}
        assert all(there.values[one] for one in others)
        assert target.count(kind, record.our_id) == 1

    @KINDS
    async def test_there_is_one_result_for_each_in_order(
        self, target: ConformanceTarget, kind: CrmKind
    ) -> None:
        size = min(target.connector.info.batch.get(kind, 1), 3)
        records = [target.record(kind, at) for at in range(1, size + 1)]

        results = await target.connector.write(kind, records)

        assert [type(one) for one in results] == [Written] * size
        found = await target.connector.read(kind, ids_of(results), [])
        assert [
            found[one.their_id].our_id for one in results if isinstance(one, Written)
        ] == [one.our_id for one in records]

    @KINDS
    async def test_what_was_never_written_is_left_out(
        self, target: ConformanceTarget, kind: CrmKind
    ) -> None:
        _, their_id = await target.written(kind)
        await target.erase(kind, their_id)

        assert await target.connector.read_own(kind, [uuid4()], []) == {}
        found = await target.connector.read(kind, [their_id], [])
        assert all(one.is_deleted for one in found.values())
        await target.erase(kind, their_id)

    @KINDS
    async def test_a_lost_answer_is_told_by_reading_our_id(
        self, target: ConformanceTarget, kind: CrmKind
    ) -> None:
        record = target.record(kind)
        target.lose_next_answer()
        try:
            [result] = await target.connector.write(kind, [record])
        except (CrmAnswerLost, CrmBusy):
            result = Unknown("lost")
        assert isinstance(result, Written | Unknown)

        found = await target.connector.read_own(kind, [record.our_id], [])

        assert len(found) == target.count(kind, record.our_id) == 1

    async def test_a_person_is_linked_and_may_be_so_already(
        self, target: ConformanceTarget
    ) -> None:
        _, company = await target.written(CrmKind.COMPANY)
        _, person = await target.written(CrmKind.PERSON)
        pair = PersonOfCompany(person, company)

        assert await target.connector.link([pair]) == {}
        assert await target.connector.link([pair]) == {}

    @KINDS
    async def test_changes_begin_now_and_tell_of_an_edit(
        self, target: ConformanceTarget, kind: CrmKind
    ) -> None:
        _, their_id = await target.written(kind)
        target.wait()
        name = target.name_field(kind)
        begun = await target.connector.changes(kind, None, [name])
        assert not begun.records

        target.edit(kind, their_id, {name: "By hand"})
        target.wait()

        found: list[CrmRecord] = []
        cursor = begun.cursor
        while True:
            page = await target.connector.changes(kind, cursor, [name])
            found += page.records
            if not page.has_more:
                break
            cursor = page.cursor
        assert {one.values.get(name) for one in found if one.id == their_id} >= {
            "By hand"
        }

    @KINDS
    async def test_a_price_is_in_units_of_its_meters(
        self, target: ConformanceTarget, kind: CrmKind
    ) -> None:
        options = {one.name: one.default for one in target.connector.info.options}
        volume = SyncVolume(reads=10, creates=100, updates=10, links=100)
        price = target.connector.price(kind, volume)
        assert all(units >= 0 for units in price.values())
        try:
            names = {rule.name for rule in target.connector.meters(options)}
        except Exception:  # noqa: BLE001 - what it is limited by is said when it is connected
            return
        assert {*price} <= names or not names


def ids_of(results: Sequence[object]) -> list[str]:
    """Return their ids."""
    return [one.their_id for one in results if isinstance(one, Written)]
