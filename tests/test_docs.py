"""What is not documented does not exist: settings, commands, errors, links."""

import inspect
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from markdown.extensions.toc import slugify  # type: ignore[import-untyped]
from mkdocs.config import load_config

from scrapersky import errors
from scrapersky.cli import app
from scrapersky.configuration import VARIABLES
from scrapersky.pipeline.declaration import AnyPipelineStage
from scrapersky.stages import PIPELINE
from scripts import sdk_reference
from scripts.regenerate import FILES

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "reference"
HOUSEKEEPING = ("reap_expired_claims", "purge_old_history", "match_companies")
PROSE = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("packages/*/*.md")]
)


@pytest.mark.parametrize(
    "path", sorted(FILES), ids=lambda path: str(path.relative_to(ROOT))
)
def test_generated_files_are_in_step_with_the_code(path: Path) -> None:
    assert path.read_text() == FILES[path](), "run: ./check --regenerate"


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


def test_every_public_name_of_the_sdk_has_a_docstring() -> None:
    assert sdk_reference.undocumented() == []


def test_every_public_name_of_the_sdk_is_in_its_reference() -> None:
    assert sdk_reference.unlisted() == []


@pytest.mark.parametrize("stage", PIPELINE, ids=lambda stage: stage.name)
def test_every_stage_is_documented_with_its_column_job_and_settings(
    stage: AnyPipelineStage,
) -> None:
    page = (REFERENCE / "stages.md").read_text()
    rows = [
        line for line in page.splitlines() if line.startswith(f"| `{stage.name}` |")
    ]
    statuses = (stage.queued, stage.processing, stage.done, stage.failed)

    assert rows
    assert f"`{stage.model.__tablename__}.{stage.claims.key}`" in rows[0]
    assert [str(status) for status in statuses if f"`{status}`" not in rows[0]] == []
    assert f"`{stage.job.id}`" in rows[0]
    assert f"`{stage.settings.prefix}`" in rows[0]


def test_every_job_is_documented() -> None:
    page = (REFERENCE / "stages.md").read_text()
    jobs = [*(stage.job.id for stage in PIPELINE), *HOUSEKEEPING]

    assert [job_id for job_id in jobs if f"`{job_id}`" not in page] == []


def test_links_between_pages_lead_somewhere() -> None:
    links = [
        (page, link)
        for page in PROSE
        for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text())
        if not re.match(r"[a-z]+:", link)
    ]

    assert links
    assert [one for one in links if not leads_somewhere(*one)] == []


def leads_somewhere(page: Path, link: str) -> bool:
    """Whether the file is there, and the heading that is named in it."""
    name, _, anchor = link.partition("#")
    target = page.parent / name if name else page
    if not anchor or target.suffix != ".md":
        return target.exists()
    headings = re.findall(r"^#+ (.+)$", target.read_text(), re.MULTILINE)
    return anchor in {slugify(heading.replace("`", ""), "-") for heading in headings}


def test_every_file_that_a_page_names_exists() -> None:
    files = {f"/{file}" for file in project_files()}
    named = {
        f"/{name}"
        for page in PROSE
        if page.name != "CHANGELOG.md"  # what is gone stays in the history
        for name in re.findall(
            r"`([\w./-]+/[\w.-]+\.(?:md|py|sh|toml|tsx?|yml))`", page.read_text()
        )
        if "NNNN" not in name
    }

    assert len(named) > 100
    assert [
        name for name in sorted(named) if not any(one.endswith(name) for one in files)
    ] == []


def test_every_test_that_a_page_names_exists() -> None:
    sources = [
        *ROOT.glob("tests/**/*.py"),
        *ROOT.glob("packages/*/tests/**/*.py"),
        *ROOT.glob("frontend/src/**/*.test.ts*"),
    ]
    known = {path.stem for path in sources}
    for path in sources:
        known.update(re.findall(r"\btest_\w+", path.read_text()))
    named = {
        name
        for page in PROSE
        if page.name != "CHANGELOG.md"
        for name in re.findall(r"`(test_\w+)`", page.read_text())
    }

    assert sorted(named - known) == []


def test_every_package_is_in_the_map_of_the_architecture() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text()
    packages = {
        path.parent.name for path in (ROOT / "src/scrapersky").glob("*/__init__.py")
    }

    assert [name for name in sorted(packages) if f"| `{name}/` |" not in page] == []


def project_files() -> list[str]:
    """List the files that pages speak of."""
    names = ("docs", "src", "packages", "tests", "bench", "scripts", "deploy")
    folders = [ROOT / name for name in (*names, "frontend/src", ".github")]
    found = [*ROOT.glob("*.*"), *ROOT.glob("frontend/*.*")]
    for folder in folders:
        found += folder.rglob("*.*")
    return [str(path.relative_to(ROOT)) for path in found]


def test_what_a_page_imports_exists() -> None:
    lines = {
        tuple(found)
        for page in PROSE
        # These add it.
        if page.name
        not in {"add-a-stage.md", "add-a-record-kind.md", "add-a-connector.md"}
        for found in re.findall(
            r"^ *from ((?:curation_sdk|scrapersky)[\w.]*) import ([\w, ]+)$",
            page.read_text(),
            re.MULTILINE,
        )
    }

    assert len(lines) > 5
    for module, names in sorted(lines):
        has = vars(import_module(module))
        assert [name for name in names.split(", ") if name not in has] == [], module


def test_the_site_is_configured_with_plugins_that_are_installed() -> None:
    site = load_config(str(ROOT / "mkdocs.yml"))

    assert {"material/search", "swagger-ui-tag"} <= set(site.plugins)


@pytest.mark.long
def test_the_site_is_built_with_its_search_and_nothing_from_elsewhere(
    tmp_path: Path,
) -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("scrapersky"), "docs", "--build", tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert "page_curation" in (tmp_path / "search/search_index.json").read_text()
    loaded = re.compile(r'(?:src|href)="(https?://[^"]+\.(?:js|css|woff2?))"')
    pages = [page.read_text() for page in tmp_path.rglob("*.html")]
    assert len(pages) > 50
    assert [found for page in pages for found in loaded.findall(page)] == []
