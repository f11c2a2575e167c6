"""Make one company of two, and two of one again."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final
from uuid import UUID

import orjson
from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.kit.json_text import json_text
from scrapersky.records.audit import Actor
from scrapersky.records.change import ChangeEvent, note_changes
from scrapersky.records.status import LeadStatus

LOCK: Final = text(
    "SELECT pg_advisory_xact_lock(hashtextextended('companies ' || :tenant, 0))"
)
TWO: Final = text(
    f"""SELECT id, created_at, worked_at, lead_status::text AS lead_status, owner_id, notes,
      tags, own::text AS own, follow_up_on
    FROM companies WHERE tenant_id = :tenant AND id = ANY(:ids)
    ORDER BY (worked_at IS NULL AND lead_status = '{LeadStatus.NEW}'), created_at, id
    FOR UPDATE"""  # noqa: S608 - our own labels
)
MOVE: Final = text(
    "UPDATE company_members SET company_id = :into WHERE company_id = :gone RETURNING id"
)
KEEP: Final = text(
    """INSERT INTO company_merges (tenant_id, created_by, into_id, gone_id, work,
      work_before, member_ids, score, reasons, is_by_person)
    VALUES (:tenant, :by, :into, :gone, CAST(:work AS jsonb), CAST(:before AS jsonb),
      CAST(:members AS uuid[]), :score, CAST(:reasons AS text[]), :person)
    RETURNING id"""
)
FOLLOW: Final = text("UPDATE company_merges SET into_id = :into WHERE into_id = :gone")
WRITE: Final = text(
    """UPDATE companies SET lead_status = CAST(:lead_status AS lead_status),
      owner_id = CAST(:owner_id AS uuid), notes = :notes, tags = CAST(:tags AS text[]),
      own = CAST(:own AS jsonb), follow_up_on = CAST(:follow_up_on AS date),
      worked_at = CAST(:worked_at AS timestamptz)
    WHERE id = :id"""
)
DROP: Final = text("DELETE FROM companies WHERE id = :gone")
OPEN: Final = text(
    """SELECT into_id, gone_id, member_ids, work::text AS work,
      work_before::text AS work_before
    FROM company_merges WHERE tenant_id = :tenant AND id = :id AND undone_at IS NULL
    FOR UPDATE"""
)
RESTORE: Final = text(
    "INSERT INTO companies (id, tenant_id) VALUES (:id, :tenant) ON CONFLICT DO NOTHING"
)
MOVE_BACK: Final = text(
    """UPDATE company_members SET company_id = :gone WHERE id = ANY(:members)
      AND company_id = :into RETURNING id"""
)
UNDONE: Final = text(
    "UPDATE company_merges SET undone_at = clock_timestamp() WHERE id = :id"
)
WORKED: Final = (
    "lead_status", "owner_id", "notes", "tags", "own", "follow_up_on", "worked_at",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CompanyMergeResult:
    """What a merge came to."""

    id: UUID
    into: UUID
    gone: UUID


async def lock_companies(connection: AsyncConnection, tenant_id: UUID) -> None:
    """Let nobody else put the tenant's companies together until the commit."""
    await connection.execute(LOCK, {"tenant": str(tenant_id)})


async def merge_companies(
    connection: AsyncConnection,
    tenant_id: UUID,
    one: UUID,
    other: UUID,
    *,
    reasons: Sequence[str],
    score: float | None = None,
    into: UUID | None = None,
    actor: Actor | None = None,
) -> CompanyMergeResult | None:
    """Make one company of two; the one people have worked on stays, else the older.

    `into` names the one that stays, `actor` the person who says so. None: one of the two
    is gone already.
    """
    values = {"tenant": tenant_id, "ids": [one, other]}
    rows = (await connection.execute(TWO, values)).all()
    if len(rows) < 2:  # noqa: PLR2004 - a pair
        return None
    kept, gone = rows
    if into is not None and kept.id != into:
        kept, gone = gone, kept
    moved = (await connection.scalars(MOVE, {"into": kept.id, "gone": gone.id})).all()
    merge_id = await connection.scalar(
        KEEP,
        {
            "tenant": tenant_id,
            "by": actor.user_id if actor else None,
            "into": kept.id,
            "gone": gone.id,
            "work": json_text(work_of(gone)),
            "before": json_text(work_of(kept)),
            "members": [*moved],
            "score": score,
            "reasons": [*reasons],
            "person": actor is not None,
        },
    )
    await connection.execute(FOLLOW, {"into": kept.id, "gone": gone.id})
    if gone.worked_at is not None or gone.lead_status != "New":
        await write_work(connection, kept.id, joined_work(work_of(kept), work_of(gone)))
    await connection.execute(DROP, {"gone": gone.id})
    details = {"into": str(kept.id)}
    await note_changes(
        connection,
        tenant_id,
        "companies",
        [gone.id],
        ChangeEvent.MERGED,
        details=details,
    )
    assert merge_id is not None  # noqa: S101 - RETURNING
    return CompanyMergeResult(merge_id, kept.id, gone.id)


