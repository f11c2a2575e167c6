"""The source itself: locate once, ask cell by cell, cut a cell the server balks at."""

import asyncio
from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass, field
from decimal import Decimal

from scrapersky.errors import (
    AreaTooBig,
    PlaceGone,
    ProviderBusy,
    SourceUnavailable,
)
from scrapersky.providers import paid_request
from scrapersky.providers.area import Area, area_from_json, fence
from scrapersky.providers.budget import Budget, Charge
from scrapersky.providers.cell import Coverage, Leaf, box_of, may_split, quarters
from scrapersky.providers.client import (
    LocalPace,
    ProviderClient,
    ProviderRequest,
    RequestPace,
)
from scrapersky.providers.openstreetmap.business_type import tags_for
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
    NO_IDS,
    Estimate,
    FoundPlace,
    Geocoder,
    Json,
    Location,
    PlaceFacts,
    PlacePage,
    PlaceQuery,
    ResumePoint,
    SearchProgress,
    SearchState,
    resumed_state,
)

NO_CHARGE = Charge(PROVIDER, "overpass query", Decimal(0))


@dataclass(slots=True)
class MapSearch(SearchState):
    """Where a search of the map is."""

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
        pace: RequestPace | None = None,
    ) -> None:
        self._settings = settings
        self._geocoder = geocoder
        self._pace = pace or LocalPace(settings.interval)
        self._client = ProviderClient(
            PROVIDER, user_agent=user_agent, policy=settings.policy
        )

    async def close(self) -> None:
        """Close every connection."""
        await self._client.close()

    async def estimate(
        self, query: PlaceQuery, *, resume: ResumePoint | None = None
    ) -> Estimate:
        """Say what a search takes: a few requests, and no money."""
        query.check(PROVIDER)
        state = self._state(query, resume)
        left = {"locate": 1 + int(query.area is None), "done": 0}.get(
            state.phase, len(state.pending)
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
        resume: ResumePoint | None = None,
        fresh: Collection[str] = NO_IDS,
    ) -> AsyncIterator[PlacePage]:
        """Give the places in the area, page by page; fresh ones are given again."""
        del fresh  # Nothing is paid, so nothing is saved by leaving places out.
        query.check(PROVIDER)
        state = self._state(query, resume)
        delivered = set(resume.delivered) if resume else set()
        if state.phase == "done":
            yield page_of(state, query)
        if state.phase == "locate":
            yield await self._locate(state, query)
        while state.phase != "done":
            cell = state.pending[-1]
            try:
                elements = await self._ask_cell(state, query, cell, budget)
            except AreaTooBig as error:
                if not may_split(state.where.bounds, cell, self._settings.floor_m):
                    raise ProviderBusy(PROVIDER, error.why) from None
                state.requests += 1
                state.pending.pop()
                state.pending += reversed(
                    quarters(state.where, state.where.bounds, cell)
                )
                yield page_of(state, query)
                continue
            state.requests += 1
            places, count = await asyncio.to_thread(
                new_places_inside, elements, state.where, state.country, delivered
            )
            pages = split_into_pages(
                within_limit(state, query, places), self._settings.page_size
            )
            for left, chunk in zip(range(len(pages) - 1, -1, -1), pages, strict=True):
                delivered.update(place.source_place_id for place in chunk)
                state.found += len(chunk)
                if left == 0:
                    finish(state, query, cell, count)
                yield page_of(state, query, places=chunk)

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

    def _state(self, query: PlaceQuery, resume: ResumePoint | None) -> MapSearch:
        return resumed_state(PROVIDER, resume, MapSearch(query.fingerprint))

    async def _locate(self, state: MapSearch, query: PlaceQuery) -> PlacePage:
        located: Location | None = None
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
        state.area, state.phase, state.pending = area.to_json(), "collect", [""]
        state.country = query.region or (located.country if located else None)
        return page_of(state, query, located=located)

    async def _ask_cell(
        self, state: MapSearch, query: PlaceQuery, cell: str, budget: Budget
    ) -> list[Json]:
        box = box_of(state.where.bounds, cell)
        question = search_query(tags_for(query.business_type), box, self._settings)
        return await self._ask(question, "an area", budget)

    async def _ask(self, question: str, what: str, budget: Budget) -> list[Json]:
        request = ProviderRequest(
            "POST", self._settings.url, what, form={"data": question}
        )
        return await paid_request.ask_paid(
            self._client,
            request,
            read_elements,
            budget=budget,
            charge=NO_CHARGE,
            pace=self._pace,
        )


def new_places_inside(
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


def split_into_pages(
    places: tuple[FoundPlace, ...], size: int
) -> list[tuple[FoundPlace, ...]]:
    """Split places into pages; no place at all is one empty page."""
    starts = range(0, max(len(places), 1), size)
    return [places[start : start + size] for start in starts]


def within_limit(
    state: MapSearch, query: PlaceQuery, places: tuple[FoundPlace, ...]
) -> tuple[FoundPlace, ...]:
    """Return as many places as may still be handed out."""
    if query.limit is None:
        return places
    return places[: max(query.limit - state.found, 0)]


def finish(state: MapSearch, query: PlaceQuery, cell: str, count: int) -> None:
    """Count a cell, and end the search with the last one or at the limit."""
    state.leaves[cell] = count
    state.pending.pop()
    if query.limit is not None and state.found >= query.limit:
        state.cut_by_limit = True
        state.pending = []
    if not state.pending:
        state.phase = "done"


def page_of(
    state: MapSearch,
    query: PlaceQuery,
    *,
    places: tuple[FoundPlace, ...] = (),
    located: Location | None = None,
) -> PlacePage:
    """Return a page with the state to go on from."""
    return PlacePage(
        places=places,
        state=state.to_json(),
        progress=SearchProgress(
            phase=state.phase,
            requests=state.requests,
            found=state.found,
            requests_left=0,
        ),
        located=located,
        coverage=coverage_of(state, query) if state.phase == "done" else None,
    )


def coverage_of(state: MapSearch, query: PlaceQuery) -> Coverage:
    """Return the cells with their counts; the map holds nothing back."""
    root = state.where.bounds
    leaves = tuple(
        Leaf(box_of(root, cell), count) for cell, count in sorted(state.leaves.items())
    )
    if state.cut_by_limit:
        return Coverage(leaves, why=f"stopped at the limit of {query.limit} places")
    return Coverage(
        leaves,
        is_complete=True,
        why="everything of the kind that is on the map; what nobody mapped is missing",
    )
