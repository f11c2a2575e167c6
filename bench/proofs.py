"""What it costs that a list can be proven: stored pages, verifying, replaying, erasing.

    python -m bench.proofs                        a town of 60, and 100,000 stored pages
    python -m bench.proofs --quick                a town of 12, and 1,000 pages, under 50 seconds
    python -m bench.proofs --sites sites.tar.xz   measures storage on a corpus of real sites too

The whole pipeline goes over a simulated town; its contacts are exported and verified with one
parser. Then pages of about 30 KB, ten a site, are stored as a crawl stores them, and one person is
looked for in all of them. `plain` is each page packed alone: the baseline. Processor time is that
of this process, its parsers and PostgreSQL. The last line is one object of JSON.
"""

import argparse
import asyncio
import hashlib
import json
import random
import tarfile
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import psutil
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.companies.matching import match_companies
from scrapersky.configuration import load_settings
from scrapersky.crawler import Sandbox
from scrapersky.curation.rule import save_rule
from scrapersky.db.connection import connect, parse_target
from scrapersky.db.embedded import EmbeddedPostgres
from scrapersky.db.migrate import upgrade
from scrapersky.demo.services import town_services
from scrapersky.export.contacts import write_csv
from scrapersky.kit.delta import pack
from scrapersky.observability.log import configure_logs
from scrapersky.pipeline.parsers import WARM
from scrapersky.pipeline.snapshot import packed_against
from scrapersky.privacy.snapshot import pages_naming
from scrapersky.privacy.subject import any_subject
from scrapersky.privacy.sweep import SearchTerm
from scrapersky.proofs.outcome import ProofVerdict
from scrapersky.proofs.replay import Replayer
from scrapersky.proofs.verification import Verifier, verify_file
from scrapersky.records.audit import Actor
from scrapersky.scheduler.app import work
from scrapersky.settings import SYSTEM_USER_ID
from simulated_town.town import Town

PAGES_A_SITE = 10
WORDS = [hashlib.sha256(str(n).encode()).hexdigest()[: 3 + n % 9] for n in range(3_000)]
OPEN = """SELECT (SELECT count(*) FROM places_staging
    WHERE deep_scan_status IN ('Queued', 'Processing'))
  + (SELECT count(*) FROM local_businesses
    WHERE domain_extraction_status IN ('Queued', 'Processing'))
  + (SELECT count(*) FROM domains WHERE status IN ('pending', 'processing')
      OR sitemap_analysis_status IN ('queued', 'processing'))
  + (SELECT count(*) FROM sitemap_files WHERE sitemap_import_status IN ('Queued', 'Processing'))
  + (SELECT count(*) FROM pages WHERE page_processing_status IN ('Queued', 'Processing'))
  + (SELECT count(*) FROM place_searches WHERE status IN ('Queued', 'InProgress'))"""
STORED = """SELECT count(*) AS pages, coalesce(sum(octet_length(content)), 0) AS bytes,
  coalesce(sum(size), 0) AS raw, (SELECT count(*) FROM contacts) AS contacts,
  (SELECT count(*) FROM page_snapshots) AS snapshots FROM page_contents"""
DISK = """SELECT pg_total_relation_size('page_contents')
  + pg_total_relation_size('page_snapshots')"""


def spent() -> float:
    """Return seconds of the processor, of this process and all that it has started."""
    total = 0.0
    me = psutil.Process()
    for one in (me, *me.children(recursive=True)):
        try:
            times = one.cpu_times()
        except psutil.Error:
            continue
        total += times.user + times.system
    return total


