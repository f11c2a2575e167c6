"""How leads reach a CRM: how much of its limit is used, and what a pair costs.

    python bench/sync.py            HubSpot 20,000 pairs, Pipedrive 600, Brevo 20,000; minutes
    python bench/sync.py --quick    HubSpot 2,000 pairs, Pipedrive 100, Brevo 500, under 50 s
    python bench/sync.py --only hubspot

The whole engine works against the local servers of `tests/connectors/fakes`, over real sockets
and a real PostgreSQL. The clock is still: it goes on only where the engine waits for a limit, so
what is measured is the share of the limit that is used from the first call to the last, and not
this machine; and from the first call to the last write, since the searches by which all that was
written is read back have a limit of their own. `duplicates` and `missing` compare the records there
with ours by our id; `share_of_a_day_left` is the least that Pipedrive's
day ever had left for other programs, and `hourly_calls` counts all that Brevo allows a hundred of
an hour.

A pair is a company and its best contact. A second run changes one company in a hundred. What a run
costs however many pairs it has, for reading the schema, is not in the cost of a pair but beside it.
The last line is one object of JSON.
"""

import argparse
import asyncio
import json
import re
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

sys.path.insert(0, str(Path(__file__).parents[1]))

import structlog
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.connectors.brevo_values import OWN
from scrapersky.connectors.control import NewConnection, connect_account
from scrapersky.connectors.outbox import queue_companies
from scrapersky.connectors.protocol import CrmKind
from scrapersky.db.connection import connect, parse_target
from scrapersky.db.embedded import EmbeddedPostgres
from scrapersky.db.migrate import upgrade
from tests.connectors.desk import CIPHER, SalesDesk
from tests.connectors.fakes import brevo, hubspot, pipedrive
from tests.connectors.fakes.clock import StillClock

structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(30))
PAIRS = {"hubspot": (2_000, 20_000), "pipedrive": (100, 600), "brevo": (500, 20_000)}
QUEUED_AT_ONCE = 5_000


@dataclass
class Vendor:
    """A vendor's local server, and how to count in it."""

    name: str
    fake: Any
    clock: StillClock
    own: Callable[[str], Counter[str]]
    token: str
    writes: str
    """What the addresses of calls that write match, from their method on."""
    spent: Callable[[], float]
    """What all calls have cost so far."""
    allowed: Callable[[float], float]
    """What the account allows within so many seconds."""
    schema: str
    """A part of the addresses at which the schema is read, once a run."""
    spared: Callable[[], dict[str, float]] = dict
    """What has to be left of a limit, or not to be asked for, and how much that came to."""

    def used(self, first: int) -> float:
        """Return the share of the limit that calls took, from one of them to the last write."""
        calls = self.fake.calls[first:]
        last = max(
            at for at, call in enumerate(calls) if re.match(self.writes, str(call))
        )
        cost = sum(call.cost for call in calls[: last + 1])
        return float(cost / self.allowed(calls[last].at - calls[0].at))

    def spent_on_schema(self) -> float:
        """Return what reading the schema has cost so far."""
        calls = (call for call in self.fake.calls if self.schema in call.path)
        return float(sum(call.cost for call in calls))


@dataclass
class Result:
    """What one vendor came to."""

    vendor: str
    pairs: int
    first_cost: float = 0.0
    run_cost: float = 0.0
    """Of the first: what a run costs however many pairs it has."""
    second_cost: float = 0.0
    changed: int = 0
    limit_used: float = 0.0
    used_writing: float = 0.0
    clock_minutes: float = 0.0
    real_seconds: float = 0.0
    duplicates: int = 0
    missing: int = 0
    spared: dict[str, float] = field(default_factory=dict)

    @property
    def per_pair(self) -> float:
        return (self.first_cost - self.run_cost) / self.pairs


async def fill(engine: AsyncEngine, tenant: UUID, count: int) -> list[UUID]:
    """Make pairs."""
    pairs = text(
        """WITH d AS (INSERT INTO domains (tenant_id, domain, status)
          SELECT :t, 'c' || n || '.example', 'completed'
          FROM generate_series(CAST(:a AS int), CAST(:z AS int)) n
          RETURNING id, domain),
        x AS (INSERT INTO contacts (tenant_id, domain_id, email, name)
          SELECT :t, id, 'pat@' || domain, 'Pat ' || domain FROM d RETURNING id, domain_id)
        INSERT INTO companies (tenant_id, name, domain_id, city, email_contact_id)
        SELECT :t, 'Company ' || d.domain, d.id, 'Austin', x.id
        FROM d JOIN x ON x.domain_id = d.id RETURNING id"""
    )
    made: list[UUID] = []
    for start in range(0, count, QUEUED_AT_ONCE):
        part = {"t": tenant, "a": start + 1, "z": min(start + QUEUED_AT_ONCE, count)}
        async with engine.begin() as connection:
            made += await connection.scalars(pairs, part)
    return made


