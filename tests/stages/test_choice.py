"""Rules decide once about all that settles together, and are undone as one."""

from uuid import UUID

import pytest

from curation_sdk import Transaction
from scrapersky.curation.undo import undo
from scrapersky.pipeline.rule_run import RuleRun, run_rules
from scrapersky.records import SitemapFile
from scrapersky.settings import SYSTEM_USER_ID
from tests.stages.rig import Line

pytestmark = pytest.mark.asyncio(loop_scope="session")
SITES = 12
STATES = (
    "SELECT page_curation_status::text, page_processing_status::text, count(*)"
    " FROM pages WHERE url LIKE '%contact' GROUP BY 1, 2"
)
AUDITED = "SELECT count(*) FROM audit_log WHERE action = 'decided'"
ACTIONS = (
    "SELECT a.id, a.changed_count, (SELECT count(*) FROM curation_changes c"
    " WHERE c.action_id = a.id) FROM curation_actions a"
)


async def import_sites(line: Line, *, broken: int | None = None) -> list[UUID]:
    """Import one sitemap each of several sites, all at once."""
    files = []
    for number in range(SITES):
        site = f"s{number}.bv"
        line.web.sitemap(f"{site}/sitemap.xml", f"http://{site}/contact")
        domain = await line.add_domain(site)
        files.append(await line.add_sitemap(f"http://{site}/sitemap.xml", domain))
    if broken is not None:
        await line.run(
            "ALTER TABLE pages ADD CONSTRAINT refused"
            f" CHECK (url <> 'http://s{broken}.bv/contact')"
        )
    await line.work("sitemap_import")
    return files


async def test_the_rules_are_asked_once_for_all_that_a_transaction_made(
    line: Line,
) -> None:
    files = [
        await line.add_sitemap(f"http://s{number}.bv/sitemap.xml", url_count=1)
        for number in range(SITES)
    ]
    for number, file in enumerate(files):
        await line.run(
            "INSERT INTO pages (tenant_id, domain_id, sitemap_file_id, url,"
            " contact_likelihood) SELECT tenant_id, domain_id, id, :url, 0.9"
            " FROM sitemap_files WHERE id = :file",
            url=f"http://s{number}.bv/contact", file=file,
        )  # fmt: skip
    async with line.engine.begin() as connection:
        raw = await connection.get_raw_connection()
        assert raw.driver_connection is not None
        transaction = Transaction(connection, raw.driver_connection)
        for file in files:
            tenant = line.actor.tenant_id
            run = RuleRun("pages", "sitemap_file_id", tenant, SYSTEM_USER_ID, file)
            run_rules.add(transaction, run)
        await transaction.end()

    ((action, changed, noted),) = await line.rows(ACTIONS)
    assert (changed, noted) == (SITES, SITES)
    assert transaction.wakes == {"page_curation"}
    assert await line.rows(STATES) == [("Selected", "Queued", SITES)]
    assert await line.rows(AUDITED) == [(1,)]

    await undo(line.engine, line.actor, action)
    assert await line.rows(STATES) == [("New", None, SITES)]


async def test_items_that_settle_together_share_an_action(line: Line) -> None:
    await import_sites(line)

    actions = await line.rows(ACTIONS)
    ((transactions,),) = await line.rows(
        "SELECT count(DISTINCT xmin::text) FROM curation_actions"
    )
    assert await line.rows(STATES) == [("Selected", "Queued", SITES)]
    assert sum(action[1] for action in actions) == SITES
    assert len(actions) == transactions
    assert await line.rows(AUDITED) == [(len(actions),)]


async def test_an_item_that_cannot_be_stored_spoils_no_choice_of_the_others(
    line_apart: Line,
) -> None:
    line = line_apart
    files = await import_sites(line, broken=3)

    assert await line.rows(STATES) == [("Selected", "Queued", SITES - 1)]
    states = [
        (await line.row(SitemapFile, file)).sitemap_import_status for file in files
    ]
    assert states.count("Complete") == SITES - 1
    assert str(states[3]) != "Complete"
