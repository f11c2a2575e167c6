"""Counts of values beside a list: all of a short one, a sample of a long one."""

from typing import Any

import pytest

from scrapersky.api.records import facet
from scrapersky.records import KINDS
from tests.api.records.rig import Desk

pytestmark = pytest.mark.asyncio(loop_scope="module")

MAKE_PAGES = """
INSERT INTO pages (tenant_id, domain_id, url, page_curation_status, http_status, page_type)
SELECT d.tenant_id, d.id, d.home_url || n,
  (CASE WHEN n = 1 THEN 'Skipped' WHEN n % 4 = 0 THEN 'Queued' ELSE 'New' END)
    ::page_curation_status,
  CASE WHEN n % 2 = 0 THEN 200 END, NULL
FROM (SELECT * FROM domains WHERE tenant_id = :tenant) AS d, generate_series(1, :count) AS n
"""
MAKE_DOMAIN = """
INSERT INTO domains (tenant_id, domain, home_url)
VALUES (:tenant, 'a.example', 'https://a.example/')
"""
STATUS, CODE = "page_curation_status", "http_status"


@pytest.fixture
def short_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a list of more than 10 records be long."""
    monkeypatch.setattr(facet, "COUNTED_WHOLE", 10)
    monkeypatch.setattr(facet, "SURELY_MANY", 20)


async def add_pages(desk: Desk, count: int) -> None:
    for tenant in (desk.tenant, desk.other):
        await desk.run(MAKE_DOMAIN, tenant=tenant)
        await desk.run(MAKE_PAGES, tenant=tenant, count=count)
    await desk.run("ANALYZE pages")


def as_counts(values: list[dict[str, Any]]) -> dict[Any, int]:
    return {one["value"]: one["count"] for one in values}


async def test_a_short_list_is_counted_whole(desk: Desk) -> None:
    await add_pages(desk, 40)

    found = await desk.get("/pages/facets", {"field": f"{STATUS},{CODE}"})

    assert found["is_exact"]
    assert found["facets"][STATUS] == [
        {"value": "New", "count": 29},
        {"value": "Queued", "count": 10},
        {"value": "Skipped", "count": 1},
    ]
    assert as_counts(found["facets"][CODE]) == {200: 20, None: 20}


@pytest.mark.usefixtures("short_counts")
async def test_a_long_list_is_counted_by_a_sample_scaled_up(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    await add_pages(desk, 4_000)
    monkeypatch.setattr(facet, "SAMPLED_ROWS", 4_000)
    monkeypatch.setattr(facet, "COUNTED_ROWS", 0)
    monkeypatch.setattr(facet, "COUNTING_COST", -1.0)

    found = await desk.get("/pages/facets", {"field": f"{STATUS},{CODE}"})

    assert not found["is_exact"]
    # Half of the blocks are read, give or take; what they hold is counted twice.
    status = as_counts(found["facets"][STATUS])
    assert 1_500 < status["New"] < 4_500
    assert 500 < status["Queued"] < 1_500
    assert sum(as_counts(found["facets"][CODE]).values()) == pytest.approx(
        sum(status.values()), abs=3
    )


@pytest.mark.usefixtures("short_counts")
async def test_a_rare_status_is_counted_exactly_in_a_long_list(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    await add_pages(desk, 4_000)
    monkeypatch.setattr(facet, "SAMPLED_ROWS", 1)

    found = await desk.get("/pages/facets", {"field": STATUS})

    assert as_counts(found["facets"][STATUS])["Skipped"] == 1


@pytest.mark.usefixtures("short_counts")
async def test_a_sample_is_of_the_list_that_is_asked_for(desk: Desk) -> None:
    await add_pages(desk, 100)
    asked = {
        "field": f"{STATUS},{CODE}",
        "filter": f"{STATUS}:equal:Queued",
        "q": "a.example",
    }

    found = await desk.get("/pages/facets", asked)

    assert not found["is_exact"]
    assert found["facets"] == {
        STATUS: [{"value": "Queued", "count": 25}],
        CODE: [{"value": 200, "count": 25}],
    }


@pytest.mark.parametrize("name", KINDS)
async def test_every_kind_can_be_sampled(
    desk: Desk, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = KINDS[name]
    monkeypatch.setattr(facet, "COUNTED_WHOLE", -1)

    linked = [
        f"{one}:equal:{getattr(link.column.type, 'enums', [desk.tenant])[0]}"
        for one, link in kind.linked.items()
    ]

    found = await desk.get(f"{kind.path}/facets", {"q": "nobody", "filter": linked})

    assert not found["is_exact"]
    assert found["facets"] == {field: [] for field in kind.facets}
