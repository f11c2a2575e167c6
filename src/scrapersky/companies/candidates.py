"""Read some records, and everything that decides which companies they are of."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, starmap
from typing import Any, Final
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from scrapersky.companies.clustering import MOST_COMPARED, Clusters, Pair, in_order
from scrapersky.companies.evidence import Facts
from scrapersky.records.status import (
    LeadStatus,
    PairVerdict,
)

MAX_ALIKE: Final = 20
"""Records of one chunk with the same value that each of them is compared with."""
MOST_MEMBERS: Final = 50
"""Records of one company about which a person's word is looked for."""
MAX_ROWS_SEEN: Final = 200
"""Rows that are looked at for candidates: those of the same value that wait may be many."""

# In the order of the fields of `Facts`, and when the row was last changed.
COLUMNS: Final = """m.id, m.name, m.domain, m.phone, m.social, m.street, m.locality,
  m.postal_code, m.latitude, m.longitude, m.domain_id IS NOT NULL, m.company_id,
  (SELECT n.id FROM places_staging q JOIN company_members n ON n.place_id = q.id
    WHERE m.moved_to IS NOT NULL AND q.tenant_id = m.tenant_id
      AND q.source = m.source AND q.source_place_id = m.moved_to),
  m.name_block, m.near_block, m.updated_at"""
UNMATCHED: Final = text(
    f"""SELECT {COLUMNS} FROM company_members m
    WHERE m.tenant_id = :tenant AND NOT m.is_matched AND m.id > :after
    ORDER BY m.id LIMIT :most"""  # noqa: S608 - our own columns
)
BY_IDS: Final = text(
    f"SELECT {COLUMNS} FROM company_members m WHERE m.id = ANY(:ids)"  # noqa: S608
)
MEMBERS: Final = text(
    f"""SELECT c.id, ARRAY(SELECT f.id FROM company_members f WHERE f.company_id = c.id
      LIMIT {MOST_MEMBERS}) AS members
    FROM unnest(CAST(:ids AS uuid[])) AS c(id)"""  # noqa: S608 - a constant
)
WAYS: Final = {
    "domain": ("domain = w.value", 30),
    "phone": ("phone = w.value", 20),
    "social": ("social = w.value", 20),
    "name": ("name_block = w.value", 20),
    "near": ("near_block = ANY(string_to_array(w.value, ' '))", 50),
}
"""The ways to a candidate, and how many each one finds."""


def found_by(way: str, condition: str, most: int) -> str:
    """Write the part of a query that finds matched records by some values of one kind."""
    return f"""SELECT '{way}' AS way, w.value, f.ids, f.companies
    FROM unnest(CAST(:{way} AS text[])) AS w(value) CROSS JOIN LATERAL (
      SELECT array_agg(g.id) AS ids, array_agg(g.company_id) AS companies FROM (
        SELECT r.id, r.company_id FROM (
          SELECT o.id, o.company_id, o.is_matched FROM company_members o
          WHERE o.tenant_id = :tenant AND o.{condition} LIMIT {MAX_ROWS_SEEN}) r
        WHERE r.is_matched LIMIT {most}) g) f
    WHERE f.ids IS NOT NULL"""  # noqa: S608 - our own columns


