"""What grows with the tables, and what does not: the same work on a hundred times as much.

    python bench/scale.py                    100,000 pages against 10 million (half an hour, 15 GB)
    python bench/scale.py --quick            600 pages against 60,000
    python bench/scale.py --pages 1000000    so many against a hundredth of them

Both databases are filled alike: five pages a domain, three contacts for ten pages with one
piece of evidence each, two attempts a page; one page in ten is queued, one in fifty is
likely to have contacts. Claims, settles, lists, the board, the search for orphans, purge
and retention do the same amount of work on both, by turns, so that what else the machine
does slows both alike. Then a fleet of a hundred workers claims and settles pages of the
large one at the same time, through the statements that workers use. The last line is JSON.
"""

import argparse
import asyncio
import json
import statistics
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
from sqlalchemy.ext.asyncio import AsyncEngine

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
sys.path.insert(1, str(ROOT / "packages/curation-sdk/tests"))

import curation_sdk  # noqa: E402 - needs the path set above
from bench.pipeline import Watch, a_database, migrate, statements_on  # noqa: E402
from curation_sdk.claim import ClaimedItem, Claimer  # noqa: E402
from curation_sdk.connection import WorkerConnection  # noqa: E402
from curation_sdk.statements import Statements  # noqa: E402
from scrapersky.api.records.list_query import ListQuery, Sort  # noqa: E402
from scrapersky.api.records.listing import read_page  # noqa: E402
from scrapersky.db.connection import connect, parse_target  # noqa: E402
from scrapersky.privacy.retention import RETENTION_RULES as RETENTION  # noqa: E402
from scrapersky.privacy.retention import purge_expired  # noqa: E402
from scrapersky.records import KINDS  # noqa: E402
from scrapersky.reporting.stage_stats import count_waiting  # noqa: E402
from scrapersky.stages.wf7_page_curation import curate_page  # noqa: E402
from sdk_tests.rig.cluster import Cluster, running_cluster  # noqa: E402
from sdk_tests.rig.scratch import ENOUGH  # noqa: E402

