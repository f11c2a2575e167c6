import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from pydantic import SecretStr

from scrapersky.errors import (
    BadPlaceQuery,
    BadProviderAnswer,
    PlaceGone,
    ProviderBusy,
    ProviderRefused,
    ProviderUnusable,
    SourceUnavailable,
    UnknownLocation,
)
from scrapersky.providers.area import Box, Circle, Point, Polygon
from scrapersky.providers.budget import LocalBudget
from scrapersky.providers.google_places import (
    GooglePlaces,
    GooglePrices,
    GoogleSettings,
)
from scrapersky.providers.source import BusinessStatus, PlaceQuery, ResumePoint
from tests.providers.rig import (
    AGENT,
    DENTISTS,
    a_google,
    a_nominatim,
    collect,
    ids_in,
)
from tests.providers.servers import google as api
from tests.providers.servers.fault import Fault, status
from tests.providers.servers.google import GoogleServer
from tests.providers.servers.nominatim import NominatimServer
from tests.providers.town import BOX, a_business, a_town

NO_SERVICES = replace(DENTISTS, service_areas=False)


@pytest.fixture
async def server() -> AsyncIterator[GoogleServer]:
    async with GoogleServer(a_town(200)) as server:
        yield server


@pytest.fixture
async def google(server: GoogleServer) -> AsyncIterator[GooglePlaces]:
    source = a_google(server.base_url)
    yield source
    await source.close()


async def test_a_saturated_area_is_split_until_every_leaf_is_below_the_cap(
    google: GooglePlaces, server: GoogleServer
) -> None:
    pages = await collect(google, NO_SERVICES)

    coverage = pages[-1].coverage
    assert coverage is not None
    assert coverage.is_complete
    assert len(coverage.leaves) > 4
    assert all(leaf.count < 60 for leaf in coverage.leaves)
    assert sum(leaf.count for leaf in coverage.leaves) == len(server.town)
    assert len(ids_in(pages)) == 200


async def test_the_leaves_tile_the_area_without_gap_or_overlap(
    google: GooglePlaces,
) -> None:
    coverage = (await collect(google, NO_SERVICES))[-1].coverage

    assert coverage is not None
    whole = (BOX.north - BOX.south) * BOX.width
    parts = sum(
        (leaf.box.north - leaf.box.south) * leaf.box.width for leaf in coverage.leaves
    )
    assert parts == pytest.approx(whole)


async def test_the_survey_costs_nothing_and_says_the_exact_price(
    google: GooglePlaces, server: GoogleServer
) -> None:
    budget = LocalBudget(Decimal(0))
    search = google.search(DENTISTS, budget)
    async for page in search:
        if page.progress.phase == "collect":
            break
    await search.aclose()  # type: ignore[attr-defined]

    estimate = await google.estimate(DENTISTS, resume=ResumePoint(page.state))
    assert server.bill == 0
    assert estimate.is_exact
    assert estimate.price_low == estimate.price_high
    assert estimate.requests_high == page.progress.requests_left

    rest = await collect(google, DENTISTS, resume=ResumePoint(page.state))
    assert len(ids_in(rest)) == 200
    assert server.bill == estimate.price_likely


async def test_the_survey_makes_the_paid_part_cheaper(server: GoogleServer) -> None:
    with_survey, without = LocalBudget(), LocalBudget()
    thrifty = a_google(server.base_url)
    plain = a_google(server.base_url, survey=False)

    await collect(thrifty, NO_SERVICES, with_survey)
    await collect(plain, NO_SERVICES, without)
    await thrifty.close()
    await plain.close()

    assert with_survey.spent < without.spent


async def test_an_empty_area_costs_nothing(
    google: GooglePlaces, server: GoogleServer
) -> None:
    sea = replace(DENTISTS, area=Box(27.0, -96.0, 27.3, -95.7), location=None)

    pages = await collect(google, sea)

    assert ids_in(pages) == []
    assert server.bill == 0


async def test_cells_full_of_fresh_places_are_not_paid_again(
    google: GooglePlaces, server: GoogleServer
) -> None:
    everything = frozenset(server.town)

    pages = await collect(google, DENTISTS, fresh=everything)

    assert ids_in(pages) == []
    assert server.bill == 0
    assert {place for page in pages for place in page.known} == everything


async def test_one_new_place_among_fresh_ones_is_found(
    google: GooglePlaces, server: GoogleServer
) -> None:
    fresh = frozenset(server.town) - {"ChIJtown000042"}

    pages = await collect(google, NO_SERVICES, fresh=fresh)

    assert "ChIJtown000042" in ids_in(pages)
    assert server.paid <= 3


