"""What is not documented does not exist: settings, commands, errors, links."""

import inspect
import re
from pathlib import Path

import pytest

from scrapersky import errors
from scrapersky.cli import app
from scrapersky.settings import VARIABLES
from scripts.reference import PAGES

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "reference"
PROSE = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


@pytest.mark.parametrize("name", sorted(PAGES))
def test_generated_pages_are_in_step_with_the_code(name: str) -> None:
    assert (REFERENCE / name).read_text() == PAGES[name](), (
        "run: python -m scripts.reference"
    )


def test_every_setting_is_documented() -> None:
    page = (REFERENCE / "settings.md").read_text()

    assert [name for name in VARIABLES if f"`{name}`" not in page] == []


def test_every_command_is_documented() -> None:
    page = (REFERENCE / "commands.md").read_text()
    commands = [name for name in app.resolved_commands() if not name.startswith("-")]

    assert [name for name in commands if f"## scrapersky {name}" not in page] == []


def test_every_error_is_documented() -> None:
    page = (REFERENCE / "errors.md").read_text()
    names = [
        name
        for name, found in inspect.getmembers(errors, inspect.isclass)
        if issubclass(found, errors.ScraperSkyError)
    ]

    assert [name for name in names if f"`{name}`" not in page] == []


@pytest.mark.parametrize("page", PROSE, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text())
    inside = [link for link in links if not re.match(r"[a-z]+:", link)]

    assert [link for link in inside if not (page.parent / link).exists()] == []
