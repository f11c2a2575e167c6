"""How complete a search is, from what two sources found of the same question."""

import random
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import insert

from scrapersky.companies.matching import match_tenant
from scrapersky.records import Place, PlaceSearch, PlaceSearchHit
from scrapersky.records.status import TaskStatus
from simulated_town.plan import plan_town
from simulated_town.register import place_json
from tests.api.records.rig import Desk

pytestmark = pytest.mark.asyncio(loop_scope="module")

SIZE = 120
METRES = 1 / 111_000


async def a_search(desk: Desk, source: str, **asked: Any) -> UUID:
    values = {"business_type": "all", "location": "Seven Quays", **asked}
    return await desk.add(
        PlaceSearch, source=source, status=TaskStatus.COMPLETED, **values
    )


async def find(
    desk: Desk, search: UUID, source: str, share: float, *, metres: float = 3.0
) -> None:
    """Let a source find a part of the town, each place some metres from where it is."""
    luck = random.Random(f"{source} {share}")
    rows = []
    for one in plan_town(SIZE).businesses:
        if luck.random() >= share:
            continue
        said = place_json(one)
        apart = [luck.uniform(-metres, metres) * METRES for _ in range(2)]
        rows.append(
            {
                "tenant_id": desk.tenant,
                "source": source,
                "source_place_id": said["id"],
                "name": one.name,
                "phone": one.source_e164,
                "address": said["address"],
                "latitude": one.address.latitude + apart[0],
                "longitude": one.address.longitude + apart[1],
                "categories": said["categories"],
            }
        )
    async with desk.engine.begin() as connection:
        made = insert(Place).values(rows).returning(Place.id)
        ids = (await connection.scalars(made)).all()
        hits = [
            {"search_id": search, "place_id": each, "tenant_id": desk.tenant}
            for each in ids
        ]
        await connection.execute(insert(PlaceSearchHit).values(hits))


async def read(desk: Desk, search: UUID) -> Any:
    await match_tenant(desk.engine, desk.tenant)
    return await desk.get(f"/searches/{search}/completeness")


async def test_two_sources_that_overlap_tell_how_many_companies_there_are(
    desk: Desk,
) -> None:
    search = await a_search(desk, "osm")
    await find(desk, search, "osm", 0.7)
    await find(desk, await a_search(desk, "google"), "google", 0.6)

    found = await read(desk, search)

    total = found["total"]
    assert total["low"] <= SIZE <= total["high"]
    assert total["found"] < total["estimate"]
    assert set(total["sources"]) == {"osm", "google"}
    assert found["companies"] == total["sources"]["osm"]


async def test_one_source_tells_nothing_of_what_it_does_not_know(desk: Desk) -> None:
    search = await a_search(desk, "osm")
    await find(desk, search, "osm", 0.7)
    other = await a_search(desk, "google", business_type="something else")
    await find(desk, other, "google", 0.6)

    total = (await read(desk, search))["total"]

    assert (total["estimate"], total["low"], total["high"]) == (None, None, None)
    assert total["why"].startswith("Only one source was asked (osm)")
    assert total["found"] > 0


async def test_sources_that_copy_each_other_are_no_two_sources(desk: Desk) -> None:
    search = await a_search(desk, "osm")
    await find(desk, search, "osm", 0.7, metres=0)
    await find(desk, await a_search(desk, "mirror"), "mirror", 0.6, metres=0)

    total = (await read(desk, search))["total"]

    assert total["estimate"] is None
    assert "very same points" in total["why"]
