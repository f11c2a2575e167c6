"""What every source of places offers, and the values that pass to and fro.

A search is a sequence of pages, each the fruit of at most one request. A page carries
the state from which the search continues, so whoever stores places and state together
can be killed at any moment and lose nothing but the request that was under way.
"""

import hashlib
from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any, ClassVar, Final, Protocol, Self, TypeAlias, TypeVar

import orjson

from scrapersky.errors import BadPlaceQuery
from scrapersky.providers.area import Area, Circle, Point, area_from_json
from scrapersky.providers.budget import Budget
from scrapersky.providers.cell import Coverage
from scrapersky.providers.hours import Week

Json: TypeAlias = dict[str, Any]
MAX_TYPE_CHARACTERS = 200
PAID: Final = ("google",)
"""The sources that cost money: whoever asks them sets a budget."""
NO_IDS: frozenset[str] = frozenset()
MAX_CHARACTERS: Mapping[str, int] = {
    "name": 250, "address": 500, "street": 200, "city": 100, "region": 100,
    "postal_code": 20, "phone": 100,
}  # fmt: skip
"""What is kept of each of these values, whatever source they come from."""


def cut_values(place: "FoundPlace | PlaceFacts") -> None:
    """Cut the values of a place that are longer than any real one."""
    for name, most in MAX_CHARACTERS.items():
        value = getattr(place, name, None)
        if value is not None and len(value) > most:
            object.__setattr__(place, name, value[:most].strip())


class BusinessStatus(StrEnum):
    """Whether a business is in business, as its source says."""

    OPERATING = "operating"
    CLOSED_TEMPORARILY = "closed_temporarily"
    CLOSED_PERMANENTLY = "closed_permanently"
    MOVED = "moved"
    FUTURE = "future"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceQuery:
    """What is looked for, and where."""

    business_type: str = ""
    location: str | None = None
    area: Area | None = None
    """Where to look; beats `location`, which then only words the question."""
    radius_m: float | None = None
    """Look within this distance of the centre of `location` instead of within it."""
    limit: int | None = None
    language: str | None = None
    region: str | None = None
    """ISO 3166-1 alpha-2 code of the country, for geocoding and phone numbers."""
    service_areas: bool = True
    """Also ask, once, for businesses without premises that serve the area."""
    file: str | None = None
    """The name of the file to read, for the source that reads files."""
    dataset: str | None = None
    """What the ids in the file belong to; by default the name of the file."""
    licence: str | None = None
    """Under what terms the file may be used, where the file does not say it."""

    @property
    def fingerprint(self) -> str:
        """Return a short name of the question: equal means the same was asked."""
        asked = {
            **{name: getattr(self, name) for name in self.__slots__},
            "area": self.area.to_json() if self.area else None,
        }
        text = orjson.dumps(asked, option=orjson.OPT_SORT_KEYS)
        return hashlib.sha256(text).hexdigest()[:16]

    def to_json(self) -> Json:
        """Return the query as JSON-able values, without what is not set."""
        asked = {name: getattr(self, name) for name in self.__slots__}
        asked["area"] = self.area.to_json() if self.area else None
        return {name: value for name, value in asked.items() if value is not None}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "PlaceQuery":
        """Read a query as `to_json` wrote it; raise BadPlaceQuery for anything else."""
        known = {name: value[name] for name in cls.__slots__ if name in value}
        if unknown := sorted(set(value) - set(known)):
            raise BadPlaceQuery("search", f"unknown fields: {', '.join(unknown)}")
        try:
            if "area" in known:
                known["area"] = area_from_json(known["area"])
            return cls(**known)
        except (TypeError, ValueError) as error:
            raise BadPlaceQuery("search", str(error)) from None

    def check(self, provider: str) -> None:
        """Raise BadPlaceQuery unless there is something to look for, and somewhere."""
        if not 0 < len(self.business_type.strip()) <= MAX_TYPE_CHARACTERS:
            why = f"a business type has 1 to {MAX_TYPE_CHARACTERS} characters"
            raise BadPlaceQuery(provider, why)
        if self.area is None and not (self.location or "").strip():
            raise BadPlaceQuery(provider, "a search needs a location or an area")
        if self.limit is not None and self.limit < 1:
            raise BadPlaceQuery(provider, "a limit is 1 or more")


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPlace:
    """A place as a search of its source shows it; what is unknown is None."""

    source: str
    source_place_id: str
    name: str | None = None
    address: str | None = None
    latitude: float | None = None
    longitude: float | None = None
    rating: float | None = None
    reviews_count: int | None = None
    price_level: str | None = None
    categories: tuple[str, ...] = ()
    website: str | None = None
    phone: str | None = None
    """E.164, or as written where its country is not known."""
    business_status: BusinessStatus | None = None
    moved_to: str | None = None
    """The id, in the same source, of the place it moved to."""
    raw: Json = field(default_factory=dict)
    licence: str
    expires_at: datetime | None = None
    """When all of this but source and id must be gone; None: it may stay."""

    def __post_init__(self) -> None:
        cut_values(self)

    @property
    def point(self) -> Point | None:
        """Return where the place is, if that is known."""
        if self.latitude is None or self.longitude is None:
            return None
        return Point(self.latitude, self.longitude)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceFacts:
    """Everything a source says about one place, in the parts a business is made of."""

    source: str
    source_place_id: str
    name: str | None = None
    address: str | None = None
    street: str | None = None
    city: str | None = None
    region: str | None = None
    postal_code: str | None = None
    country: str | None = None
    """ISO 3166-1 alpha-2."""
    latitude: float | None = None
    longitude: float | None = None
    phone: str | None = None
    """E.164, or as written where its country is not known."""
    phones: tuple[str, ...] = ()
    """All of them, in the same form."""
    emails: tuple[str, ...] = ()
    website: str | None = None
    links: tuple[str, ...] = ()
    """Profiles and pages elsewhere: social networks, the source's own page."""
    categories: tuple[str, ...] = ()
    hours: Week | None = None
    rating: float | None = None
    reviews_count: int | None = None
    price_level: str | None = None
    business_status: BusinessStatus | None = None
    moved_to: str | None = None
    attributes: Json = field(default_factory=dict)
    raw: Json = field(default_factory=dict)
    licence: str
    expires_at: datetime | None = None

    def __post_init__(self) -> None:
        cut_values(self)