GOAL_RATIO = 1.5
WARM_ROUNDS = 2
STAGE = "page_curation"
FILL = (
    """
    INSERT INTO domains (tenant_id, domain, status, home_url)
    SELECT $1, 'site' || n || '.example', 'completed', 'https://site' || n || '.example/'
    FROM generate_series(1, $2::int / 5) AS n
    """,
    """
    INSERT INTO pages (tenant_id, domain_id, url, title, contact_likelihood, priority,
      page_processing_status, page_curation_status, fetched_at)
    SELECT d.tenant_id, d.id, d.home_url || 'page-' || md5(d.domain || n),
      'Page ' || n || ' of ' || d.domain,
      CASE WHEN k % 50 = 0 THEN 0.5 + (k % 97) / 200.0 ELSE (k % 49) / 100.0 END, k % 100,
      (CASE WHEN k % 10 = 0 THEN 'Queued' WHEN k % 10 < 7 THEN 'Complete' END)
        ::page_processing_status,
      (CASE WHEN k % 10 = 0 THEN 'Queued' WHEN k % 10 < 7 THEN 'Complete' ELSE 'New' END)
        ::page_curation_status, now()
    FROM domains d CROSS JOIN generate_series(1, 5) AS n,
      LATERAL (SELECT abs(hashtext(d.domain || n)::bigint) AS k) AS h
    WHERE d.domain LIKE 'site%' AND $1::uuid IS NOT NULL AND $2::int > 0
    """,
    """
    INSERT INTO contacts (tenant_id, domain_id, page_id, email, email_type, name, phone,
      confidence, updated_at)
    SELECT p.tenant_id, p.domain_id, p.id,
      CASE row_number() OVER () WHEN 100 THEN 'unicorn' ELSE 'person' || p.id END
        || '@x.example', 'CORPORATE', 'Person ' || md5(p.url), '+442079460018', 0.9,
      now() - make_interval(secs => 300 * 86400.0 * (1 - row_number() OVER () / (0.31 * $2::int)))
    FROM pages p WHERE abs(hashtext(p.url)::bigint) % 10 < 3
      AND $1::uuid IS NOT NULL
    """,
    """
    INSERT INTO contact_evidence (tenant_id, page_id, contact_id, field, value, url, snippet,
      method, confidence, robots, seen_at)
    SELECT tenant_id, page_id, id, 'email', email, 'https://x.example/team',
      'write to ' || email, 'mailto', 0.9, 'allowed', now()
    FROM contacts WHERE $1::uuid IS NOT NULL AND $2::int > 0
    """,
    """
    INSERT INTO curation.attempt (stage, item, fence, tries, outcome, worker, claimed_at,
      settled_at)
    SELECT 'page_curation', p.id::text, nextval('curation.fence'), 1, 'done', 'bench-1',
      t.at, t.at
    FROM (SELECT id, row_number() OVER () AS n FROM pages, generate_series(1, 2)) AS p,
      LATERAL (SELECT now() - interval '14 days'
        + make_interval(secs => 1209000.0 * p.n / (2 * $2::int)) AS at) AS t
    WHERE $1::uuid IS NOT NULL
    """,
)
INDEXES = """
SELECT format('%I.%I', n.nspname, c.relname), pg_get_indexdef(c.oid)
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE i.indrelid = ANY ('{domains, pages, contacts, contact_evidence, curation.attempt}'
    ::regclass[])
  AND NOT i.indisprimary
  AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = c.oid)
"""
"""What is built after the tables are filled: to grow them row by row takes an hour."""
SETTINGS = {
    "max_connections": "300",
    # Filling a table is not what is measured.
    "max_wal_size": "16GB",
    "maintenance_work_mem": "512MB",
    # A quarter of the memory of a small server for PostgreSQL.
    "shared_buffers": "2GB",
}
LONGEST_WAIT = timedelta(minutes=1)
"""A hundred workers on two cores: what is slow is to be measured, not to end the run."""
BYTES_OF_A_PAGE = 3_000
"""On the disk, with what belongs to it."""
TABLES = ("domains", "pages", "contacts", "contact_evidence", "curation.attempt")
MAKE_OLD = """
UPDATE contacts SET updated_at = now() - interval '20 years' WHERE id IN (
  SELECT id FROM contacts WHERE tenant_id = $1 ORDER BY updated_at LIMIT $2)
"""
OLDEST = """
SELECT clock_timestamp() - max(settled_at) FROM (SELECT settled_at FROM curation.attempt
  WHERE ctid > '(0,0)' AND settled_at < now() - interval '1 day' LIMIT $1) AS oldest
"""
"""They lie in the table in the order of their time, from its beginning on: no index has
that order, and a plain scan of a large table begins anywhere."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How large the tables are, and how often each thing is done."""

    pages: int = 10_000_000
    rounds: int = 25
    workers: int = 100
    turns: int = 40
    purged: int = 1_000
    """Attempts that a purge forgets: in production up to 5,000 at a time."""
    retired: int = 50
    """Contacts whose time is over."""


QUICK = Plan(pages=60_000, rounds=9, workers=100, turns=3, purged=50, retired=10)


@dataclass(slots=True)
class Side:
    """One of the two databases."""

    name: str
    pages: int
    engine: AsyncEngine
    tenant_id: UUID
    statements: Statements
    connection: WorkerConnection
    claimer: Claimer
    held: list[ClaimedItem] = field(default_factory=list)
    age: timedelta = timedelta()
    """How old the attempts are that a purge leaves."""
    purged: int = 50
    retired: int = 50


@asynccontextmanager
async def a_side(cluster: Cluster, pages: int, workers: int) -> AsyncIterator[Side]:
    """Fill a database, and open what claims of it."""
    name = f"pages_{pages}"
    with a_database(cluster, name) as url:
        tenant_id = await fill(url, pages)
        engine = connect(parse_target(url), pool_size=workers + 5)
        lane = WorkerConnection(engine)
        try:
            statements = await statements_on(engine)
            claimer = Claimer(curate_page, statements, lane, "bench")
            yield Side(name, pages, engine, tenant_id, statements, lane, claimer)
        finally:
            await lane.close()
            await engine.dispose()


async def fill(url: str, pages: int) -> UUID:
    """Store so many pages and all that belongs to them."""
    connection = await asyncpg.connect(url.replace("+asyncpg", ""))
    try:
        tenant = await connection.fetchval("SELECT id FROM tenants LIMIT 1")
        indexes = await connection.fetch(INDEXES)
        # What triggers would see to, the statements do themselves.
        await connection.execute("SET session_replication_role = replica")
        for name, _ in indexes:
            await connection.execute(f"DROP INDEX {name}")
        for statement, table in zip(FILL, TABLES, strict=True):
            print(f"{pages:,} pages: filling {table} ...", file=sys.stderr, flush=True)
            await connection.execute(statement, tenant, pages, timeout=7_200)
        for name, definition in indexes:
            print(f"{pages:,} pages: index {name} ...", file=sys.stderr, flush=True)
            await connection.execute(definition, timeout=7_200)
        await connection.execute("VACUUM ANALYZE", timeout=7_200)
        await connection.execute("CHECKPOINT", timeout=600)
        return UUID(str(tenant))
    finally:
        await connection.close()


