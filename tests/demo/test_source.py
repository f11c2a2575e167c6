from collections.abc import AsyncIterator
from decimal import Decimal

import pytest

from scrapersky.demo.source import DemoSource
from scrapersky.errors import PlaceGone, UnknownLocation
from scrapersky.providers.budget import LocalBudget
from scrapersky.providers.source import PlacePage, PlaceQuery, PlaceSource, ResumePoint
from simulated_town.town import Town


@pytest.fixture
async def source(town: Town) -> AsyncIterator[DemoSource]:
    async with DemoSource(town.endpoint.url) as source:
        yield source


async def pages_of(
    source: PlaceSource, query: PlaceQuery, resume: ResumePoint | None = None
) -> list[PlacePage]:
    return [page async for page in source.search(query, LocalBudget(), resume=resume)]


async def test_every_business_is_found_page_by_page(
    town: Town, source: DemoSource
) -> None:
    pages = await pages_of(source, PlaceQuery())

    ids = [place.source_place_id for page in pages for place in page.places]
    assert len(pages) == 3
    assert len(set(ids)) == len(ids) == len(town.plan.businesses)
    assert [page.is_last for page in pages] == [False, False, True]
    assert pages[-1].coverage
    assert pages[-1].coverage.is_complete


@pytest.mark.parametrize("what", ["dentist", "Dentists", "Zahnarztpraxis", "歯科医院"])
async def test_a_trade_is_understood_in_many_forms(
    town: Town, source: DemoSource, what: str
) -> None:
    query = PlaceQuery(business_type=what, location="Seven Quays")

    pages = await pages_of(source, query)

    found = [place for page in pages for place in page.places]
    expected = [b for b in town.plan.businesses if b.trade == "dentist"]
    assert [place.name for place in found] == [b.name for b in expected]


async def test_a_trade_nobody_has_finds_nothing(source: DemoSource) -> None:
    (page,) = await pages_of(source, PlaceQuery(business_type="astronaut"))

    assert (page.places, page.is_last) == ((), True)


async def test_another_town_is_unknown(source: DemoSource) -> None:
    with pytest.raises(UnknownLocation, match="one town only"):
        await pages_of(source, PlaceQuery(location="Austin, TX"))


async def test_a_limit_is_kept_and_said(source: DemoSource) -> None:
    pages = await pages_of(source, PlaceQuery(limit=120))

    assert [len(page.places) for page in pages] == [100, 20]
    assert pages[-1].coverage
    assert not pages[-1].coverage.is_complete


async def test_a_search_goes_on_where_it_stopped(
    town: Town, source: DemoSource
) -> None:
    first, *_ = await pages_of(source, PlaceQuery())

    rest = await pages_of(source, PlaceQuery(), ResumePoint(first.state))

    ids = {p.source_place_id for page in (first, *rest) for p in page.places}
    assert len(ids) == len(town.plan.businesses)
    assert rest[-1].progress.found == len(town.plan.businesses)


async def test_what_was_delivered_is_not_delivered_again(source: DemoSource) -> None:
    (page, *_) = await pages_of(
        source, PlaceQuery(), ResumePoint({}, {"town-0", "town-1"})
    )

    assert page.places[0].source_place_id == "town-2"


async def test_details_are_the_facts_of_the_business(
    town: Town, source: DemoSource
) -> None:
    business = town.plan.businesses[3]

    facts = await source.details("town-3", LocalBudget())

    assert (facts.name, facts.street) == (business.name, business.address.street)
    assert facts.postal_code == business.address.postcode
    assert facts.phone == business.lines[0].e164
    assert facts.hours
    assert facts.hours["sun"] == []
    assert facts.website
    assert (business.domain or "") in facts.website


async def test_facts_can_be_read_from_what_a_search_stored(source: DemoSource) -> None:
    (page, *_) = await pages_of(source, PlaceQuery())

    facts = source.facts(page.places[3].raw)

    assert facts == await source.details("town-3", LocalBudget())


async def test_a_place_that_does_not_exist_is_gone(source: DemoSource) -> None:
    with pytest.raises(PlaceGone):
        await source.details("town-99999", LocalBudget())


async def test_asking_costs_nothing(source: DemoSource) -> None:
    estimate = await source.estimate(PlaceQuery(limit=250))

    assert estimate.requests_likely == 3
    assert estimate.price_high == Decimal(0)
