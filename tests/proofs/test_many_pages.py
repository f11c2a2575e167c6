"""Millions of stored pages: every statement that asks for some of them reaches them by an index."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.db.connection import connect, parse_target
from scrapersky.pipeline.snapshot import (
    FIND_BASE,
    SEEN_AGAIN,
    STORE_CONTENTS,
    STORE_SNAPSHOTS,
)
from scrapersky.privacy.retention import EXPIRED_SNAPSHOTS
from scrapersky.privacy.snapshot import (
    DELETE,
    NEXT_CONTENTS,
    PACKED_AGAINST,
    READABLE,
    TAKE,
    VOID,
)
from scrapersky.privacy.snapshot_budget import VOID_OLDEST
from scrapersky.proofs.replay import NOWHERE, PAGES, SITES
from scrapersky.proofs.stored_page import BASES, BY_HASH
from tests.conftest import TestDatabase

PAGES_A_SITE = 10
MOST_BLOCKS = 60_000
"""Of 8 KB that a statement may touch, most of them again and again: ten million pages have more."""
STORED = ("page_snapshots", "page_contents")
HASH = "decode(lpad(to_hex({}), 64, '0'), 'hex')"
NUMBERED = "CAST(lpad(to_hex({}), 32, '0') AS uuid)"
SITE = f"(n - 1) / {PAGES_A_SITE}"
# The first page of a site is the one that its others are packed against.
FILL = (
    f"""INSERT INTO domains (id, tenant_id, domain)
    SELECT {NUMBERED.format("n")}, :t, 'a' || n || '.bv'
    FROM generate_series(0, CAST(:n AS int) / {PAGES_A_SITE}) AS n""",
    f"""INSERT INTO page_contents (tenant_id, hash, base, size, content)
    SELECT :t, {HASH.format("n")}, CASE WHEN n % {PAGES_A_SITE} <> 1
      THEN {HASH.format(f"{SITE} * {PAGES_A_SITE} + 1")} END, 30000, '\\x00'
    FROM generate_series(1, CAST(:n AS int)) AS n""",
    f"""INSERT INTO page_snapshots (id, tenant_id, domain_id, page_id, hash, url, encoding,
      reader, seen_at)
    SELECT {NUMBERED.format("n")}, :t, {NUMBERED.format(SITE)}, {NUMBERED.format("n")},
      {HASH.format("n")}, 'http://a.bv/', 'utf-8', '1.0.0',
      clock_timestamp() - interval '1 second' * n
    FROM generate_series(1, CAST(:n AS int)) AS n""",
)  # fmt: skip


def digest(number: int) -> bytes:
    return number.to_bytes(32, "big")


def questions(tenant: UUID, middle: int) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return each statement, asked about a page in the middle of all."""
    first = middle // PAGES_A_SITE * PAGES_A_SITE + 1
    hashes = [digest(first + n) for n in range(PAGES_A_SITE)]
    mine = {"tenant": tenant, "hashes": hashes}
    site = UUID(int=first // PAGES_A_SITE)
    now = datetime.now(UTC)
    snapshot = (
        f'[{{"tenant_id": "{tenant}", "domain_id": "{site}", "page_id": "{UUID(int=first)}",'
        f' "hash": "\\\\x{digest(first).hex()}", "url": "http://a.bv/", "encoding": "utf-8",'
        f' "is_rendered": false, "reader": "2", "seen_at": "{now.isoformat()}"}}]'
    )
    content = {"a": [tenant], "b": [digest(2**40)], "c": [digest(first)], "d": [1]}
    content["e"] = [b"1"]
    return {
        "the base of a site": (str(FIND_BASE), {"domain": site}),
        "store a snapshot": (STORE_SNAPSHOTS.replace("$1", ":rows"), {"rows": snapshot}),
        "store bytes": (
            STORE_CONTENTS.replace("$1::uuid[]", "CAST(:a AS uuid[])")
            .replace("$2::bytea[]", "CAST(:b AS bytea[])")
            .replace("$3::bytea[]", "CAST(:c AS bytea[])")
            .replace("$4::bigint[]", "CAST(:d AS bigint[])")
            .replace("$5::bytea[]", "CAST(:e AS bytea[])"),
            content,
        ),
        "seen again": (
            SEEN_AGAIN.replace("$1", "CAST(:pages AS uuid[])"),
            {"pages": [UUID(int=first)]},
        ),
        "make room": (
            str(VOID_OLDEST),
            {"tenant": tenant, "most": 500, "reason": "budget"},
        ),
        "expire": (EXPIRED_SNAPSHOTS, {"chunk": 500, "age": timedelta(0)}),
        "void": (str(VOID), {**mine, "reason": "erased"}),
        "take": (str(TAKE), mine),
        "packed against": (str(PACKED_AGAINST), {**mine, "hashes": hashes[:1]}),
        "delete": (str(DELETE), mine),
        "look for what is unkept": (
            str(NEXT_CONTENTS),
            {"tenant": tenant, "after": digest(middle), "most": 5_000},
        ),
        "look through": (
            str(READABLE),
            {"tenant": tenant, "after": digest(middle), "most": 200},
        ),
        "verify": (str(BY_HASH), mine),
        "verify, bases": (str(BASES), mine),
        "replay, sites": (
            str(SITES),
            {"tenant": tenant, "after": site, "most": 50, "everything": False,
             "reader": "2"},
        ),
        "replay, pages": (
            str(PAGES), {"domain": site, "after": NOWHERE, "most": 25},
        ),
    }  # fmt: skip


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for below in plan.get("Plans", ()):
        yield from nodes(below)


async def explained(
    connection: AsyncConnection, statement: str, values: dict[str, Any]
) -> dict[str, Any]:
    """Run a statement, take it back, and return what it did."""
    step = await connection.begin_nested()
    asked = text(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement}")
    (found,) = await connection.scalar(asked, values)
    await step.rollback()
    plan: dict[str, Any] = found["Plan"]
    return plan


async def measured(url: str, count: int) -> dict[str, tuple[int, list[str]]]:
    """Fill a database; return the blocks each statement touched, and what it read whole."""
    engine = connect(parse_target(url), statement_timeout=None)
    found: dict[str, tuple[int, list[str]]] = {}
    async with engine.connect() as connection:
        # Neither foreign keys nor triggers: the rows are only there to be many.
        await connection.execute(text("SET session_replication_role = replica"))
        tenant = await connection.scalar(
            text("INSERT INTO tenants (name, slug) VALUES ('a', 'many') RETURNING id")
        )
        for statement in FILL:
            await connection.execute(text(statement), {"t": tenant, "n": count})
        for table in (*STORED, "domains"):
            await connection.execute(text(f"ANALYZE {table}"))
        for name, (statement, values) in questions(tenant, count // 2).items():
            begun = time.perf_counter()
            plan = await explained(connection, statement, values)
            spent = time.perf_counter() - begun
            blocks = int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])
            whole = [
                node["Relation Name"]
                for node in nodes(plan)
                if node["Node Type"] == "Seq Scan" and node["Relation Name"] in STORED
            ]
            found[name] = blocks, whole
            print(f"{name:26} {blocks:>8,} blocks {1000 * spent:>8.1f} ms")
        await connection.rollback()
    await engine.dispose()
    return found


@pytest.mark.slow
async def test_no_statement_reads_all_stored_pages(database: TestDatabase) -> None:
    found = await measured(database.url, 200_000)

    assert {name: whole for name, (_, whole) in found.items() if whole} == {}


@pytest.mark.long
async def test_ten_million_stored_pages_are_asked_for_a_few(
    database: TestDatabase,
) -> None:
    found = await measured(database.url, 10_000_000)

    assert {name: whole for name, (_, whole) in found.items() if whole} == {}
    assert max(blocks for blocks, _ in found.values()) < MOST_BLOCKS
