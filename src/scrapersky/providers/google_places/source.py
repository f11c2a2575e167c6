"""The source itself: requests, one at a time, each paid before it is made."""

import math
from collections.abc import AsyncIterator, Callable, Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from urllib.parse import quote

from pydantic import SecretStr

from scrapersky.errors import (
    BadProviderAnswer,
    KeyMissing,
    PlaceGone,
    ProviderRefused,
    UnknownLocation,
)
from scrapersky.kit.clock import Clock, utc_now
from scrapersky.providers import paid_request
from scrapersky.providers.area import Box, Point, fence
from scrapersky.providers.budget import Budget, Charge
from scrapersky.providers.cell import MAX_WIDTH_DEGREES, box_of
from scrapersky.providers.client import (
    ClientPolicy,
    ProviderAnswer,
    ProviderClient,
    ProviderRequest,
)
from scrapersky.providers.google_places.price import IDS, PROVIDER, GooglePrices
from scrapersky.providers.google_places.reading import (
    ATTRIBUTION,
    LICENCE,
    inner_text,
    location_of,
    read_facts,
    read_place,
    read_success,
)
from scrapersky.providers.google_places.walk import (
    PAGE_SIZE,
    SERVICE,
    OpenCell,
    Rules,
    Walk,
    coverage_of,
    end_phase,
    enter,
    ids_not_held,
    next_cell,
    spend,
    stop_at_limit,
    take_page,
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
    resumed_state,
)
from scrapersky.providers.value import point_of, texts_of

FIELDS = (
    "id",
    "displayName",
    "formattedAddress",
    "addressComponents",
    "location",
    "types",
    "primaryType",
    "primaryTypeDisplayName",
    "businessStatus",
    "movedPlace",
    "movedPlaceId",
    "pureServiceAreaBusiness",
    "googleMapsUri",
    "websiteUri",
    "nationalPhoneNumber",
    "internationalPhoneNumber",
    "regularOpeningHours",
    "rating",
    "userRatingCount",
    "priceLevel",
)
"""All that leads are made of, at the Enterprise price; nothing of the next tier."""
NEEDED = ("id", "location", "pureServiceAreaBusiness")
LIKELY_PAGES_PER_PLACE = Decimal("0.075")
"""Measured on invented towns, see docs/explanation/place-sources.md."""
LIKELY_PAGES_WITHOUT_SURVEY = Decimal("0.13")


@dataclass(frozen=True, slots=True)
class GoogleSettings:
    """How we speak with Google."""

    api_key: SecretStr | None = None
    enabled: bool = True
    base_url: str = "https://places.googleapis.com/v1"
    prices: GooglePrices = field(default_factory=GooglePrices)
    fields: tuple[str, ...] = FIELDS
    survey: bool = True
    """Walk the area with free id-only requests before paying for anything."""
    saturated_at: int = 60
    floor_m: float = 150.0
    content_lifetime: timedelta = timedelta(days=30)
    policy: ClientPolicy = field(default_factory=ClientPolicy)