async def test_every_request_has_a_mask_and_repeats_its_parameters_with_the_token(
    google: GooglePlaces, server: GoogleServer
) -> None:
    await collect(google, replace(DENTISTS, language="en", region="us"))

    tokens = [asked for asked in server.asked if "pageToken" in asked["body"]]
    assert tokens
    assert all("nextPageToken" in asked["mask"] for asked in server.asked)
    assert {asked["body"]["regionCode"] for asked in server.asked} == {"US"}


async def test_a_saturated_cell_at_the_floor_is_told(server: GoogleServer) -> None:
    server.town = {
        business.google_id: business
        for business in (
            a_business(n, point=Point(30.3031, -97.7431 + n * 1e-7)) for n in range(100)
        )
    }
    source = a_google(server.base_url)

    pages = await collect(source, NO_SERVICES)
    await source.close()

    coverage = pages[-1].coverage
    assert coverage is not None
    assert not coverage.is_complete
    assert len(coverage.saturated) == 1
    assert coverage.saturated[0].box.height_m < 300
    assert "saturated" in coverage.why
    assert 60 <= len(ids_in(pages)) < 100


async def test_only_places_inside_the_polygon_are_given(
    google: GooglePlaces, server: GoogleServer
) -> None:
    triangle = Polygon(
        (
            (
                Point(BOX.south, BOX.west),
                Point(BOX.south, BOX.east),
                Point(BOX.north, BOX.west),
            ),
        )
    )

    pages = await collect(google, replace(DENTISTS, area=triangle))

    inside = {
        key
        for key, business in server.town.items()
        if business.point and triangle.contains(business.point)
    }
    assert set(ids_in(pages)) == inside
    assert 0 < len(inside) < 200


async def test_only_places_inside_the_circle_are_given(
    google: GooglePlaces, server: GoogleServer
) -> None:
    circle = Circle(Point(30.3, -97.75), 5000)

    pages = await collect(google, replace(DENTISTS, area=circle))

    inside = {
        key
        for key, business in server.town.items()
        if business.point and circle.contains(business.point)
    }
    assert set(ids_in(pages)) == inside


async def test_an_area_across_the_date_line_is_covered() -> None:
    box = Box(-20, 176, -15, -176)
    town = [
        a_business(n, point=Point(-17, 179.5 if n % 2 else -179.5)) for n in range(40)
    ]
    async with GoogleServer(town) as server:
        source = a_google(server.base_url)
        pages = await collect(source, replace(DENTISTS, area=box))
        await source.close()

    assert len(ids_in(pages)) == 40


async def test_businesses_without_premises_are_asked_for_once() -> None:
    async with GoogleServer(a_town(30, service_only=4)) as server:
        source = a_google(server.base_url)
        pages = await collect(source, DENTISTS)
        await source.close()

    assert len(ids_in(pages)) == 34
    asked = [
        asked["body"]
        for asked in server.asked
        if "includePureServiceAreaBusinesses" in asked["body"]
        and "pageToken" not in asked["body"]
    ]
    assert len(asked) == 2
    assert all(body["textQuery"] == "dentists in Austin, TX" for body in asked)
    services = [p for page in pages for p in page.places if p.latitude is None]
    assert len(services) == 4
    assert google_attributes(source, services[0].raw)["service_area_only"] is True


def google_attributes(
    source: GooglePlaces, raw: dict[str, object]
) -> dict[str, object]:
    return source.facts(raw).attributes


async def test_service_businesses_that_may_be_missing_are_told() -> None:
    async with GoogleServer(a_town(70, service_only=4)) as server:
        source = a_google(server.base_url)
        coverage = (await collect(source, DENTISTS))[-1].coverage
        await source.close()

    assert coverage is not None
    assert coverage.is_complete
    assert coverage.lacks_service_areas


async def test_a_token_that_died_meanwhile_begins_the_cell_again(
    google: GooglePlaces, server: GoogleServer
) -> None:
    pages = []
    search = google.search(DENTISTS, LocalBudget())
    async for page in search:
        pages.append(page)
        if page.state["open"] and page.state["open"]["token"] and page.places:
            break
    await search.aclose()  # type: ignore[attr-defined]
    server.epoch += 1

    resume = ResumePoint(page.state, frozenset(ids_in(pages)))
    rest = await collect(google, DENTISTS, resume=resume)

    assert len({*ids_in(pages), *ids_in(rest)}) == 200


