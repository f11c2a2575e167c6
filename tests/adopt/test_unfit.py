"""Databases that are not as they should be: each is told in one line, and nothing breaks."""

import random
import re
from collections.abc import Iterator
from typing import Any

import pytest

from sdk_tests.rig.cluster import Cluster, running_cluster
from tests.adopt.conftest import Adopter
from tests.adopt.old_system import add_old, create_old_system, key, small_town
from tests.cli.rig import execute
from tests.conftest import TestDatabase, TestServer

AS_TEXT = "ALTER TABLE {} ALTER {column} DROP DEFAULT, ALTER {column} TYPE text"
LOST_KEY = "ALTER TABLE contacts DROP CONSTRAINT contacts_pkey"
RIGHTS = (
    "GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader",
    "REVOKE SELECT ON contacts FROM reader",
    "ALTER TABLE pages ENABLE ROW LEVEL SECURITY",
)


def refused(adopter: Adopter, **more: Any) -> str:
    """Return the one line in which an old database is refused."""
    answer = adopter.adopt(**more)
    first, *rest = answer.stderr.splitlines()
    assert answer.returncode in {1, 2}
    assert first.startswith("scrapersky: ")
    assert len(rest) == 1, answer.stderr
    assert rest[0].startswith("What to do: ")
    return first