class GooglePlaces:
    """Places from the Google Places API (New)."""

    name = PROVIDER
    licence = LICENCE
    attribution = ATTRIBUTION

    def __init__(
        self,
        settings: GoogleSettings,
        *,
        user_agent: str,
        geocoder: Geocoder | None = None,
        clock: Clock = utc_now,
    ) -> None:
        if settings.api_key is None or not settings.api_key.get_secret_value():
            raise KeyMissing(
                PROVIDER,
                "there is no key (GOOGLE_MAPS_API_KEY)",
                hint="Set GOOGLE_MAPS_API_KEY, or search OpenStreetMap, which needs "
                "none.",
            )
        key = settings.api_key.get_secret_value()
        self._settings = settings
        self._geocoder = geocoder
        self._clock = clock
        self._client = ProviderClient(
            PROVIDER,
            user_agent=user_agent,
            policy=settings.policy,
            headers={"X-Goog-Api-Key": key},
            secrets=(key,),
            clock=clock,
        )
        self._fields = tuple(dict.fromkeys((*NEEDED, *settings.fields)))

    async def close(self) -> None:
        """Close every connection."""
        await self._client.close()

    @property
    def _price(self) -> Charge:
        return self._settings.prices.search(self._fields)

    @property
    def _surveys(self) -> bool:
        is_free = self._settings.prices.search(IDS).amount == 0
        return self._settings.survey and is_free

    async def estimate(
        self, query: PlaceQuery, *, resume: ResumePoint | None = None
    ) -> Estimate:
        """Say what a search will cost; after the survey, exactly."""
        query.check(PROVIDER)
        walk = self._walk(query, resume)
        price = self._price.amount
        if (left := walk.pages_left) is not None:
            return Estimate(
                requests_low=left,
                requests_likely=left,
                requests_high=left,
                price_low=left * price,
                price_likely=left * price,
                price_high=left * price,
                currency=self._price.currency,
                is_exact=True,
                assumes=("the survey is done; nothing opens or closes meanwhile",),
            )
        return self._guess(query, price)

    def _guess(self, query: PlaceQuery, price: Decimal) -> Estimate:
        rate = LIKELY_PAGES_PER_PLACE if self._surveys else LIKELY_PAGES_WITHOUT_SURVEY
        low = 0 if self._surveys else 1 + int(query.service_areas)
        likely = high = None
        if query.limit is not None:
            low = max(low, 1)
            likely = max(math.ceil(query.limit * rate), low)
            # At worst every leaf holds one place, or each is found in a busy cell.
            high = max(query.limit, math.ceil(likely * 2)) + 3
        found = (
            f"{query.limit} places" if query.limit else "an unknown number of places"
        )
        return Estimate(
            requests_low=low,
            requests_likely=likely,
            requests_high=high,
            price_low=low * price,
            price_likely=None if likely is None else likely * price,
            price_high=None if high is None else high * price,
            free_requests=None if self._surveys else 0,
            currency=self._price.currency,
            assumes=(
                f"{found}, {PAGE_SIZE} to a request at best",
                tariff(self._price),
                *(
                    ("a survey that costs nothing gives the exact price first",)
                    if self._surveys
                    else ()
                ),
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
        """Give the places in the area, page by page."""
        query.check(PROVIDER)
        walk = self._walk(query, resume)
        rules = self._rules(query)
        delivered = set(resume.delivered) if resume else set()
        if walk.phase == "done":
            yield self._page(walk, rules)
        if walk.phase == "locate":
            yield await self._locate(walk, query, budget)
        while walk.phase != "done":
            if (cell := next_cell(walk)) is None:
                end_phase(walk)
                yield self._page(walk, rules)
                continue
            answer = await self._ask_cell(walk, query, cell, budget)
            ids = ids_of(answer)
            pays = walk.phase == "collect"
            new = ids_not_held(ids, fresh, delivered)
            take_page(walk, rules, ids, new, token_of(answer, ids))
            places = self._places(walk, query, answer, delivered) if pays else ()
            known = () if pays else tuple(place for place in ids if place in fresh)
            walk.found += len(places)
            stop_at_limit(walk, rules)
            if walk.open is None and not walk.pending:
                end_phase(walk)
            yield self._page(walk, rules, places=places, known=known)

    def facts(self, raw: Json, *, region: str | None = None) -> PlaceFacts:
        """Read the facts out of a stored place."""
        return read_facts(raw, None, region)

    async def details(
        self,
        place_id: str,
        budget: Budget,
        *,
        raw: Json | None = None,
        region: str | None = None,
    ) -> PlaceFacts:
        """Ask Google anew about one place, at the details price."""
        del raw
        charge = self._settings.prices.details(self._fields)
        found = await self._get(place_id, self._fields, budget, charge, region)
        return read_facts(found, self._expiry(), region)

    def _walk(self, query: PlaceQuery, resume: ResumePoint | None) -> Walk:
        new = Walk(query.fingerprint, surveys=self._surveys)
        return resumed_state(PROVIDER, resume, new)

    def _rules(self, query: PlaceQuery) -> Rules:
        return Rules(self._settings.saturated_at, self._settings.floor_m, query.limit)

    async def _locate(self, walk: Walk, query: PlaceQuery, budget: Budget) -> PlacePage:
        located = None
        area = query.area
        if area is None:
            located = await self._located(walk, query, budget)
            area = located.within(query.radius_m)
        enter(walk, area, service_areas=query.service_areas)
        return self._page(walk, self._rules(query), located=located)

    async def _located(self, walk: Walk, query: PlaceQuery, budget: Budget) -> Location:
        text = query.location or ""
        if self._geocoder is not None:
            return await self._geocoder.locate(
                text, language=query.language, region=query.region
            )
        fields = ("displayName", "viewport", "location")
        charge = self._settings.prices.search(fields)
        body = {**text_search_body(query, text), "pageSize": 1}
        answer = await self._post(body, fields, budget, charge)
        spend(walk, charge.amount)
        return read_location(text, answer)

    async def _ask_cell(
        self, walk: Walk, query: PlaceQuery, cell: OpenCell, budget: Budget
    ) -> Json:
        is_survey = walk.phase == "survey"
        fields = ("id",) if is_survey else self._fields
        charge = self._settings.prices.search(fields)
        while True:
            body = self._question(walk, query, cell)
            try:
                answer = await self._post(body, fields, budget, charge)
            except ProviderRefused:
                # A token does not live for ever: after a long break, begin the cell
                # anew. Places found twice are one place.
                if cell.token is None or cell.restarted:
                    raise
                cell.token, cell.count, cell.unseen, cell.pages = None, 0, 0, 0
                cell.restarted = True
                continue
            spend(walk, charge.amount)
            return answer

    def _question(self, walk: Walk, query: PlaceQuery, cell: OpenCell) -> Json:
        if cell.cell == SERVICE:
            where = f" in {query.location}" if query.location else ""
            body = text_search_body(query, f"{query.business_type}{where}")
            body["includePureServiceAreaBusinesses"] = True
            if walk.root.width <= MAX_WIDTH_DEGREES:
                body["locationBias"] = rectangle(walk.root)
        else:
            body = text_search_body(query, query.business_type)
            body["locationRestriction"] = rectangle(box_of(walk.root, cell.cell))
        if cell.token is not None:
            body["pageToken"] = cell.token
        return body

    async def _post(
        self, body: Json, fields: tuple[str, ...], budget: Budget, charge: Charge
    ) -> Json:
        mask = [*(f"places.{name}" for name in fields), "nextPageToken"]
        request = ProviderRequest(
            "POST",
            f"{self._settings.base_url}/places:searchText",
            "a text search",
            headers={"X-Goog-FieldMask": ",".join(mask)},
            json=body,
        )
        try:
            return await paid_request.ask_paid(
                self._client, request, self._judge, budget=budget, charge=charge
            )
        except PlaceGone as gone:
            why = gone.why
        raise ProviderRefused(
            PROVIDER, f"there is no text search: {why}", hint="Check the base address."
        )

    async def _get(
        self,
        place_id: str,
        fields: tuple[str, ...],
        budget: Budget,
        charge: Charge,
        region: str | None,
    ) -> Json:
        request = ProviderRequest(
            "GET",
            f"{self._settings.base_url}/places/{quote(place_id, safe='')}",
            "place details",
            headers={"X-Goog-FieldMask": ",".join(fields)},
            params={"regionCode": region} if region else {},
        )
        return await paid_request.ask_paid(
            self._client, request, self._judge, budget=budget, charge=charge
        )

    def _judge(self, answer: ProviderAnswer) -> Json:
        return read_success(self._client, answer)

    def _places(
        self, walk: Walk, query: PlaceQuery, answer: Json, delivered: set[str]
    ) -> tuple[FoundPlace, ...]:
        expiry = self._expiry()
        is_inside = fence(walk.where)
        places: list[FoundPlace] = []
        for raw in raw_places(answer):
            place = read_place(raw, expiry, query.region)
            if place is None or place.source_place_id in delivered:
                continue
            if is_outside(place, is_inside):
                continue
            if query.limit is not None and walk.found + len(places) >= query.limit:
                break
            delivered.add(place.source_place_id)
            places.append(place)
        return tuple(places)

    def _page(
        self,
        walk: Walk,
        rules: Rules,
        *,
        places: tuple[FoundPlace, ...] = (),
        known: tuple[str, ...] = (),
        located: Location | None = None,
    ) -> PlacePage:
        return PlacePage(
            places=places,
            known=known,
            state=walk.to_json(),
            progress=SearchProgress(
                phase=walk.phase,
                requests=walk.requests,
                found=walk.found,
                spent=Decimal(walk.spent),
                requests_left=walk.pages_left,
            ),
            located=located,
            coverage=coverage_of(walk, rules) if walk.phase == "done" else None,
        )

    def _expiry(self) -> datetime:
        return self._clock() + self._settings.content_lifetime


def tariff(price: Charge) -> str:
    """Say what a price is for."""
    return (
        f"{price.amount * 1000:f} {price.currency} per 1,000 requests ({price.what}), "
        "without any free allowance"
    )


def text_search_body(query: PlaceQuery, text: str) -> Json:
    """Return the part of a question that all pages of it share."""
    body: Json = {"textQuery": text.strip(), "pageSize": PAGE_SIZE}
    if query.language:
        body["languageCode"] = query.language
    if query.region:
        body["regionCode"] = query.region.upper()
    return body


def rectangle(box: Box) -> Json:
    """Return a box as the API wants it."""
    low = {"latitude": box.south, "longitude": box.west}
    high = {"latitude": box.north, "longitude": box.east}
    return {"rectangle": {"low": low, "high": high}}


def raw_places(answer: Json) -> list[Json]:
    """Return the places of an answer; no place at all is written as `{}`."""
    places = answer.get("places", [])
    if not isinstance(places, list):
        raise BadProviderAnswer(PROVIDER, "`places` is not a list")
    return [place for place in places if isinstance(place, dict)]


def ids_of(answer: Json) -> tuple[str, ...]:
    """Return the ids of an answer."""
    return texts_of([place.get("id") for place in raw_places(answer)])


def token_of(answer: Json, ids: tuple[str, ...]) -> str | None:
    """Return the token of the next page; an empty page has none worth following."""
    token = answer.get("nextPageToken")
    return token if isinstance(token, str) and token and ids else None


def is_outside(place: FoundPlace, is_inside: Callable[[Point], bool]) -> bool:
    """Say whether a place lies outside; one without premises serves the area."""
    if place.point is not None:
        return not is_inside(place.point)
    return place.raw.get("pureServiceAreaBusiness") is not True


def read_location(text: str, answer: Json) -> Location:
    """Read where a location text means out of a search for it."""
    for raw in raw_places(answer):
        point = location_of(raw)
        match raw.get("viewport"):
            case {"low": {**low}, "high": {**high}}:
                south_west = point_of(low.get("latitude", 0), low.get("longitude", 0))
                north_east = point_of(high.get("latitude", 0), high.get("longitude", 0))
                if point is None or south_west is None or north_east is None:
                    continue
                box = Box(
                    south_west.latitude,
                    south_west.longitude,
                    north_east.latitude,
                    north_east.longitude,
                )
                name = inner_text(raw, "displayName") or text
                return Location(text, name, box, point, licence=LICENCE)
    raise UnknownLocation(
        PROVIDER, f"no place is called {text!r}", hint="Write it with its region."
    )