async def measure(desk: SalesDesk, vendor: Vendor, count: int) -> Result:
    """Write pairs, change one in a hundred, and write again."""
    result = Result(vendor.name, count)
    companies = await fill(desk.engine, desk.tenant, count)
    given = NewConnection(
        connector=vendor.name, name=None, credential=vendor.token,
        options={"base_url": vendor.fake.url, **EXTRA.get(vendor.name, {})},
    )  # fmt: skip
    sync_id = await connect_account(
        desk.engine,
        desk.tools,
        given,
        cipher=CIPHER,
        tenant_id=desk.tenant,
        user_id=None,
    )
    await desk.run("UPDATE sync_connections SET is_active = true, paused_at = NULL")
    for start in range(0, count, QUEUED_AT_ONCE):
        async with desk.engine.begin() as connection:
            part = companies[start : start + QUEUED_AT_ONCE]
            await queue_companies(connection, desk.tenant, sync_id, part)
    began, clock_began, cost = time.monotonic(), vendor.clock.seconds, vendor.spent()
    of_schema, first_call = vendor.spent_on_schema(), len(vendor.fake.calls)
    await until_idle(desk, sync_id, vendor)
    result.real_seconds = time.monotonic() - began
    passed = vendor.clock.seconds - clock_began
    result.clock_minutes = passed / 60
    result.first_cost = vendor.spent() - cost
    result.run_cost = vendor.spent_on_schema() - of_schema
    result.limit_used = result.first_cost / vendor.allowed(passed)
    result.used_writing = vendor.used(first_call)
    for kind, ids in await expected(desk):
        found = vendor.own(kind)
        result.duplicates += sum(many - 1 for many in found.values())
        result.missing += len(ids - {*found})
    result.changed = await desk.run(
        "UPDATE companies SET name = name || ' Ltd' WHERE id IN"
        " (SELECT id FROM companies ORDER BY id LIMIT :n)",
        n=max(count // 100, 1),
    )
    cost = vendor.spent()
    await until_idle(desk, sync_id, vendor)
    result.second_cost = vendor.spent() - cost
    result.spared = vendor.spared()
    return result


async def until_idle(desk: SalesDesk, sync_id: UUID, vendor: Vendor) -> None:
    """Work until nothing waits; the pauses that are asked for pass on the still clock."""
    while True:
        after = await desk.work(sync_id)
        found = await desk.run(
            "UPDATE sync_records SET next_at = now() WHERE connection_id = :c AND state IN"
            " ('queued', 'sending', 'unknown') RETURNING id", c=sync_id,
        )  # fmt: skip
        if not found:
            return
        if after is not None:
            vendor.clock.advance(after.total_seconds())


async def expected(desk: SalesDesk) -> list[tuple[str, set[str]]]:
    """Return the ids that have to be there."""
    rows = {
        "company": await desk.run("SELECT id FROM companies"),
        "person": await desk.run("SELECT id FROM contacts"),
    }
    return [(kind, {str(row.id) for row in found}) for kind, found in rows.items()]


def of_hubspot(fake: Any, clock: StillClock) -> Vendor:
    named = {"company": "companies", "person": "contacts"}

    def own(kind: str) -> Counter[str]:
        store = fake.portal.store
        ids = (one.values.get("scrapersky_id") for one in store.live(named[kind]))
        return Counter(one for one in ids if one)

    return Vendor(
        "hubspot", fake, clock, own, hubspot.TOKEN, r"POST .*/batch/(upsert|update|create)",
        spent=lambda: float(len(fake.calls)),
        allowed=lambda seconds: 100 * max(seconds, 10.0) / 10, schema="/crm/properties/",
    )  # fmt: skip


def of_pipedrive(fake: Any, clock: StillClock) -> Vendor:
    named = {"company": "organizations", "person": "persons"}
    tokens = {"spent": 0.0, "left": 1.0}
    taking = fake.daily.take

    def take(units: int = 1) -> bool:
        tokens["spent"] += units
        is_taken = bool(taking(units))
        tokens["left"] = min(tokens["left"], fake.daily.left / fake.daily.most)
        return is_taken

    fake.daily.take = take

    def own(kind: str) -> Counter[str]:
        custom = fake.custom[named[kind]].items()
        codes = {row["field_name"]: code for code, row in custom}
        return Counter(fake.own(named[kind], codes["ScraperSky ID"]))

    return Vendor(
        "pipedrive", fake, clock, own, pipedrive.TOKEN, r"POST|PATCH|PUT",
        spent=lambda: tokens["spent"],
        allowed=lambda seconds: 30_000 * max(seconds / 86_400, 1.0), schema="Fields",
        spared=lambda: {"share_of_a_day_left": round(tokens["left"], 3)},
    )  # fmt: skip


def of_brevo(fake: Any, clock: StillClock) -> Vendor:
    named = {"company": "companies", "person": "contacts"}

    def slow() -> int:
        return sum(not call.path.startswith("/v3/contacts") for call in fake.calls)

    def own(kind: str) -> Counter[str]:
        ids = (
            one.values.get(OWN[CrmKind(kind)]) for one in fake.store.live(named[kind])
        )
        return Counter(one for one in ids if one)

    return Vendor(
        "brevo", fake, clock, own, brevo.KEY, r"POST|PATCH|PUT",
        spent=lambda: float(len(fake.calls)),
        allowed=lambda seconds: 10 * max(seconds, 1.0), schema="/attributes",
        spared=lambda: {"hourly_calls": float(slow())},
    )  # fmt: skip


VENDORS: dict[str, Any] = {
    "hubspot": (hubspot.FakeHubSpot, of_hubspot),
    "pipedrive": (pipedrive.FakePipedrive, of_pipedrive),
    "brevo": (brevo.FakeBrevo, of_brevo),
}
EXTRA: dict[str, dict[str, str]] = {
    "pipedrive": {"match_existing": "no"},
    "brevo": {"list_id": "7"},
}
"""A search costs 20 tokens: what cannot be there yet is not looked for."""


async def run_vendor(name: str, count: int, url: str, home: Path) -> Result:
    fake_of, vendor_of = VENDORS[name]
    clock = StillClock()
    engine = connect(parse_target(url), pool_size=6)
    await upgrade(engine)
    async with engine.begin() as connection:
        await connection.execute(text("TRUNCATE tenants CASCADE"))
        made = text("INSERT INTO tenants (name, slug) VALUES ('b', 'b') RETURNING id")
        tenant = await connection.scalar(made)
    async with fake_of(clock) as fake:
        desk = SalesDesk(engine, tenant, home, clock)
        result = await measure(desk, vendor_of(fake, clock), count)
        await desk.tools.transport.close()
    await engine.dispose()
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="*", choices=[*PAIRS], default=[*PAIRS])
    parser.add_argument("--pairs", type=int)
    asked = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory(prefix="bench-sync-") as home:
        Path(home).chmod(0o711)
        with EmbeddedPostgres(Path(home) / "pg") as server:
            for name in asked.only:
                count = asked.pairs or PAIRS[name][0 if asked.quick else 1]
                one = run_vendor(name, count, server.url, Path(home))
                results.append(asyncio.run(one))
    report(results)


