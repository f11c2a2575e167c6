"""What sales ask about leads: what waits for them, what searches brought, who did what."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.records.curation import ActionType
from scrapersky.records.status import LeadStatus

COUNTED_LEADS: Final = 10_000
"""Leads that are counted one by one; of more, that there are more."""
FUNNEL_PLACES: Final = 200_000
"""Places of all searches of one question that are looked at."""
REACHED: Final = {
    "contacted": (
        LeadStatus.CONTACTED, LeadStatus.REPLIED, LeadStatus.WON, LeadStatus.LOST,
    ),
    "replied": (LeadStatus.REPLIED, LeadStatus.WON),
    "won": (LeadStatus.WON,),
}  # fmt: skip
"""How far a lead has come, by its status now: whoever was won at once was contacted, too."""


def array_of(statuses: Iterable[LeadStatus]) -> str:
    """Write statuses as an array of SQL."""
    return "ARRAY[" + ", ".join(f"'{status}'" for status in statuses) + "]"


def has_reached(step: str, status: str) -> str:
    """Write the condition that a status is as far as a step."""
    return f"{status}::text = ANY({array_of(REACHED[step])})"


FUNNEL: Final = text(
    f"""WITH hits AS MATERIALIZED (
      SELECT h.search_id, h.place_id FROM place_search_hits h
      WHERE h.tenant_id = :tenant AND h.search_id = ANY(:searches)
      LIMIT {FUNNEL_PLACES}),
    found AS (SELECT DISTINCT h.search_id, m.company_id FROM hits h
      JOIN company_members m ON m.place_id = h.place_id WHERE m.company_id IS NOT NULL)
    SELECT s.search_id, p.places, count(c.id) AS companies, count(c.website) AS websites,
      count(c.email_contact_id) AS emails,
      count(*) FILTER (WHERE c.email_kind = 'person') AS named_people,
      count(*) FILTER (WHERE {has_reached("contacted", "c.lead_status")}) AS contacted,
      count(*) FILTER (WHERE {has_reached("won", "c.lead_status")}) AS won
    FROM unnest(CAST(:searches AS uuid[])) AS s(search_id)
    CROSS JOIN LATERAL (SELECT count(*) AS places FROM hits h
      WHERE h.search_id = s.search_id) p
    LEFT JOIN found f ON f.search_id = s.search_id
    LEFT JOIN companies c ON c.id = f.company_id
    GROUP BY s.search_id, p.places"""  # noqa: S608 - our own labels
)
MINE: Final = text(
    f"""SELECT lead_status::text AS status, count(*) AS leads FROM (
      SELECT lead_status FROM companies WHERE tenant_id = :tenant AND owner_id = :user
      LIMIT {COUNTED_LEADS}) mine GROUP BY lead_status"""  # noqa: S608 - a constant
)
COUNTED: Final = {
    "new_this_week": "first_seen_at >= now() - interval '7 days'",
    "follow_ups_due": "follow_up_on <= current_date",
    "my_follow_ups_due": "follow_up_on <= current_date AND owner_id = :user",
    "unassigned": "owner_id IS NULL",
}
"""What is counted of the leads of a tenant, by the name of the number."""
COUNT: Final = """(SELECT count(*) FROM (SELECT FROM companies
  WHERE tenant_id = :tenant AND {condition} LIMIT {most}) c) AS {name}"""
COUNTS: Final = text(
    "SELECT "
    + ", ".join(
        COUNT.format(condition=condition, most=COUNTED_LEADS + 1, name=name)
        for name, condition in COUNTED.items()
    )
)
LATEST_SEARCHES: Final = text(
    """SELECT id, business_type, location, source, status::text AS status, created_at
    FROM place_searches WHERE tenant_id = :tenant
    ORDER BY updated_at DESC, id DESC LIMIT :most"""
)
STEPS: Final = ", ".join(
    f"('{step}', {array_of(statuses)})" for step, statuses in REACHED.items()
)
COUNTED_STEPS: Final = ", ".join(
    f"count(*) FILTER (WHERE b.step = '{step}') AS {step}" for step in REACHED
)
# A lead counts once, in the week of the decision that brought it as far as it still is:
# together that is as many as stand so in the lists and in the funnels.
WORK: Final = text(
    f"""WITH brought AS (
      SELECT DISTINCT ON (s.step, h.record_id) s.step, s.statuses, h.record_id,
        a.created_at, a.created_by
      FROM curation_actions a JOIN curation_changes h ON h.action_id = a.id
      JOIN (VALUES {STEPS}) AS s(step, statuses)
        ON a.status = ANY(s.statuses) AND h.status_before <> ALL(s.statuses)
      WHERE a.tenant_id = :tenant AND a.kind = 'companies' AND a.undone_at IS NULL
        AND a.what = '{ActionType.DECIDED}'
        AND a.created_at >= date_trunc('week', now()) - make_interval(weeks => :weeks)
      ORDER BY s.step, h.record_id, a.created_at DESC)
    SELECT CAST(date_trunc('week', b.created_at) AS date) AS week,
      b.created_by AS user_id, coalesce(u.name, u.email) AS person,
      {COUNTED_STEPS}
    FROM brought b
    JOIN companies c ON c.id = b.record_id AND c.lead_status::text = ANY(b.statuses)
    LEFT JOIN users u ON u.id = b.created_by
    GROUP BY 1, 2, 3 ORDER BY 1 DESC, 3 LIMIT 2000"""  # noqa: S608 - our own labels
)


@dataclass(frozen=True, slots=True)
class SearchFunnel:
    """How much of what a search found came how far: each number is a part of one before."""

    search_id: UUID
    places: int
    companies: int
    websites: int
    emails: int
    named_people: int
    contacted: int
    won: int


@dataclass(frozen=True, slots=True)
class WeekOfWork:
    """How many leads one person brought how far in a week."""

    week: date
    user_id: UUID | None
    person: str | None
    contacted: int
    replied: int
    won: int


async def funnels_of(
    connection: AsyncConnection, tenant_id: UUID, searches: Collection[UUID]
) -> dict[UUID, SearchFunnel]:
    """Count how much of what searches found came how far."""
    values = {"tenant": tenant_id, "searches": [*searches]}
    rows = await connection.execute(FUNNEL, values)
    return {row.search_id: SearchFunnel(**row._asdict()) for row in rows}


async def my_leads(
    connection: AsyncConnection, tenant_id: UUID, user_id: UUID | None
) -> dict[str, int]:
    """Count the leads of one person by status."""
    values = {"tenant": tenant_id, "user": user_id}
    return {row.status: row.leads for row in await connection.execute(MINE, values)}


async def lead_counts(
    connection: AsyncConnection, tenant_id: UUID, user_id: UUID | None
) -> dict[str, int]:
    """Count what waits for somebody, up to a bound."""
    values = {"tenant": tenant_id, "user": user_id}
    row = (await connection.execute(COUNTS, values)).one()
    return {name: min(count, COUNTED_LEADS) for name, count in row._asdict().items()}


async def latest_searches(
    connection: AsyncConnection, tenant_id: UUID, most: int
) -> Sequence[Any]:
    """Return the searches that were worked on last."""
    values = {"tenant": tenant_id, "most": most}
    return (await connection.execute(LATEST_SEARCHES, values)).all()


async def work_by_week(
    connection: AsyncConnection, tenant_id: UUID, weeks: int
) -> list[WeekOfWork]:
    """Report whom people have contacted and won, week by week, the latest first."""
    values = {"tenant": tenant_id, "weeks": weeks - 1}
    rows = await connection.execute(WORK, values)
    return [WeekOfWork(**row._asdict()) for row in rows]