# Every way to a candidate is bounded, so that a directory's phone number or a brand of
# thousands costs no more than a neighbour; records of the same value share what it finds.
ALIKE: Final = text(
    " UNION ALL ".join(starmap(found_by, ((way, *how) for way, how in WAYS.items())))
)
RELATED: Final = text(
    f"""SELECT m.id AS one, found.id AS other FROM company_members m
    LEFT JOIN places_staging p ON p.id = m.place_id
    CROSS JOIN LATERAL (
      (SELECT o.id FROM company_members o WHERE o.tenant_id = :tenant
        AND o.moved_to = p.source_place_id AND o.source = m.source LIMIT 20)
      UNION ALL
      (SELECT v.right_id FROM company_pairs v
        WHERE v.verdict = '{PairVerdict.SAME}' AND v.left_id = m.id LIMIT 20)
      UNION ALL
      (SELECT v.left_id FROM company_pairs v
        WHERE v.verdict = '{PairVerdict.SAME}' AND v.right_id = m.id LIMIT 20)) found
    WHERE m.id = ANY(:ids)"""  # noqa: S608 - our own labels
)
VERDICTS: Final = text(
    """SELECT left_id, right_id, verdict::text AS verdict FROM company_pairs
    WHERE verdict IS NOT NULL AND left_id = ANY(:ids) AND right_id = ANY(:ids)"""
)
WORKED: Final = text(
    f"""SELECT id FROM companies WHERE id = ANY(:ids)
      AND (worked_at IS NOT NULL OR lead_status <> '{LeadStatus.NEW}')"""  # noqa: S608 - our own labels
)
UNCHANGED: Final = text(
    """SELECT count(*) FROM unnest(CAST(:ids AS uuid[]), CAST(:stamps AS timestamptz[]))
      AS r(id, updated_at) JOIN company_members m USING (id, updated_at)"""
)
Near = defaultdict[UUID, set[UUID]]


@dataclass(frozen=True, slots=True)
class MatchingContext:
    """Some records that wait, and everything that decides which companies they are of."""

    ids: list[UUID]
    near: Mapping[UUID, set[UUID]]
    """The few others that share something with each of them."""
    facts: Mapping[UUID, Facts]
    stamps: Mapping[UUID, datetime]
    """When each row of these was last changed."""
    members: Mapping[UUID, Sequence[UUID]]
    """The records of every company that may change."""
    verdicts: Mapping[Pair, PairVerdict]
    worked: frozenset[UUID]

    def clusters(self) -> Clusters:
        """Return the companies as they are now, to place the records in."""
        return Clusters(self.facts, self.members, self.verdicts, self.worked)

    async def is_current(self, connection: AsyncConnection) -> bool:
        """Say whether nobody has changed any of it since it was read."""
        values = {"ids": [*self.stamps], "stamps": [*self.stamps.values()]}
        if await connection.scalar(UNCHANGED, values) != len(self.stamps):
            return False
        said = await verdicts_among(connection, self.facts, self.members)
        worked = await worked_among(connection, self.members)
        return (said, worked) == (self.verdicts, self.worked)


async def read_matching_context(
    engine: AsyncEngine, tenant_id: UUID, after: UUID, most: int
) -> MatchingContext | None:
    """Read the next records that wait, and what surrounds them; None: none waits.

    No transaction is open while blocks are worked out, and none locks anything: whether
    all of it still holds is asked when something is stored.
    """
    async with engine.connect() as connection:
        values = {"tenant": tenant_id, "most": most, "after": after}
        read = facts_of(await connection.execute(UNMATCHED, values))
    if not read:
        return None
    waiting = [one for one, _ in read.values()]
    near = await asyncio.to_thread(alike_among, waiting)
    async with engine.connect() as connection:
        await add_alike(connection, tenant_id, waiting, near)
        await add_related(connection, tenant_id, waiting, near)
        others = {other for found in near.values() for other in found}
        read |= await read_facts(connection, others - {*read})
        companies = {one.company_id for one, _ in read.values()} - {None}
        members = await members_of(connection, companies)
        first = {each for found in members.values() for each in found[:MOST_COMPARED]}
        read |= await read_facts(connection, first - {*read})
        facts = {key: one for key, (one, _) in read.items()}
        return MatchingContext(
            ids=[one.id for one in waiting],
            near=near,
            facts=facts,
            stamps={key: stamp for key, (_, stamp) in read.items()},
            members=members,
            verdicts=await verdicts_among(connection, facts, members),
            worked=await worked_among(connection, members),
        )


def facts_of(rows: Iterable[Any]) -> dict[UUID, tuple[Facts, datetime]]:
    """Read rows of members, and when each was last changed."""
    return {row[0]: (Facts(*row[:-1]), row[-1]) for row in map(tuple, rows)}


