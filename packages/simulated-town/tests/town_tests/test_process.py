import json

import pytest

from simulated_town.plan import plan_town
from simulated_town.process import town_process
from town_tests.visitor import Visitor


@pytest.mark.slow
async def test_a_town_in_another_process_is_the_same_town() -> None:
    async with town_process(size=60, seed=7, trouble=False) as process:
        endpoint = process.endpoint
        business = endpoint.plan.businesses[0]
        async with Visitor(endpoint.port) as visitor:
            places = await visitor.get(f"{endpoint.url}/places")
            seen = await visitor.get(f"http://{business.host}/")
        records = {record.site: record for record in await process.records()}

    assert endpoint.plan == plan_town(60, seed=7, trouble=False)
    assert [place["name"] for place in json.loads(places.body)["places"]] == [
        business.name for business in endpoint.plan.businesses
    ]
    assert seen.status == 200
    assert records[business.domain or ""].requests == 1
