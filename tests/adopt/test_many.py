"""A large old database, of which some is broken: killed, stopped, run again, compared."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from functools import partial

import psycopg
import pytest

from scrapersky.db.embedded import DATABASE, EmbeddedPostgres
from sdk_tests.rig.waiting import HUNG, wait_until
from tests.adopt.conftest import Adopter
from tests.adopt.old_system import create_old_system
from tests.adopt.test_adopt import counts
from tests.cli.rig import CLEAN, COMMAND, execute
from tests.conftest import TestDatabase, TestServer, a_database
from tests.durable import new_database

pytestmark = pytest.mark.slow
FILL = """
INSERT INTO places_staging (id, place_id, name, deep_scan_status)
  SELECT n, 'ChIJ-' || n - (n % 20 = 1)::int, 'Place ' || n,
    CASE n % 3 WHEN 0 THEN 'Processing'::gcp_api_deep_scan_status_enum END
  FROM generate_series(1, {tenth}) n;
INSERT INTO local_businesses (id, place_id, business_name, phone, country, website_url)
  SELECT md5('b' || n)::uuid, 'ChIJ-' || n, 'Business ' || n, '020 7946 ' || 1000 + n % 9000,
    'GB', 'https://site-' || n || '.bv/' FROM generate_series(1, {tenth}) n;
INSERT INTO domains (id, domain, status, local_business_id)
  SELECT md5('d' || n)::uuid, CASE WHEN n % 50 = 0 THEN 'not a domain ' || n
    ELSE 'site-' || n - (n % 20 = 1)::int || '.bv' END,
    CASE n % 4 WHEN 0 THEN 'processing' WHEN 1 THEN 'Completed' ELSE 'pending' END,
    md5('b' || n)::uuid FROM generate_series(1, {tenth}) n;
INSERT INTO sitemap_files (id, domain_id, url, sitemap_type, sitemap_import_status)
  SELECT md5('s' || n)::uuid, md5('d' || n)::uuid, 'https://site-' || n || '.bv/s.xml',
    'standard', CASE n % 2 WHEN 0 THEN 'Processing'::sitemap_import_status_enum END
  FROM generate_series(1, {tenth}) n;
INSERT INTO pages (id, domain_id, sitemap_file_id, url, page_processing_status)
  SELECT md5('p' || n)::uuid, md5('d' || n % {tenth} + 1)::uuid,
    md5('s' || n % {tenth} + 1)::uuid,
    'https://site-' || n % {tenth} + 1 || '.bv/page/' || n,
    CASE n % 5 WHEN 0 THEN 'Processing'::pageprocessingstatus END
  FROM generate_series(1, 2 * {tenth}) n;
INSERT INTO sitemap_urls (id, sitemap_id, url)
  SELECT md5('u' || n)::uuid, md5('s' || n % {tenth} + 1)::uuid,
    'https://site-' || n % {tenth} + 1 || '.bv/page/' || n
  FROM generate_series({tenth} + 1, 3 * {tenth}) n;
INSERT INTO contacts (id, domain_id, page_id, email, name)
  SELECT md5('c' || n)::uuid, md5('d' || n % {tenth} + 1)::uuid, md5('p' || n)::uuid,
    CASE WHEN n % 10 = 0 THEN 'mail me' ELSE 'info' || n % 7 || '@site-' || n || '.bv' END,
    'Ada Byron' FROM generate_series(1, 2 * {tenth}) n;
"""
ROWS = """SELECT md5(string_agg(md5(row), '' ORDER BY row)), count(*) FROM (
  SELECT (to_jsonb(t) - '{{expires_at, seen_at, tenant_id}}'::text[])::text AS row
  FROM {table} t) AS rows"""


def filled(database: TestDatabase, tenth: int) -> None:
    """Fill an old database with ten times so many rows."""
    create_old_system(database)
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        connection.execute(FILL.format(tenth=tenth).encode())


@pytest.fixture
def large(
    postgres_server: TestServer, request: pytest.FixtureRequest
) -> Iterator[TestDatabase]:
    """Give an old database with ten times as many rows as is asked for."""
    for database in a_database(postgres_server, template="template0"):
        filled(database, request.param)
        yield database


def has_rows(database: TestDatabase, table: str) -> bool:
    """Say whether a table has rows yet."""
    return execute(database, f"SELECT 1 FROM {table} LIMIT 1") != []


def contents(database: TestDatabase) -> dict[str, object]:
    """Return what all rows are that came from the old database."""
    tables = (
        "domains", "places_staging", "local_businesses", "sitemap_files", "pages", "contacts",
    )  # fmt: skip
    return {name: execute(database, ROWS.format(table=name)) for name in tables}


@pytest.mark.parametrize("large", [1_000], indirect=True)
def test_an_adoption_that_was_killed_stored_rows_twice_or_lost_them(
    adopter: Adopter, large: TestDatabase, durable_server: EmbeddedPostgres
) -> None:
    whole = new_database(durable_server, DATABASE)
    settings = CLEAN | {"SCRAPERSKY_DATA_DIR": str(adopter.home)}
    words = [str(COMMAND), "adopt", large.dsn]
    unhindered = subprocess.run(
        words, env=settings | {"DATABASE_URL": whole.url}, check=True,
        capture_output=True, text=True, cwd="/",
    )  # fmt: skip

    codes = []
    for table, stop in (
        ("local_businesses", signal.SIGKILL),
        ("pages", signal.SIGTERM),
    ):
        process = subprocess.Popen(
            words, env=settings | {"DATABASE_URL": adopter.ours.url}, cwd="/",
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        wait_until(partial(has_rows, adopter.ours, table), f"rows of {table}")
        os.kill(process.pid, stop)
        codes.append(process.wait(HUNG))
    between = counts(adopter.ours)[0]
    again = adopter.adopt(url=large.dsn)

    assert codes == [-signal.SIGKILL, 128 + signal.SIGTERM]
    assert again.returncode == 0
    assert between[5] < counts(whole)[0][5]
    assert contents(adopter.ours) == contents(whole)
    assert counts(adopter.ours)[0][:-1] == counts(whole)[0][:-1]
    read = [line.split()[:2] for line in unhindered.stdout.splitlines()[3:10]]
    assert [line.split()[:2] for line in again.stdout.splitlines()[3:10]] == read


@pytest.mark.parametrize("large", [10_000], indirect=True)
def test_a_hundred_thousand_rows_of_which_some_are_broken(
    adopter: Adopter, large: TestDatabase
) -> None:
    began = time.monotonic()
    done = adopter.adopt(url=large.dsn)
    took = time.monotonic() - began

    print(done.stdout, f"{took:.0f} s")
    assert done.returncode == 0, done.stderr
    assert "pages: 20,000 rows" in done.stderr
    rows = {
        name: cells_of(done.stdout, name) for name in ("domains", "contacts", "pages")
    }
    assert rows["domains"] == ["10,000", "9,400", "0", "400", "200"]
    for read, *fates in rows.values():
        assert number(read) == sum(map(number, fates))
    stuck = """SELECT count(*) FILTER (WHERE page_processing_status = 'Processing'),
      count(*) FILTER (WHERE page_processing_status = 'Queued') > 1000 FROM pages"""
    assert execute(adopter.ours, stuck) == [(0, True)]


def cells_of(printed: str, table: str) -> list[str]:
    """Return the counts of a table in the summary."""
    return next(
        line.split()[1:] for line in printed.splitlines() if line.split()[:1] == [table]
    )


def number(written: str) -> int:
    """Read a count."""
    return int(written.replace(",", ""))
