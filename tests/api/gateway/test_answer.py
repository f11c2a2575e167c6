"""Records are written as their response models would write them, without asking those."""

from typing import Any

import pytest
import pytest_asyncio

from scrapersky.api.records.schema import Detail, record_model
from scrapersky.api.records.search import SearchDetail
from scrapersky.api.schema import ListOut
from scrapersky.records import KINDS, Kind
from scrapersky.records.place_search import SEARCHES
from tests.api.gateway.planted import plant
from tests.api.gateway.rig import House

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module", autouse=True)
async def planted(started: House) -> None:
    await plant(started.engine, started.home, "goldcrest")


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
async def test_a_list_and_a_detail_are_what_their_models_would_write(
    house: House, kind: Kind
) -> None:
    shape: Any = record_model(kind)
    detail = SearchDetail if kind is SEARCHES else Detail[shape]

    page = await house.get(kind.path, house.viewer)
    row_id = page.json()["items"][0]["id"]
    one = await house.get(f"{kind.path}/{row_id}", house.viewer)

    for answer, model in ((page, ListOut[shape]), (one, detail)):
        assert answer.headers["content-type"] == "application/json"
        # Read strictly, and written again by the model: not a byte differs.
        read = model.model_validate_json(answer.content)
        assert read.model_dump_json().encode() == answer.content
        assert answer.json().keys() == model.model_fields.keys()
    assert set(page.json()["items"][0]) == set(shape.model_fields)
