"""How long each kind of data is kept, and the purge that holds us to it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from curation_sdk import queries
from scrapersky.db.chunks import change_in_chunks
from scrapersky.db.transaction import Database, transaction
from scrapersky.kit.stopping import IsStopping, never
from scrapersky.records.snapshot import VoidReason

MAX_COUNTED_ROWS = 10_000


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


# What a website that is visited still says has been found at the last visit.
FOUND_AGAIN = f"""EXISTS (SELECT FROM site_visits v
  WHERE v.domain_id = {{table}}.domain_id AND v.unreachable_since IS NULL
    AND NOT v.visited_at {TOO_OLD}) AND {{table}}.gone_at IS NULL"""


def deletion_by_tenant(table: str) -> str:
    """Write the same for rows of websites, which have an index by tenant and time."""
    return f"""DELETE FROM {table} WHERE id IN (SELECT due.id FROM tenants t
      CROSS JOIN LATERAL (SELECT id FROM {table}
        WHERE tenant_id = t.id AND updated_at {TOO_OLD}
          AND NOT ({FOUND_AGAIN.format(table=table)}) ORDER BY updated_at
        LIMIT :chunk FOR UPDATE SKIP LOCKED) AS due LIMIT :chunk)"""  # noqa: S608 - our own words


# No row is left that could show open pages that contacts have gone: the audit log does.
CONTACTS = f"""WITH gone AS ({deletion_by_tenant("contacts")} RETURNING tenant_id),
  noted AS (INSERT INTO audit_log (tenant_id, actor, action, subject, details)
    SELECT tenant_id, 'retention', 'purged', 'contacts',
      jsonb_build_object('contacts', count(*)) FROM gone GROUP BY tenant_id)
  SELECT tenant_id FROM gone"""  # noqa: S608 - our own words

EXPIRED_SNAPSHOTS = f"""UPDATE page_snapshots SET voided_at = clock_timestamp(),
    void_reason = '{VoidReason.EXPIRED}'
  WHERE id IN (SELECT due.id FROM tenants t CROSS JOIN LATERAL (SELECT id FROM page_snapshots
      WHERE tenant_id = t.id AND voided_at IS NULL AND seen_at {TOO_OLD} ORDER BY seen_at
      LIMIT :chunk FOR UPDATE SKIP LOCKED) AS due LIMIT :chunk)"""  # noqa: S608 - our label

# Cursors name the entry that was read last, so the last of a tenant stays.
CHANGES = f"""DELETE FROM record_changes WHERE (tenant_id, position) IN (
  SELECT t.id, due.position FROM tenants t
  CROSS JOIN LATERAL (SELECT created_at FROM record_changes WHERE tenant_id = t.id
    ORDER BY position LIMIT 1) AS oldest
  CROSS JOIN LATERAL (SELECT max(position) AS position FROM record_changes
    WHERE tenant_id = t.id) AS latest
  CROSS JOIN LATERAL (SELECT position, created_at FROM record_changes
    WHERE tenant_id = t.id AND position < latest.position
    ORDER BY position LIMIT :chunk) AS due
  WHERE oldest.created_at {TOO_OLD} AND due.created_at {TOO_OLD} LIMIT :chunk)"""  # noqa: S608
OLDEST_CHANGES = f"""(SELECT due.created_at FROM tenants t CROSS JOIN LATERAL (
  SELECT created_at FROM record_changes WHERE tenant_id = t.id AND position <
    (SELECT max(position) FROM record_changes WHERE tenant_id = t.id)
  ORDER BY position LIMIT {MAX_COUNTED_ROWS}) AS due) AS oldest"""  # noqa: S608 - our own words

RETENTION_RULES = (
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
        "stored pages",
        "SNAPSHOT_DAYS",
        "the bytes are removed; that the page was read, and its hash, stay with the page",
        "page_snapshots",
        "seen_at",
        (EXPIRED_SNAPSHOTS,),
        where="voided_at IS NULL",
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
        "samples",
        "DECISION_DAYS",
        "deleted with their marks, which measure nothing any more",
        "value_samples",
        "created_at",
        (deletion("value_samples", "created_at"),),
    ),
    RetentionRule(
        "submissions",
        "SUBMISSION_DAYS",
        "imported lines and their imports are deleted; the records stay",
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
        "failed records",
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
    RetentionRule(
        "change log",
        "CHANGE_DAYS",
        "deleted; whoever follows changes and is further behind starts over",
        OLDEST_CHANGES,
        "created_at",
        (CHANGES,),
    ),
    RetentionRule(
        "webhook messages",
        "CHANGE_DAYS",
        "those that were sent, or given up, are deleted with what they were about",
        "webhook_deliveries",
        "created_at",
        (deletion("webhook_deliveries", "created_at", "state <> 'pending'"),),
        where="state <> 'pending'",
    ),
    RetentionRule(
        "writes to CRMs",
        "CHANGE_DAYS",
        "deleted with the values that they replaced; a run so old cannot be undone",
        "sync_writes",
        "created_at",
        (deletion("sync_writes", "created_at"),),
    ),
    RetentionRule(
        "differences",
        "CONTACT_DAYS",
        "deleted: what changed so long ago is not shown any more",
        "differences",
        "created_at",
        (deletion("differences", "created_at"),),
    ),
)
"""Every kind with a time of its own. Who is on the suppression list stays on it."""

CLEAR_EXPIRED = (
    # First, while it is known of which companies it was lent.
    """UPDATE sampled_values SET value = NULL, snippet = NULL
    WHERE (sample_id, position) IN (
      SELECT v.sample_id, v.position FROM company_members m
      JOIN sampled_values v ON v.tenant_id = m.tenant_id AND v.record_id = m.company_id
      LEFT JOIN places_staging p ON p.id = m.place_id
      LEFT JOIN local_businesses b ON b.id = m.business_id
      WHERE v.value IS NOT NULL AND least(p.expires_at, b.expires_at) <= statement_timestamp()
        AND EXISTS (SELECT FROM value_samples s WHERE s.id = v.sample_id
          AND s.field IN ('phone', 'address'))
      LIMIT :chunk FOR UPDATE OF v SKIP LOCKED)""",
    """DELETE FROM differences WHERE id IN (SELECT id FROM differences
      WHERE expires_at <= statement_timestamp()
      ORDER BY expires_at LIMIT :chunk FOR UPDATE SKIP LOCKED)""",
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
class RetentionStatus:
    """How one kind stands: how long it is kept, since when the oldest is."""

    kind: RetentionRule
    days: int | None
    oldest_at: datetime | None
    overdue: int


async def forget_expired(engine: AsyncEngine, is_stopping: IsStopping = never) -> int:
    """Clear what sources said about places and businesses whose time is over.

    A deep scan asks the source anew. Returns how many rows were cleared.
    """
    return await change_in_chunks(engine, CLEAR_EXPIRED, {}, is_stopping)


async def purge_expired(
    engine: AsyncEngine, days: Mapping[str, int], is_stopping: IsStopping = never
) -> dict[str, int]:
    """Purge every kind whose days are not 0, in short steps; return rows by kind."""
    return {
        kind.name: await change_in_chunks(
            engine, kind.purge, {"age": timedelta(days=days[kind.setting])}, is_stopping
        )
        for kind in RETENTION_RULES
        if days[kind.setting]
    }


async def retention_status(
    database: Database, days: Mapping[str, int]
) -> list[RetentionStatus]:
    """Tell of every kind how long it is kept, and what should be gone by now."""
    found = []
    for kind in RETENTION_RULES:
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
                    f" LIMIT {MAX_COUNTED_ROWS}) AS due"
                ),
                {"age": timedelta(days=kept)},
            )
        found.append(RetentionStatus(kind, kept, oldest, due or 0))
    return found
