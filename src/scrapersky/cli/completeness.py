"""`scrapersky completeness`."""

from dataclasses import asdict
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.cli.options import AsJson
from scrapersky.cli.pipeline import default_tenant
from scrapersky.cli.searches import search_named
from scrapersky.cli.stages import on_database
from scrapersky.cli.table import PlainTable, print_json, print_table
from scrapersky.companies.matching import match_tenant
from scrapersky.reporting.completeness import SearchCompleteness, completeness_of


def completeness(search: UUID, *, json: AsJson = False) -> int:
    """Say how complete a search is: how many companies exist, and how many of them were found.

    `scrapersky completeness SEARCH` compares what several sources found of the same question.
    Where that says nothing, it says why.

    Parameters
    ----------
    search
        The search, by its ID.
    """

    async def act(engine: AsyncEngine) -> SearchCompleteness:
        tenant_id = await default_tenant(engine)
        await match_tenant(engine, tenant_id)
        async with engine.connect() as connection:
            await search_named(connection, search)
            return await completeness_of(connection, tenant_id, search)

    found = on_database(act)
    if json:
        print_json(asdict(found))
    else:
        report(found)
    return 0


def report(found: SearchCompleteness) -> None:
    """Print it in sentences and a table."""
    total = found.total
    if total.low is not None:
        print(f"{total.found} found, {total.low} to {total.high} exist. {total.why}")
    else:
        print(f"{total.found} found. {total.why}")
    for name, count in total.sources.items():
        print(f"  {name}: {count}")
    table = PlainTable("Value", "Companies that have it", "Right, as expected")
    for one in found.values:
        expected = "-" if one.expected is None else f"{one.expected:.0%}"
        table.add_row(one.name, f"{one.companies} of {found.companies}", expected)
    print_table(table)
