import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapersky.errors import (
    ProviderBusy,
    ProviderRefused,
    ProviderUnusable,
    SourceUnavailable,
    UnknownLocation,
)
from scrapersky.providers.area import Box, Circle, Point, Polygon
from scrapersky.providers.budget import LocalBudget
from scrapersky.providers.openstreetmap import OpenStreetMap, OverpassSettings
from scrapersky.providers.openstreetmap.business_type import (
    TagCondition,
    business_types,
    tags_for,
)
from scrapersky.providers.openstreetmap.overpass import search_query
from scrapersky.providers.openstreetmap.tag import read_element, read_facts
from scrapersky.providers.source import BusinessStatus, Json, Location
from tests.providers.rig import DENTISTS, a_nominatim, an_osm, collect, ids_in
from tests.providers.servers import nominatim as maps_api
from tests.providers.servers import overpass as api
from tests.providers.servers.fault import Fault, status
from tests.providers.servers.nominatim import NominatimServer
from tests.providers.servers.overpass import OverpassServer
from tests.providers.town import BOX, a_business, a_town


@pytest.fixture
async def server() -> AsyncIterator[OverpassServer]:
    async with OverpassServer(a_town(120)) as server:
        yield server


@pytest.fixture
async def maps() -> AsyncIterator[NominatimServer]:
    async with NominatimServer() as server:
        yield server


@pytest.fixture
async def osm(server: OverpassServer) -> AsyncIterator[OpenStreetMap]:
    source = an_osm(server.interpreter)
    yield source
    await source.close()


async def test_one_query_says_a_whole_town(
    osm: OpenStreetMap, server: OverpassServer
) -> None:
    pages = await collect(osm, DENTISTS)

    assert len(ids_in(pages)) == 120
    assert server.requests == 1
    assert [len(page.places) for page in pages] == [0, 40, 40, 40]


@pytest.mark.parametrize("remark", [api.TIMED_OUT, api.NO_MEMORY])
async def test_an_area_the_server_gives_up_on_is_asked_in_quarters(
    osm: OpenStreetMap, server: OverpassServer, remark: str
) -> None:
    server.gives_up_above, server.gives_up_with = 0.15, remark

    pages = await collect(osm, DENTISTS)

    coverage = pages[-1].coverage
    assert coverage is not None
    assert len(ids_in(pages)) == 120
    assert len(coverage.leaves) == 16
    assert sum(leaf.count for leaf in coverage.leaves) >= 120
    assert server.requests == 1 + 4 + 16


async def test_a_server_that_gives_up_on_everything_is_busy(
    osm: OpenStreetMap, server: OverpassServer
) -> None:
    server.gives_up_above = 0.0

    with pytest.raises(ProviderBusy, match="timed out"):
        await collect(osm, DENTISTS)


async def test_a_remark_is_never_taken_for_an_empty_town(
    osm: OpenStreetMap, server: OverpassServer
) -> None:
    body = api.remark("runtime error: something else went wrong")
    server.always = status(200, json.dumps(body).encode())

    with pytest.raises(ProviderBusy):
        await collect(osm, DENTISTS)


async def test_a_harmless_remark_is_no_error(
    osm: OpenStreetMap, server: OverpassServer
) -> None:
    server.always = status(200, json.dumps(api.remark("considered 3 areas")).encode())

    assert ids_in(await collect(osm, DENTISTS)) == []


@pytest.mark.parametrize("trouble", [api.NO_SLOT, api.BUSY])
async def test_no_slot_and_too_busy_are_tried_again(
    osm: OpenStreetMap, server: OverpassServer, trouble: Fault
) -> None:
    server.faults.append(trouble)

    assert len(ids_in(await collect(osm, DENTISTS))) == 120


async def test_a_refused_query_is_not_repeated(
    osm: OpenStreetMap, server: OverpassServer
) -> None:
    page = api.ERROR_PAGE.format(text="line 1: parse error: ';' expected")
    server.always = status(400, page.encode(), content_type="text/html")

    with pytest.raises(ProviderRefused, match="parse error"):
        await collect(osm, DENTISTS)

    assert server.requests == 1


async def test_only_places_inside_the_area_are_given(
    osm: OpenStreetMap, server: OverpassServer
) -> None:
    circle = Circle(Point(30.3, -97.75), 4000)

    pages = await collect(osm, replace(DENTISTS, area=circle))

    places = [place for page in pages for place in page.places]
    assert 0 < len(places) < 120
    assert all(place.point and circle.contains(place.point) for place in places)


