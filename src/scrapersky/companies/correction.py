"""What people say about companies: one or two; their last word always stands."""

from collections.abc import Collection, Sequence
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.companies.clustering import in_order
from scrapersky.companies.merging import (
    CompanyMergeResult,
    lock_companies,
    merge_companies,
    part_companies,
)
from scrapersky.companies.summary import sum_up
from scrapersky.errors import InvalidDecision, UnknownRecord
from scrapersky.kit.json_text import json_text
from scrapersky.records.audit import Actor, note
from scrapersky.records.status import (
    LeadStatus,
    PairVerdict,
)

MOST_PAIRS: Final = 2_000
BY_HAND: Final = "a person says that they are one company"

MEMBERS: Final = text(
    """SELECT id, company_id FROM company_members
    WHERE tenant_id = :tenant AND company_id = ANY(:ids) ORDER BY created_at, id"""
)
# Whoever speaks last is heard; that somebody else had said the opposite is kept.
SAY: Final = text(
    """INSERT INTO company_pairs AS k (tenant_id, left_id, right_id, score, reasons,
      verdict, decided_by, decided_at)
    SELECT CAST(:tenant AS uuid), left_id, right_id, CAST(:score AS float8), '{}',
      CAST(:verdict AS pair_verdict), CAST(:by AS uuid), clock_timestamp()
    FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS r(left_id uuid, right_id uuid)
    ON CONFLICT (left_id, right_id) DO UPDATE SET
      is_disputed = k.is_disputed OR (k.verdict IS DISTINCT FROM excluded.verdict
        AND k.verdict IS NOT NULL AND k.decided_by IS DISTINCT FROM excluded.decided_by),
      verdict = excluded.verdict, decided_by = excluded.decided_by,
      decided_at = excluded.decided_at"""
)
# Of an older word that they are two, nothing may be left that would part them again.
OVERRULE: Final = text(
    f"""UPDATE company_pairs SET verdict = '{PairVerdict.SAME}', decided_by = CAST(:by AS uuid),
      is_disputed = is_disputed OR decided_by IS DISTINCT FROM CAST(:by AS uuid),
      decided_at = clock_timestamp()
    WHERE verdict = '{PairVerdict.DIFFERENT}'
      AND left_id = ANY(:members) AND right_id = ANY(:members)"""  # noqa: S608 - our own labels
)
# Who must not be contacted stays so in both parts.
START: Final = text(
    f"""INSERT INTO companies (tenant_id, lead_status) SELECT tenant_id,
      CASE lead_status WHEN '{LeadStatus.DO_NOT_CONTACT}' THEN lead_status
        ELSE '{LeadStatus.NEW}' END
    FROM companies WHERE tenant_id = :tenant AND id = :company RETURNING id"""  # noqa: S608 - our own labels
)
MOVE: Final = text(
    """UPDATE company_members SET company_id = :to, score = NULL,
      reasons = ARRAY['a person says that it is a company of its own']
    WHERE id = ANY(:ids)"""
)
PAIR: Final = text(
    """SELECT k.id, l.company_id AS left_company, r.company_id AS right_company,
      k.left_id, k.right_id
    FROM company_pairs k JOIN company_members l ON l.id = k.left_id
    JOIN company_members r ON r.id = k.right_id
    WHERE k.tenant_id = :tenant AND k.id = :id"""
)
QUESTIONS: Final = text(
    """SELECT k.id, k.score, k.reasons, k.verdict::text AS verdict, k.is_disputed,
      l.company_id AS one_id, l.name AS one_name, l.phone AS one_phone,
      l.domain AS one_domain, l.street AS one_street, l.source AS one_source,
      r.company_id AS other_id, r.name AS other_name, r.phone AS other_phone,
      r.domain AS other_domain, r.street AS other_street, r.source AS other_source
    FROM company_pairs k JOIN company_members l ON l.id = k.left_id
    JOIN company_members r ON r.id = k.right_id
    WHERE k.tenant_id = :tenant AND (k.verdict IS NULL OR k.is_disputed)
      AND (k.is_disputed OR l.company_id <> r.company_id)
    ORDER BY k.is_disputed DESC, k.score DESC, k.id LIMIT :most"""
)
MERGES: Final = text(
    """SELECT id, into_id, gone_id, score, reasons, is_by_person, created_at, undone_at,
      work->>'notes' AS notes, cardinality(member_ids) AS records
    FROM company_merges WHERE tenant_id = :tenant AND into_id = :company
    ORDER BY created_at DESC, id LIMIT 100"""
)


async def members_of(
    connection: AsyncConnection, actor: Actor, companies: Collection[UUID]
) -> dict[UUID, list[UUID]]:
    """Return the records of some companies of the actor's tenant, the oldest first."""
    values = {"tenant": actor.tenant_id, "ids": [*companies]}
    found: dict[UUID, list[UUID]] = {}
    for row in await connection.execute(MEMBERS, values):
        found.setdefault(row.company_id, []).append(row.id)
    return found


