"""Lists of any size, page by page, in any order, while rows come, change and go.

A page begins after the sort key and id of the last row of the one before, so it costs
the same at row 50 and at row 900,000, and a row that does not change is shown once.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from cachetools import TTLCache
from sqlalchemy import (
    Row,
    Select,
    func,
    select,
    text,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.api.records.list_query import (
    CountEstimate,
    CursorPosition,
    ListQuery,
    Sort,
    wanted,
)
from scrapersky.api.records.list_statement import (
    TOTAL,
    by_id,
    countable,
    find_all,
    in_order,
    is_nullable,
    place_name,
    scan_top,
    walk,
)
from scrapersky.api.schema import COUNTED_ROWS
from scrapersky.db.explain import QueryPlan, query_plan
from scrapersky.records.kind import Kind

SORTED_WHOLE_ROWS = 2_000
"""Rows expected of a list that is found and sorted whole, so that it is counted with it."""
SCANNED_ROWS = 20_000
"""Rows at the top of a list among which a page of matches must be, or they are rare."""
UNCOUNTED_ROWS = 12_000
"""Rows expected of a list that is not worth counting up to there."""
COUNTING_COST = 2_000.0
"""What counting may cost, where reading a page of a table in order costs 1."""
PLANS_LAST: Final = timedelta(seconds=5)
"""How long a plan is believed, and so how old an estimate may be."""

PLAN_ANEW: Final = text("SET LOCAL plan_cache_mode = force_custom_plan")
"""After five searches PostgreSQL would plan for any words, and so for many matches."""

RecordRow = Row[Any]


@dataclass(frozen=True, slots=True)
class ListPage:
    """Rows of a list, what is known of all of it, and where to go on."""

    rows: Sequence[RecordRow]
    estimate: CountEstimate
    next: CursorPosition | None


class Plans:
    """What PostgreSQL said of late about how it would run the queries of lists.

    Only how a list is best read, and an estimate of its length, rest on it.
    """

    def __init__(self, *, lasts: timedelta = PLANS_LAST) -> None:
        self._known: TTLCache[Hashable, QueryPlan] = TTLCache(
            1_000, lasts.total_seconds()
        )
        self.rare: TTLCache[Hashable, bool] = TTLCache(1_000, lasts.total_seconds())
        """Lists of which few rows matched of late."""

    async def of(
        self,
        connection: AsyncConnection,
        name: Hashable,
        write: Callable[[], Select[Any]],
    ) -> QueryPlan:
        """Return the plan of a query, which is written only if it is not known.

        Whoever asks for another must name it otherwise.
        """
        plan = self._known.get(name)
        if plan is None:
            plan = self._known[name] = await query_plan(connection, write())
        return plan


async def read_page(
    connection: AsyncConnection,
    resource: Kind,
    list_query: ListQuery,
    *,
    limit: int,
    after: CursorPosition | None = None,
    plans: Plans | None = None,
) -> ListPage:
    """Read one page, and count on the first one what all of them have."""
    if after is None:
        plans = plans or Plans()
        rows, estimate = await begin(connection, resource, list_query, limit, plans)
    else:
        estimate = after.estimate
        read = find_all_rows if estimate.is_rare else keyset_rows
        rows = await read(connection, resource, list_query, limit, after)
    if len(rows) <= limit:
        return ListPage(rows, estimate, None)
    last = rows[limit - 1]
    key = getattr(last, place_name(resource, list_query.sort))
    return ListPage(rows[:limit], estimate, CursorPosition(key, last.id, estimate))


async def begin(
    connection: AsyncConnection,
    resource: Kind,
    list_query: ListQuery,
    limit: int,
    plans: Plans,
) -> tuple[Sequence[RecordRow], CountEstimate]:
    """Read the first page, by the way that reads the fewest rows, and count the list."""
    if not list_query.is_narrowed:
        rows = await keyset_rows(connection, resource, list_query, limit)
    else:
        rows = await scan_top_rows(connection, resource, list_query, limit, plans)
        if len(rows) <= limit:
            # To walk on in the hope of meeting rare rows could mean to walk all of it.
            rows = await find_all_rows(connection, resource, list_query, limit)
            count = int(getattr(rows[0], TOTAL)) if rows else 0
            if count <= COUNTED_ROWS:
                plans.rare[limit, list_query.name(resource)] = True
                return rows, CountEstimate(count, is_exact=True, is_rare=True)
            rows = await keyset_rows(connection, resource, list_query, limit)
    return rows, await counted(
        connection, resource, list_query, rows, limit=limit, plans=plans
    )


async def scan_top_rows(
    connection: AsyncConnection,
    resource: Kind,
    list_query: ListQuery,
    limit: int,
    plans: Plans,
) -> Sequence[RecordRow]:
    """Walk the order of the list, but not far: fewer rows than asked mean it was far.

    Nor is a list walked that must be found whole to be counted.
    """
    name = limit, list_query.name(resource)
    if name in plans.rare:
        return []
    whole = await plan_to_count(connection, resource, list_query, plans)
    if whole.cost <= COUNTING_COST and whole.rows <= SORTED_WHOLE_ROWS:
        return []
    plan = await plans.of(
        connection, ("order", *name), lambda: in_order(resource, list_query, limit)
    )
    if plan.sorts:
        return []
    if plan.reads_matches_only:
        return await keyset_rows(connection, resource, list_query, limit)
    query = scan_top(
        resource,
        list_query,
        limit + 1,
        is_by_status=plan.is_by_status,
        among=SCANNED_ROWS,
    )
    rows: Sequence[RecordRow] = (await connection.execute(query)).all()
    return rows


async def find_all_rows(
    connection: AsyncConnection,
    resource: Kind,
    list_query: ListQuery,
    limit: int,
    after: CursorPosition | None = None,
) -> Sequence[RecordRow]:
    """Find all matching rows, sort those, and count them; or go on in their order."""
    query = find_all(resource, list_query, limit + 1, after=after)
    await connection.execute(PLAN_ANEW)
    rows: Sequence[RecordRow] = (await connection.execute(query)).all()
    return rows


async def rows_by_id(
    connection: AsyncConnection, resource: Kind, ids: Sequence[UUID]
) -> list[RecordRow]:
    """Read records in the order of these ids; who is gone meanwhile is left out."""
    query = by_id(resource)
    found = {row.id: row for row in await connection.execute(query, {"ids": [*ids]})}
    return [found[row_id] for row_id in ids if row_id in found]


async def keyset_rows(
    connection: AsyncConnection,
    resource: Kind,
    list_query: ListQuery,
    limit: int,
    after: CursorPosition | None = None,
) -> Sequence[RecordRow]:
    """Walk the order of the list from where the last page ended."""
    sort = list_query.sort
    if not is_nullable(resource, sort):
        return await keyset_page(connection, resource, list_query, limit + 1, after)
    # What is unknown comes last, as a list of its own: no index range holds both.
    rows: Sequence[RecordRow] = []
    if after is None or after.key is not None:
        rows = await keyset_page(connection, resource, list_query, limit + 1, after)
        after = None
    if len(rows) <= limit:
        missing = limit + 1 - len(rows)
        unknown = await keyset_page(
            connection, resource, list_query, missing, after, is_known=False
        )
        rows = [*rows, *unknown]
    return rows


async def keyset_page(
    connection: AsyncConnection,
    resource: Kind,
    list_query: ListQuery,
    most: int,
    after: CursorPosition | None,
    *,
    is_known: bool = True,
) -> Sequence[RecordRow]:
    """Walk the rows whose sort key is known, or those whose key is not."""
    values: dict[str, Any] = {"tenant": list_query.tenant_id}
    if after is not None:
        values |= {"key": after.key, "id": after.id}
    rows: Sequence[RecordRow] = ()
    top = top_of(resource, list_query.sort, after) if is_known else None
    for least in (None,) if top is None else (top, None):
        query = walk(
            resource,
            list_query,
            most,
            is_known=is_known,
            is_begun=after is not None,
            at_least=least,
        )
        rows = (await connection.execute(query, values)).all()
        if len(rows) == most:
            break
    return rows


def top_of(resource: Kind, sort: Sort, after: CursorPosition | None) -> float | None:
    """Return from which value on an index serves a list that begins here, if one does."""
    top = resource.partial_index_from.get(sort.field) if sort.is_descending else None
    if top is None or (after is not None and (after.key is None or after.key < top)):
        return None
    return top


async def counted(
    connection: AsyncConnection,
    resource: Kind,
    list_query: ListQuery,
    rows: Sequence[RecordRow],
    *,
    limit: int,
    plans: Plans,
) -> CountEstimate:
    """Count a list that is walked: exactly if that is cheap, or else as planned."""
    if len(rows) <= limit:
        return CountEstimate(len(rows), is_exact=True)
    plan = await plan_to_count(connection, resource, list_query, plans)
    if plan.cost <= COUNTING_COST and plan.rows <= UNCOUNTED_ROWS:
        some = countable(wanted(resource, list_query)).subquery()
        count = await connection.scalar(select(func.count()).select_from(some))
        if int(count or 0) <= COUNTED_ROWS:
            return CountEstimate(int(count or 0), is_exact=True)
    return CountEstimate(max(plan.rows, len(rows)), is_exact=False)


async def plan_to_count(
    connection: AsyncConnection, resource: Kind, list_query: ListQuery, plans: Plans
) -> QueryPlan:
    """Return what it would take to count a list, and how long it is expected to be."""
    name = "count", list_query.name(resource)
    return await plans.of(
        connection, name, lambda: countable(wanted(resource, list_query))
    )
