"""How long each kind of data is kept, and the purge that holds us to it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from curation_sdk import queries
from scrapersky.db.steps import stepwise
from scrapersky.db.transaction import Database, transaction
from scrapersky.kit.stopping import IsStopping, never

MOST_COUNTED = 10_000


@dataclass(frozen=True, slots=True)
class RetentionRule:
    """One kind of data: which rows, from when on, and what becomes of them."""

    name: str
    setting: str
    what: str
    table: str
    since: str
    purge: tuple[str, ...]
    where: str = "true"


# Not clock_timestamp(): what may change from row to row cannot be looked up in an index.
TOO_OLD = "< statement_timestamp() - CAST(:age AS interval)"


def deletion(table: str, since: str, where: str = "true") -> str:
    """Write the deletion of the next rows of a table that are too old."""
    return f"""DELETE FROM {table} WHERE id IN (SELECT id FROM {table}
      WHERE {since} {TOO_OLD} AND {where}
      LIMIT :chunk FOR UPDATE SKIP LOCKED)"""  # noqa: S608 - our own words


def deletion_by_tenant(table: str) -> str:
    """Write the same for rows that have an index by tenant and time."""
    return f"""DELETE FROM {table} WHERE id IN (SELECT due.id FROM tenants t
      CROSS JOIN LATERAL (SELECT id FROM {table}
        WHERE tenant_id = t.id AND updated_at {TOO_OLD} ORDER BY updated_at
        LIMIT :chunk FOR UPDATE SKIP LOCKED) AS due LIMIT :chunk)"""  # noqa: S608 - our own words


# No row is left that could show open pages that contacts have gone: the audit log does.
CONTACTS = f"""WITH gone AS ({deletion_by_tenant("contacts")} RETURNING tenant_id),
  noted AS (INSERT INTO audit_log (tenant_id, actor, action, subject, details)
    SELECT tenant_id, 'retention', 'purged', 'contacts',
      jsonb_build_object('contacts', count(*)) FROM gone GROUP BY tenant_id)
  SELECT tenant_id FROM gone"""  # noqa: S608 - our own words

KINDS = (
    RetentionRule(
        "contacts",
        "CONTACT_DAYS",
        "deleted, with their evidence, when not found or changed for so long",
        "contacts",
        "updated_at",
        (CONTACTS,),
    ),
    RetentionRule(
        "people",
        "CONTACT_DAYS",
        "deleted when not found or changed for so long, as contacts are",
        "people",
        "updated_at",
        (deletion_by_tenant("people"),),
    ),
    RetentionRule(
        "place data",
        "PLACE_DATA_DAYS",
        "the source's own answer is forgotten; the facts taken from it stay",
        "places_staging",
        "seen_at",
        (
            """UPDATE places_staging SET raw = NULL WHERE id IN (
              SELECT id FROM places_staging WHERE raw IS NOT NULL
              AND seen_at < statement_timestamp() - CAST(:age AS interval)
              LIMIT :chunk FOR UPDATE SKIP LOCKED)""",
        ),
        where="raw IS NOT NULL",
    ),
    RetentionRule(
        "gone pages",
        "GONE_PAGE_DAYS",
        "deleted so long after their site stopped naming them",
        "pages",
        "gone_at",
        (deletion("pages", "gone_at"),),
    ),
    RetentionRule(
        "decisions",
        "DECISION_DAYS",
        "deleted; they cannot be undone any more",
        "curation_actions",
        "created_at",
        (
            """DELETE FROM curation_changes WHERE (action_id, record_id) IN (
              SELECT c.action_id, c.record_id FROM curation_changes c
              JOIN curation_actions a ON a.id = c.action_id
              WHERE a.created_at < statement_timestamp() - CAST(:age AS interval)
              LIMIT :chunk FOR UPDATE OF c SKIP LOCKED)""",
            deletion("curation_actions", "created_at"),
        ),
    ),
    RetentionRule(
        "submissions",
        "SUBMISSION_DAYS",
        "submitted lines and their batches are deleted; the records stay",
        "batch_jobs",
        "created_at",
        (
            deletion("batch_items", "created_at"),
            deletion(
                "batch_jobs",
                "created_at",
                "NOT EXISTS (SELECT FROM batch_items i WHERE i.batch_id = batch_jobs.id)",
            ),
        ),
    ),
    RetentionRule(
        "dead letters",
        "DEAD_LETTER_DAYS",
        "deleted; their records keep the error",
        queries.DEAD_LETTERS,
        "died_at",
        (queries.PURGE_DEAD_LETTERS,),
    ),
    RetentionRule(
        "audit log",
        "AUDIT_DAYS",
        "deleted",
        "audit_log",
        "created_at",
        (deletion("audit_log", "created_at"),),
    ),
)
"""Every kind with a time of its own. Who is on the suppression list stays on it."""

LENT = (
    """UPDATE places_staging SET name = NULL, address = NULL, latitude = NULL,
      longitude = NULL, rating = NULL, reviews_count = NULL, price_level = NULL,
      categories = '{}', website = NULL, phone = NULL, business_status = NULL,
      moved_to = NULL, raw = NULL, seen_at = NULL, expires_at = NULL
    WHERE id IN (SELECT id FROM places_staging WHERE expires_at <= statement_timestamp()
      ORDER BY expires_at LIMIT :chunk FOR UPDATE SKIP LOCKED)""",
    """UPDATE local_businesses SET name = NULL, street = NULL, city = NULL,
      region = NULL, postal_code = NULL, country = NULL, phone = NULL, website = NULL,
      categories = '{}', hours = NULL, rating = NULL, reviews_count = NULL,
      latitude = NULL, longitude = NULL, attributes = '{}', links = '{}',
      expires_at = NULL
    WHERE id IN (SELECT id FROM local_businesses WHERE expires_at <= statement_timestamp()
      ORDER BY expires_at LIMIT :chunk FOR UPDATE SKIP LOCKED)""",
)
"""What a source lends only for a while; ids, links and people's decisions stay."""