def report(results: list[Result]) -> None:
    heads = (
        "vendor",
        "pairs",
        "cost/pair",
        "of a run",
        "2nd run",
        "changed",
        "limit used",
        "in writing",
        "clock min",
        "real s",
        "dup",
        "missing",
    )
    print(("{:<10}" + "{:>11}" * (len(heads) - 1)).format(*heads))
    for one in results:
        cells = (
            one.vendor, one.pairs, f"{one.per_pair:.3f}", f"{one.run_cost:.0f}",
            f"{one.second_cost:.0f}", one.changed,
            f"{one.limit_used:.0%}", f"{one.used_writing:.0%}",
            f"{one.clock_minutes:.1f}", f"{one.real_seconds:.1f}",
            one.duplicates, one.missing,
        )  # fmt: skip
        print(("{:<10}" + "{:>11}" * (len(cells) - 1)).format(*cells))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"memory at most: {memory} MB, local servers included")
    keys = {one.vendor: one for one in results}
    print(
        json.dumps(
            {
                "limit_used": round(keys["hubspot"].limit_used, 3)
                if "hubspot" in keys
                else None,
                "tokens_per_pair": round(keys["pipedrive"].per_pair, 2)
                if "pipedrive" in keys
                else None,
                "limit_used_writing": round(keys["hubspot"].used_writing, 3)
                if "hubspot" in keys
                else None,
                "duplicates": sum(one.duplicates for one in results),
                "missing": sum(one.missing for one in results),
                "memory_mb": memory,
            }
            | {key: value for one in results for key, value in one.spared.items()}
        )
    )


if __name__ == "__main__":
    main()
