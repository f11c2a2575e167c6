"""WF4: what stands at a domain, said with evidence, and whether it is worth a look."""

from typing import Any

import pytest

import curation_sdk
from scrapersky.crawler import Crawler, FetchResult
from scrapersky.records import Domain
from simulated_town.sites.reply import Conduct, Reply, redirect
from tests.stages.rig import Line

pytestmark = pytest.mark.asyncio(loop_scope="session")
STAGE = "domain_metadata"
HOME = """<html lang="en"><head><title>Ada's Bakery</title>
<meta name="description" content="Bread since 1815">
<meta name="generator" content="WordPress 6.4"></head>
<body><h1>Ada's Bakery</h1><p>Write to <a href="mailto:ada@a.bv">ada@a.bv</a> or call
us. We bake bread every morning for the whole street, with flour from the mill.</p>
<a href="/contact">Contact</a><a href="/about">About us</a>
<a href="/n/7">Find us</a></body></html>"""


async def test_a_site_of_its_own_gets_facts_and_goes_on(line: Line) -> None:
    line.web.page("a.bv/", HOME)
    domain = await line.add_domain("a.bv")

    await line.work(STAGE)

    row = await line.row(Domain, domain)
    assert (row.status, row.error) == ("completed", None)
    assert row.verdict == "own_site"
    assert (row.title, row.description) == ("Ada's Bakery", "Bread since 1815")
    assert (row.generator, row.language) == ("WordPress", "en")
    assert row.emails == ["ada@a.bv"]
    assert row.link_texts["http://a.bv/n/7"] == "Find us"
    assert row.sitemap_analysis_status == "queued"


async def test_a_parked_domain_is_told_and_goes_no_further(line: Line) -> None:
    line.web.page(
        "a.bv/",
        "<title>a.bv</title><h1>This domain is for sale!</h1>"
        '<p>Buy this domain. <a href="https://sedo.com/a.bv">Make an offer</a></p>',
    )
    domain = await line.add_domain("a.bv")

    await line.work(STAGE)

    row = await line.row(Domain, domain)
    assert row.status == "completed"
    assert row.verdict in {"parked", "for_sale"}
    assert row.verdict_evidence["evidence"]
    assert row.sitemap_analysis_status == "pending"


async def test_a_site_elsewhere_was_crawled_as_this_one_because_its_title_names_it(
    line: Line,
) -> None:
    line.web.says["adas-bakery.bv/"] = redirect("http://globex.bv/")
    line.web.page("globex.bv/", HOME.replace("Ada's Bakery", "Adas Bakery"))
    asked = await line.add_domain("adas-bakery.bv")

    await line.work(STAGE)
    await line.work("sitemap_submission")

    row = await line.row(Domain, asked)
    assert (row.verdict, row.emails) == ("redirect_to_other_brand", [])
    assert row.sitemap_analysis_status == "pending"
    [(found,)] = await line.rows("SELECT id FROM domains WHERE domain = 'globex.bv'")
    candidate = await line.row(Domain, found)
    assert (candidate.verdict, candidate.emails) == ("candidate", [])
    assert candidate.verdict_evidence["evidence"][0] == "adas-bakery.bv leads here"
    # Nothing goes on there by itself, and a person's decision sends it on.
    assert (candidate.status, candidate.sitemap_analysis_status) == (
        "completed",
        "pending",
    )
    await line.decide("domains", "Selected", found)
    assert (await line.row(Domain, found)).sitemap_analysis_status == "queued"


async def test_a_site_elsewhere_became_ones_own_when_it_was_looked_at_again(
    line: Line,
) -> None:
    line.web.page("globex.bv/", HOME)
    asked = await line.add_domain("old-mill.bv", home_url="http://globex.bv/")

    await line.work(STAGE)

    assert (await line.row(Domain, asked)).verdict == "redirect_to_other_brand"


async def test_http_and_www_are_tried_where_https_has_no_server(line: Line) -> None:
    line.names.unknown.add("a.bv")
    line.web.page("www.a.bv/", HOME)
    domain = await line.add_domain("a.bv", home_url=None)

    await line.work(STAGE)

    row = await line.row(Domain, domain)
    assert (row.status, row.home_url) == ("completed", "http://www.a.bv/")


async def test_a_name_that_does_not_exist_is_given_up_when_that_is_said_twice(
    line: Line,
) -> None:
    line.names.unknown |= {"a.bv", "www.a.bv"}
    domain = await line.add_domain("a.bv")

    await line.work(STAGE)
    assert (await line.row(Domain, domain)).status == "processing"
    await line.work_again(STAGE)

    row = await line.row(Domain, domain)
    story = await line.story(STAGE, domain)
    assert row.status == "error"
    assert "a.bv" in row.error
    assert (story.dead, len(story.attempts)) == ("gave_up", 2)
    assert row.verdict == "unreachable"
    assert "a.bv" in row.verdict_evidence["evidence"][0]