@dataclass(frozen=True, slots=True)
class Overdue:
    """How one kind stands: how long it is kept, since when the oldest is."""

    kind: RetentionRule
    days: int | None
    oldest_at: datetime | None
    overdue: int


async def forget_expired(engine: AsyncEngine, is_stopping: IsStopping = never) -> int:
    """Clear what sources said about places and businesses whose time is over.

    A deep scan asks the source anew. Returns how many rows were cleared.
    """
    return await stepwise(engine, LENT, {}, is_stopping)


async def purge_expired(
    engine: AsyncEngine, days: Mapping[str, int], is_stopping: IsStopping = never
) -> dict[str, int]:
    """Purge every kind whose days are not 0, in short steps; return rows by kind."""
    return {
        kind.name: await stepwise(
            engine, kind.purge, {"age": timedelta(days=days[kind.setting])}, is_stopping
        )
        for kind in KINDS
        if days[kind.setting]
    }


async def overdue(database: Database, days: Mapping[str, int]) -> list[Overdue]:
    """Tell of every kind how long it is kept, and what should be gone by now."""
    found = []
    for kind in KINDS:
        kept = days[kind.setting] or None
        async with transaction(database) as connection:
            oldest = await connection.scalar(
                text(
                    f"SELECT min({kind.since}) FROM {kind.table} WHERE {kind.where}"  # noqa: S608
                )
            )
            due = kept and await connection.scalar(
                text(
                    f"SELECT count(*) FROM (SELECT FROM {kind.table} WHERE {kind.where}"  # noqa: S608
                    f" AND {kind.since} < statement_timestamp() - CAST(:age AS interval)"
                    f" LIMIT {MOST_COUNTED}) AS due"
                ),
                {"age": timedelta(days=kept)},
            )
        found.append(Overdue(kind, kept, oldest, due or 0))
    return found
