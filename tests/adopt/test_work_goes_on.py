"""The product works on what it has adopted: stages, lists, and whoever looks."""

import pytest

from scrapersky.crawler import Sandbox
from tests.adopt.conftest import Adopter
from tests.cli.rig import run
from tests.how_to.running import running
from tests.stages.conftest import sandbox
from tests.stages.rig import running_line

__all__ = ["sandbox"]
LISTS = {
    "places/staging": 2, "local-businesses": 1, "domains": 1, "sitemap-files": 2,
    "pages": 2, "contacts": 1,
}  # fmt: skip
PAGE = "<title>Contact</title><a href='mailto:new@harbour-dental.bv'>write to us</a>"


@pytest.mark.slow
@pytest.mark.asyncio(loop_scope="session")
async def test_stages_take_up_rows_that_the_old_system_left_in_work(
    adopter: Adopter, sandbox: Sandbox
) -> None:
    ours = {"DATABASE_URL": adopter.ours.url, "SCRAPERSKY_DATA_DIR": adopter.home}
    adopted = run("adopt", adopter.old.dsn, **ours)
    assert adopted.returncode == 0, adopted.stderr

    async with running_line(adopter.ours, sandbox) as line:
        line.web.page("harbour-dental.bv/contact", PAGE)
        for stage in ("domain_extraction", "page_curation"):
            await line.work(stage)
        done = await line.rows("""SELECT b.domain_extraction_status::text, d.domain,
            p.page_processing_status::text, p.contact_scrape_status::text
          FROM local_businesses b JOIN domains d ON d.id = b.domain_id
          JOIN pages p ON p.domain_id = d.id AND p.url LIKE '%/contact'""")
        found = await line.rows("SELECT email FROM contacts ORDER BY 1")

    assert done == [("Completed", "harbour-dental.bv", "Complete", "ContactFound")]
    assert found == [("ada@harbour-dental.bv",), ("new@harbour-dental.bv",)]


@pytest.mark.slow
def test_the_lists_of_the_api_show_adopted_records(adopter: Adopter) -> None:
    adopter.adopt()
    ours = {"DATABASE_URL": adopter.ours.url, "SCRAPERSKY_DATA_DIR": adopter.home}

    with running("serve", ours) as api:
        shown = {
            name: len(api.ask("GET", f"/api/v3/{name}").json()["items"])
            for name in LISTS
        }
        found = api.ask("GET", "/api/v3/contacts?q=ada").json()["items"]
        detail = api.ask("GET", f"/api/v3/contacts/{found[0]['id']}").text

    assert shown == LISTS
    assert "adopted from the old database" in detail