@pytest.mark.parametrize(
    "trouble",
    [
        api.BAD_KEY,
        api.EXPIRED_KEY,
        api.SUSPENDED,
        api.NOT_ENABLED,
        api.BILLING_OFF,
        api.IP_BLOCKED,
        status(401, b"{}"),
        status(403, b"<html>", content_type="text/html"),
    ],
)
async def test_trouble_with_key_or_billing_stops_the_stage_and_costs_nothing(
    google: GooglePlaces, server: GoogleServer, trouble: Fault
) -> None:
    server.always = trouble
    budget = LocalBudget()

    with pytest.raises(ProviderUnusable) as caught:
        await collect(google, DENTISTS, budget)

    assert server.requests == 1
    assert budget.spent == 0
    assert caught.value.hint
    assert caught.value.resume_after is None


async def test_a_wrong_key_stops_the_stage(server: GoogleServer) -> None:
    source = a_google(server.base_url, key="AIzaWrong")

    with pytest.raises(ProviderUnusable, match="API key not valid"):
        await collect(source, DENTISTS)

    await source.close()


async def test_the_quota_of_a_day_pauses_the_stage_for_a_while(
    google: GooglePlaces, server: GoogleServer
) -> None:
    server.always = api.QUOTA_DAY

    with pytest.raises(ProviderUnusable) as caught:
        await collect(google, DENTISTS)

    assert caught.value.resume_after == timedelta(hours=1)


@pytest.mark.parametrize(
    "trouble", [api.QUOTA_MINUTE, api.UNAVAILABLE, api.INTERNAL, api.GATEWAY]
)
async def test_quota_and_server_trouble_is_tried_again(
    google: GooglePlaces, server: GoogleServer, trouble: Fault
) -> None:
    server.always = trouble

    with pytest.raises(ProviderBusy) as caught:
        await collect(google, DENTISTS)

    assert caught.value.retryable
    assert server.requests == 2


async def test_the_wait_in_the_error_details_is_honoured(
    google: GooglePlaces, server: GoogleServer
) -> None:
    server.always = api.QUOTA_WAIT

    with pytest.raises(ProviderBusy) as caught:
        await collect(google, DENTISTS)

    assert caught.value.retry_after == timedelta(seconds=47)
    assert server.requests == 1


@pytest.mark.parametrize("code", [400, 404, 405, 413])
async def test_a_refused_request_is_not_repeated(
    google: GooglePlaces, server: GoogleServer, code: int
) -> None:
    server.always = api.error(code, "INVALID_ARGUMENT", "No.")

    with pytest.raises(ProviderRefused) as caught:
        await collect(google, DENTISTS)

    assert not caught.value.retryable
    assert server.requests == 1


async def test_an_error_in_a_200_is_an_error(
    google: GooglePlaces, server: GoogleServer
) -> None:
    body = json.dumps(
        {"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}}
    )
    server.always = status(200, body.encode())

    with pytest.raises(ProviderBusy):
        await collect(google, DENTISTS)


@pytest.mark.parametrize("places", ['"many"', "{}", "7"])
async def test_places_of_the_wrong_type_are_a_bad_answer(
    google: GooglePlaces, server: GoogleServer, places: str
) -> None:
    server.always = status(200, f'{{"places": {places}}}'.encode())

    with pytest.raises(BadProviderAnswer):
        await collect(google, DENTISTS)


async def test_values_of_the_wrong_type_are_unknown(
    google: GooglePlaces, server: GoogleServer
) -> None:
    server.edit = lambda place: {
        **place,
        "displayName": "no object",
        "rating": "good",
        "userRatingCount": -4,
        "types": "dentist",
        "websiteUri": "javascript:alert(1)",
        "businessStatus": 7,
        "regularOpeningHours": [],
        "addressComponents": {"a": 1},
        "internationalPhoneNumber": 7,
    }

    pages = await collect(google, replace(DENTISTS, limit=1))

    place = next(place for page in pages for place in page.places)
    facts = google.facts(place.raw)
    assert (place.name, place.rating, place.reviews_count) == (None, None, None)
    assert (place.website, place.business_status) == (None, None)
    assert (facts.hours, facts.city) == (None, None)


async def test_text_that_a_database_cannot_hold_is_cleaned(
    google: GooglePlaces, server: GoogleServer
) -> None:
    server.edit = lambda place: {
        **place,
        "displayName": {"text": "Al\x00der\x07 Dental"},
    }

    pages = await collect(google, replace(DENTISTS, limit=1))

    place = next(place for page in pages for place in page.places)
    assert place.name == "Alder Dental"
    assert "\\u0000" not in json.dumps(place.raw)


async def test_content_carries_its_expiry_and_its_licence(server: GoogleServer) -> None:
    now = datetime(2026, 11, 15, tzinfo=UTC)
    source = GooglePlaces(
        GoogleSettings(api_key=api_secret(), base_url=server.base_url),
        user_agent=AGENT,
        clock=lambda: now,
    )

    pages = await collect(source, replace(DENTISTS, limit=1))
    facts = await source.details("ChIJtown000001", LocalBudget())
    await source.close()

    place = next(place for page in pages for place in page.places)
    assert place.expires_at == facts.expires_at == now + timedelta(days=30)
    assert "Google" in place.licence


def api_secret() -> SecretStr:
    return SecretStr(api.KEY)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("OPERATIONAL", BusinessStatus.OPERATING),
        ("CLOSED_TEMPORARILY", BusinessStatus.CLOSED_TEMPORARILY),
        ("CLOSED_PERMANENTLY", BusinessStatus.CLOSED_PERMANENTLY),
        ("FUTURE_OPENING", BusinessStatus.FUTURE),
        ("BUSINESS_STATUS_UNSPECIFIED", None),
    ],
)
async def test_whether_a_business_operates_is_told(
    google: GooglePlaces, server: GoogleServer, said: str, meant: BusinessStatus | None
) -> None:
    server.town = {
        "ChIJtown000001": a_business(1, point=Point(30.3, -97.7), status=said)
    }

    facts = await google.details("ChIJtown000001", LocalBudget())

    assert facts.business_status is meant


