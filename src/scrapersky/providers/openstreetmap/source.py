"""The source itself: locate once, ask cell by cell, cut a cell the server balks at."""

import asyncio
from collections.abc import AsyncIterator, Collection
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from typing import Any

from scrapersky.errors import (
    AreaTooBig,
    BadPlaceQuery,
    PlaceGone,
    ProviderBusy,
    SourceUnavailable,
)
from scrapersky.providers import trade
from scrapersky.providers.area import Area, area_from_json, fence
from scrapersky.providers.budget import Budget, Charge
from scrapersky.providers.cell import Coverage, Leaf, box_of, may_split, quarters
from scrapersky.providers.client import Client, LocalPace, Pace, Request
from scrapersky.providers.openstreetmap.business_type import meaning_of
from scrapersky.providers.openstreetmap.overpass import (
    OverpassSettings,
    element_query,
    read_elements,
    search_query,
)
from scrapersky.providers.openstreetmap.tag import (
    ATTRIBUTION,
    LICENCE,
    PROVIDER,
    read_element,
    read_facts,
)
from scrapersky.providers.source import (
    NOBODY,
    Estimate,
    FoundPlace,
    Geocoder,
    Json,
    Located,
    PlaceFacts,
    PlacePage,
    PlaceQuery,
    Progress,
    Resume,
)

VERSION = 1
FREE = Charge(PROVIDER, "overpass query", Decimal(0))
LONGEST_TYPE = 200


@dataclass(slots=True)
class Tour:
    """Where a search is; JSON-able, so that it survives the process."""

    query: str
    phase: str = "locate"
    """locate, collect, done."""
    area: Json | None = None
    pending: list[str] = field(default_factory=list)
    leaves: dict[str, int] = field(default_factory=dict)
    requests: int = 0
    found: int = 0
    cut_by_limit: bool = False
    country: str | None = None
    """Where phone numbers without a country code are meant to be."""

    @property
    def where(self) -> Area:
        """Return the area that is searched."""
        return area_from_json(self.area)

    def to_json(self) -> Json:
        """Return the tour as JSON-able values."""
        return {"version": VERSION, **asdict(self)}

    @classmethod
    def from_json(cls, state: Json) -> "Tour | None":
        """Read a tour as `to_json` wrote it; None for one of another version."""
        values: dict[str, Any] = dict(state)
        if values.pop("version", None) != VERSION:
            return None
        try:
            return cls(**values)
        except TypeError:
            return None


class OpenStreetMap:
    """Places from OpenStreetMap."""

    name = PROVIDER
    licence = LICENCE
    attribution = ATTRIBUTION

    def __init__(
        self,
        settings: OverpassSettings,
        *,
        user_agent: str,
        geocoder: Geocoder | None = None,
        pace: Pace | None = None,
    ) -> None:
        self._settings = settings
        self._geocoder = geocoder
        self._pace = pace or LocalPace(settings.interval)
        self._client = Client(PROVIDER, user_agent=user_agent, policy=settings.policy)

    async def close(self) -> None:
        """Close every connection."""
        await self._client.close()

    async def estimate(
        self, query: PlaceQuery, *, resume: Resume | None = None
    ) -> Estimate:
        """Say what a search takes: a few requests, and no money."""
        check(query)
        tour = self._tour(query, resume)
        left = {"locate": 1 + int(query.area is None), "done": 0}.get(
            tour.phase, len(tour.pending)
        )
        return Estimate(
            requests_low=left,
            requests_likely=left,
            requests_high=None if left else 0,
            price_low=Decimal(0),
            price_likely=Decimal(0),
            price_high=Decimal(0),
            free_requests=left,
            is_exact=left == 0,
            assumes=(
                "one query does; large areas are split automatically",
                "public servers are for modest use: run your own for more",
            ),
        )

    async def search(
        self,
        query: PlaceQuery,
        budget: Budget,
        *,
        resume: Resume | None = None,
        fresh: Collection[str] = NOBODY,
    ) -> AsyncIterator[PlacePage]:
        """Give the places in the area, page by page; fresh ones are given again."""
        del fresh  # Nothing is paid, so nothing is saved by leaving places out.
        check(query)
        tour = self._tour(query, resume)
        delivered = set(resume.delivered) if resume else set()
        if tour.phase == "done":
            yield page_of(tour, query)
        if tour.phase == "locate":
            yield await self._locate(tour, query)
        while tour.phase != "done":
            cell = tour.pending[-1]
            try:
                elements = await self._ask_cell(tour, query, cell, budget)
            except AreaTooBig as error:
                if not may_split(tour.where.bounds, cell, self._settings.floor_m):
                    raise ProviderBusy(PROVIDER, error.why) from None
                tour.requests += 1
                tour.pending.pop()
                tour.pending += reversed(quarters(tour.where, tour.where.bounds, cell))
                yield page_of(tour, query)
                continue
            tour.requests += 1
            places, count = await asyncio.to_thread(
                wanted, elements, tour.where, tour.country, delivered
            )
            pages = paged(within_limit(tour, query, places), self._settings.page_size)
            for left, chunk in zip(range(len(pages) - 1, -1, -1), pages, strict=True):
                delivered.update(place.source_place_id for place in chunk)
                tour.found += len(chunk)
                if left == 0:
                    finish(tour, query, cell, count)
                yield page_of(tour, query, places=chunk)

    def facts(self, raw: Json, *, region: str | None = None) -> PlaceFacts:
        """Read the facts out of a stored element."""
        return read_facts(raw, region)

    async def details(
        self,
        place_id: str,
        budget: Budget,
        *,
        raw: Json | None = None,
        region: str | None = None,
    ) -> PlaceFacts:
        """Ask the map anew about one element."""
        del raw
        query = element_query(place_id, self._settings)
        elements = await self._ask(query, "one element", budget)
        if not elements:
            raise PlaceGone(PROVIDER, f"{place_id} is no longer on the map")
        return read_facts(elements[0], region)

    def _tour(self, query: PlaceQuery, resume: Resume | None) -> Tour:
        if resume is None or not resume.state:
            return Tour(query.fingerprint)
        tour = Tour.from_json(resume.state) or Tour(query.fingerprint)
        if tour.query != query.fingerprint:
            raise BadPlaceQuery(PROVIDER, "the state belongs to another search")
        return tour

    async def _locate(self, tour: Tour, query: PlaceQuery) -> PlacePage:
        located: Located | None = None
        area = query.area
        if area is None:
            if self._geocoder is None:
                raise SourceUnavailable(
                    PROVIDER,
                    "nobody is there to say where the location is",
                    hint="Give an area instead of a location, or switch on a geocoder.",
                )
            located = await self._geocoder.locate(
                query.location or "", language=query.language, region=query.region
            )
            area = located.within(query.radius_m)
        tour.area, tour.phase, tour.pending = area.to_json(), "collect", [""]
        tour.country = query.region or (located.country if located else None)
        return page_of(tour, query, located=located)

    async def _ask_cell(
        self, tour: Tour, query: PlaceQuery, cell: str, budget: Budget
    ) -> list[Json]:
        box = box_of(tour.where.bounds, cell)
        question = search_query(meaning_of(query.business_type), box, self._settings)
        return await self._ask(question, "an area", budget)

    async def _ask(self, question: str, what: str, budget: Budget) -> list[Json]:
        request = Request("POST", self._settings.url, what, form={"data": question})
        return await trade.ask(
            self._client,
            request,
            read_elements,
            budget=budget,
            charge=FREE,
            pace=self._pace,
        )


