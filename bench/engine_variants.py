"""What each fast path of the Curation SDK saves, beside the general statement it replaces.

    python bench/engine_variants.py            every case, a few minutes
    python bench/engine_variants.py --quick    smaller counts, under 50 seconds

Both statements of a case start from the same rows, turn by turn on one server. What is
compared is the processor time of the server's process (where the system says it, else
the time that passed), because a commit costs the same either way. Each ratio is the
median of the rounds' ratios: general / fast, so above 1 the fast path is faster. The
last line is one object of JSON.
"""

import argparse
import asyncio
import json
import logging
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import asyncpg
from sqlalchemy import BigInteger, DateTime, Text, func
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(
    1, str(Path(__file__).resolve().parents[1] / "packages/curation-sdk/tests")
)

from curation_sdk import Done, Outcome, Stage, migrate, queue_index, stage
from curation_sdk.claim import carried_columns, select_list
from curation_sdk.queue import Queue, queue_of
from curation_sdk.settlement import Settlement, columns_of
from curation_sdk.statements import Statements, statements_of
from scrapersky.db.connection import connect, parse_target
from sdk_tests.rig.cluster import running_cluster

TENANT_COUNT = 5
LEASE_SECONDS = 60.0
# Only what the statements themselves cost is of interest here.
SETTINGS = {"fsync": "off", "autovacuum": "off"}


class Base(DeclarativeBase):
    """The table of this benchmark."""


class Item(Base):
    """A record as a user has it."""

    __tablename__ = "item"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    name: Mapped[str] = mapped_column(Text)
    tenant: Mapped[int] = mapped_column(BigInteger)
    status: Mapped[str] = mapped_column(Text)
    error: Mapped[str | None] = mapped_column(Text)
    queued_at: Mapped[Any] = mapped_column(
        DateTime(timezone=True), server_default=func.clock_timestamp()
    )


queue_index(Item.status, "queued", order_by=Item.queued_at)
SHARED_INDEX = (
    "CREATE INDEX item_shared ON item (tenant, queued_at, id) WHERE status = 'queued'"
)


async def no_op(_item: Item, _tools: object) -> Outcome:
    """Do nothing."""
    return Done()


def item_stage(batch: int, **options: Any) -> Stage[Item, Any]:
    """Declare the stage with this batch size."""
    return stage(
        "item",
        claims=Item.status,
        error=Item.error,
        order_by=Item.queued_at,
        queued="queued",
        processing="processing",
        done="done",
        failed="failed",
        batch=batch,
        **options,
    )(no_op)


@dataclass(frozen=True, slots=True)
class Held:
    """A claimed item: its key as text, its fence, and its place in the queue."""

    item: str
    fence: int
    place: tuple[Any, Any]


class Server:
    """One connection, the stage's statements, and the processor time they take."""

    def __init__(self, connection: "asyncpg.Connection[Any]", dialect: Any) -> None:
        self.connection = connection
        self._dialect = dialect
        self._stat = Path(f"/proc/{connection.get_server_pid()}/schedstat")

    def seconds(self) -> float:
        """Return the processor seconds the server's process has used so far."""
        if not self._stat.exists():
            return time.perf_counter()
        return int(self._stat.read_text().split()[0]) / 1e9

    def statements(self, batch: int, *, shared: bool = False) -> Statements:
        """Write the statements of a stage with this batch size."""
        declared = item_stage(batch, **({"tenant": Item.tenant} if shared else {}))
        queue = self.queue(shared=shared)
        columns = select_list(declared, self._dialect)
        return statements_of(queue, columns=columns, keyed=True)

    def queue(self, *, shared: bool = False) -> Queue:
        """Return where the items are."""
        options = {"tenant": Item.tenant} if shared else {}
        return queue_of(item_stage(10, **options), self._dialect)

    async def fill(self, rows: int) -> None:
        """Start again with so many queued rows, and the statistics of a used system."""
        await self.connection.execute(
            "TRUNCATE item, curation.claim, curation.attempt, curation.dead_letter"
        )
        await self.connection.execute(
            "INSERT INTO item (id, name, tenant, status)"
            f" SELECT n, 'item ' || n, n % {TENANT_COUNT}, 'queued'"
            " FROM generate_series(1, $1::int) n",
            rows,
        )
        await self.connection.execute("VACUUM ANALYZE item")
        await self.connection.execute("VACUUM ANALYZE curation.claim")

    async def claim(self, statement: str, *more: object) -> list[Held]:
        """Claim once."""
        rows = await self.connection.fetch(
            statement, "item", "bench", LEASE_SECONDS, *more
        )
        return [Held(row["item"], row["fence"], place_of(row)) for row in rows]