@pytest.fixture
def unencoded(postgres_server: TestServer) -> Iterator[TestDatabase]:
    """Give an old database in which texts are bytes of any encoding."""
    name = "unencoded"
    postgres_server.run(
        f"CREATE DATABASE {name} ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0"
    )
    database = postgres_server.database(name)
    create_old_system(database)
    yield database
    postgres_server.run(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.mark.slow
def test_databases_that_are_not_the_old_system_ended_in_a_traceback(
    adopter: Adopter, unencoded: TestDatabase
) -> None:
    another = adopter.old.dsn.replace(adopter.old.name, "postgres")
    nobody = adopter.old.dsn.replace("scrapersky@", "nobody_of_this_name:x@")
    nowhere = adopter.old.dsn.replace(adopter.old.name, "no_such_database")

    assert "has none of the tables" in refused(adopter, url=another)
    assert "does not say how its texts" in refused(adopter, url=unencoded.dsn)
    assert "refused the user name or password" in refused(adopter, url=nobody)
    assert "there is no such database" in refused(adopter, url=nowhere)
    assert "is not a URL" in refused(adopter, url="old")
    assert "is a database of this ScraperSky" in refused(adopter, url=adopter.ours.dsn)


LACKING = (
    "ALTER TABLE domains DROP domain",
    "ALTER TABLE contacts DROP id",
    "DROP TABLE sitemaps",
    "ALTER TABLE local_businesses DROP website_url",
)


def test_what_an_old_database_lacks_is_told_in_one_line_each(adopter: Adopter) -> None:
    for change in LACKING:
        execute(adopter.old, change)

    done = adopter.adopt()

    said = [
        "domains: nothing of it is adopted, because it has no column domain.",
        "contacts: nothing of it is adopted, because it has no column id.",
        "sitemaps: there is no such table",
        "local_businesses: not there, stays empty: website, latitude, longitude",
    ]
    assert {*said} <= {*done.stdout.splitlines()}
    assert (done.returncode, done.stderr) == (1, "")
    assert execute(adopter.ours, "SELECT name FROM local_businesses") == [
        ("Harbour Dental",)
    ]


def test_one_row_that_the_database_refuses_does_not_take_others_with_it(
    adopter: Adopter,
) -> None:
    signs = random.Random(1)
    name = "".join(chr(signs.randrange(0x4E00, 0x9FA5)) for _ in range(1_900))
    add_old(adopter.old, "places_staging", id=9, place_id="ChIJ-9", name=name)

    done = adopter.adopt()

    assert re.search(r"places_staging +1 +refused +index row size", done.stdout)
    assert execute(adopter.ours, "SELECT count(*) FROM places_staging") == [(2,)]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """Run a server whose users are asked for their passwords."""
    with running_cluster() as cluster:
        rules = cluster.data / "pg_hba.conf"
        rules.write_text("host all reader all scram-sha-256\n" + rules.read_text())
        for statement in (
            "SELECT pg_reload_conf()",
            "CREATE ROLE reader LOGIN PASSWORD 'right'",
        ):
            cluster.execute(statement)
        yield cluster


@pytest.mark.slow
def test_an_old_database_that_may_not_be_read_ended_in_a_traceback(
    adopter: Adopter, cluster: Cluster
) -> None:
    cluster.create_database("old")
    place = f"127.0.0.1:{cluster.port}/old"
    database = TestDatabase(cluster.url("old"), cluster.dsn("old"), "old")
    small_town(database)
    for statement in RIGHTS:
        execute(database, statement)

    done = adopter.adopt(url=f"postgresql://reader:right@{place}")

    said = [line for line in done.stdout.splitlines() if "nothing of it" in line]
    assert said == [
        (
            "pages: nothing of it is adopted, because query would be affected by row-level "
            'security policy for table "pages".'
        ),
        "contacts: nothing of it is adopted, because its user may not read it.",
    ]
    assert (done.returncode, done.stderr) == (1, "")
    assert execute(adopter.ours, "SELECT count(*) FROM domains") == [(1,)]
    wrong = f"postgresql://reader:wrong@{place}"
    assert "refused the user name or password" in refused(adopter, url=wrong)


def text_statuses(adopter: Adopter) -> None:
    columns = (
        ("domains", "sitemap_analysis_status"),
        ("domains", "sitemap_curation_status"),
        ("pages", "page_processing_status"),
    )
    for table, column in columns:
        execute(adopter.old, AS_TEXT.format(table, column=column))


BAD_ROWS: tuple[tuple[str, dict[str, Any], tuple[str, ...]], ...] = (
    ("domains", {"id": key(100), "domain": "upper.bv", "status": "PENDING",
      "sitemap_curation_status": "not_a_fit", "sitemap_analysis_status": "RUNNING"},
     ("sitemap_analysis_status", "changed", "was processing: queued again")),
    ("domains", {"id": key(101), "domain": "odd.bv", "status": "hibernating"},
     ("status", "left out", "unknown label 'hibernating'")),
    ("domains", {"id": key(102), "domain": "10.0.0.1"},
     ("domain", "refused", "not a domain on the public internet")),
    ("domains", {"id": key(103), "domain": None}, ("domain", "refused", "it is empty")),
    ("domains", {"id": key(104), "domain": "long.bv", "title": "x" * 5_000},
     ("title", "left out", "longer than 2,000 characters")),
    ("places_staging", {"id": 7, "place_id": "ChIJ-1", "name": "again"},
     ("source_place_id", "merged", "the same source and source_place_id as another row")),
    ("local_businesses", {"id": key(110), "place_id": "ChIJ-gone", "rating": "NaN"},
     ("place_id", "left out", "it names no row of places_staging")),
    ("sitemap_files", {"id": key(120), "domain_id": key(999), "url": "https://a.bv/s"},
     ("domain_id", "refused", "it names no row of domains")),
    ("pages", {"id": key(130), "domain_id": key(10), "url": "ftp://a.bv/"},
     ("url", "refused", "has the scheme 'ftp'")),
    ("pages", {"id": key(131), "domain_id": key(10), "url": "https://a.bv/" + "y" * 9_000},
     ("url", "refused", "longer than 2,000 characters")),
    ("contacts", {"id": key(140), "domain_id": key(10), "email": "ada(at)x.bv"},
     ("email", "refused", "This is not an e-mail address")),
    ("contacts", {"id": key(141), "domain_id": key(10), "email": "ADA@harbour-dental.bv"},
     ("email", "merged", "the same domain_id and email as another row")),
    ("contacts", {"id": key(142), "domain_id": key(10), "email": "b@harbour-dental.bv",
      "phone_number": "12", "page_id": key(998)},
     ("page_id", "left out", "it names no row of pages")),
)  # fmt: skip


def test_rows_that_do_not_fit_are_told_with_table_column_and_reason(
    adopter: Adopter,
) -> None:
    text_statuses(adopter)
    execute(adopter.old, LOST_KEY)
    for table, values, _ in BAD_ROWS:
        add_old(adopter.old, table, **values)
    add_old(adopter.old, "contacts", id=key(40), email="twice@harbour-dental.bv")

    done = adopter.adopt()

    assert (done.returncode, done.stderr) == (0, "")
    printed = [re.split(r"\s{2,}", line.strip()) for line in done.stdout.splitlines()]
    told = {
        (line[0], line[1], line[3], line[4], line[5])
        for line in printed
        if len(line) == 6
    }
    for table, values, (column, fate, reason) in BAD_ROWS:
        assert (table, column, fate, reason, str(values["id"])) in told
    same_key = (
        "contacts",
        "id",
        "refused",
        "another row has the same key",
        str(key(40)),
    )
    assert same_key in told
    query = """SELECT status, sitemap_curation_status, sitemap_analysis_status
      FROM domains WHERE domain IN ('upper.bv', 'odd.bv') ORDER BY domain"""
    assert execute(adopter.ours, query) == [
        ("pending", "New", "pending"), ("pending", "Not a Fit", "queued"),
    ]  # fmt: skip