# What is done on both


async def claim(side: Side) -> None:
    """Claim one batch of pages."""
    side.held = await side.claimer.next_batch()
    if not side.held:
        raise SystemExit(f"nothing was left to claim in {side.name}")


async def settle(side: Side) -> None:
    """Settle the batch that was claimed."""
    await settle_batch(side.statements, side.connection, side.held)


async def settle_batch(
    statements: Statements, connection: WorkerConnection, batch: Sequence[ClaimedItem]
) -> None:
    """Settle items as a worker settles what has no effect."""
    items, fences = [one.item for one in batch], [one.fence for one in batch]
    await connection.fetch(statements.done, STAGE, items, fences)


def a_list(
    kind: str, sort: str = "updated_at", words: str | None = None
) -> Callable[[Side], Awaitable[None]]:
    """Return what reads the first page of a list."""

    async def read(side: Side) -> None:
        query = ListQuery(
            side.tenant_id, words=words, sort=Sort(sort, is_descending=True)
        )
        async with side.engine.connect() as connection:
            await read_page(connection, KINDS[kind], query, limit=50)

    return read


async def board(side: Side) -> None:
    """Count what waits in every stage."""
    await count_waiting(side.engine, side.tenant_id)


async def find_orphans(side: Side) -> None:
    """Look for rows in work that nobody has claimed, and for expired leases."""
    await curation_sdk.reap.reap(side.engine)


async def purge(side: Side) -> None:
    """Forget the oldest attempts."""
    await curation_sdk.control.purge(side.engine, older_than=side.age)


async def retain(side: Side) -> None:
    """Delete the contacts whose time is over."""
    days = {one.setting: 0 for one in RETENTION} | {"CONTACT_DAYS": 3650}
    deleted = await purge_expired(side.engine, days)
    if sum(deleted.values()) != side.retired:
        raise SystemExit(f"retention deleted {deleted} in {side.name}")


async def find_oldest(side: Side) -> None:
    """Look how old the attempts are that are purged next."""
    side.age = (await side.connection.fetch(OLDEST, side.purged + 1))[0][0]


async def make_old(side: Side) -> None:
    """Let the time of some contacts be over."""
    async with side.connection.transaction() as transaction:
        # The trigger that notes a change would make them the youngest.
        await transaction.fetch("SET LOCAL session_replication_role = replica")
        await transaction.fetch(MAKE_OLD, side.tenant_id, side.retired)


PREPARE = {"purge": find_oldest, "retention": make_old}
"""What is done before the clock starts."""
WORK: dict[str, Callable[[Side], Awaitable[None]]] = {
    "claim": claim,
    "settle": settle,
    "list of pages": a_list("pages"),
    "list of pages by likelihood": a_list("pages", "contact_likelihood"),
    "list of contacts": a_list("contacts"),
    "search for contacts": a_list("contacts", words="unicorn"),
    "search for pages": a_list("pages", words="Page 3 of site77.example"),
    "board": board,
    "orphans": find_orphans,
    "purge": purge,
    "retention": retain,
}


async def compare(small: Side, large: Side, rounds: int) -> dict[str, list[float]]:
    """Do everything on both by turns; return the median milliseconds of each."""
    times: dict[str, list[list[float]]] = {name: [[], []] for name in WORK}
    for _ in range(rounds + WARM_ROUNDS):
        for name, work in WORK.items():
            for side, spent in zip((small, large), times[name], strict=True):
                if name in PREPARE:
                    await PREPARE[name](side)
                began = time.perf_counter()
                await work(side)
                spent.append((time.perf_counter() - began) * 1000)
    return {
        name: [statistics.median(spent[WARM_ROUNDS:]) for spent in both]
        for name, both in times.items()
    }


# A fleet


