"""The demo town as a source of places, asked over HTTP like any other."""

from collections.abc import AsyncIterator, Collection, Mapping
from decimal import Decimal
from typing import Any, Final, Self

from scrapersky.errors import BadProviderAnswer, PlaceGone, UnknownLocation
from scrapersky.kit.canonical import stored_phone
from scrapersky.providers.area import Box
from scrapersky.providers.budget import Budget, Charge
from scrapersky.providers.cell import Coverage, Leaf
from scrapersky.providers.client import (
    ClientPolicy,
    ProviderAnswer,
    ProviderClient,
    ProviderRequest,
)
from scrapersky.providers.hours import DAYS, Week
from scrapersky.providers.paid_request import ask_paid
from scrapersky.providers.source import (
    NO_IDS,
    BusinessStatus,
    Estimate,
    FoundPlace,
    PlaceFacts,
    PlacePage,
    PlaceQuery,
    ResumePoint,
    SearchProgress,
)
from scrapersky.providers.value import (
    count_of,
    country_of,
    number_of,
    rating_of,
    text_of,
    texts_of,
    website_of,
)
from simulated_town.register import LICENCE, PAGE_SIZE, PLACES, town_box

NAME: Final = "demo"
USER_AGENT: Final = "ScraperSky-demo"
NOT_FOUND: Final = 404
FREE: Final = Charge(NAME, "places", Decimal(0))