WHERE = {column.name: n for n, column in enumerate(carried_columns(item_stage(1)))}


def place_of(row: Any) -> tuple[Any, Any]:
    """Return what the cursor goes by."""
    return row[WHERE["queued_at"]], row[WHERE["id"]]


Claims = Callable[[Server, int], Awaitable[list[list[Held]]]]
Act = Callable[[Server, int, list[list[Held]]], Awaitable[None]]


async def claim_first(server: Server, batch: int) -> list[list[Held]]:
    """Claim everything, expecting that no queued row has a claim."""
    statement = server.statements(batch).claim(batch)
    return await until_empty(lambda: server.claim(statement))


async def claim_general(server: Server, batch: int) -> list[list[Held]]:
    """Claim everything by the statement that expects anything."""
    statement = server.statements(batch).claim_again(batch)
    return await until_empty(lambda: server.claim(statement))


async def claim_onward(server: Server, batch: int) -> list[list[Held]]:
    """Claim everything, each batch from where the last one ended."""
    statements = server.statements(batch)
    assert statements.claim_onward is not None
    onward = statements.claim_onward(batch)
    found = [await server.claim(statements.claim(batch))]
    while found[-1]:
        place = max(held.place for held in found[-1])
        found.append(await server.claim(onward, *place))
    return found[:-1]