async def test_an_area_across_the_date_line_is_one_query() -> None:
    town = [a_business(n, point=Point(-17, 179 if n % 2 else -179)) for n in range(10)]
    async with OverpassServer(town) as server:
        source = an_osm(server.interpreter)
        area = Box(-18, 178, -16, -178)
        pages = await collect(source, replace(DENTISTS, area=area))
        await source.close()

    assert len(ids_in(pages)) == 10
    assert server.requests == 1


async def test_requests_are_paced(server: OverpassServer) -> None:
    server.gives_up_above = 0.3
    source = an_osm(server.interpreter, interval=timedelta(seconds=0.1))
    began = asyncio.get_running_loop().time()

    await collect(source, DENTISTS)
    await source.close()

    # A request that arrives late shortens the gap after it, never the whole.
    assert len(server.times) == 5
    assert server.times[-1] - began >= 4 * 0.1


async def test_a_location_is_found_and_handed_out_for_good(
    server: OverpassServer, maps: NominatimServer
) -> None:
    geocoder = a_nominatim(maps.url)
    source = an_osm(server.interpreter, geocoder=geocoder)

    pages = await collect(source, replace(DENTISTS, area=None))
    await source.close()
    await geocoder.close()

    located = pages[0].located
    assert located is not None
    assert Location.from_json(json.loads(json.dumps(located.to_json()))) == located
    assert isinstance(located.area, Polygon)
    assert located.area.bounds == BOX
    assert located.country == "US"
    assert located.alternatives == ("Austin, a shoe shop, Somewhere",)
    assert len(ids_in(pages)) == 120


async def test_a_national_number_is_read_by_the_country_of_the_location(
    maps: NominatimServer,
) -> None:
    town = [a_business(1, point=Point(30.3, -97.7), phone="512-555-0123")]
    async with OverpassServer(town) as server:
        geocoder = a_nominatim(maps.url)
        source = an_osm(server.interpreter, geocoder=geocoder)
        pages = await collect(source, replace(DENTISTS, area=None))
        await source.close()
        await geocoder.close()

    place = next(place for page in pages for place in page.places)
    assert source.facts(place.raw).phone == "+15125550123"


async def test_without_a_geocoder_a_location_is_refused(osm: OpenStreetMap) -> None:
    with pytest.raises(SourceUnavailable) as caught:
        await collect(osm, replace(DENTISTS, area=None))

    assert caught.value.hint


async def test_an_unknown_location_is_told(maps: NominatimServer) -> None:
    geocoder = a_nominatim(maps.url)

    with pytest.raises(UnknownLocation) as caught:
        await geocoder.locate("Nowhere at all")

    await geocoder.close()
    assert not caught.value.retryable


async def test_a_village_without_outline_is_its_box(maps: NominatimServer) -> None:
    maps.known["hamlet"] = [
        maps_api.result("Hamlet", geojson={"type": "Point", "coordinates": [1, 1]})
    ]
    geocoder = a_nominatim(maps.url)

    located = await geocoder.locate("Hamlet", language="de", region="US")
    await geocoder.close()

    assert located.area == BOX
    assert maps.queries[0]["countrycodes"] == "us"


@pytest.mark.parametrize(
    "changes",
    [
        {"geojson": None, "boundingbox": None},
        {"geojson": {}, "boundingbox": ["a", "b", "c", "d"]},
        {"geojson": {}, "boundingbox": ["9", "1", "2", "3"]},
        {"geojson": {}, "boundingbox": ["1", "2"]},
    ],
)
async def test_a_result_that_is_nowhere_is_no_result(
    maps: NominatimServer, changes: Json
) -> None:
    maps.known["broken"] = [maps_api.result("Broken", **changes)]
    geocoder = a_nominatim(maps.url)

    with pytest.raises(UnknownLocation):
        await geocoder.locate("broken")

    await geocoder.close()


@pytest.mark.parametrize(
    ("trouble", "error"),
    [
        (status(403, b"<html>", content_type="text/html"), ProviderUnusable),
        (status(429, b"", Retry_After="3600"), ProviderBusy),
        (status(400, b'{"error": {"code": 400, "message": "no"}}'), ProviderRefused),
        (status(500), ProviderBusy),
    ],
)
async def test_refusals_of_the_geocoder_are_told_apart(
    maps: NominatimServer, trouble: Fault, error: type[Exception]
) -> None:
    maps.always = trouble
    geocoder = a_nominatim(maps.url)

    with pytest.raises(error):
        await geocoder.locate("Austin, TX")

    await geocoder.close()


