"""What a crawler and its pipeline found of annotated websites, to be compared with the truth."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class FoundContact:
    """One contact as it is stored."""

    email: str | None
    name: str | None
    phones: frozenset[str]
    address: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class FoundPage:
    """One page as it is stored."""

    url: str
    likelihood: float | None
    status: str | None
    is_read: bool


@dataclass(slots=True)
class Outcome:
    """What became of one site."""

    domain: str
    state: str = "not worked on"
    organisation: str | None = None
    contacts: list[FoundContact] = field(default_factory=list)
    addresses: list[Mapping[str, Any]] = field(default_factory=list)
    """Every address of the business, whether or not a contact has it."""
    people: list[str] = field(default_factory=list)
    """The names of its people; the first is the decision maker that is shown."""
    sureness: dict[tuple[str, str], float] = field(default_factory=dict)
    """How sure of a value it is said to be, by kind and value."""
    pages: list[FoundPage] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    """Every request its server saw: the status it answered, and the path."""

    @property
    def requests(self) -> int:
        """Return how often its server was asked for anything."""
        return len(self.asked)


@dataclass(frozen=True, slots=True)
class Measurement:
    """What a run came to."""

    outcomes: Mapping[str, Outcome]
    """By domain."""
    seconds: float
    cpu_ms_per_page: float | None
    """The median over the pages that were read; None if there was none."""
    is_finished: bool
