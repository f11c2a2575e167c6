"""Which records are one company: how right and how fast, beside a plain baseline.

    python -m bench.companies            a million places, then 400,000 beside a pipeline
    python -m bench.companies --quick    10,000 places, and 4,000 beside one, under a minute
    python -m bench.companies --alone --places 100000

A made-up country with known truth: companies listed by up to four sources, with slips of
the pen, missing and outdated values; brands with up to forty branches and one website;
near twins in one house; business centres with one switchboard; strangers on one host that no
list knows. Precision and recall are of pairs of records. The baseline links every place to
the nearest one within 150 metres whose name is 85 % alike. `seconds` are of the processor, of
the process that matches and of PostgreSQL together; memory is that of the process. Then 200,000
places and 2,000 groups of 100 records of one company each are matched while a worker reads pages
in the same process (`bench/companies_beside.py`): `pipeline_kept` is the share of its throughput
that is left. The last line is one object of JSON.
"""

import argparse
import asyncio
import json
import random
import resource
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from math import cos, hypot, radians
from pathlib import Path
from typing import Any

import asyncpg
import psutil
from rapidfuzz.fuzz import token_sort_ratio

from scrapersky.companies.matching import match_companies
from scrapersky.db.connection import Target, connect, parse_target
from scrapersky.db.embedded import EmbeddedPostgres
from scrapersky.db.migrate import upgrade

COLUMNS = (
    "tenant_id", "source", "source_place_id", "name", "address", "latitude", "longitude",
    "phone", "website", "seen_at",
)  # fmt: skip
SOURCES = ("google", "openstreetmap", "overture", "file")
START = (
    "ba", "ko", "li", "mar", "ste", "hol", "wei", "gro", "kra",
    "fin", "dor", "tan", "bre", "sil", "ur",
)  # fmt: skip
MIDDLE = ("ber", "den", "li", "ma", "ro", "sen", "ti", "van", "ger", "no", "lo", "ra")
END = (
    "mann", "ner", "feld", "stein", "ow", "ski", "bach", "hardt", "sen",
    "ini", "ez", "ard", "ell", "hof", "au",
)  # fmt: skip
TRADES = (
    "Bakery", "Dental", "Restaurant", "Plumbing", "Hair Salon", "Law Office", "Hotel",
    "Garage", "Pharmacy", "Florist", "Optik", "Elektro", "Reisen", "Möbel", "Physio",
)  # fmt: skip
FORMS = ("", "", "", " GmbH", " Ltd", " Inc.", " KG")
STREETS = ("Hauptstraße", "Mill Road", "Park Avenue", "Bahnhofstraße", "High Street")
BASELINE_METRES, BASELINE_ALIKE, BASELINE_MOST = 150, 85, 200_000
DUPLICATE_SHARE = 0.3
BESIDE: dict[str, Any] = {
    "places": 200_000,
    "groups": 2_000,
    "seconds": 30.0,
    "rounds": None,
}
QUICK_BESIDE: dict[str, Any] = {
    "places": 3_000,
    "groups": 10,
    "seconds": 2.5,
    "rounds": 3,
}

Row = dict[str, object]