@dataclass(frozen=True, slots=True)
class Location:
    """What a location text means on the map; keep it, and never ask again."""

    text: str
    name: str
    area: Area
    centre: Point
    country: str | None = None
    alternatives: tuple[str, ...] = ()
    """Other places of that name, so that a person can see what was not meant."""
    licence: str = ""

    def within(self, radius_m: float | None) -> Area:
        """Return the area, or the circle around its centre if a radius is wanted."""
        return self.area if radius_m is None else Circle(self.centre, radius_m)

    def to_json(self) -> Json:
        """Return the answer as JSON-able values."""
        return {
            "text": self.text,
            "name": self.name,
            "area": self.area.to_json(),
            "centre": [self.centre.latitude, self.centre.longitude],
            "country": self.country,
            "alternatives": list(self.alternatives),
            "licence": self.licence,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Location":
        """Read an answer as `to_json` wrote it."""
        return cls(
            text=value["text"],
            name=value["name"],
            area=area_from_json(value["area"]),
            centre=Point(*value["centre"]),
            country=value.get("country"),
            alternatives=tuple(value.get("alternatives", ())),
            licence=value.get("licence", ""),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What a search will take, said before anything is spent; None: nobody can know."""

    requests_low: int
    requests_likely: int | None
    requests_high: int | None
    price_low: Decimal
    price_likely: Decimal | None
    price_high: Decimal | None
    free_requests: int | None = 0
    """Requests that cost nothing, on top."""
    currency: str = "USD"
    is_exact: bool = False
    assumes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchProgress:
    """How far a search has got."""

    phase: str
    requests: int
    found: int
    spent: Decimal = Decimal(0)
    requests_left: int | None = None
    """Paid requests still to make, where that is known."""
    duplicates: int = 0


@dataclass(frozen=True, slots=True)
class RowProblem:
    """What is wrong with one row of a file."""

    line: int
    why: str
    is_fatal: bool = True
    """The row was left out; otherwise only one of its values was."""
    field: str | None = None
    """What the value was to be."""
    value: str | None = None


def said_of(problem: RowProblem) -> Json:
    """Write what is wrong with a row, to be kept and shown."""
    said: Json = {
        "line": problem.line,
        "why": problem.why,
        "is_left_out": problem.is_fatal,
    }
    rest = {"field": problem.field, "value": problem.value}
    return said | {name: value for name, value in rest.items() if value}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacePage:
    """What one step of a search brought, and the state to go on from."""

    places: tuple[FoundPlace, ...] = ()
    known: tuple[str, ...] = ()
    """Ids seen again that the caller holds fresh, and so were not paid for."""
    state: Json
    progress: SearchProgress
    located: Location | None = None
    coverage: Coverage | None = None
    """On the last page only."""
    problems: tuple[RowProblem, ...] = ()

    @property
    def is_last(self) -> bool:
        """Say whether the search is over."""
        return self.coverage is not None


@dataclass(frozen=True, slots=True)
class ResumePoint:
    """Where an earlier run of the same search stopped."""

    state: Json
    delivered: Collection[str] = NO_IDS
    """Ids the search has already handed out; they are not handed out again."""


@dataclass(slots=True)
class SearchState:
    """Where a search is; JSON-able, so that it survives the process."""

    VERSION: ClassVar[int] = 1
    query: str
    """The fingerprint of what is looked for."""

    def to_json(self) -> Json:
        """Return the state as JSON-able values."""
        return {"version": self.VERSION, **asdict(self)}

    @classmethod
    def from_json(cls, state: Json) -> Self | None:
        """Read a state as `to_json` wrote it; None for one of another version."""
        values: dict[str, Any] = dict(state)
        if values.pop("version", None) != cls.VERSION:
            return None
        try:
            return cls.from_values(values)
        except (KeyError, TypeError):
            return None

    @classmethod
    def from_values(cls, values: dict[str, Any]) -> Self:
        """Make a state of its JSON-able values."""
        return cls(**values)


StateT = TypeVar("StateT", bound=SearchState)


def resumed_state(provider: str, resume: ResumePoint | None, new: StateT) -> StateT:
    """Return where an earlier run stopped; the new state if none can be gone on with."""
    old = type(new).from_json(resume.state) if resume and resume.state else None
    if old is None:
        return new
    if old.query != new.query:
        raise BadPlaceQuery(provider, "the state belongs to another search")
    return old


class Geocoder(Protocol):
    """Turns the name of a location into an area."""

    async def locate(
        self, text: str, *, language: str | None = None, region: str | None = None
    ) -> Location:
        """Return where the text means; raise UnknownLocation if nobody knows."""
        ...


class PlaceSource(Protocol):
    """A place where places come from."""

    @property
    def name(self) -> str:
        """Return the name of the source, as it stands on records."""
        ...

    @property
    def licence(self) -> str:
        """Return the terms under which its data may be used."""
        ...

    @property
    def attribution(self) -> str:
        """Return what must be shown wherever its data is."""
        ...

    async def estimate(
        self, query: PlaceQuery, *, resume: ResumePoint | None = None
    ) -> Estimate:
        """Say what a search will cost; makes no request and spends nothing."""
        ...

    def search(
        self,
        query: PlaceQuery,
        budget: Budget,
        *,
        resume: ResumePoint | None = None,
        fresh: Collection[str] = NO_IDS,
    ) -> AsyncIterator[PlacePage]:
        """Give the places asked for, page by page; the last page has the coverage.

        A price is reserved in the budget before the request is made. Places whose ids
        are in `fresh` need not be paid for again.
        """
        ...

    def facts(self, raw: Json, *, region: str | None = None) -> PlaceFacts:
        """Read the facts out of what a search stored as raw data; makes no request."""
        ...

    async def details(
        self,
        place_id: str,
        budget: Budget,
        *,
        raw: Json | None = None,
        region: str | None = None,
    ) -> PlaceFacts:
        """Ask the source anew about one place; raise PlaceGone if it knows none."""
        ...
