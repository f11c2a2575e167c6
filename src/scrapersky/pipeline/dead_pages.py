"""Go on with the sites of pages that became dead letters without having their say.

A page that settles lets the rules choose what to read of its site next. One that crashes
its worker, or whose work raises, never gets that far; if it was the last one in hand, nobody
is left to choose.
"""

from collections import defaultdict
from datetime import timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

import curation_sdk
from curation_sdk import queries
from scrapersky.curation.condition import Comparison, Condition
from scrapersky.curation.rule import apply_rules
from scrapersky.curation.site_budget import SiteBudget
from scrapersky.db.transaction import transaction
from scrapersky.records import KINDS

SITES_PER_TRANSACTION: Final = 50
# One that gave up has let the rules choose itself.
FIND_SITES: Final = text(f"""
SELECT DISTINCT p.tenant_id, p.domain_id FROM {queries.dead_letters("page_curation")} d
JOIN pages p ON p.id = d.item::uuid
WHERE d.kind IN ('quarantined', 'exhausted')
  AND d.died_at > clock_timestamp() - CAST(:within AS interval)
ORDER BY 1, 2
""")  # noqa: S608 - our own words


async def choose_after_dead_letters(
    engine: AsyncEngine, *, user_id: UUID, site: SiteBudget, within: timedelta
) -> int:
    """Let the rules choose for the sites of recent dead letters; return how many pages.

    To choose once more than needed is harmless: there is nothing left to choose then.
    """
    async with engine.connect() as connection:
        rows = await connection.execute(FIND_SITES, {"within": within})
    sites: dict[UUID, list[str]] = defaultdict(list)
    for tenant_id, domain_id in rows:
        sites[tenant_id].append(str(domain_id))
    kind, queued = KINDS["pages"], 0
    for tenant_id, domains in sites.items():
        for start in range(0, len(domains), SITES_PER_TRANSACTION):
            some = domains[start : start + SITES_PER_TRANSACTION]
            async with transaction(engine) as connection:
                decided = await apply_rules(
                    connection,
                    tenant_id,
                    kind,
                    user_id=user_id,
                    site=site,
                    among=Condition(
                        field="domain_id", comparison=Comparison.ONE_OF, value=some
                    ),
                )
            queued += decided.queued
    if queued:
        await curation_sdk.control.wake(engine, "page_curation")
    return queued