async def test_a_name_is_asked_for_once_whatever_the_scheme(
    line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    line.names.unknown |= {"a.bv", "www.a.bv"}
    await line.add_domain("a.bv")
    tried: list[str] = []
    fetch = Crawler.fetch

    async def note(self: Crawler, url: str, **how: Any) -> FetchResult:
        tried.append(str(url))
        return await fetch(self, url, **how)

    monkeypatch.setattr(Crawler, "fetch", note)
    await line.work(STAGE)

    assert tried == ["http://a.bv/", "https://www.a.bv/"]


async def test_a_server_in_trouble_is_tried_again(line: Line) -> None:
    line.web.fails("a.bv/", 500, 502, then=HOME)
    domain = await line.add_domain("a.bv")

    await line.work(STAGE)
    between = await line.row(Domain, domain)
    await line.work_again(STAGE)
    await line.work_again(STAGE)

    assert (between.status, between.error) == ("processing", "the server answered 500")
    assert between.verdict == "unreachable"
    assert (await line.row(Domain, domain)).verdict == "own_site"
    assert await line.outcomes(STAGE, domain) == ["retried", "retried", "done"]
    assert (await line.row(Domain, domain)).error is None


async def test_after_the_last_try_it_is_a_dead_letter_that_can_be_replayed(
    line: Line,
) -> None:
    line.web.fails("a.bv/", 500)
    domain = await line.add_domain("a.bv")
    await line.work(STAGE)
    for _ in range(4):
        await line.work_again(STAGE)
    dead = await line.row(Domain, domain)
    letters = await curation_sdk.dead_letters.list(line.engine, STAGE)

    line.web.page("a.bv/", HOME)
    await curation_sdk.dead_letters.replay(line.engine, STAGE, str(domain))
    await line.work(STAGE)

    assert (dead.status, dead.error) == ("error", "the server answered 500")
    assert [(one.kind, one.tries) for one in letters] == [("exhausted", 5)]
    assert (await line.row(Domain, domain)).status == "completed"
    assert await curation_sdk.dead_letters.list(line.engine, STAGE) == ()


async def test_a_site_that_hangs_is_tried_again_and_holds_up_nobody(line: Line) -> None:
    line.web.says["hang.bv/"] = Reply(conduct=Conduct.SILENT)
    line.web.page("a.bv/", HOME)
    slow = await line.add_domain("hang.bv")
    quick = await line.add_domain("a.bv")

    await line.work(STAGE)

    # Where a drain takes long, the second try has its turn in it as well.
    assert set(await line.outcomes(STAGE, slow)) == {"retried"}
    assert (await line.row(Domain, quick)).status == "completed"


async def test_robots_are_final(line: Line) -> None:
    line.web.text("a.bv/robots.txt", "User-agent: *\nDisallow: /\n")
    line.web.page("a.bv/", HOME)
    domain = await line.add_domain("a.bv")

    await line.work(STAGE)

    row = await line.row(Domain, domain)
    assert row.status == "error"
    assert row.error.startswith("robots_denied")
    assert row.verdict is None
    assert "a.bv/" not in line.web.asked


async def test_a_busy_site_is_left_alone_for_as_long_as_it_asks(line: Line) -> None:
    busy = Reply(status=429, headers=(("Retry-After", "30"),))
    line.web.says["a.bv/"] = [busy, Reply(HOME.encode())]
    domain = await line.add_domain("a.bv")

    await line.work(STAGE)
    (attempt,) = (await line.story(STAGE, domain)).attempts
    await line.ledger.resume("a.bv")
    await line.work_again(STAGE)

    assert attempt.outcome == "retried"
    assert attempt.due_at is not None
    assert 25 < (attempt.due_at - attempt.settled_at).total_seconds() < 35
    assert (await line.row(Domain, domain)).status == "completed"


async def test_a_persons_decision_is_not_touched_when_the_site_is_looked_at_again(
    line: Line,
) -> None:
    line.web.page("a.bv/", HOME)
    domain = await line.add_domain(
        "a.bv", sitemap_curation_status="Not a Fit", sitemap_analysis_status="submitted"
    )

    await line.work(STAGE)

    row = await line.row(Domain, domain)
    assert row.sitemap_curation_status == "Not a Fit"
    assert row.sitemap_analysis_status == "submitted"


async def test_anyone_may_queue_a_row_with_plain_sql(line: Line) -> None:
    line.web.page("a.bv/", HOME)
    domain = await line.add_domain("a.bv", status="completed")

    await line.run("UPDATE domains SET status = 'pending'")
    await line.work(STAGE)

    assert await line.outcomes(STAGE, domain) == ["done"]