async def test_the_geocoder_keeps_its_pace_over_all_callers(
    maps: NominatimServer,
) -> None:
    geocoder = a_nominatim(maps.url, interval=timedelta(seconds=0.2))
    began = asyncio.get_running_loop().time()

    for _ in range(3):
        await geocoder.locate("Austin, TX")
    await geocoder.close()

    assert len(maps.times) == 3
    assert maps.times[-1] - began >= 2 * 0.2


@pytest.mark.parametrize(
    ("words", "key", "value"),
    [
        ("dentists", "amenity", "dentist"),
        ("Dentist", "amenity", "dentist"),
        ("emergency dentists", "amenity", "dentist"),
        ("Zahnärzte", "amenity", "dentist"),
        ("clínica dental", "amenity", "dentist"),
        ("plumbers", "craft", "plumber"),
        ("PLOMBIER", "craft", "plumber"),
        ("idraulici", "craft", "plumber"),
        ("bakeries", "shop", "bakery"),
        ("Bäckerei", "shop", "bakery"),
        ("law firms", "office", "lawyer"),
        ("abogados", "office", "lawyer"),
        ("hair salons", "shop", "hairdresser"),
        ("coffee shops", "amenity", "cafe"),
        ("real estate agents", "office", "estate_agent"),
        ("auto repair", "shop", "car_repair"),
        ("gyms", "leisure", "fitness_centre"),
        ("craft=plumber", "craft", "plumber"),
        ("healthcare:speciality=orthodontics", "healthcare:speciality", "orthodontics"),
    ],
)
def test_what_people_say_is_a_tag(words: str, key: str, value: str) -> None:
    selectors = tags_for(words).selectors

    assert (TagCondition(key, value),) in selectors


def test_the_table_of_business_types_is_sound() -> None:
    table = business_types()

    assert len(table) > 700
    for selectors in table.values():
        for selector in selectors:
            assert all(part.key and part.value for part in selector)


def test_an_unknown_business_type_is_looked_for_by_its_words() -> None:
    meaning = tags_for("violin makers")

    assert meaning.selectors == ()
    assert meaning.words == ("violin makers",)


@pytest.mark.parametrize(
    ("words", "key", "value"),
    [
        ("speech therapists", "healthcare", "speech_therapist"),
        ("food bank", "social_facility", "food_bank"),
        ("parking garages", "amenity", "parking"),
        ("massage therapist", "shop", "massage"),
        ("couples therapist", "healthcare", "psychotherapist"),
    ],
)
def test_a_phrase_is_not_taken_for_its_last_word(
    words: str, key: str, value: str
) -> None:
    selectors = tags_for(words).selectors

    assert any(TagCondition(key, value) in selector for selector in selectors)


@pytest.mark.parametrize("words", ["power bank", "juice bars", "art therapist"])
def test_an_unknown_phrase_with_an_ambiguous_end_is_looked_for_by_its_words(
    words: str,
) -> None:
    assert tags_for(words).words == (words,)


def test_everything_can_be_asked_for() -> None:
    assert tags_for("businesses").is_anything


async def test_unknown_words_are_found_in_tags_and_names() -> None:
    town = [
        a_business(1, point=Point(30.3, -97.7), extra={"amenity": "violin_maker"}),
        a_business(2, point=Point(30.3, -97.7), name="Ember Violin Maker"),
        a_business(3, point=Point(30.3, -97.7)),
    ]
    async with OverpassServer(town) as server:
        source = an_osm(server.interpreter)
        pages = await collect(source, replace(DENTISTS, business_type="violin maker"))
        await source.close()

    assert sorted(ids_in(pages)) == ["node/1001", "node/1002"]


@settings(deadline=None)
@given(words=st.text(max_size=80).filter(lambda text: text.strip()))
def test_no_business_type_can_leave_its_quotes(words: str) -> None:
    """The strict server reads every query we can write, as one union and one output."""
    query = search_query(tags_for(words), BOX, OverpassSettings())

    OverpassServer([]).answer(query)


@pytest.mark.parametrize(
    "words",
    [
        'x"];out;',
        "x\\",
        'x\\"];(node(1););out;',
        "a(b[c",
        "x\n];out;",
        "(((",
        "a|b",
        "*",
    ],
)
async def test_injection_is_only_a_strange_name(
    osm: OpenStreetMap, server: OverpassServer, words: str
) -> None:
    pages = await collect(osm, replace(DENTISTS, business_type=words))

    assert ids_in(pages) == []
    assert server.requests == 1