async def fleet(side: Side, workers: int, turns: int, server: int) -> dict[str, float]:
    """Let many workers claim and settle at the same time; none gets another's page."""
    got: list[ClaimedItem] = []
    waits: list[float] = []

    async def work(number: int) -> None:
        connection, claimer = team[number]
        for _ in range(turns):
            began = time.perf_counter()
            batch = await claimer.next_batch()
            waits.append((time.perf_counter() - began) * 1000)
            got.extend(batch)
            await settle_batch(side.statements, connection, batch)

    team: list[tuple[WorkerConnection, Claimer]] = []
    for number in range(workers):
        # A fleet that runs has its connections, and each of them its plans.
        connection = WorkerConnection(side.engine, timeout=LONGEST_WAIT)
        claimer = Claimer(curate_page, side.statements, connection, f"fleet-{number}")
        team.append((connection, claimer))
        await settle_batch(side.statements, connection, await claimer.next_batch())
    watch = Watch([], server)
    watch.start()
    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for number in range(workers):
            group.create_task(work(number))
    seconds = time.perf_counter() - began
    used = watch.cpu()["postgres"]
    for connection, _ in team:
        await connection.close()
    doubled = len(got) - len({one.item for one in got})
    if doubled:
        raise SystemExit(f"{doubled} pages were claimed twice")
    return {
        "workers": workers,
        "pages": len(got),
        "pages_per_second": len(got) / seconds,
        "claim_ms_median": statistics.median(waits),
        "claim_ms_slowest": max(waits),
        "postgres_cpu_ms_per_transition": used * 1000 / len(got) / 2,
    }


async def sizes(side: Side) -> dict[str, float]:
    """Return what a row takes on disk, indexes included, in bytes."""
    found: dict[str, float] = {}
    for table in TABLES:
        rows = await side.connection.fetch(
            f"SELECT pg_total_relation_size('{table}')::float8 / count(*) FROM {table}"
        )
        found[table] = float(rows[0][0])
    return found


# All of it


async def run(cluster: Cluster, plan: Plan) -> dict[str, Any]:
    """Fill both databases and compare them."""
    await migrate(cluster)
    async with AsyncExitStack() as stack:
        small = await stack.enter_async_context(
            a_side(cluster, plan.pages // 100, plan.workers)
        )
        large = await stack.enter_async_context(
            a_side(cluster, plan.pages, plan.workers)
        )
        for side in (small, large):
            side.purged, side.retired = plan.purged, plan.retired
            # Enough for every round, however small the table is.
            await side.connection.fetch(
                "UPDATE pages SET page_processing_status = 'Queued' WHERE id IN (SELECT"
                " id FROM pages WHERE page_processing_status IS NULL LIMIT 400)"
            )
        times = await compare(small, large, plan.rounds)
        show_times(plan, times)
        stored = await sizes(large)
        team = await fleet(large, plan.workers, plan.turns, cluster.pid)
    show_rest(stored, team)
    return {
        "pages": plan.pages,
        "ms": {name: [round(one, 3) for one in both] for name, both in times.items()},
        "ratio": {name: round(b / a, 2) for name, (a, b) in times.items()},
        "bytes_per_row": {name: round(one) for name, one in stored.items()},
        "fleet": {name: round(one, 3) for name, one in team.items()},
    }


def show_times(plan: Plan, times: dict[str, list[float]]) -> None:
    """Print what grew and what did not."""
    print(f"\n{'median ms':<30}{plan.pages // 100:>12,}{plan.pages:>14,}{'ratio':>8}")
    for name, (few, many) in times.items():
        mark = "" if many / few <= GOAL_RATIO else f"  above {GOAL_RATIO}"
        print(
            f"{name:<30}{few:>12.2f}{many:>14.2f}{many / few:>8.2f}{mark}", flush=True
        )


def show_rest(stored: dict[str, float], team: dict[str, float]) -> None:
    """Print what a row takes, and what the fleet did."""
    print("\nbytes a row, with indexes: ", end="")
    print(", ".join(f"{name} {one:.0f}" for name, one in stored.items()))
    print(
        f"\n{team['workers']:.0f} workers: {team['pages_per_second']:,.0f} pages/s claimed"
        f" and settled, a claim {team['claim_ms_median']:.1f} ms, slowest"
        f" {team['claim_ms_slowest']:.0f} ms, PostgreSQL"
        f" {team['postgres_cpu_ms_per_transition']:.3f} ms CPU a transition"
    )


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--pages", type=int)
    chosen = parser.parse_args()
    plan = QUICK if chosen.quick else Plan()
    if chosen.pages:
        plan = Plan(pages=chosen.pages)
    room = max(ENOUGH, plan.pages * BYTES_OF_A_PAGE)
    with running_cluster(settings=SETTINGS, room=room) as cluster:
        result = asyncio.run(run(cluster, plan))
    print(json.dumps(result))


if __name__ == "__main__":
    main()