async def test_a_moved_business_says_where_to(
    google: GooglePlaces, server: GoogleServer
) -> None:
    moved = a_business(
        1, point=Point(30.3, -97.7), status="CLOSED_PERMANENTLY", moved_to="ChIJnew"
    )
    server.town = {moved.google_id: moved}

    pages = await collect(google, NO_SERVICES)

    place = next(place for page in pages for place in page.places)
    assert place.business_status is BusinessStatus.MOVED
    assert place.moved_to == "ChIJnew"


async def test_details_give_every_part_of_a_business(
    google: GooglePlaces, server: GoogleServer
) -> None:
    budget = LocalBudget()

    facts = await google.details("ChIJtown000001", budget)

    assert facts.street == "101 Invented Street"
    assert (facts.city, facts.region, facts.postal_code) == ("Austin", "TX", "78701")
    assert facts.country == "US"
    assert facts.phone == "+15125550001"
    assert facts.website == "https://dentist1.example/"
    assert facts.hours is not None
    assert facts.hours["mon"] == [["08:30", "17:00"]]
    assert facts.hours["sun"] == []
    assert facts.price_level == "moderate"
    assert facts.categories[0] == "dentist"
    assert budget.spent == server.bill == Decimal("0.02")


async def test_an_id_cannot_reach_another_path(
    google: GooglePlaces, server: GoogleServer
) -> None:
    with pytest.raises(PlaceGone):
        await google.details("../places/ChIJtown000001?x=1", LocalBudget())


@pytest.mark.parametrize(
    ("fields", "price"),
    [
        (("id",), "0"),
        (("id", "displayName"), "0.032"),
        (("id", "location"), "0.032"),
        (("id", "websiteUri"), "0.035"),
        (("id", "websiteUri", "reviews"), "0.04"),
        (("id", "somethingNew"), "0.04"),
    ],
)
def test_the_most_expensive_field_sets_the_price_of_a_search(
    fields: tuple[str, ...], price: str
) -> None:
    assert GooglePrices().search(fields).amount == Decimal(price)


@pytest.mark.parametrize(
    ("fields", "price"),
    [
        (("id",), "0"),
        (("id", "location"), "0.005"),
        (("id", "displayName"), "0.017"),
        (("rating",), "0.02"),
        (("reviews",), "0.025"),
    ],
)
def test_the_most_expensive_field_sets_the_price_of_details(
    fields: tuple[str, ...], price: str
) -> None:
    assert GooglePrices().details(fields).amount == Decimal(price)


async def test_prices_are_data(server: GoogleServer) -> None:
    source = a_google(
        server.base_url, prices=GooglePrices(search_enterprise=Decimal(100))
    )
    budget = LocalBudget()

    await collect(source, replace(DENTISTS, limit=5), budget)
    await source.close()

    assert budget.spent == Decimal("0.1")


async def test_fewer_fields_cost_less(server: GoogleServer) -> None:
    source = a_google(server.base_url, fields=("displayName", "formattedAddress"))
    budget = LocalBudget()

    await collect(source, replace(DENTISTS, limit=5), budget)
    await source.close()

    assert budget.spent == server.bill == Decimal("0.032")