def check(query: PlaceQuery) -> None:
    """Raise BadPlaceQuery unless there is something to look for, and somewhere."""
    if not query.business_type.strip() or len(query.business_type) > LONGEST_TYPE:
        raise BadPlaceQuery(
            PROVIDER, f"a business type has 1 to {LONGEST_TYPE} characters"
        )
    if query.area is None and not (query.location or "").strip():
        raise BadPlaceQuery(PROVIDER, "a search needs a location or an area")
    if query.limit is not None and query.limit < 1:
        raise BadPlaceQuery(PROVIDER, "a limit is 1 or more")


def wanted(
    elements: list[Json],
    area: Area,
    country: str | None,
    delivered: Collection[str],
) -> tuple[tuple[FoundPlace, ...], int]:
    """Return the places inside the area that are new, and how many are inside."""
    is_inside = fence(area)
    found: dict[str, FoundPlace] = {}
    for element in elements:
        place = read_element({**element, "region": country} if country else element)
        if place is not None and place.point and is_inside(place.point):
            found.setdefault(place.source_place_id, place)
    new = tuple(place for key, place in found.items() if key not in delivered)
    return new, len(found)


def paged(places: tuple[FoundPlace, ...], size: int) -> list[tuple[FoundPlace, ...]]:
    """Split places into pages; no place at all is one empty page."""
    starts = range(0, max(len(places), 1), size)
    return [places[start : start + size] for start in starts]


def within_limit(
    tour: Tour, query: PlaceQuery, places: tuple[FoundPlace, ...]
) -> tuple[FoundPlace, ...]:
    """Return as many places as may still be handed out."""
    if query.limit is None:
        return places
    return places[: max(query.limit - tour.found, 0)]


def finish(tour: Tour, query: PlaceQuery, cell: str, count: int) -> None:
    """Count a cell, and end the search with the last one or at the limit."""
    tour.leaves[cell] = count
    tour.pending.pop()
    if query.limit is not None and tour.found >= query.limit:
        tour.cut_by_limit = True
        tour.pending = []
    if not tour.pending:
        tour.phase = "done"


def page_of(
    tour: Tour,
    query: PlaceQuery,
    *,
    places: tuple[FoundPlace, ...] = (),
    located: Located | None = None,
) -> PlacePage:
    """Return a page with the state to go on from."""
    return PlacePage(
        places=places,
        state=tour.to_json(),
        progress=Progress(
            phase=tour.phase,
            requests=tour.requests,
            found=tour.found,
            requests_left=0,
            price_left=Decimal(0),
        ),
        located=located,
        coverage=coverage_of(tour, query) if tour.phase == "done" else None,
    )


def coverage_of(tour: Tour, query: PlaceQuery) -> Coverage:
    """Return the cells with their counts; the map holds nothing back."""
    root = tour.where.bounds
    leaves = tuple(
        Leaf(box_of(root, cell), count) for cell, count in sorted(tour.leaves.items())
    )
    if tour.cut_by_limit:
        return Coverage(leaves, why=f"stopped at the limit of {query.limit} places")
    return Coverage(
        leaves,
        is_complete=True,
        why="everything of the kind that is on the map; what nobody mapped is missing",
    )