async def walk_town(engine: AsyncEngine, url: str, size: int, home: Path) -> UUID:
    """Let the whole pipeline go over a town; return the tenant."""
    from scrapersky.cli.demo import begin  # noqa: PLC0415 - loads all commands

    settings = load_settings({"SCRAPERSKY_DATA_DIR": str(home)}, dotenv=None).settings
    async with engine.connect() as connection:
        tenant = await connection.scalar(text("SELECT id FROM tenants"))
    actor = Actor(tenant, SYSTEM_USER_ID, "bench")
    for kind in ("places", "businesses", "sitemap_files"):
        await save_rule(
            engine, actor, name=kind, kind=kind, conditions=[], status="Selected"
        )
    async with (
        Town.open(size=size, trouble=False) as town,
        town_services(town.endpoint) as services,
        work(settings, parse_target(url), services=services),
    ):
        await begin(engine, settings)
        idle = 0
        while idle < 5:
            await asyncio.sleep(0.2)
            async with engine.connect() as connection:
                idle = 0 if await connection.scalar(text(OPEN)) else idle + 1
    await match_companies(engine)
    return UUID(str(tenant))


async def one(engine: AsyncEngine, query: str) -> Any:
    async with engine.connect() as connection:
        return (await connection.execute(text(query))).one()


async def measure_town(
    engine: AsyncEngine, url: str, size: int, home: Path
) -> dict[str, Any]:
    """Export and verify a town's contacts, and read all its pages again."""
    tenant = await walk_town(engine, url, size, home)
    stored = await one(engine, STORED)
    path = home / "contacts.csv"
    await write_csv(engine, tenant, path)
    async with Sandbox(children=1, warm=WARM) as sandbox:
        await sandbox.warm_up()
        before, begun = spent(), time.perf_counter()
        verifier = Verifier(engine, sandbox, tenant)
        report = await verify_file(path, verifier, lambda _: None)
        wall, cpu = time.perf_counter() - begun, spent() - before
        before = spent()
        replayer = Replayer(engine, sandbox, tenant, SYSTEM_USER_ID, everything=True)
        replayed = await replayer.run(lambda _: None)
        replay_cpu = spent() - before
    contacts = max(1, stored.contacts)
    return {
        "town_pages": stored.snapshots,
        "town_contents": stored.pages,
        "town_contacts": stored.contacts,
        "town_bytes_a_page": round(stored.bytes / max(1, stored.snapshots)),
        "kb_a_contact": round(stored.bytes / contacts / 1024, 2),
        "verified_values": report.values,
        "verified_from_pages": report.counts[ProofVerdict.PAGE],
        "verified_false": report.false,
        "verified_in_doubt": len(report.doubts),
        "verify_values_per_core_second": round(report.values / cpu),
        "verify_values_per_second": round(report.values / wall),
        "verify_ms_a_contact": round(1000 * cpu / max(1, report.rows), 2),
        "replay_pages_per_core_second": round(replayed.pages / replay_cpu),
        "replay_differences": sum(replayed.counts.values()),
    }


def site(chance: random.Random, number: int) -> Iterator[bytes]:
    """Make the pages of a site: one template, and a text of its own for each."""
    template = " ".join(chance.choices(WORDS, k=3_600))
    for page in range(PAGES_A_SITE):
        own = " ".join(chance.choices(WORDS, k=600))
        yield (
            f"<html><head><style>{template}</style></head><body><h1>Site {number}</h1>"
            f"<p>{own}</p><a href='mailto:person{page}@site{number}.bv'>write</a></body></html>"
        ).encode()


