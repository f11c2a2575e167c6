"""What may be taken of one site, what was, and how a person raises it."""

from dataclasses import asdict
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import APIRouter, Request
from pydantic import Field
from sqlalchemy.ext.asyncio import AsyncConnection

import curation_sdk
from scrapersky.api.dependency import Curator, Transaction, actor_of
from scrapersky.api.records.detail import RecordRow, record_of
from scrapersky.api.records.schema import SiteBudgetLine
from scrapersky.api.schema import NOT_FOUND, REFUSALS, RequestModel
from scrapersky.curation.condition import Comparison, Condition
from scrapersky.curation.page_choice import lock_sites
from scrapersky.curation.rule import apply_rules
from scrapersky.curation.site_budget import (
    MAX_BUDGET,
    MOST_CHOSEN,
    SiteBudget,
    budget_lines,
    change_budget,
)
from scrapersky.records import KINDS
from scrapersky.records.domain import DOMAINS

PATH: Final = f"/api/v3{DOMAINS.path}/{{record_id}}/budget"
STAGE: Final = "page_curation"

router = APIRouter(tags=["records"])
Limit = Annotated[int | None, Field(ge=0, le=MAX_BUDGET)]


class DomainBudgetIn(RequestModel):
    """What to change of a site's budget; what is left out stays."""

    page_budget: Annotated[int | None, Field(ge=0, le=MOST_CHOSEN)] = Field(
        None, description="How many pages rules choose by themselves."
    )
    pages_stored: Limit = None
    pages_fetched: Limit = None
    hosts: Limit = None
    query_variants: Limit = None
    url_bytes: Limit = None
    bytes: Limit = None
    parse_seconds: Limit = None
    robots_bytes: Limit = None


def budget_set(request: Request) -> SiteBudget:
    """Return what is set for every site."""
    found: SiteBudget = request.app.state.settings.budgets.site
    return found


async def budget_beside(
    connection: AsyncConnection, row: RecordRow, default: SiteBudget
) -> list[dict[str, Any]]:
    """Return the budget of a domain as its detail shows it."""
    lines = await budget_lines(connection, row.id, row.domain, default)
    return [asdict(line) for line in lines]


@router.patch(
    PATH,
    operation_id="change_domain_budget",
    summary="Raise or lower what may be taken of a site",
    responses=REFUSALS | NOT_FOUND,
)
async def change_domain_budget(
    request: Request,
    who: Curator,
    connection: Transaction,
    record_id: UUID,
    asked: DomainBudgetIn,
) -> list[SiteBudgetLine]:
    """Change a site's budget. Pages that were refused for it are queued again, and rules choose."""
    row = await record_of(connection, DOMAINS, record_id)
    default = budget_set(request)
    # Before any row: a stage that writes of the site has its lock first, too.
    await lock_sites(connection, [record_id])
    queued = await change_budget(
        connection,
        actor_of(who, request),
        record_id,
        asked.model_dump(exclude_none=True),
        default,
    )
    decided = await apply_rules(
        connection,
        who.tenant_id,
        KINDS["pages"],
        user_id=who.user_id,
        among=Condition(
            field="domain_id", comparison=Comparison.ONE_OF, value=[str(record_id)]
        ),
        site=default,
    )
    if queued or decided.queued:
        await curation_sdk.control.wake(connection, STAGE)
    lines = await budget_beside(connection, row, default)
    return [SiteBudgetLine(**line) for line in lines]
