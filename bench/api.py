"""How fast the API lists, decides, takes in, hands out and reports, at a million records.

    python bench/api.py            1,000,000 contacts; some minutes
    python bench/api.py --quick    30,000 contacts, under a minute
    python bench/api.py --only lists detail decision_by_ids
    python bench/api.py --only lists --managed    as where no superuser migrates

The server is a process of its own behind a real socket, PostgreSQL is a throw-away one
with its default, durable configuration. Every list is asked over HTTP by a caller whose
rows row-level security picks, and answers with its total; beside it stands what a plain
SQLAlchemy query with OFFSET takes for the same columns of the same page, without HTTP,
security or total, and the processor time that the server takes for each. A detail and a
decision by ids stand beside the plain statements that they need. Both of a
pair are asked in turn, so that what else the machine does slows both. The last line is
one object of JSON.
"""

import argparse
import asyncio
import hashlib
import hmac
import io
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

import aiohttp
import asyncpg
import httpx
import orjson
import psutil
from sqlalchemy import func, insert, literal, select, update
from sqlalchemy.ext.asyncio import AsyncEngine

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, f"{sys.path[0]}/packages/curation-sdk/tests")

from scrapersky.api.records.list_query import (
    CountEstimate,
    CursorPosition,
    ListQuery,
    Sort,
)
from scrapersky.api.time_list import PURPOSE
from scrapersky.db.connection import connect, parse_target
from scrapersky.db.embedded import EmbeddedPostgres
from scrapersky.db.migrate import upgrade
from scrapersky.kit.cursor import write_cursor
from scrapersky.records import (
    KINDS,
    Company,
    Contact,
    Domain,
    Evidence,
    LocalBusiness,
    Page,
    Person,
    Place,
    Tenant,
)

MEBI = 1024 * 1024
PAGE_ROWS = 50
ALSO_SHOWN = [value.label(name) for name, value in KINDS["contacts"].extras.items()]
"""What a page shows of other tables: the company, its domain, who decides there."""
COMPARISONS = (
    "enum_eq", "enum_ne", "enum_lt", "enum_le", "enum_gt", "enum_ge", "textlike",
    "texticlike", "arraycontains", "arrayoverlap", "mailbox_of", "mailboxes_of",
)  # fmt: skip
"""What the migrations call leakproof where they may."""
NEWEST = Sort("updated_at", is_descending=True)
SUREST = Sort("confidence", is_descending=True)
REST = {
    f"{prefix}_SCHEDULER_ENABLED": "false"
    for prefix in (
        "PLACE_SEARCH", "DEEP_SCAN", "DOMAIN", "DOMAIN_SITEMAP", "SITEMAP_IMPORT",
        "PAGE_CURATION", "CONTACT_VALIDATION", "COMPANY_MATCHING",
    )
}  # fmt: skip

MAKE_DOMAINS = """
INSERT INTO domains (tenant_id, domain, home_url)
SELECT $1, 'site' || n || '.example', 'https://site' || n || '.example/'
FROM generate_series(1, $2::int) AS n
"""
# A tenth has the role Clerk, one in ten thousand has failed, and what was decided is
# newer than what was not: as it is after a day of curation.
MAKE_CONTACTS = """
INSERT INTO contacts (tenant_id, domain_id, email, email_type, name, role, phone,
  confidence, contact_curation_status, updated_at)
SELECT $1, d.id, 'person' || n || '@' || d.domain,
  (ARRAY['SERVICE', 'CORPORATE', 'FREE', 'UNKNOWN'])[1 + n % 4]::contact_email_type,
  'Person ' || md5(d.domain || n), CASE n WHEN 10 THEN 'Clerk' WHEN 3 THEN 'Owner' END,
  '+4420' || (70000000 + hashtext(d.domain) % 10000000 + n),
  CASE WHEN n % 5 > 0 THEN abs(hashtext(d.domain || n)) % 10000 / 10000.0 END,
  (CASE WHEN abs(hashtext(d.domain || n)) % 10000 = 7 THEN 'Error'
    WHEN n < 5 THEN 'Skipped' ELSE 'New' END)::contact_curation_status,
  now() - make_interval(secs => CASE WHEN n < 5 THEN 0 ELSE 100000 END
    + abs(hashtext(n || d.domain)) % 100000)
FROM domains d CROSS JOIN generate_series(1, 10) AS n
WHERE d.domain LIKE 'site%'
"""