class DemoSource:
    """Finds the businesses of the simulated town; asking costs nothing."""

    name = NAME
    licence = LICENCE
    attribution = "Invented by ScraperSky; no such town exists."

    def __init__(self, url: str) -> None:
        self._base = url.rstrip("/")
        self._client = ProviderClient(
            NAME, user_agent=USER_AGENT, policy=ClientPolicy()
        )

    async def __aenter__(self) -> Self:
        """Begin; nothing is opened before the first request."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close every connection."""
        await self._client.close()

    async def estimate(
        self,
        query: PlaceQuery,
        *,
        resume: ResumePoint | None = None,  # noqa: ARG002
    ) -> Estimate:
        """Say that a search is free; how many pages it has, only the town knows."""
        pages = None if query.limit is None else -(-query.limit // PAGE_SIZE)
        return Estimate(
            requests_low=1,
            requests_likely=pages,
            requests_high=pages,
            price_low=Decimal(0),
            price_likely=Decimal(0),
            price_high=Decimal(0),
        )

    async def search(
        self,
        query: PlaceQuery,
        budget: Budget,
        *,
        resume: ResumePoint | None = None,
        fresh: Collection[str] = NO_IDS,  # noqa: ARG002 - nothing has to be paid for
    ) -> AsyncIterator[PlacePage]:
        """Give the businesses asked for, page by page; raise UnknownLocation."""
        state = dict(resume.state) if resume else {}
        delivered = resume.delivered if resume else NO_IDS
        offset, found = int(state.get("offset", 0)), int(state.get("found", 0))
        requests = 0
        while True:
            answer = await self._page(query, offset, budget)
            requests += 1
            places = [read_place(raw) for raw in answer["places"]]
            if query.limit is not None:
                places = places[: max(0, query.limit - found)]
            found += len(places)
            after = answer["next"]
            is_limited = query.limit is not None and found >= query.limit
            is_last = after is None or is_limited
            offset = offset + PAGE_SIZE if after is None else int(after)
            yield PlacePage(
                places=tuple(p for p in places if p.source_place_id not in delivered),
                state={"offset": offset, "found": found},
                progress=SearchProgress(phase="places", requests=requests, found=found),
                coverage=_coverage(found, is_limited=is_limited) if is_last else None,
            )
            if is_last:
                return

    def facts(self, raw: Mapping[str, Any], *, region: str | None = None) -> PlaceFacts:
        """Read the facts out of what a search stored as raw data."""
        return read_facts(raw, region=region)

    async def details(
        self,
        place_id: str,
        budget: Budget,
        *,
        raw: Mapping[str, Any] | None = None,  # noqa: ARG002 - asked anew
        region: str | None = None,
    ) -> PlaceFacts:
        """Ask the town anew about one place; raise PlaceGone if it knows none."""
        request = ProviderRequest("GET", f"{self._base}{PLACES}/{place_id}", "details")
        answer = await ask_paid(
            self._client, request, _judge_details, budget=budget, charge=FREE
        )
        return read_facts(answer, region=region)

    async def _page(
        self, query: PlaceQuery, offset: int, budget: Budget
    ) -> dict[str, Any]:
        params = {
            "what": query.business_type,
            "where": query.location or "",
            "offset": str(offset),
        }
        request = ProviderRequest(
            "GET", f"{self._base}{PLACES}", "a page of places", params=params
        )
        return await ask_paid(
            self._client, request, _judge_page, budget=budget, charge=FREE
        )


def read_place(raw: Mapping[str, Any]) -> FoundPlace:
    """Read a place as the town's register writes it."""
    return FoundPlace(
        source=NAME,
        source_place_id=str(raw["id"]),
        name=text_of(raw.get("name")),
        address=text_of(raw.get("address")),
        latitude=number_of(raw.get("latitude")),
        longitude=number_of(raw.get("longitude")),
        rating=rating_of(raw.get("rating")),
        reviews_count=count_of(raw.get("reviews")),
        categories=texts_of(raw.get("categories")),
        website=text_of(raw.get("website")),
        phone=stored_phone(text_of(raw.get("phone")), country_of(raw.get("country"))),
        business_status=status_of(raw),
        raw=dict(raw),
        licence=LICENCE,
    )


def read_facts(raw: Mapping[str, Any], *, region: str | None) -> PlaceFacts:
    """Read the parts a business is made of."""
    country = country_of(raw.get("country")) or region
    phone = stored_phone(text_of(raw.get("phone")), country)
    return PlaceFacts(
        source=NAME,
        source_place_id=str(raw["id"]),
        name=text_of(raw.get("name")),
        address=text_of(raw.get("address")),
        street=text_of(raw.get("street")),
        city=text_of(raw.get("town")),
        postal_code=text_of(raw.get("postcode")),
        country=country,
        latitude=number_of(raw.get("latitude")),
        longitude=number_of(raw.get("longitude")),
        phone=phone,
        phones=(phone,) if phone else (),
        website=website_of(raw.get("website")),
        categories=texts_of(raw.get("categories")),
        hours=_week(raw.get("hours")),
        rating=rating_of(raw.get("rating")),
        reviews_count=count_of(raw.get("reviews")),
        business_status=status_of(raw),
        raw=dict(raw),
        licence=LICENCE,
    )


def status_of(raw: Mapping[str, Any]) -> BusinessStatus:
    """Read whether the register takes a business for open."""
    if raw.get("closed"):
        return BusinessStatus.CLOSED_PERMANENTLY
    return BusinessStatus.OPERATING


def _judge_page(answer: ProviderAnswer) -> dict[str, Any]:
    if answer.status == NOT_FOUND:
        raise UnknownLocation(
            NAME,
            "the demo knows one town only",
            hint="Search in Seven Quays, or name no location.",
        )
    return _judged(answer, "places")


def _judge_details(answer: ProviderAnswer) -> dict[str, Any]:
    if answer.status == NOT_FOUND:
        raise PlaceGone(NAME, "the register has no such place")
    return _judged(answer, "id")


def _judged(answer: ProviderAnswer, key: str) -> dict[str, Any]:
    if isinstance(answer.data, dict) and key in answer.data:
        return answer.data
    raise BadProviderAnswer(NAME, f"an answer of status {answer.status} has no {key}")


def _week(hours: object) -> Week | None:
    if not isinstance(hours, list) or len(hours) != len(DAYS):
        return None
    return {
        day: [list(span)] if span else [] for day, span in zip(DAYS, hours, strict=True)
    }


def _coverage(found: int, *, is_limited: bool) -> Coverage:
    leaf = Leaf(Box(*town_box()), found)
    if is_limited:
        return Coverage((leaf,), is_complete=False, why="stopped at the limit")
    return Coverage((leaf,), is_complete=True, why="search complete")