async def claim_shared(server: Server, batch: int) -> list[list[Held]]:
    """Claim everything in equal shares, expecting that no queued row has a claim."""
    statement = server.statements(batch, shared=True).claim_shared
    assert statement is not None
    share = (list(range(TENANT_COUNT)), batch // TENANT_COUNT)
    return await until_empty(lambda: server.claim(statement(batch), *share))


async def claim_shared_general(server: Server, batch: int) -> list[list[Held]]:
    """Claim everything in equal shares by the statement that expects anything."""
    statement = server.statements(batch, shared=True).claim_shared_again
    assert statement is not None
    share = (list(range(TENANT_COUNT)), batch // TENANT_COUNT)
    return await until_empty(lambda: server.claim(statement(batch), *share))


async def until_empty(
    claim: Callable[[], Awaitable[list[Held]]],
) -> list[list[Held]]:
    """Claim until nothing is found."""
    found = [await claim()]
    while found[-1]:
        found.append(await claim())
    return found[:-1]


async def settle_done(server: Server, batch: int, claimed: list[list[Held]]) -> None:
    """Settle each batch as done, each item by its own fence."""
    statement = server.statements(batch).done
    for held in claimed:
        await server.connection.fetch(statement, "item", *keys_of(held))


async def settle_many(server: Server, batch: int, claimed: list[list[Held]]) -> None:
    """Settle each batch as done by the statement for many."""
    statement = server.statements(batch).done_many
    for held in claimed:
        items, fences = keys_of(held)
        await server.connection.fetch(statement, "item", items, list(set(fences)))


async def settle_any(server: Server, batch: int, claimed: list[list[Held]]) -> None:
    """Settle each batch as done by the statement for every outcome."""
    statement = server.statements(batch).settle
    for held in claimed:
        done = columns_of([Settlement("done", "done", None)] * len(held))
        await server.connection.fetch(statement, "item", *keys_of(held), *done)


def keys_of(held: Sequence[Held]) -> tuple[list[str], list[int]]:
    """Return items and fences as the settling statements take them."""
    return [each.item for each in held], [each.fence for each in held]


@dataclass(frozen=True, slots=True)
class Case:
    """A fast path, and the general statement that leaves the same tables."""

    name: str
    fast: Claims | Act
    general: Claims | Act
    batch: int
    items: int = 4_000
    old_snapshot: bool = False

    @property
    def key(self) -> str:
        """Its name in the JSON."""
        suffix = "_old_snapshot" if self.old_snapshot else ""
        return f"{self.name.replace(' ', '_')}_batch_{self.batch}{suffix}"


CLAIMS = (claim_first, claim_general, claim_onward, claim_shared, claim_shared_general)

CASES = (
    Case("claim first", claim_first, claim_general, 10, 1_000),
    Case("claim first", claim_first, claim_general, 100),
    Case("claim first", claim_first, claim_general, 1000),
    Case("claim onward", claim_onward, claim_first, 10, 1_000),
    Case("claim onward", claim_onward, claim_first, 100),
    Case("claim onward", claim_onward, claim_first, 100, 20_000, old_snapshot=True),
    Case("claim shared", claim_shared, claim_shared_general, 100),
    Case("settle done", settle_done, settle_any, 10, 1_000),
    Case("settle done", settle_done, settle_any, 100),
    Case("settle many", settle_many, settle_done, 50),
    Case("settle many", settle_many, settle_done, 100),
    Case("settle many", settle_many, settle_done, 1000),
)


async def time_once(server: Server, case: Case, which: Claims | Act) -> float:
    """Return the microseconds per item of one side of a case."""
    await server.fill(case.items)
    act: Any = which
    if which in CLAIMS:
        began = server.seconds()
        claimed = await act(server, case.batch)
        spent = server.seconds() - began
        expect(sum(map(len, claimed)), case.items)
    else:
        claimed = await claim_first(server, case.batch)
        began = server.seconds()
        await act(server, case.batch, claimed)
        spent = server.seconds() - began
        done = "SELECT count(*) FROM curation.attempt WHERE outcome = 'done'"
        expect(await server.connection.fetchval(done), case.items)
    return spent / case.items * 1e6


def expect(found: int, items: int) -> None:
    """Refuse to print a time for work that was not done."""
    if found != items:
        raise RuntimeError(f"{found} of {items} items were finished")


@asynccontextmanager
async def snapshot(dsn: str, *, held: bool) -> Any:
    """Hold an old snapshot open, so that no dead row can be removed."""
    if not held:
        yield
        return
    other = await asyncpg.connect(dsn)
    await other.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    await other.fetchval("SELECT count(*) FROM pg_class")
    try:
        yield
    finally:
        await other.close()


async def measure(server: Server, dsn: str, cases: Sequence[Case], rounds: int) -> Any:
    """Time both sides of every case, turn by turn; return the times."""
    times: dict[Case, list[tuple[float, float]]] = {case: [] for case in cases}
    for _ in range(rounds):
        for case in cases:
            async with snapshot(dsn, held=case.old_snapshot):
                fast = await time_once(server, case, case.fast)
            async with snapshot(dsn, held=case.old_snapshot):
                general = await time_once(server, case, case.general)
            times[case].append((fast, general))
    return times


def print_table(times: dict[Case, list[tuple[float, float]]]) -> dict[str, float]:
    """Print every case; return the ratios under plain names."""
    print(f"{'':<16}{'batch':>6}{'fast us':>10}{'general us':>12}{'ratio':>8}")
    found = {}
    for case, pairs in times.items():
        fast = statistics.median(pair[0] for pair in pairs)
        general = statistics.median(pair[1] for pair in pairs)
        ratio = statistics.median(pair[1] / pair[0] for pair in pairs)
        found[case.key] = round(ratio, 2)
        note = "  under an old snapshot" if case.old_snapshot else ""
        print(
            f"{case.name:<16}{case.batch:>6}{fast:>10.1f}{general:>12.1f}"
            f"{ratio:>8.2f}{note}"
        )
    return found


async def compare(url: str, *, quick: bool) -> dict[str, float]:
    """Lay out the tables and measure."""
    target = parse_target(url)
    database = connect(target, pool_size=1)
    await migrate(database)
    async with database.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)
    driver = await asyncpg.connect(target.dsn)
    await driver.execute(SHARED_INDEX)
    await driver.execute(
        "INSERT INTO curation.stage (name, queue) VALUES ('item', '{}')"
    )
    server = Server(driver, database.dialect)
    scale = 1 if quick else 2
    cases = [replace(case, items=case.items * scale) for case in CASES]
    times = await measure(server, target.dsn, cases, 7 if quick else 15)
    await driver.close()
    await database.dispose()
    return print_table(times)


def main() -> None:
    """Measure, print, and end with the line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller counts")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    started = time.monotonic()
    with running_cluster(settings=SETTINGS) as cluster:
        name = cluster.create_database("variants")
        found = asyncio.run(compare(cluster.url(name), quick=options.quick))
    found["seconds"] = round(time.monotonic() - started, 1)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