# Every value has its origin.
MAKE_EVIDENCE = """
INSERT INTO contact_evidence (tenant_id, contact_id, field, value, url, snippet,
  method, confidence, robots, seen_at)
SELECT tenant_id, id, 'email', email, 'https://' || split_part(email, '@', 2) || '/team',
  'write to ' || email, 'mailto', 0.9, 'allowed', now()
FROM contacts
"""


PARTS = (
    "lists", "detail", "decision_by_ids", "decision", "taking_in", "handing_out",
    "listening", "slow_readers",
)  # fmt: skip
"""What is measured: functions of this module, in this order."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How much of everything one run does."""

    contacts: int = 1_000_000
    rounds: int = 100
    offset_rounds: int = 12
    imported: int = 100_000
    listening: float = 30
    reading: float = 30
    """Seconds in which others ask for lists beside exports that are read slowly."""
    is_managed: bool = False
    """Whether it is as on a managed server, where nobody is a superuser."""


QUICK = Plan(
    30_000, rounds=40, offset_rounds=10, imported=4_000, listening=5, reading=8
)


@dataclass(frozen=True, slots=True)
class Bench:
    """The server, the database beneath it, and how to ask them."""

    plan: Plan
    client: httpx.AsyncClient
    asker: aiohttp.ClientSession
    """For what is timed: a client that takes little time itself."""
    database: AsyncEngine
    dsn: str
    server: psutil.Process
    key: bytes
    tenant: Any


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--home", type=Path, help="keep the database here, or use it")
    parser.add_argument("--contacts", type=int, help="so many contacts")
    parser.add_argument("--managed", action="store_true", help="trust no comparison")
    parser.add_argument("--serve", metavar="PORT", type=int, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.serve:
        serve(asked.serve)
        return
    assert isinstance(sys.stdout, io.TextIOWrapper)
    sys.stdout.reconfigure(line_buffering=True)
    plan = replace(QUICK if asked.quick else Plan(), is_managed=asked.managed)
    if asked.contacts:
        plan = replace(plan, contacts=asked.contacts)
    if asked.home:
        asked.home.mkdir(parents=True, exist_ok=True)
        figures = on_database(plan, asked.home, asked.only)
    else:
        with tempfile.TemporaryDirectory(prefix="scrapersky-bench-") as directory:
            figures = on_database(plan, Path(directory), asked.only)
    print(json.dumps(figures))


def on_database(plan: Plan, home: Path, only: Iterable[str]) -> dict[str, Any]:
    """Measure on a PostgreSQL in this directory."""
    home.chmod(0o711)
    with EmbeddedPostgres(home / "pg") as server:
        place = f"scrapersky@/scrapersky?host={server.socket_dir}"
        return asyncio.run(measured(plan, f"postgresql://{place}", only))


def serve(port: int) -> None:
    """Run the application, as `scrapersky up` does, on the database that is there."""
    from scrapersky.cli.serving import up  # noqa: PLC0415 - heavy
    from scrapersky.configuration import load_settings  # noqa: PLC0415
    from scrapersky.observability.log import configure_logs  # noqa: PLC0415

    settings = load_settings(dict(os.environ), dotenv=None).settings
    configure_logs("CRITICAL", settings.log_format)
    target = parse_target(os.environ["DATABASE_URL"])
    with socket.create_server(("127.0.0.1", port)) as listener:
        up(settings, target, listener)


async def measured(plan: Plan, dsn: str, only: Iterable[str]) -> dict[str, Any]:
    """Fill the database, start the server, and measure."""
    began = time.perf_counter()
    tenant, key = await fill(plan, dsn)
    print(f"{plan.contacts:,} contacts made in {time.perf_counter() - began:.0f} s")
    database = connect(parse_target(dsn), statement_timeout=None)
    await upgrade(database)
    await trust_comparisons(plan, dsn)
    with a_server(dsn) as (process, address):
        async with (
            httpx.AsyncClient(base_url=address, timeout=600) as client,
            aiohttp.ClientSession(address) as asker,
        ):
            await ready(client)
            bench = Bench(plan, client, asker, database, dsn, process, key, tenant)
            figures: dict[str, Any] = {
                "contacts": plan.contacts,
                "managed": plan.is_managed,
                "load_before": round(os.getloadavg()[0], 1),
            }
            for name in only:
                figures |= await globals()[name](bench)
            figures["load_after"] = round(os.getloadavg()[0], 1)
    await database.dispose()
    return figures


async def trust_comparisons(plan: Plan, dsn: str) -> None:
    """Let PostgreSQL use indexes under row-level security: only a superuser can."""
    word = "NOT LEAKPROOF" if plan.is_managed else "LEAKPROOF"
    connection = await asyncpg.connect(dsn)
    names = await connection.fetch(
        "SELECT oid::regprocedure::text FROM pg_proc WHERE proname = ANY($1)",
        COMPARISONS,
    )
    for (name,) in names:
        await connection.execute(f"ALTER FUNCTION {name} {word}")
    await connection.close()


async def fill(plan: Plan, dsn: str) -> tuple[Any, bytes]:
    """Make the records; return the tenant, and the key cursors are signed with."""
    engine = connect(parse_target(dsn), statement_timeout=None)
    await upgrade(engine)
    await engine.dispose()
    connection = await asyncpg.connect(dsn)
    tenant = await connection.fetchval("SELECT id FROM tenants ORDER BY created_at")
    secret = await connection.fetchval("SELECT secret FROM installation")
    if not await connection.fetchval("SELECT EXISTS (SELECT FROM contacts)"):
        await make(connection, plan, tenant)
    # What an earlier run on the same database decided is as if it had not been.
    await connection.execute("SET session_replication_role = replica")
    await connection.execute(
        "UPDATE contacts SET contact_curation_status = 'New', updated_at = now()"
        " - make_interval(secs => 100000 + abs(hashtext(email)) % 100000)"
        " WHERE role = 'Clerk' AND contact_curation_status = 'Skipped'"
    )
    await connection.execute("VACUUM ANALYZE contacts")
    await connection.close()
    return tenant, hmac.digest(secret, PURPOSE, hashlib.sha256)


async def make(connection: asyncpg.Connection, plan: Plan, tenant: Any) -> None:
    """Load the rows first and index them then, as one does with a million."""
    indexes = await connection.fetch(
        "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'contacts'"
        " AND indexdef NOT LIKE '%UNIQUE%'"
    )
    for index in indexes:
        await connection.execute(f"DROP INDEX {index['indexname']}")
    await connection.execute("SET session_replication_role = replica")
    await connection.execute(
        MAKE_DOMAINS.replace("$1", f"'{tenant}'").replace(
            "$2", str(plan.contacts // 10)
        )
    )
    await connection.execute(MAKE_CONTACTS.replace("$1", f"'{tenant}'"))
    await connection.execute(MAKE_EVIDENCE)
    await connection.execute("SET session_replication_role = origin")
    await connection.execute("SET maintenance_work_mem = '1GB'")
    for index in indexes:
        await connection.execute(index["indexdef"])
    await connection.execute("VACUUM ANALYZE")


@contextmanager
def a_server(dsn: str) -> Iterator[tuple[psutil.Process, str]]:
    """Run the application in a process of its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {
        **os.environ, **REST, "DATABASE_URL": dsn, "API_RATE_PER_SECOND": "0",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }  # fmt: skip
    command = [sys.executable, __file__, "--serve", str(port)]
    process = subprocess.Popen(command, env=environment)
    try:
        yield psutil.Process(process.pid), f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(30)


async def ready(client: httpx.AsyncClient) -> None:
    """Wait until the server answers, and has answered once what is asked later."""
    for _ in range(300):
        try:
            answer = await client.get("/api/v3/contacts")
        except httpx.ConnectError:
            await asyncio.sleep(0.2)
            continue
        answer.raise_for_status()
        return
    raise SystemExit("the server does not start")


@dataclass(frozen=True, slots=True)
class Case:
    """A page of the list, in some variants that are asked in turn."""

    name: str
    title: str
    asked: tuple[dict[str, Any], ...] = ({},)
    sort: Sort = NEWEST
    row: int = 0


def cases_of(contacts: int) -> list[Case]:
    """Return the pages that are timed."""
    deep, half = contacts * 9 // 10, contacts * 9 // 20
    status, surer = "contact_curation_status:equal:", "confidence:at_least:"
    sites = [random.randrange(1, contacts // 10) for _ in range(20)]
    return [
        Case("first_page", "first page"),
        Case(f"row_{deep}", f"page at row {deep:,}", row=deep),
        Case(f"by_confidence_row_{half}", f"by confidence, at row {half:,}",
             sort=SUREST, row=half),
        Case("status_60_percent", "status New (60 %)", ({"filter": f"{status}New"},)),
        Case("status_1_in_10000", "status Error (0.01 %)",
             ({"filter": f"{status}Error"},)),
        Case("range_1_percent", "confidence at least 0.99 (1 %)",
             ({"filter": f"{surer}0.99"},)),
        Case("two_filters_4_percent", "two filters (4 %)",
             ({"filter": ["email_type:equal:FREE", f"{surer}0.8"]},)),
        Case("rare_word", "a rare word",
             tuple({"q": f"site{n}.example"} for n in sites)),
        Case("common_word", "a common word", ({"q": "person"},)),
    ]  # fmt: skip


async def lists(bench: Bench) -> dict[str, Any]:
    """Time pages of the list, beside a plain query with OFFSET."""
    print(f"\n{'page of ' + str(PAGE_ROWS):34} {'p50':>8} {'p95':>8} {'plain p50':>11}"
          f" {'p95':>8}  ms {'times':>6} {'server':>8} {'total':>9}")  # fmt: skip
    figures: dict[str, Any] = {}
    for case in cases_of(bench.plan.contacts):
        figures |= await one_list(bench, case)
    return figures


async def one_list(bench: Bench, case: Case) -> dict[str, Any]:
    """Time one page of the list in all its variants."""
    asked = [{**one, "limit": PAGE_ROWS, "sort": case.sort.text} for one in case.asked]
    if case.row:
        cursor = await cursor_at(bench, case.sort, case.row)
        asked = [{**one, "cursor": cursor} for one in asked]
    total = (await page(bench, asked[0]))["total"]
    before = processor_ms(bench.server)
    ours, plain = await in_turn(
        bench.plan.rounds,
        lambda n: page(bench, asked[n % len(asked)]),
        lambda n: plain_page(bench, case.asked[n % len(asked)], case.sort, case.row),
        # To skip a million rows takes a second each time.
        plain_rounds=bench.plan.offset_rounds if case.row else None,
    )
    spent = (processor_ms(bench.server) - before) / (bench.plan.rounds + 1)
    counted = f"{'' if total['is_exact'] else '~'}{total['count']:,}"
    name = f"list_{case.name}"
    figures = compared(name, case.title, ours, plain, f"{spent:8.1f} {counted:>9}")
    return figures | {f"{name}_server_ms": round(spent, 1)}


def processor_ms(process: psutil.Process) -> float:
    """Return how long a process has been working so far, in milliseconds."""
    spent = process.cpu_times()
    return 1000 * (spent.user + spent.system)


def compared(
    name: str, title: str, ours: list[float], plain: list[float], more: str = ""
) -> dict[str, Any]:
    """Print one line, and return its figures under their names."""
    figures = {
        f"{name}_p50_ms": median(ours),
        f"{name}_p95_ms": percentile(ours),
        f"{name}_plain_p50_ms": median(plain),
        f"{name}_plain_p95_ms": percentile(plain),
        f"{name}_times_plain": round(
            statistics.median(ours) / statistics.median(plain), 2
        ),
    }
    ours50, ours95, plain50, plain95, times = figures.values()
    print(f"{title:34} {ours50:8.1f} {ours95:8.1f} {plain50:11.1f} {plain95:8.1f}    "
          f"{times:7.2f} {more}")  # fmt: skip
    return figures


async def detail(bench: Bench) -> dict[str, Any]:
    """Time one record with its evidence and what belongs to it."""
    ids = await some_ids(bench)
    ours, plain = await in_turn(
        bench.plan.rounds,
        lambda n: ask(bench, f"/api/v3/contacts/{ids[n % len(ids)]}"),
        lambda n: plain_detail(bench, ids[n % len(ids)]),
    )
    return compared("detail", "a detail", ours, plain)


async def plain_detail(bench: Bench, contact_id: Any) -> None:
    """Ask for what a detail shows, as a simple program would: one query after another."""
    evidence = select(Evidence).where(Evidence.contact_id == contact_id)
    async with bench.database.connect() as connection:
        found = await connection.execute(
            select(Contact).where(Contact.id == contact_id)
        )
        contact = found.one()
        for query in (
            evidence.order_by(Evidence.field, Evidence.confidence.desc()),
            select(Domain.id, Domain.domain).where(Domain.id == contact.domain_id),
            select(Page.id, Page.url).where(Page.id == contact.page_id),
            select(LocalBusiness.id, LocalBusiness.name).where(
                LocalBusiness.domain_id == contact.domain_id
            ),
            select(Company.id, Company.name).where(
                Company.domain_id == contact.domain_id
            ),
            select(Person).where(Person.domain_id == contact.domain_id),
        ):
            (await connection.execute(query)).all()


async def decision_by_ids(bench: Bench) -> dict[str, Any]:
    """Time a person's decision about one page of records."""
    ids = await some_ids(bench, 2 * PAGE_ROWS)
    mine, others = ids[:PAGE_ROWS], ids[PAGE_ROWS:]
    statuses = ("Skipped", "New")
    ours, plain = await in_turn(
        bench.plan.rounds,
        lambda n: ask(
            bench,
            "/api/v3/contacts/status",
            {"ids": mine, "status": statuses[n % 2]},
        ),
        lambda n: plain_decision(bench, others, statuses[n % 2]),
    )
    return compared("decision_by_ids", f"a decision about {PAGE_ROWS}", ours, plain)


async def plain_decision(bench: Bench, ids: list[str], status: str) -> None:
    """Set a status as a simple program would: no action to undo, no event."""
    chosen = Contact.id == func.any(literal(ids))
    statement = update(Contact).where(Contact.tenant_id == bench.tenant, chosen)
    async with bench.database.begin() as connection:
        await connection.execute(statement.values(contact_curation_status=status))


async def some_ids(bench: Bench, most: int = 20) -> list[Any]:
    """Return ids of contacts that nobody has decided about."""
    query = select(Contact.id).where(
        Contact.tenant_id == bench.tenant,
        Contact.contact_curation_status == "New",
        Contact.role.is_(None),
    )
    async with bench.database.connect() as connection:
        return [str(one) for one in await connection.scalars(query.limit(most))]


async def ask(bench: Bench, path: str, body: Any = None, **more: Any) -> Any:
    """Ask for something, as a program does."""
    method = "GET" if body is None else "POST"
    async with bench.asker.request(method, path, json=body, **more) as answer:
        content = await answer.read()
    assert answer.status < 400, content
    return orjson.loads(content)


async def page(bench: Bench, asked: dict[str, Any]) -> Any:
    """Ask for one page, as a program does."""
    return await ask(bench, "/api/v3/contacts", params=asked)


async def plain_page(
    bench: Bench, params: dict[str, Any], sort: Sort, offset: int
) -> None:
    """Ask for the columns of the same page as a simple program would: sort, skip, take."""
    column = getattr(Contact, sort.field)
    query = select(Contact, *ALSO_SHOWN)
    query = query.where(Contact.tenant_id == bench.tenant, *plain(params))
    # As an index can serve it, where no value is unknown.
    is_nullable = column.property.columns[0].nullable
    first = column.desc().nulls_last() if is_nullable else column.desc()
    query = query.order_by(first, Contact.id.desc())
    async with bench.database.connect() as connection:
        (await connection.execute(query.offset(offset).limit(PAGE_ROWS))).all()


def plain(params: dict[str, Any]) -> Iterator[Any]:
    """Write the filters of the cases as a simple program would."""
    filters = params.get("filter", [])
    for text in [filters] if isinstance(filters, str) else filters:
        field, comparison, value = text.split(":")
        column = getattr(Contact, field)
        yield column == value if comparison == "equal" else column >= float(value)
    if "q" in params:
        word = f"%{params['q']}%"
        yield (
            Contact.email.ilike(word)
            | Contact.name.ilike(word)
            | Contact.role.ilike(word)
            | Contact.phone.ilike(word)
        )


async def cursor_at(bench: Bench, sort: Sort, offset: int) -> str:
    """Make the cursor that a caller would have who had read this far."""
    resource = KINDS["contacts"]
    column = getattr(Contact, sort.field)
    query = select(Contact.id, column.label("key")).where(
        Contact.tenant_id == bench.tenant
    )
    query = query.order_by(column.desc().nulls_last(), Contact.id.desc())
    async with bench.database.connect() as connection:
        row = (await connection.execute(query.offset(offset - 1).limit(1))).one()
    question = ListQuery(tenant_id=bench.tenant, sort=sort)
    place = CursorPosition(
        row.key, row.id, CountEstimate(bench.plan.contacts, is_exact=False)
    )
    return write_cursor(bench.key, question.scope(resource), place.to_json())


async def in_turn(
    rounds: int,
    ours: Callable[[int], Awaitable[Any]],
    plain: Callable[[int], Awaitable[Any]],
    *,
    plain_rounds: int | None = None,
) -> tuple[list[float], list[float]]:
    """Time two ways in turn; return the milliseconds of each."""
    taken: tuple[list[float], list[float]] = ([], [])
    for number in range(-1, rounds):
        for act, times in zip((ours, plain), taken, strict=True):
            if act is plain and number >= (plain_rounds or rounds):
                continue
            began = time.perf_counter()
            await act(max(number, 0))
            times.append((time.perf_counter() - began) * 1000)
    # The first of each filled caches.
    return taken[0][1:], taken[1][1:]


def median(times: list[float]) -> float:
    """Return the median."""
    return round(statistics.median(times), 1)


def percentile(times: list[float]) -> float:
    """Return the 95th percentile."""
    return round(sorted(times)[int(len(times) * 0.95)], 1)


async def decision(bench: Bench) -> dict[str, Any]:
    """Set a status by filter on a tenth of all, while readers read."""
    asked = {"filter": [{"field": "role", "value": "Clerk"}], "status": "Skipped"}
    times: list[float] = []
    progress: set[int] = set()

    async def read() -> None:
        while True:
            began = time.perf_counter()
            await page(bench, {"limit": PAGE_ROWS})
            times.append((time.perf_counter() - began) * 1000)
            await asyncio.sleep(0.02)

    async def watch() -> None:
        while True:
            actions = (await bench.client.get("/api/v3/actions")).json()
            progress.update(each["changed"] for each in actions["items"][:1])
            await asyncio.sleep(0.1)

    beside = [asyncio.create_task(act()) for act in (read, read, watch)]
    began = time.perf_counter()
    answer = await bench.client.post("/api/v3/contacts/status", json=asked)
    seconds = time.perf_counter() - began
    for task in beside:
        task.cancel()
    done = answer.raise_for_status().json()
    assert done["changed"] == bench.plan.contacts // 10, done
    return shown("status_by_filter", {
        "rows": done["changed"],
        "seconds": round(seconds, 1),
        "rows_per_second": round(done["changed"] / seconds),
        "readers_p95_ms": percentile(times),
        "reads_meanwhile": len(times),
        "progress_steps_seen": len(progress),
    })  # fmt: skip


async def taking_in(bench: Bench) -> dict[str, Any]:
    """Import a CSV file of domains, as it arrives over the wire."""
    before = memory(bench.server)
    peak = Peak(bench.server)
    names = [
        f"firm-{n}-{random.randrange(10**6)}.com" for n in range(bench.plan.imported)
    ]

    async def file() -> Any:
        yield b"name,domain\r\n"
        for start in range(0, len(names), 500):
            rows = (f'"Firm, Ltd",{name}\r\n' for name in names[start : start + 500])
            yield "".join(rows).encode()

    began = time.perf_counter()
    async with peak:
        answer = await bench.client.post("/api/v3/domains/import", content=file())
    seconds = time.perf_counter() - began
    done = answer.raise_for_status().json()
    assert done["accepted"] == len(names), done
    return shown("csv_import", {
        "rows": done["accepted"],
        "seconds": round(seconds, 1),
        "rows_per_second": round(done["accepted"] / seconds),
        "server_mb": peak.most,
        "grown_mb": peak.most - before,
    })  # fmt: skip


async def handing_out(bench: Bench) -> dict[str, Any]:
    """Export all contacts in every format."""
    figures: dict[str, Any] = {}
    for form in ("csv", "jsonl", "xlsx"):
        peak = Peak(bench.server)
        size, first = 0, 0.0
        began = time.perf_counter()
        async with (
            peak,
            bench.client.stream(
                "GET", "/api/v3/contacts/export", params={"format": form}
            ) as answer,
        ):
            answer.raise_for_status()
            async for part in answer.aiter_raw():
                first = first or time.perf_counter() - began
                size += len(part)
        seconds = time.perf_counter() - began
        figures |= shown(f"export_{form}", {
            "rows": bench.plan.contacts,
            "seconds": round(seconds, 1),
            "rows_per_second": round(bench.plan.contacts / seconds),
            "first_byte_seconds": round(first, 2),
            "file_mb": round(size / MEBI, 1),
            "server_mb": peak.most,
        })  # fmt: skip
    return figures


async def slow_readers(bench: Bench) -> dict[str, Any]:
    """Time another tenant's list beside five exports of all contacts at 200 bytes a second.

    One address is on the suppression list, so that it is asked about every row.
    """
    mine, theirs = await keys_of_two(bench)
    suppressed = {"values": ["nobody@nowhere.example"]}
    headers = {"X-API-Key": mine[0]}
    answer = await bench.client.post(
        "/api/v3/suppressions", json=suppressed, headers=headers
    )
    answer.raise_for_status()
    alone = await others_list(bench, theirs, bench.plan.reading / 2)
    before = memory(bench.server)
    async with Peak(bench.server) as peak, asyncio.TaskGroup() as group:
        readers = [group.create_task(read_slowly(bench, key)) for key in mine]
        beside = await others_list(bench, theirs, bench.plan.reading)
        for reader in readers:
            reader.cancel()
    return shown("export_others", {
        "rows": len(mine) * bench.plan.contacts,
        "alone_p95_ms": percentile(alone),
        "p50_ms": median(beside),
        "p95_ms": percentile(beside),
        "worst_ms": round(max(beside), 1),
        "server_mb": peak.most,
        "grown_mb": peak.most - before,
    })  # fmt: skip


async def keys_of_two(bench: Bench) -> tuple[list[str], str]:
    """Make five keys' worth of exports of two people, and another tenant with a list."""
    # It comes with the rig of the tests, which empties the environment.
    from tests.api.operations.rig import new_key  # noqa: PLC0415

    async with bench.database.begin() as connection:
        made = insert(Tenant).values(name="Beside", slug=uuid4().hex)
        other = (await connection.execute(made.returning(Tenant.id))).scalar_one()
        places = [
            {"tenant_id": other, "source": "file", "source_place_id": f"beside-{n}"}
            for n in range(500)
        ]
        await connection.execute(insert(Place), places)
    first, second = [await new_key(bench.database, bench.tenant) for _ in range(2)]
    theirs = await new_key(bench.database, other)
    return [first, first, first, second, second], theirs


async def read_slowly(bench: Bench, key: str) -> None:
    """Ask for all contacts, and read 20 bytes of them every tenth of a second."""
    url = bench.client.base_url
    loop = asyncio.get_running_loop()
    asked = (
        "GET /api/v3/contacts/export HTTP/1.1\r\n"
        f"Host: {url.host}\r\nX-API-Key: {key}\r\n\r\n"
    )
    with socket.socket() as client:
        client.settimeout(0)
        await loop.sock_connect(client, (url.host, url.port))
        await loop.sock_sendall(client, asked.encode())
        first = await loop.sock_recv(client, 20)
        assert b" 200 " in first, first
        while first:
            await asyncio.sleep(0.1)
            first = await loop.sock_recv(client, 20)


async def others_list(bench: Bench, key: str, seconds: float) -> list[float]:
    """Return how long the lists of another tenant take, in milliseconds."""
    times: list[float] = []
    ends = time.perf_counter() + seconds
    while time.perf_counter() < ends:
        began = time.perf_counter()
        await ask(
            bench,
            "/api/v3/places/staging",
            params={"limit": PAGE_ROWS},
            headers={"X-API-Key": key},
        )
        times.append((time.perf_counter() - began) * 1000)
        await asyncio.sleep(0.05)
    return times


async def listening(bench: Bench) -> dict[str, Any]:
    """Let 200 clients listen to live events while rows change."""
    # It comes with the rig of the tests, which empties the environment.
    from bench import events  # noqa: PLC0415

    _, keys, places = await events.prepare(bench.dsn, int(50 * bench.plan.listening))
    found = await events.run(
        bench.dsn, str(bench.client.base_url), bench.server, keys, places,
        seconds=bench.plan.listening, rate=50,
    )  # fmt: skip
    return shown("sse", found)


def shown(name: str, figures: dict[str, Any]) -> dict[str, Any]:
    """Print figures as rows of a table, and return them under their full names."""
    print()
    for what, value in figures.items():
        print(f"{name.replace('_', ' '):20} {what.replace('_', ' '):26} {value:>12,}")
    return {f"{name}_{what}": value for what, value in figures.items()}


class Peak:
    """The most memory a process held while something went on, in MB."""

    def __init__(self, process: psutil.Process) -> None:
        self.process = process
        self.most = memory(process)

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._watch())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()

    async def _watch(self) -> None:
        while True:
            self.most = max(self.most, memory(self.process))
            await asyncio.sleep(0.05)


def memory(process: psutil.Process) -> int:
    """Return what a process holds now, in MB; its sandboxed children are not in it."""
    return int(process.memory_info().rss // MEBI)


if __name__ == "__main__":
    main()