async def measure_many(engine: AsyncEngine, pages: int) -> dict[str, Any]:
    """Store many pages as a crawl does, and look for one person in all of them."""
    chance = random.Random(7)
    before = await one(engine, DISK)
    packing, inserted, raw, packed_bytes = 0.0, 0.0, 0, 0
    for number in range(pages // PAGES_A_SITE):
        bodies = [*site(chance, number)]
        begun = time.process_time()
        base: tuple[bytes, bytes] | None = None
        rows = []
        for body in bodies:
            digest, packed = packed_against(body, base)
            base = base or (digest, body)
            rows.append((digest, packed))
        packing += time.process_time() - begun
        raw += sum(map(len, bodies))
        packed_bytes += sum(len(packed.content) for _, packed in rows)
        begun = time.perf_counter()
        async with engine.begin() as connection:
            await connection.execute(
                text(
                    "INSERT INTO page_contents (tenant_id, hash, base, size, content)"
                    " SELECT (SELECT id FROM tenants), * FROM unnest(CAST(:h AS bytea[]),"
                    " CAST(:b AS bytea[]), CAST(:s AS bigint[]), CAST(:c AS bytea[]))"
                ),
                {
                    "h": [digest for digest, _ in rows],
                    "b": [packed.base for _, packed in rows],
                    "s": [packed.size for _, packed in rows],
                    "c": [packed.content for _, packed in rows],
                },
            )
        inserted += time.perf_counter() - begun
    after = await one(engine, DISK)
    tenant = (await one(engine, "SELECT id FROM tenants")).id
    person = any_subject(f"person3@site{pages // PAGES_A_SITE - 1}.bv")
    wanted = SearchTerm(person.pattern, (person.sign,) if person.sign else ())
    begun, found = time.perf_counter(), 0
    async for hashes in pages_naming(engine, tenant, wanted):
        found += len(hashes)
    looked = time.perf_counter() - begun
    return {
        "stored_pages": pages,
        "raw_kb_a_page": round(raw / pages / 1024, 1),
        "packed_bytes_a_page": round(packed_bytes / pages),
        "disk_bytes_a_page": round((after[0] - before[0]) / pages),
        "pack_ms_a_page": round(1000 * packing / pages, 2),
        "insert_ms_a_page": round(1000 * inserted / pages, 2),
        "erasure_found": found,
        "erasure_pages_per_second": round(pages / looked),
    }


def measure_corpus(path: Path) -> dict[str, Any]:
    """Pack the pages of real sites, alone and against the first of their site."""
    sites: dict[str, list[bytes]] = defaultdict(list)
    with tarfile.open(path) as tar:
        for member in tar:
            if member.isfile() and (file := tar.extractfile(member)) is not None:
                body = file.read()
                if b"<html" in body[:2_000].lower():
                    sites[member.name.removeprefix("./").split("/")[0]].append(body)
    pages = [body for bodies in sites.values() for body in bodies]
    alone = sum(len(pack(body)) for body in pages)
    return {
        "corpus_pages": len(pages),
        "corpus_raw_kb_a_page": round(sum(map(len, pages)) / len(pages) / 1024, 1),
        "corpus_plain_bytes_a_page": round(alone / len(pages)),
        "corpus_packed_bytes_a_page": round(packed_size(sites.values()) / len(pages)),
    }


def packed_size(sites: Any) -> int:
    """Return what the pages of sites take, each once."""
    total = 0
    for bodies in sites:
        base: tuple[bytes, bytes] | None = None
        met: set[bytes] = set()
        for body in bodies:
            digest, packed = packed_against(body, base)
            base = base or (digest, body)
            total += 0 if digest in met else len(packed.content)
            met.add(digest)
    return total


@contextmanager
def readable(home: Path) -> Iterator[None]:
    """Let the user that runs PostgreSQL for root pass through a directory."""
    home.chmod(0o755)
    yield


async def measure(size: int, pages: int, corpus: Path | None) -> dict[str, Any]:
    """Measure everything on a database of its own."""
    with (
        tempfile.TemporaryDirectory(prefix="bench-proofs-") as home,
        readable(Path(home)),
        EmbeddedPostgres(Path(home) / "data") as server,
    ):
        engine = connect(parse_target(server.url), pool_size=5)
        try:
            await upgrade(engine)
            found = await measure_town(engine, server.url, size, Path(home))
            found |= await measure_many(engine, pages)
        finally:
            await engine.dispose()
    if corpus is not None:
        found |= await asyncio.to_thread(measure_corpus, corpus)
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--size", type=int, help="businesses of the town")
    parser.add_argument("--pages", type=int, help="pages that are stored")
    parser.add_argument("--sites", type=Path, help="a tar file of real sites")
    given = parser.parse_args(arguments)
    size = given.size or (12 if given.quick else 60)
    pages = given.pages or (1_000 if given.quick else 100_000)
    configure_logs("ERROR", "console")
    found = asyncio.run(measure(size, pages, given.sites))
    for name, value in found.items():
        print(f"{name:32} {value:>14,}")
    print(json.dumps(found))


if __name__ == "__main__":
    main()
