"""The records of a CRM, who wrote what in them, and what its search index knows of them."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from operator import itemgetter
from typing import Any

US = "us"
"""Whoever calls with the credentials of the connection under test."""
PERSON = "person"
PORTAL = "portal"
OTHER_APP = "other app"


@dataclass(slots=True)
class Record:
    """One record, with everything that ever happened to its fields."""

    kind: str
    id: int
    created: datetime
    updated: datetime
    values: dict[str, Any] = field(default_factory=dict)
    written_by: dict[str, str] = field(default_factory=dict)
    typed: dict[str, Any] = field(default_factory=dict)
    """What a person put into a field last."""
    deleted: datetime | None = None
    purged: bool = False
    """Erased for good: not even the bin has it."""
    merged_into: int | None = None
    was: list[int] = field(default_factory=list)
    """The numbers of the records that were merged into this one."""
    indexed: list[tuple[datetime, dict[str, Any]]] = field(default_factory=list)

    @property
    def is_live(self) -> bool:
        return self.deleted is None and not self.purged and self.merged_into is None

    def seen_by_search(self, now: datetime) -> dict[str, Any] | None:
        """Return the fields as the index has them, or None if it has not heard of it."""
        for since, values in self.indexed[::-1]:
            if since <= now:
                return values
        return None


SearchHit = tuple[Record, dict[str, Any]]
"""A record, and its fields as the index has them."""
Touch = tuple[datetime, Record, dict[str, Any]]
"""When a record was changed, and its fields from then on."""


class Store:
    """The records of one account."""

    def __init__(
        self,
        now: Callable[[], datetime],
        first: int = 100,
        looked_up: Sequence[str] = (),
    ) -> None:
        self.records: dict[tuple[str, int], Record] = {}
        self.now = now
        self._next = first
        self.lag: Callable[[], float] = lambda: 0.0
        """Seconds until a write is found by searching; drawn for each."""
        self.looked_up = looked_up
        """Fields by whose values records are searched, among a hundred thousand of them too."""
        self._holding: dict[tuple[str, str, str], dict[int, Record]] = {}
        self._touched: dict[str, list[Touch]] = {}

    def make(self, kind: str, values: Mapping[str, Any], by: str) -> Record:
        now = self.now()
        record = Record(kind, self.new_id(), now, now)
        self.records[kind, record.id] = record
        self.write(record, values, by)
        return record

    def new_id(self) -> int:
        self._next += 1
        return self._next

    def write(self, record: Record, values: Mapping[str, Any], by: str) -> None:
        record.values.update(values)
        record.written_by.update(dict.fromkeys(values, by))
        if by == PERSON:
            record.typed.update(values)
        self.touch(record)

    def touch(self, record: Record) -> None:
        """Note that it changed now; the index follows when it does."""
        now = record.updated = self.now()
        visible = datetime.fromtimestamp(now.timestamp() + self.lag(), tz=now.tzinfo)
        kept = [pair for pair in record.indexed if pair[0] < visible]
        values = dict(record.values)
        record.indexed = [*kept[-3:], (visible, values)]
        self._touched.setdefault(record.kind, []).append((now, record, values))
        for name in self.looked_up:
            if value := record.values.get(name):
                held = self._holding.setdefault((record.kind, name, value.lower()), {})
                held[record.id] = record

    def touched_since(self, kind: str, moment: datetime) -> Iterator[SearchHit]:
        """Yield live records as the index has them, in the order of their last changes."""
        touched, now = self._touched.get(kind, []), self.now()
        for _, record, values in touched[
            bisect_left(touched, moment, key=itemgetter(0)) :
        ]:
            since, last = record.indexed[-1]
            seen = last if since <= now else record.seen_by_search(now)
            if seen is values and record.is_live:
                yield record, values

    def holding(self, kind: str, name: str, values: Sequence[str]) -> Iterator[Record]:
        """Yield the live records that have or had one of some values in a field."""
        keys = dict.fromkeys((kind, name, one.lower()) for one in values)
        found = [self._holding.get(key, {}) for key in keys]
        for record in {k: v for part in found for k, v in part.items()}.values():
            if record.is_live:
                yield record

    def get(self, kind: str, number: int | str) -> Record | None:
        if isinstance(number, str):
            if not number.isdecimal():
                return None
            number = int(number)
        return self.records.get((kind, number))

    def live(self, kind: str) -> Iterator[Record]:
        for record in self.records.values():
            if record.kind == kind and record.is_live:
                yield record

    # What a test asks when all is over.

    def twice(self, kind: str, key: str) -> set[str]:
        """Return the values of our key that more than one live record holds."""
        held = Counter(r.values[key] for r in self.live(kind) if r.values.get(key))
        return {value for value, count in held.items() if count > 1}

    def having(self, kind: str, key: str) -> set[str]:
        return {r.values[key] for r in self.live(kind) if r.values.get(key)}

    def lost(self) -> list[tuple[Record, str]]:
        """Return what people typed and we replaced."""
        return [
            (record, name)
            for record in self.records.values()
            for name, value in record.typed.items()
            if record.is_live
            and record.values.get(name) != value
            and record.written_by.get(name) == US
        ]
