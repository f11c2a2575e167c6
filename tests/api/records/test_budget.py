"""A site's budget is seen on its domain and raised by people, within their tenant."""

from uuid import uuid4

import pytest

from scrapersky.records import Page
from tests.api.records.rig import Desk

pytestmark = pytest.mark.asyncio(loop_scope="module")
QUEUED = "SELECT count(*) FROM pages WHERE page_processing_status = 'Queued'"


async def test_what_was_taken_of_a_site_stands_on_its_domain(desk: Desk) -> None:
    domain = await desk.add_domain("a.bv", budget={"hosts": 3})
    for path in ("contact?b=1", "contact?b=2", "team"):
        await desk.add(Page, domain_id=domain, url=f"https://a.bv/{path}")
    await desk.run(
        "INSERT INTO site_usage (domain_id, tenant_id, pages_fetched, bytes, parse_ms)"
        " VALUES (:domain, :tenant, 2, 700, 1500)",
        domain=domain, tenant=desk.tenant,
    )  # fmt: skip
    await desk.run(
        "INSERT INTO host_robots (origin, state, text, why, expires_at, site, bytes)"
        " SELECT 'https://' || site, 'rules', '', '', now() + interval '1 hour', site, 90"
        " FROM unnest(ARRAY['a.bv', 'b.bv']) AS site"
    )

    detail = await desk.get(f"/domains/{domain}")

    shown = {line["name"]: (line["used"], line["most"]) for line in detail["budget"]}
    assert shown == {
        "page_budget": (0, 12),
        "pages_stored": (3, 50_000),
        "pages_fetched": (2, 500),
        "hosts": (1, 3),
        "query_variants": (2, 20),
        "url_bytes": (65, 10 * 1024 * 1024),
        "bytes": (700, 500 * 1024 * 1024),
        "parse_seconds": (1.5, 600),
        "robots_bytes": (90, 8 * 1024 * 1024),
    }
    await desk.run("DELETE FROM host_robots")


async def test_a_raised_budget_lets_the_rules_and_the_refused_pages_go_on(
    desk: Desk,
) -> None:
    domain = await desk.add_domain("a.bv", page_budget=1)
    for name, status, error in (
        ("contact", None, None),
        ("team", "Error", "the site's budget is used up: bytes 9 of 5"),
        ("gone", "Error", "the server answered 404"),
    ):
        await desk.add(
            Page,
            domain_id=domain,
            url=f"https://a.bv/{name}",
            contact_likelihood=0.9,
            page_processing_status=status,
            page_processing_error=error,
        )

    lines = await desk.send(
        "PATCH", f"/domains/{domain}/budget", {"page_budget": 9, "pages_fetched": 900}
    )

    most = {line["name"]: line["most"] for line in lines}
    assert (most["page_budget"], most["pages_fetched"], most["hosts"]) == (9, 900, 10)
    assert await desk.scalar(QUEUED) == 2
    (event,) = [
        event
        for event in (await desk.get(f"/domains/{domain}/history"))["events"]
        if event["what"] == "budget"
    ]
    assert event["details"]["before"] == {"page_budget": 1, "pages_fetched": 500}
    assert event["details"]["after"] == {"page_budget": 9, "pages_fetched": 900}


async def test_a_budget_of_nobody_or_of_another_tenant_is_not_there(desk: Desk) -> None:
    theirs = await desk.add_domain("b.bv", tenant=desk.other)
    for domain in (uuid4(), theirs):
        path = f"/domains/{domain}/budget"
        await desk.send("PATCH", path, {"page_budget": 5}, status=404)


@pytest.mark.parametrize(
    "asked", [{"page_budget": -1}, {"wishes": 3}, {"bytes": 10**13}]
)
async def test_what_is_no_budget_is_refused(desk: Desk, asked: dict[str, int]) -> None:
    domain = await desk.add_domain()
    await desk.send("PATCH", f"/domains/{domain}/budget", asked, status=422)


async def test_whoever_runs_the_installation_raises_what_a_tenant_may_take_a_day(
    desk: Desk,
) -> None:
    path = f"/tenants/{desk.other}"
    await desk.send("PATCH", path, {"budget": {"bytes": 9, "pages_fetched": 7}})
    changed = await desk.send("PATCH", path, {"budget": {"bytes": 5}})

    assert changed["budget"] == {"bytes": 5, "pages_fetched": 7}
    await desk.send("PATCH", path, {"budget": {"wishes": 5}}, status=422)
    await desk.send("PATCH", path, {"budget": {"bytes": -5}}, status=422)