async def test_an_estimate_before_the_survey_is_a_range(google: GooglePlaces) -> None:
    with_limit = await google.estimate(replace(DENTISTS, limit=100))
    without = await google.estimate(DENTISTS)

    assert with_limit.price_likely is not None
    assert with_limit.price_high is not None
    assert with_limit.price_low < with_limit.price_likely < with_limit.price_high
    assert without.price_high is None
    assert any("survey" in line for line in without.assumes)


@pytest.mark.parametrize("limit", [10, 50, 100, 200])
async def test_the_estimate_holds(
    google: GooglePlaces, server: GoogleServer, limit: int
) -> None:
    query = replace(DENTISTS, limit=limit)
    estimate = await google.estimate(query)

    await collect(google, query)

    assert estimate.price_high is not None
    assert estimate.price_low <= server.bill <= estimate.price_high


@pytest.mark.parametrize(
    "query",
    [
        PlaceQuery(location="Austin"),
        PlaceQuery(business_type="  ", location="Austin"),
        PlaceQuery(business_type="dentist"),
        PlaceQuery(business_type="dentist", location=" "),
        PlaceQuery(business_type="d" * 300, location="Austin"),
        PlaceQuery(business_type="dentist", location="Austin", limit=0),
    ],
)
async def test_a_search_for_nothing_or_nowhere_is_refused(
    google: GooglePlaces, server: GoogleServer, query: PlaceQuery
) -> None:
    with pytest.raises(BadPlaceQuery):
        await collect(google, query)

    assert server.requests == 0


async def test_a_location_is_geocoded_once_and_handed_out(server: GoogleServer) -> None:
    async with NominatimServer() as maps:
        geocoder = a_nominatim(maps.url)
        source = a_google(server.base_url, geocoder=geocoder)
        query = replace(DENTISTS, area=None)

        pages = await collect(source, query)
        resumed = await collect(source, query, resume=ResumePoint(pages[0].state))
        await source.close()
        await geocoder.close()

    located = pages[0].located
    assert located is not None
    assert located.name == "Austin, Travis County, Texas"
    assert len(ids_in(pages)) == len(ids_in(resumed)) == 200
    assert maps.requests == 1


async def test_a_radius_narrows_a_location(server: GoogleServer) -> None:
    async with NominatimServer() as maps:
        geocoder = a_nominatim(maps.url)
        source = a_google(server.base_url, geocoder=geocoder)
        query = replace(DENTISTS, area=None, radius_m=3000)
        pages = await collect(source, query)
        await source.close()
        await geocoder.close()

    circle = Circle(Point(30.3, -97.75), 3000)
    places = [place for page in pages for place in page.places]
    assert places
    assert all(place.point and circle.contains(place.point) for place in places)


async def test_google_itself_locates_where_there_is_no_geocoder(
    google: GooglePlaces, server: GoogleServer
) -> None:
    location = {
        "displayName": {"text": "Austin"},
        "location": {"latitude": 30.3, "longitude": -97.75},
        "viewport": {
            "low": {"latitude": BOX.south, "longitude": BOX.west},
            "high": {"latitude": BOX.north, "longitude": BOX.east},
        },
    }
    server.faults.append(status(200, json.dumps({"places": [location]}).encode()))
    budget = LocalBudget()

    pages = await collect(google, replace(DENTISTS, area=None), budget)

    assert len(ids_in(pages)) == 200
    assert budget.spent == server.bill + Decimal("0.032")


async def test_a_location_google_does_not_know_is_told(
    google: GooglePlaces, server: GoogleServer
) -> None:
    server.faults.append(status(200, b"{}"))

    with pytest.raises(UnknownLocation):
        await collect(google, replace(DENTISTS, area=None))


def test_without_a_key_there_is_no_source() -> None:
    with pytest.raises(SourceUnavailable) as caught:
        GooglePlaces(GoogleSettings(), user_agent=AGENT)

    assert "GOOGLE_MAPS_API_KEY" in str(caught.value.hint)


def test_settings_do_not_show_the_key() -> None:
    assert api.KEY not in repr(GoogleSettings(api_key=api_secret()))


async def test_two_searches_at_once_do_not_disturb_each_other(
    google: GooglePlaces,
) -> None:
    first, second = await asyncio.gather(
        collect(google, DENTISTS), collect(google, replace(DENTISTS, limit=30))
    )

    assert len(ids_in(first)) == 200
    assert len(ids_in(second)) == 30
