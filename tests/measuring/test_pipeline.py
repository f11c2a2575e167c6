"""The real pipeline over sites of our own making, from submitted domains to figures."""

from pathlib import Path

import pytest

from contact_extraction.measuring.corpus import read_corpus
from contact_extraction.measuring.report import figures, render
from contact_extraction.measuring.site_score import score_site
from scrapersky.db.connection import parse_target
from scrapersky.measuring.pipeline import SiteServer, run_pipeline
from scrapersky.measuring.site_files import site_of
from tests.conftest import TestDatabase

SITES = Path(__file__).parent / "sites"
KEYS = {
    "email_recall", "email_precision", "phone_recall", "phone_precision", "people_known",
    "people_precision", "own_contact_named", "decision_maker", "email_person",
    "phone_person", "address_recall", "address_precision", "organisation",
    "fetches_per_site", "cpu_ms_per_page",
}  # fmt: skip
MOST_FETCHES = 12


@pytest.mark.slow
@pytest.mark.asyncio(loop_scope="session")
async def test_what_our_own_sites_say_is_found_and_nothing_else(
    database: TestDatabase,
) -> None:
    """A page the sitemap omits, one two clicks away, and one that nothing links."""
    sites = read_corpus(SITES)
    street = SiteServer({site.host: site_of(site) for site in sites})
    measured = await run_pipeline(sites, street, parse_target(database.url), 60)
    scores = {
        site.name: score_site(site, measured.outcomes[site.domain]) for site in sites
    }
    report = "\n".join(render(sites, scores, measured, misses=9))
    reported = figures(sites, scores, measured)
    assert measured.is_finished
    assert reported.keys() >= KEYS
    for figure in ("email_recall", "email_precision", "phone_recall", "phone_precision",
                   "contact_pages_read", "people_pages_read"):  # fmt: skip
        assert reported[figure] == 1, report
    assert (reported["fetches_per_site"] or 0) <= MOST_FETCHES
    sure = {claim.kind for score in scores.values() for claim in score.claims}
    assert sure == {"email", "phone", "address", "person", "organisation", "owner"}
    assert "organisation  0.9" in report