async def read_facts(
    connection: AsyncConnection, ids: Collection[UUID]
) -> dict[UUID, tuple[Facts, datetime]]:
    """Read some members."""
    if not ids:
        return {}
    return facts_of(await connection.execute(BY_IDS, {"ids": [*ids]}))


def alike_among(members: list[Facts]) -> Near:
    """Find for every member those of the same chunk that share something with it.

    Of many the first ones: they are placed before the others, which then find them.
    """
    blocks: defaultdict[str, list[UUID]] = defaultdict(list)
    for one in members:
        for block in one.blocks:
            blocks[block].append(one.id)
    near: Near = defaultdict(set)
    for one in members:
        alike = (
            blocks[block][:MAX_ALIKE] for block in one.wanted_blocks if block in blocks
        )
        near[one.id].update(*alike)
        near[one.id].discard(one.id)
    return near


def wanted_values(one: Facts) -> Iterator[tuple[str, str]]:
    """Yield what the candidates of a record are looked for by, and in which way."""
    values = {**one.shared_values, "near": " ".join(one.probes)}
    return ((way, value) for way, value in values.items() if value)


async def add_alike(
    connection: AsyncConnection, tenant_id: UUID, waiting: Sequence[Facts], near: Near
) -> None:
    """Find for every record the matched ones that share something with it."""
    asked: dict[str, dict[str, list[UUID]]] = {way: {} for way in WAYS}
    for one in waiting:
        for way, value in wanted_values(one):
            asked[way].setdefault(value, []).append(one.id)
    values = {way: [*listed] for way, listed in asked.items()}
    for row in await connection.execute(ALIKE, {"tenant": tenant_id, **values}):
        others = some_of_each(zip(row.ids, row.companies, strict=True))
        for one_id in asked[row.way][row.value]:
            near[one_id].update(others)


def some_of_each(found: Iterable[tuple[UUID, UUID | None]]) -> list[UUID]:
    """Choose no more records of one company than any is compared with."""
    seen = Counter[UUID | None]()
    chosen = []
    for member_id, company in found:
        seen[company] += 1
        if seen[company] <= MOST_COMPARED:
            chosen.append(member_id)
    return chosen


async def add_related(
    connection: AsyncConnection, tenant_id: UUID, waiting: Sequence[Facts], near: Near
) -> None:
    """Add those that a source or a person says are the same."""
    pairs = [(one.id, one.moved_to) for one in waiting if one.moved_to is not None]
    values = {"tenant": tenant_id, "ids": [one.id for one in waiting]}
    rows = await connection.execute(RELATED, values)
    for one_id, other in (*pairs, *rows):
        if one_id == other:
            continue
        near[one_id].add(other)
        # Whoever comes second finds the first, whatever the order.
        if other in near:
            near[other].add(one_id)


async def members_of(
    connection: AsyncConnection, companies: Iterable[UUID | None]
) -> dict[UUID, list[UUID]]:
    """Return some records of every company."""
    rows = await connection.execute(MEMBERS, {"ids": [*companies]})
    return {row.id: sorted(row.members) for row in rows}


async def verdicts_among(
    connection: AsyncConnection,
    facts: Iterable[UUID],
    members: Mapping[UUID, Sequence[UUID]],
) -> dict[Pair, PairVerdict]:
    """Return what people said about pairs of these."""
    ids = {*facts, *chain.from_iterable(members.values())}
    rows = await connection.execute(VERDICTS, {"ids": [*ids]})
    return {
        in_order(row.left_id, row.right_id): PairVerdict(row.verdict) for row in rows
    }


async def worked_among(
    connection: AsyncConnection, companies: Iterable[UUID]
) -> frozenset[UUID]:
    """Return which companies of these people have written about."""
    rows = await connection.scalars(WORKED, {"ids": [*companies]})
    return frozenset(rows.all())
