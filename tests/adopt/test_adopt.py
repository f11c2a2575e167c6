"""An old database is adopted: what fits, what does not, and what became of every row."""

import asyncio
import csv
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from scrapersky.adopt.old_database import open_old_database
from scrapersky.db.connection import connect, parse_target
from scrapersky.privacy.key import load_suppression_keys
from scrapersky.privacy.subject import any_subject
from scrapersky.privacy.suppression import suppress as put_on_list
from scrapersky.records import METADATA
from scrapersky.records.audit import Actor
from tests.adopt.conftest import Adopter
from tests.adopt.old_system import add_old, key
from tests.cli.rig import execute
from tests.conftest import TestDatabase, TestServer

pytestmark = pytest.mark.slow


LEDGER = """SELECT c.id::text, c.email, c.domain_id::text, c.page_id::text, p.url,
    b.name, b.domain_id::text, l.source_place_id
  FROM contacts c JOIN pages p ON p.id = c.page_id
  JOIN local_businesses b ON b.domain_id = c.domain_id
  JOIN places_staging l ON l.id = b.place_id"""
TABLES = (
    "domains", "places_staging", "local_businesses", "sitemap_files", "pages",
    "contacts", "contact_evidence", "contact_notices", "audit_log",
)  # fmt: skip


def counts(database: TestDatabase) -> list[Any]:
    """Count the rows of what an adoption writes."""
    numbers = ", ".join(f"(SELECT count(*) FROM {name})" for name in TABLES)
    return execute(database, f"SELECT {numbers}")


def everything(database: TestDatabase) -> list[Any]:
    """Return how many rows each table has, and where each sequence stands."""
    names = [table.fullname for part in METADATA for table in part.sorted_tables]
    rows = [
        (name, *execute(database, f"SELECT count(*) FROM {name}")) for name in names
    ]
    # The change log draws numbers for rows that are taken back too.
    query = (
        "SELECT sequencename, last_value FROM pg_sequences"
        " WHERE sequencename <> 'record_changes_position_seq' ORDER BY 1"
    )
    return rows + execute(database, query)


def cells(printed: str, *words: str) -> list[str]:
    """Return the cells of the one line of a printed table that has these words."""
    lines = [re.split(r"\s{2,}", line.strip()) for line in printed.splitlines()]
    (found,) = (line for line in lines if all(word in line for word in words))
    return found


def test_references_of_a_domain_that_was_there_twice_were_lost(
    adopter: Adopter,
) -> None:
    done = adopter.adopt()

    assert done.returncode == 0, done.stderr
    domain, page = str(key(10)), str(key(30))
    assert execute(adopter.ours, LEDGER) == [
        (
            str(key(40)), "ada@harbour-dental.bv", domain, page,
            "http://harbour-dental.bv/contact", "Harbour Dental", domain, "ChIJ-1",
        )
    ]  # fmt: skip
    assert cells(done.stdout, "domains", "merged")[2:] == [
        "1", "merged", "the same domain as another row", str(key(11)),
    ]  # fmt: skip
    assert cells(done.stdout, "sitemap_urls", "2")[1:] == ["2", "1", "0", "1", "0"]


def test_rows_that_the_old_system_left_in_work_were_stuck(adopter: Adopter) -> None:
    adopter.adopt()

    statuses = """SELECT (SELECT deep_scan_status FROM places_staging
        WHERE source_place_id = 'ChIJ-2'), (SELECT domain_extraction_status
        FROM local_businesses), page_processing_status, page_curation_status
      FROM pages WHERE url LIKE '%%/contact'"""
    assert execute(adopter.ours, statuses) == [("Queued",) * 4]


def test_labels_of_other_enum_types_are_ours_afterwards(adopter: Adopter) -> None:
    adopter.adopt()

    query = """SELECT d.status, sitemap_analysis_status, sitemap_curation_status,
        s.status, sitemap_import_status, email_type, d.generator, emails, tech_stack
      FROM domains d JOIN sitemap_files s ON s.domain_id = d.id AND s.url LIKE '%%map.xml'
      JOIN contacts c ON c.domain_id = d.id"""
    assert execute(adopter.ours, query) == [
        (
            "completed", "submitted", "Selected", "Completed", "Complete", "CORPORATE",
            "WordPress", ["info@harbour-dental.bv"], {"cms": "xy"},
        )
    ]  # fmt: skip


def test_every_value_of_an_adopted_contact_has_its_source(adopter: Adopter) -> None:
    adopter.adopt()

    query = "SELECT field, value, url, snippet, method FROM contact_evidence ORDER BY 1"
    where = ("http://harbour-dental.bv/contact", "write to Ada",
             "adopted from the old database")  # fmt: skip
    assert execute(adopter.ours, query) == [
        ("email", "ada@harbour-dental.bv", *where),
        ("name", "Ada Byron", *where),
    ]