def work_of(row: Row[Any]) -> dict[str, Any]:
    """Return what people wrote about a company."""
    work = {name: getattr(row, name) for name in WORKED}
    return {**work, "own": orjson.loads(work["own"])}


def read_work(kept: str) -> dict[str, Any]:
    """Read what was kept of a merge; what is not in it was not written."""
    given = orjson.loads(kept)
    empty = {"lead_status": "New", "tags": [], "own": {}}
    return {name: given.get(name, empty.get(name)) for name in WORKED}


def joined_work(kept: dict[str, Any], gone: dict[str, Any]) -> dict[str, Any]:
    """Join what people wrote about two: nothing of it is lost."""
    notes = [each["notes"] for each in (kept, gone) if each["notes"]]
    days = [each["follow_up_on"] for each in (kept, gone) if each["follow_up_on"]]
    times = [each["worked_at"] for each in (kept, gone) if each["worked_at"]]
    return {
        "lead_status": joined_status(kept["lead_status"], gone["lead_status"]),
        "owner_id": kept["owner_id"] or gone["owner_id"],
        "notes": "\n\n".join(dict.fromkeys(notes)) or None,
        "tags": [*dict.fromkeys([*kept["tags"], *gone["tags"]])],
        "own": {**gone["own"], **kept["own"]},
        "follow_up_on": min(days, default=None),
        "worked_at": max(times, default=None),
    }


def joined_status(kept: str, gone: str) -> str:
    """Join two statuses: Do Not Contact above all, else what was decided first."""
    if LeadStatus.DO_NOT_CONTACT in {kept, gone}:
        return LeadStatus.DO_NOT_CONTACT.value
    return gone if kept == LeadStatus.NEW else kept


def inherited_work(work: dict[str, Any], status: str) -> dict[str, Any]:
    """Return what people wrote about a part, which is not contacted if the whole was not."""
    is_stopped = status == LeadStatus.DO_NOT_CONTACT
    return {**work, "lead_status": status} if is_stopped else work


async def write_work(
    connection: AsyncConnection, company_id: UUID, work: dict[str, Any]
) -> None:
    """Write what people said about a company."""
    owner, at, day = work["owner_id"], work["worked_at"], work["follow_up_on"]
    await connection.execute(
        WRITE,
        {
            **work,
            "id": company_id,
            "own": json_text(work["own"]),
            "owner_id": UUID(owner) if isinstance(owner, str) else owner,
            "follow_up_on": date.fromisoformat(day) if isinstance(day, str) else day,
            "worked_at": datetime.fromisoformat(at) if isinstance(at, str) else at,
        },
    )


async def part_companies(
    connection: AsyncConnection, tenant_id: UUID, merge_id: UUID
) -> tuple[CompanyMergeResult, list[UUID]] | None:
    """Take a merge back: the other company has its key, records and notes again.

    What people wrote since stays with the one that stayed, but for Do Not Contact, which
    both keep. None: it is undone already.
    """
    values = {"tenant": tenant_id, "id": merge_id}
    merge = (await connection.execute(OPEN, values)).one_or_none()
    if merge is None:
        return None
    await connection.execute(RESTORE, {"id": merge.gone_id, "tenant": tenant_id})
    where = {"gone": merge.gone_id, "into": merge.into_id, "members": merge.member_ids}
    moved = (await connection.scalars(MOVE_BACK, where)).all()
    theirs, before = read_work(merge.work), read_work(merge.work_before)
    rows = {"tenant": tenant_id, "ids": [merge.into_id]}
    now = (await connection.execute(TWO, rows)).one()
    await write_work(connection, merge.gone_id, inherited_work(theirs, now.lead_status))
    joined = joined_work(before, theirs)
    if comparable_work(work_of(now)) == comparable_work(joined):
        kept = inherited_work(before, now.lead_status)
        await write_work(connection, merge.into_id, kept)
    await connection.execute(UNDONE, {"id": merge_id})
    return CompanyMergeResult(merge_id, merge.into_id, merge.gone_id), [*moved]


def comparable_work(work: dict[str, Any]) -> bytes:
    """Return what people wrote in a form that can be compared."""
    content = {name: value for name, value in work.items() if name != "worked_at"}
    return orjson.dumps(content, default=str, option=orjson.OPT_SORT_KEYS)