async def test_an_element_is_asked_for_by_its_id(
    osm: OpenStreetMap, server: OverpassServer
) -> None:
    facts = await osm.details("way/1005", LocalBudget(), region="US")

    assert facts.source_place_id == "way/1005"
    assert facts.phones == ("+15125550005", "+15125559999")
    assert facts.hours is not None
    assert facts.hours["fri"] == [["08:30", "17:00"]]
    assert facts.licence == "ODbL-1.0"


@pytest.mark.parametrize("place_id", ["node/1);out;", "area/3", "node/", "1", ""])
async def test_what_is_no_id_is_refused_before_it_is_asked(
    osm: OpenStreetMap, server: OverpassServer, place_id: str
) -> None:
    with pytest.raises(ProviderRefused):
        await osm.details(place_id, LocalBudget())

    assert server.requests == 0


def an_element(**tags: str) -> Json:
    named = {key.replace("__", ":"): value for key, value in tags.items()}
    return {"type": "node", "id": 7, "lat": 48.1, "lon": 11.5, "tags": named}


def test_tags_become_facts() -> None:
    facts = read_facts(
        an_element(
            amenity="dentist",
            name="Praxis Erfunden",
            contact__website="www.praxis-erfunden.example; https://zwei.example",
            phone="+49 89 123456; 089 654321",
            contact__mobile="+49 151 23456789",
            email="info@praxis-erfunden.example;kein-at",
            contact__facebook="praxis.erfunden.muc/",
            contact__instagram="@praxis_erfunden",
            addr__street="Erfundene Gasse",
            addr__housenumber="12a",
            addr__postcode="80331",
            addr__city="München",
            addr__country="DE",
            opening_hours="Mo-Th 08:00-12:00,14:00-18:00; Fr 08:00-12:00",
            wheelchair="yes",
            brand="Erfunden",
            brand__wikidata="Q1",
        ),
        None,
    )

    assert facts.street == "Erfundene Gasse 12a"
    assert (facts.postal_code, facts.city, facts.country) == ("80331", "München", "DE")
    assert facts.website == "https://www.praxis-erfunden.example/"
    assert facts.phones == ("+4989123456", "+4989654321", "+4915123456789")
    assert facts.emails == ("info@praxis-erfunden.example",)
    assert "https://www.instagram.com/praxis_erfunden" in facts.links
    assert "https://zwei.example/" in facts.links
    assert facts.hours is not None
    assert facts.hours["fri"] == [["08:00", "12:00"]]
    assert facts.attributes["brand:wikidata"] == "Q1"
    assert facts.business_status is BusinessStatus.OPERATING


@pytest.mark.parametrize(
    ("tags", "meant"),
    [
        ({"shop": "bakery"}, BusinessStatus.OPERATING),
        ({"shop": "bakery", "opening_hours": "off"}, BusinessStatus.CLOSED_TEMPORARILY),
        ({"disused__shop": "bakery"}, BusinessStatus.CLOSED_PERMANENTLY),
        ({"was__amenity": "cafe"}, BusinessStatus.CLOSED_PERMANENTLY),
        ({"abandoned__craft": "tailor"}, BusinessStatus.CLOSED_PERMANENTLY),
        ({"shop": "vacant"}, BusinessStatus.CLOSED_PERMANENTLY),
        ({"construction__amenity": "clinic"}, BusinessStatus.FUTURE),
        ({"shop": "tailor", "was__shop": "bakery"}, BusinessStatus.OPERATING),
        ({"highway": "bus_stop"}, None),
    ],
)
def test_dead_tags_mean_closed(
    tags: dict[str, str], meant: BusinessStatus | None
) -> None:
    place = read_element(an_element(**tags))

    assert place is not None
    assert place.business_status is meant


@pytest.mark.parametrize(
    "element",
    [
        {},
        {"type": "area", "id": 1, "tags": {"a": "b"}},
        {"type": "node", "id": "1", "tags": {"a": "b"}},
        {"type": "node", "id": 1},
        {"type": "node", "id": 1, "tags": []},
        {"type": "node", "id": 1, "tags": {"name": 7}},
    ],
)
def test_what_is_no_element_is_no_place(element: Json) -> None:
    assert read_element(element) is None


def test_an_element_without_usable_location_has_none() -> None:
    element = {**an_element(shop="bakery"), "lat": "far", "lon": 999}

    place = read_element(element)

    assert place is not None
    assert place.point is None
