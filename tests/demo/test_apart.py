import pytest

from scrapersky.demo.apart import town_apart
from scrapersky.demo.plan import plan_town
from scrapersky.providers.budget import LocalBudget
from scrapersky.providers.source import PlaceQuery
from tests.demo.visitor import Visitor


@pytest.mark.slow
async def test_a_town_in_another_process_is_the_same_town() -> None:
    async with town_apart(size=60, seed=7, trouble=False) as apart:
        invited = apart.invitation
        business = invited.plan.businesses[0]
        async with Visitor(invited.port) as visitor, invited.source() as source:
            pages = [page async for page in source.search(PlaceQuery(), LocalBudget())]
            seen = await visitor.get(f"http://{business.host}/")
        records = {record.site: record for record in await apart.records()}

    assert invited.plan == plan_town(60, seed=7, trouble=False)
    assert [place.name for page in pages for place in page.places] == [
        business.name for business in invited.plan.businesses
    ]
    assert seen.status == 200
    assert records[business.domain or ""].requests == 1