async def say_same(
    connection: AsyncConnection, actor: Actor, into: UUID, others: Sequence[UUID]
) -> list[CompanyMergeResult]:
    """Make one company of several, and keep them one whatever sources say."""
    await lock_companies(connection, actor.tenant_id)
    wanted = [into, *(each for each in dict.fromkeys(others) if each != into)]
    members = await members_of(connection, actor, wanted)
    if len(wanted) < 2 or any(each not in members for each in wanted):  # noqa: PLR2004
        raise InvalidDecision(
            "A merge needs two or more companies of yours; nothing was changed.",
            hint="List the companies again: some may be gone.",
        )
    together = [each for one in wanted for each in members[one]]
    values = {"by": actor.user_id, "members": together}
    await connection.execute(OVERRULE, values)
    pairs = [in_order(members[into][0], members[one][0]) for one in wanted[1:]]
    await say(connection, actor, PairVerdict.SAME, pairs)
    merged = []
    for one in wanted[1:]:
        done = await merge_companies(
            connection,
            actor.tenant_id,
            into,
            one,
            reasons=(BY_HAND,),
            score=1.0,
            into=into,
            actor=actor,
        )
        if done is not None:
            merged.append(done)
    await sum_up(connection, [into])
    details = {"merged": [str(one) for one in wanted[1:]]}
    await note(connection, actor, "merged", "companies", details, record_id=into)
    return merged


async def say_different(
    connection: AsyncConnection, actor: Actor, company: UUID, leaving: Sequence[UUID]
) -> UUID:
    """Make some records of a company one of their own; return its key."""
    await lock_companies(connection, actor.tenant_id)
    members = (await members_of(connection, actor, [company])).get(company, [])
    staying = [each for each in members if each not in leaving]
    if not staying or len(staying) + len({*leaving}) != len(members):
        raise InvalidDecision(
            "A company is split by naming some of its records, and not all of them.",
            hint="Read the company again for its records.",
        )
    begun = {"tenant": actor.tenant_id, "company": company}
    made = await connection.scalar(START, begun)
    assert made is not None  # noqa: S101 - RETURNING
    await connection.execute(MOVE, {"to": made, "ids": [*leaving]})
    await keep_apart(connection, actor, staying, leaving)
    await sum_up(connection, [company, made])
    details = {"into": str(made), "records": len(leaving)}
    await note(connection, actor, "split", "companies", details, record_id=company)
    return UUID(str(made))


async def take_back_merge(
    connection: AsyncConnection, actor: Actor, merge_id: UUID
) -> CompanyMergeResult:
    """Make two companies again of what was merged, and keep them two."""
    await lock_companies(connection, actor.tenant_id)
    parted = await part_companies(connection, actor.tenant_id, merge_id)
    if parted is None:
        raise UnknownRecord("There is no such merge to undo, or it is undone.")
    merged, moved = parted
    members = await members_of(connection, actor, [merged.into])
    await keep_apart(connection, actor, members.get(merged.into, []), moved)
    await sum_up(connection, [merged.into, merged.gone])
    details = {"parted": str(merged.gone)}
    await note(connection, actor, "parted", "companies", details, record_id=merged.into)
    return merged


async def answer_question(
    connection: AsyncConnection, actor: Actor, pair_id: UUID, verdict: PairVerdict
) -> None:
    """Answer whether two records are one company."""
    await lock_companies(connection, actor.tenant_id)
    values = {"tenant": actor.tenant_id, "id": pair_id}
    pair = (await connection.execute(PAIR, values)).one_or_none()
    if pair is None or None in (pair.left_company, pair.right_company):
        raise UnknownRecord("There is no such pair.")
    are_one = pair.left_company == pair.right_company
    if verdict is PairVerdict.SAME and not are_one:
        await say_same(connection, actor, pair.left_company, [pair.right_company])
    elif verdict is PairVerdict.DIFFERENT and are_one:
        await say_different(connection, actor, pair.left_company, [pair.right_id])
    await say(connection, actor, verdict, [(pair.left_id, pair.right_id)])


async def keep_apart(
    connection: AsyncConnection,
    actor: Actor,
    staying: Sequence[UUID],
    leaving: Sequence[UUID],
) -> None:
    """Keep that none of some records is of the company of others."""
    pairs = [in_order(one, other) for one in staying for other in leaving]
    await say(connection, actor, PairVerdict.DIFFERENT, pairs[:MOST_PAIRS])


async def say(
    connection: AsyncConnection,
    actor: Actor,
    verdict: PairVerdict,
    pairs: Sequence[tuple[UUID, UUID]],
) -> None:
    """Keep what a person said about pairs of records."""
    rows = [{"left_id": left, "right_id": right} for left, right in pairs]
    await connection.execute(
        SAY,
        {
            "tenant": actor.tenant_id,
            "by": actor.user_id,
            "verdict": verdict.value,
            "score": 1.0 if verdict is PairVerdict.SAME else 0.0,
            "rows": json_text(rows),
        },
    )


async def questions(
    connection: AsyncConnection, tenant_id: UUID, most: int
) -> Sequence[Row[Any]]:
    """Return the pairs a person is asked about: disputes first, then the likeliest."""
    values = {"tenant": tenant_id, "most": most}
    return (await connection.execute(QUESTIONS, values)).all()


async def merges_into(
    connection: AsyncConnection, tenant_id: UUID, company: UUID
) -> Sequence[Row[Any]]:
    """Return what a company was merged from, the latest first."""
    values = {"tenant": tenant_id, "company": company}
    return (await connection.execute(MERGES, values)).all()