class Country:
    """Companies with known truth, listed by several sources."""

    alone = 0.90
    """The share of companies that are neither a branch, a twin, nor under a common roof."""
    no_coordinates = 0.1
    no_address = 0.0
    no_phone = 0.2
    other_phone = 0.06
    no_website = 0.25
    town_added = 0.12
    slip = 0.08
    """How often another source leaves a value out, or says it otherwise."""

    def __init__(self, count: int, seed: int = 7) -> None:
        self.count = count
        self.random = random.Random(seed)
        self.made = 0
        self.truths = 0

    def places(self) -> Iterator[Row]:
        """Yield so many places; the part of their key before the dash is the truth."""
        while self.made < self.count:
            kind = self.random.random()
            rest = (kind - self.alone) / (1 - self.alone)
            if rest < 0:
                yield from self.records_of(self.company())
            elif rest < 0.3:
                yield from self.brand()
            elif rest < 0.6:
                yield from self.twins()
            elif rest < 0.8:
                yield from self.business_centre()
            else:
                yield from self.unlisted_host()

    def surname(self) -> str:
        pick = self.random.choice
        middle = "".join(pick(MIDDLE) for _ in range(self.random.choice((0, 1, 1, 2))))
        return (pick(START) + middle + pick(END)).capitalize()

    def company(self, **given: object) -> Row:
        """Make a company: what is true of it."""
        rolled = self.random.random
        self.truths += 1
        name = f"{self.surname()} {self.random.choice(TRADES)}"
        if rolled() < 0.3:
            name = f"{self.surname()} & {name}"
        city = self.random.randrange(max(1, self.count // 400))
        latitude = 45 + (city % 60) * 0.15 + self.random.uniform(-0.02, 0.02)
        longitude = 5 + (city // 60) * 0.2 + self.random.uniform(-0.03, 0.03)
        domain = f"{name.split()[0].lower()}-{self.truths:x}.example"
        street = f"{self.random.choice(STREETS)} {self.random.randrange(1, 200)}"
        return {
            "truth": self.truths,
            "name": name + self.random.choice(FORMS),
            "latitude": latitude,
            "longitude": longitude,
            "address": f"{street}, {10000 + city} City",
            "phone": f"+4930{self.truths:08d}" if rolled() < 0.8 else None,
            "website": f"https://www.{domain}/" if rolled() < 0.65 else None,
        } | given

    def records_of(self, company: Row) -> Iterator[Row]:
        """Let one source list a company, and often another one."""
        share = DUPLICATE_SHARE / (1 - DUPLICATE_SHARE)
        # Brands, twins and centres are reported once more often than not.
        copies = 0
        while copies < len(SOURCES) - 1 and self.random.random() < share:
            copies += 1
        for number, source in enumerate(self.random.sample(SOURCES, 1 + copies)):
            self.made += 1
            yield (
                self.copy(company, number, source)
                if number
                else self.plain(company, number, source)
            )

    def plain(self, company: Row, number: int, source: str) -> Row:
        kept = {name: value for name, value in company.items() if name != "truth"}
        return {**kept, "key": f"{company['truth']}-{number}", "source": source}

    def copy(self, company: Row, number: int, source: str) -> Row:
        """Tell a company as another source does."""
        rolled, row = self.random.random, self.plain(company, number, source)
        row["name"] = self.respelt(str(company["name"]))
        if rolled() < self.no_coordinates:
            row["latitude"] = row["longitude"] = None
        else:
            row["latitude"] = company["latitude"] + self.random.gauss(0, 0.00015)  # type: ignore[operator]
            row["longitude"] = company["longitude"] + self.random.gauss(0, 0.0002)  # type: ignore[operator]
        if self.no_address and rolled() < self.no_address:
            row["address"] = None
        if rolled() < self.no_phone:
            row["phone"] = None
        elif rolled() < self.other_phone and company["phone"]:
            row["phone"] = f"+49171{self.random.randrange(10**7):07d}"
        if rolled() < self.no_website:
            row["website"] = None
        elif company["website"] and rolled() < 0.5:
            row["website"] = str(company["website"]).replace("https://www.", "http://")
        return row

    def respelt(self, name: str) -> str:
        """Write a name as somebody else would."""
        rolled = self.random.random
        words = [
            word for word in name.split() if rolled() > 0.5 or f" {word}" not in FORMS
        ]
        if rolled() < self.town_added and len(words) > 1:
            words.append("City")
        if rolled() < self.slip:
            at = self.random.randrange(1, max(2, len(words[0]) - 1))
            words[0] = words[0][:at] + words[0][at + 1 :]
        written = " ".join(words)
        return written.upper() if rolled() < 0.1 else written.replace("ö", "oe")

    def brand(self) -> Iterator[Row]:
        """One brand with branches in several towns, often with one number for all."""
        head = self.company()
        size = min(40, 2 + int(self.random.expovariate(0.15)))
        has_one_phone = self.random.random() < 0.3
        for _ in range(size):
            there = self.company()
            phone = head["phone"] if has_one_phone else there["phone"]
            shared = {"name": head["name"], "website": head["website"], "phone": phone}
            yield from self.records_of({**there, **shared})

    def twins(self) -> Iterator[Row]:
        """Two companies of one trade in one house, the names nearly alike."""
        one = self.company()
        other = self.twin_of(one)
        yield from self.records_of(one)
        yield from self.records_of(other)

    def twin_of(self, one: Row) -> Row:
        """Make a company in the house of another one, of nearly the same name."""
        here = {key: one[key] for key in ("latitude", "longitude", "address")}
        other = self.company(**here)
        first, _, rest = str(one["name"]).partition(" ")
        twin = first[:-1] + self.random.choice("aeiou") + first[-1] + " " + rest
        if self.random.random() < 0.5:
            twin = f"{self.surname()} {rest}"
        return {**other, "name": twin.strip()}

    def business_centre(self) -> Iterator[Row]:
        """Some companies in one house, with the number of its reception."""
        house = self.company()
        shared = {key: house[key] for key in ("latitude", "longitude", "address")}
        for _ in range(self.random.randrange(3, 9)):
            there = self.company(**shared)
            yield from self.records_of({**there, "phone": f"+4940{house['truth']:08d}"})

    def unlisted_host(self) -> Iterator[Row]:
        """Strangers whose website is a directory that no list knows."""
        host = f"https://directory-{self.truths:x}.example/"
        for _ in range(self.random.randrange(3, 12)):
            there = self.company()
            yield from self.records_of({**there, "website": f"{host}{there['truth']}"})


async def fill(dsn: str, count: int) -> None:
    """Store the country, some thousand places at a time."""
    connection = await asyncpg.connect(dsn)
    tenant = await connection.fetchval("SELECT id FROM tenants")
    now = await connection.fetchval("SELECT now()")
    coming = Country(count).places()
    while some := [*islice(coming, 5_000)]:
        records = [
            (
                tenant, row["source"], row["key"], row["name"], row["address"],
                row["latitude"], row["longitude"], row["phone"], row["website"], now,
            )
            for row in some
        ]  # fmt: skip
        await connection.copy_records_to_table(
            "places_staging", records=records, columns=COLUMNS
        )
    await connection.execute("ANALYZE places_staging")
    await connection.close()


PAIRS = """
WITH seen AS (SELECT m.company_id, split_part(p.source_place_id, '-', 1) AS truth
  FROM company_members m JOIN places_staging p ON p.id = m.place_id)
SELECT
  (SELECT coalesce(sum(n * (n - 1) / 2), 0) FROM
    (SELECT count(*) AS n FROM seen GROUP BY company_id) a)::bigint AS found,
  (SELECT coalesce(sum(n * (n - 1) / 2), 0) FROM
    (SELECT count(*) AS n FROM seen GROUP BY truth) a)::bigint AS meant,
  (SELECT coalesce(sum(n * (n - 1) / 2), 0) FROM
    (SELECT count(*) AS n FROM seen GROUP BY company_id, truth) a)::bigint AS both
"""


ASKED = """
SELECT count(*), coalesce(avg(k.score), 0) AS score,
  coalesce(avg((split_part(p.source_place_id, '-', 1)
    = split_part(q.source_place_id, '-', 1))::int), 0)::float8 AS same
FROM company_pairs k
JOIN company_members l ON l.id = k.left_id JOIN places_staging p ON p.id = l.place_id
JOIN company_members r ON r.id = k.right_id JOIN places_staging q ON q.id = r.place_id
"""
"""What a person is asked: how sure we were on average, and how often it was one company."""


def pairs_of(groups: Counter[object]) -> int:
    return sum(size * (size - 1) // 2 for size in groups.values())


def baseline(rows: list[Row]) -> tuple[float, float, float]:
    """Link every place to the nearest of a like name; return how right that is."""
    began = time.perf_counter()
    cells: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    parent = [*range(len(rows))]

    def root(at: int) -> int:
        while parent[at] != at:
            parent[at] = parent[parent[at]]
            at = parent[at]
        return at

    for at, row in enumerate(rows):
        if row["latitude"] is None:
            continue
        cell = (int(row["latitude"] / 0.002), int(row["longitude"] / 0.003))  # type: ignore[operator]
        nearest: float = BASELINE_METRES
        best: int | None = None
        for north in (-1, 0, 1):
            for east in (-1, 0, 1):
                for other in cells[cell[0] + north, cell[1] + east]:
                    metres = distance(row, rows[other])
                    names = str(row["name"]), str(rows[other]["name"])
                    alike = token_sort_ratio(*names)
                    if metres < nearest and alike >= BASELINE_ALIKE:
                        nearest, best = metres, other
        if best is not None:
            parent[root(at)] = root(best)
        cells[cell].append(at)
    truths = [str(row["key"]).partition("-")[0] for row in rows]
    found = pairs_of(Counter(root(at) for at in range(len(rows))))
    both = pairs_of(Counter((root(at), truth) for at, truth in enumerate(truths)))
    meant = pairs_of(Counter(truths))
    return both / max(found, 1), both / max(meant, 1), time.perf_counter() - began


def distance(one: Row, other: Row) -> float:
    latitude = float(one["latitude"])  # type: ignore[arg-type]
    north = latitude - float(other["latitude"])  # type: ignore[arg-type]
    east = float(one["longitude"]) - float(other["longitude"])  # type: ignore[arg-type]
    return hypot(north, east * cos(radians(latitude))) * 111_320


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def postgres_seconds(pid: int) -> float:
    """Return the processor seconds of every process that a server has or had."""
    # A backend that is just ending is in neither count: let it end first.
    time.sleep(0.2)
    postmaster = psutil.Process(pid).parent()
    assert postmaster is not None
    total = postmaster.cpu_times()
    seconds = total.user + total.system + total.children_user + total.children_system
    for child in postmaster.children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            times = child.cpu_times()
            seconds += times.user + times.system
    return float(seconds)


@contextmanager
def a_server() -> Iterator[Target]:
    """Run a PostgreSQL of its own, with its default, durable configuration."""
    with tempfile.TemporaryDirectory(prefix="bench-companies-") as home:
        Path(home).chmod(0o711)
        with EmbeddedPostgres(Path(home) / "pg") as server:
            yield parse_target(server.url)


async def migrated(target: Target) -> None:
    """Make the tables."""
    engine = connect(target, statement_timeout=None)
    await upgrade(engine)
    await engine.dispose()


async def measure(target: Target, count: int) -> dict[str, float]:
    """Match a country, then once more: what that costs, and how right it is."""
    await migrated(target)
    await fill(target.dsn, count)
    engine = connect(target, name="scrapersky-matcher", pool_size=1)
    connection = await asyncpg.connect(target.dsn)
    pid = connection.get_server_pid()
    before, wall = peak_mb(), time.perf_counter()
    python, server = time.process_time(), postgres_seconds(pid)
    matched = (await match_companies(engine)).records
    python, server = (
        time.process_time() - python,
        postgres_seconds(pid) - server,
    )
    wall = time.perf_counter() - wall
    pairs = await connection.fetchrow(PAIRS)
    companies = await connection.fetchval("SELECT count(*) FROM companies")
    asked = await connection.fetchrow(ASKED)
    await connection.close()
    await engine.dispose()
    assert pairs is not None and asked is not None  # noqa: PT018 - both are sums
    seconds = python + server
    return {
        "places": matched,
        "companies": companies,
        "asked": asked["count"],
        "asked_score": round(asked["score"], 3),
        "asked_same": round(asked["same"], 3),
        "precision": round(pairs["both"] / max(pairs["found"], 1), 4),
        "recall": round(pairs["both"] / max(pairs["meant"], 1), 4),
        "seconds": round(seconds, 1),
        "python_seconds": round(python, 1),
        "postgres_seconds": round(server, 1),
        "seconds_per_100000": round(seconds / matched * 100_000, 1),
        "wall_seconds": round(wall, 1),
        "places_per_second": round(matched / wall),
        "peak_mb": round(peak_mb()),
        "grew_mb": round(peak_mb() - before),
    }


async def measure_beside(
    target: Target, places: int, groups: int, seconds: float, rounds: int | None
) -> dict[str, float]:
    """Match a country and groups of a hundred beside a pipeline."""
    from bench import companies_beside  # noqa: PLC0415 - tests need the country alone

    await migrated(target)
    await fill(target.dsn, places)
    await companies_beside.add_groups(target.dsn, groups)
    run, kept = await companies_beside.beside(target, seconds, rounds)
    whole = await companies_beside.whole_groups(target.dsn)
    return {
        **kept,
        "beside_places": run.records,
        "beside_failures": len(run.failures),
        "groups": groups,
        "groups_whole": whole,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--places", type=int, default=None)
    parser.add_argument("--alone", action="store_true", help="no pipeline beside it")
    asked = parser.parse_args()
    count = asked.places or (10_000 if asked.quick else 1_000_000)
    with a_server() as target:
        found = asyncio.run(measure(target, count))
    if not asked.alone:
        how = QUICK_BESIDE if asked.quick else BESIDE
        with a_server() as target:
            found |= asyncio.run(measure_beside(target, **how))
    rows = [*Country(min(count, BASELINE_MOST)).places()]
    precision, recall, seconds = baseline(rows)
    found |= {
        "baseline_places": len(rows),
        "baseline_precision": round(precision, 4),
        "baseline_recall": round(recall, 4),
        "baseline_seconds": round(seconds, 1),
    }
    print(f"{'':24}{'precision':>10}{'recall':>10}{'seconds':>10}")
    for name, prefix in (("companies", ""), ("nearest neighbour", "baseline_")):
        figures = (
            found[f"{prefix}{key}"] for key in ("precision", "recall", "seconds")
        )
        print(f"{name:24}" + "".join(f"{figure:>10}" for figure in figures))
    claims = f"claimed {found['asked_score']}, true {found['asked_same']}"
    print(
        f"{found['places']} places, {found['companies']} companies, {found['asked']} pairs"
        f" for a person ({claims}), {found['peak_mb']} MB;"
        f" {found['seconds_per_100000']} s of processor for 100,000"
    )
    if not asked.alone:
        print(
            f"a pipeline beside {found['beside_places']} places kept"
            f" {found['pipeline_kept']} of its throughput ({found['pipeline_rounds']} rounds,"
            f" {found['pipeline_kept_lowest']} to {found['pipeline_kept_highest']});"
            f" {found['groups_whole']} of {found['groups']} groups are one company each"
        )
    print(json.dumps(found))


if __name__ == "__main__":
    main()