def test_a_dry_run_stores_nothing_and_prints_what_the_real_one_does(
    adopter: Adopter, tmp_path: Path
) -> None:
    add_old(adopter.old, "contacts", id=key(41), domain_id=key(10), email="nobody")
    before = everything(adopter.ours)

    trial = adopter.adopt("--dry-run", "--report", str(tmp_path / "trial"))

    assert everything(adopter.ours) == before
    real = adopter.adopt("--report", str(tmp_path / "real"))
    assert trial.stdout == real.stdout + "Nothing was stored: this was a dry run.\n"
    assert (tmp_path / "trial").read_text() == (tmp_path / "real").read_text()
    lines = [*csv.reader((tmp_path / "real").read_text().splitlines())]
    assert lines[0] == ["table", "row", "column", "fate", "reason"]
    refused = ["contacts", str(key(41)), "email", "refused"]
    assert [*refused, "This is not an e-mail address"] in lines


def test_a_second_adoption_stores_nothing_twice(adopter: Adopter) -> None:
    adopter.adopt()
    before = counts(adopter.ours)
    execute(adopter.ours, "UPDATE domains SET sitemap_curation_status = 'Archived'")

    again = adopter.adopt()

    assert counts(adopter.ours)[0][:-1] == before[0][:-1]
    assert cells(again.stdout, "contacts", "0")[1:] == ["1", "0", "1", "0", "0"]
    decided = "SELECT sitemap_curation_status FROM domains"
    assert execute(adopter.ours, decided) == [("Archived",)]


def test_the_old_database_is_as_it_was(
    adopter: Adopter, postgres_server: TestServer
) -> None:
    def dump() -> bytes:
        program = [str(postgres_server.bin / "pg_dump"), "--inserts", adopter.old.dsn]
        whole = subprocess.run(program, check=True, capture_output=True).stdout
        return re.sub(rb"\\(un)?restrict.*", b"", whole)

    before = dump()

    adopter.adopt()

    assert b"Harbour Dental" in before
    assert dump() == before


async def test_the_old_database_cannot_be_written(old: TestDatabase) -> None:
    async with open_old_database(parse_target(old.url)) as opened:
        with pytest.raises(DBAPIError, match="read-only transaction"):
            await opened.connection.execute(text("DELETE FROM jobs"))


def test_whoever_is_on_the_suppression_list_came_back(adopter: Adopter) -> None:
    rows = (
        {"id": key(51), "email": "bob@harbour-dental.bv", "name": "Bob Roe"},
        {"id": key(52), "email": "x@harbour-dental.bv", "context": "or bob@other.bv"},
        {"id": key(53), "email": "info@gone.bv", "domain_id": key(12)},
    )
    add_old(adopter.old, "domains", id=key(12), domain="gone.bv")
    for row in rows:
        add_old(adopter.old, "contacts", **{"domain_id": key(10), **row})
    suppress(adopter, "bob@harbour-dental.bv", "bob@other.bv", "gone.bv")

    done = adopter.adopt()

    listed = "it is on your Do not contact list"
    assert cells(done.stdout, "contacts", "email", "refused")[2:] == [
        "1", "refused", listed, str(key(51)),
    ]  # fmt: skip
    assert cells(done.stdout, "domains", "refused")[4] == listed
    whole = execute(adopter.ours, "SELECT c::text FROM contacts c")
    whole += execute(adopter.ours, "SELECT e::text FROM contact_evidence e")
    assert len(whole) > 3
    assert [row for (row,) in whole if "bob" in row or "gone" in row] == []


def suppress(adopter: Adopter, *subjects: str) -> None:
    """Put subjects on the list, as a request to the API does."""
    tenant = execute(adopter.ours, "SELECT id FROM tenants")[0][0]

    async def act() -> None:
        engine = connect(parse_target(adopter.ours.url))
        try:
            await load_suppression_keys(engine)
            actor = Actor(tenant, None, "test")
            await put_on_list(engine, actor, [*map(any_subject, subjects)])
        finally:
            await engine.dispose()

    asyncio.run(act())


def test_the_row_somebody_decided_about_was_merged_into_the_other(
    adopter: Adopter,
) -> None:
    for number, decision in ((60, "New"), (61, "Maybe")):
        add_old(
            adopter.old, "domains", id=key(number), domain="twice.bv",
            sitemap_curation_status=decision, created_at=f"2024-01-{number - 50}",
        )  # fmt: skip

    adopter.adopt()

    query = """SELECT id, sitemap_curation_status, created_at::date::text FROM domains
      WHERE domain = 'twice.bv'"""
    assert execute(adopter.ours, query) == [(key(61), "Maybe", "2024-01-11")]


def test_rows_come_to_the_tenant_that_was_named(adopter: Adopter) -> None:
    adopter.run("tenant", "create", "Other Ltd")

    adopter.adopt("--tenant", "other-ltd")
    elsewhere = adopter.adopt()

    query = "SELECT DISTINCT slug FROM contacts c JOIN tenants t ON t.id = c.tenant_id"
    assert execute(adopter.ours, query) == [("other-ltd",)]
    assert cells(elsewhere.stdout, "places_staging", "id")[2:5] == [
        "2", "refused", "another row of the database has its key",
    ]  # fmt: skip


@pytest.mark.slow
def test_doctor_is_content_with_an_adopted_database(adopter: Adopter) -> None:
    adopter.adopt()

    assert adopter.run("doctor").returncode == 0
