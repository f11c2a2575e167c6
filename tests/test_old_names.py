"""The page that maps old names to ours: every name on our side is one that exists."""

import json
import re
from pathlib import Path

import psycopg
import pytest

from scrapersky.configuration import VARIABLES
from tests.conftest import TestDatabase

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/reference/old-names.md").read_text()
ROW = re.compile(r"^\| (?!before|---)(.+?) \| (.+) \|$", re.MULTILINE)
NAME = re.compile(r"`([^`]+)`")
PACKAGES = [ROOT / "src", *ROOT.glob("packages/*/src")]


def section(heading: str) -> str:
    """Return what the page says under a heading."""
    return PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]


def right_hand(text: str) -> set[str]:
    """Return the names on our side of its tables."""
    return {name for _, now in ROW.findall(text) for name in NAME.findall(now)}


@pytest.fixture(scope="module")
def code() -> str:
    return "".join(file.read_text() for path in PACKAGES for file in path.rglob("*.py"))


@pytest.fixture(scope="module")
def routes() -> set[str]:
    described = json.loads((ROOT / "frontend/openapi.json").read_text())["paths"]
    return {
        f"{method.upper()} {path.removeprefix('/api/v3')}"
        for path, methods in described.items()
        for method in methods
    }


def exists(name: str, code: str, routes: set[str]) -> bool:
    """Say whether a file, a route, a command, a setting or a word of the code is there."""
    if re.match(r"(GET|POST|PUT) ", name):
        return name in routes
    if name.startswith("/"):
        return any(route.endswith(f" {name}") for route in routes)
    if name.startswith("scrapersky "):
        commands = (ROOT / "docs/reference/commands.md").read_text()
        return f"## {name}\n" in commands
    if re.search(r"/|\.(py|toml|yaml|txt)$", name):
        places = (ROOT, ROOT / "src/scrapersky", *PACKAGES)
        return any((place / name).exists() for place in places)
    if name.startswith("_"):
        return any(found.endswith(name) for found in VARIABLES)
    if name.isupper() and "_" in name:
        return name in VARIABLES
    words = re.findall(r"\w+", name)
    return all(re.search(rf"\b{word}\b", code) for word in words)


def test_a_name_of_the_old_system_led_to_one_that_is_gone(
    code: str, routes: set[str]
) -> None:
    ours = right_hand(PAGE)

    assert len(ours) > 100
    assert [name for name in sorted(ours) if not exists(name, code, routes)] == []
    assert not exists("POST /nowhere", code, routes)
    assert not exists("stages/wf9_nothing.py", code, routes)
    assert not exists("no_such_function", code, routes)


def test_types_of_the_database_were_renamed_and_mapped_nowhere(
    database: TestDatabase,
) -> None:
    with psycopg.connect(database.dsn) as connection:
        query = """SELECT typname FROM pg_type
          WHERE typtype = 'e' AND typnamespace = 'public'::regnamespace"""
        there = {row[0] for row in connection.execute(query)}

    assert right_hand(section("Types of the database")) == there


@pytest.mark.parametrize(
    "name",
    [
        "process_pending_jobs", "process_pending_sitemap_imports", "job_listener",
        "process_page_curation_queue", "detect_site_metadata", "update_from_metadata",
        "process_single_deep_scan", "process_single_sitemap_file",
        "process_single_page_for_curation", "submit_domain_to_legacy_sitemap",
        "create_pending_domain_from_local_business", "run_server.py", "docker-compose up",
        "gcp_api_deep_scan_status_enum", "sitemap_file_status_enum",
        "sitemap_import_status_enum", "scheduler_loop.py", "sitemap_urls",
    ],
)  # fmt: skip
def test_a_name_of_the_old_documents_was_not_on_the_page(name: str) -> None:
    before = {name for before, _ in ROW.findall(PAGE) for name in NAME.findall(before)}

    assert name in before
