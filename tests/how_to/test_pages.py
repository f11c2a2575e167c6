"""The pages that explain how to add a stage and a kind of record, followed word by word."""

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.conftest import TestDatabase

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "how-to"
VERSIONS = "src/scrapersky/db/migrations/versions"
BLOCK = re.compile(
    r"^   ```(?P<kind>python|diff)\n   # (?P<path>\S+)\n(?P<text>.*?)^   ```$",
    re.DOTALL | re.MULTILINE,
)


LEFT_OUT = (
    *(".git", ".venv", ".tools", ".*_cache", "__pycache__"),
    *("node_modules", "ui", "build"),
)
TESTS = (
    *("tests/db", "tests/changes/test_reader.py"),
    *("tests/test_structure.py", "tests/test_boundaries.py"),
    *("tests/api/records/test_listing.py", "tests/api/operations/test_stages.py"),
)
"""What knows the tables and their lists, the stages, and the shape of the code."""
STAGE, KIND = "add-a-stage.md", "add-a-record-kind.md"


class Copy:
    """A copy of the repository in which pages are followed."""

    def __init__(self, root: Path, *pages: str) -> None:
        self.root = root / "repository"
        self.touched: list[str] = []
        shutil.copytree(
            ROOT,
            self.root,
            ignore=shutil.ignore_patterns(*LEFT_OUT),
            copy_function=same_file,
        )
        for page in pages:
            latest = max((self.root / VERSIONS).glob("[0-9]*.py")).stem
            for found in BLOCK.finditer((PAGES / page).read_text()):
                self.follow(**found.groupdict(), latest=latest)

    def follow(self, kind: str, path: str, text: str, latest: str) -> None:
        """Do what one block of a page says."""
        place = self.root / path
        written = textwrap.dedent(text.replace("\n\n", "\n   \n"))
        if kind == "diff":
            written = changed(place.read_text(), diff_lines(text))
        else:
            assert not place.exists()
        place.unlink(missing_ok=True)
        place.write_text(written.replace('"LATEST"', f'"{latest}"'))
        self.touched.append(path)

    def run(self, *words: str | Path) -> None:
        """Run Python on the copy; nothing may fail."""
        sources = [self.root / "src", *self.root.glob("packages/*/src")]
        places = [*sources, self.root / "packages/curation-sdk/tests"]
        done = subprocess.run(
            [sys.executable, *words],
            cwd=self.root,
            env={
                "PATH": os.environ["PATH"],
                "PYTHONPATH": ":".join(map(str, places)),
                "SCRAPERSKY_DATA_DIR": str(self.root.parent / "data"),
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout

    def look(self, **asked: object) -> Any:
        """Start the copy, and return what it shows."""
        answer = self.root.parent / "answer.json"
        self.run("-m", "tests.how_to.look", orjson.dumps(asked).decode(), answer)
        return orjson.loads(answer.read_bytes())


def same_file(source: str, target: str) -> None:
    """Link a file, so that what Python has compiled of it is taken over."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def diff_lines(text: str) -> list[str]:
    """Return the lines of a block, each with its sign."""
    return [line[3:] or " " for line in text.splitlines()]


def changed(before: str, lines: list[str]) -> str:
    """Apply a block to a file: what it shows stands there, what it adds does not."""
    old = "\n".join(line[1:] for line in lines if line[0] == " ")
    new = "\n".join(line[1:] for line in lines)
    assert before.count(old) == 1, f"the page shows what is not there:\n{old}"
    return before.replace(old, new)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    return Copy(tmp_path_factory.mktemp("followed"), KIND, STAGE)


@pytest.mark.slow
def test_what_the_pages_add_broke_imports_types_or_tests(copy: Copy) -> None:
    cache = copy.root / ".mypy_cache"
    if (ROOT / cache.name).exists():
        shutil.copytree(ROOT / cache.name, cache)

    copy.run(Path(sys.executable).with_name("lint-imports"), "--no-cache")
    copy.run("-m", "mypy")
    copy.run("-m", "pytest", "-q", "-x", "-m", "not slow and not long", *TESTS)


@pytest.mark.long
def test_a_stage_added_as_the_page_says_is_everywhere(
    copy: Copy, database: TestDatabase
) -> None:
    shown = copy.look(
        url=database.url,
        statement="INSERT INTO contacts (tenant_id, domain_id, email, name,"
        " greeting_status) VALUES (:tenant, :domain, 'a@a.example', 'Ada', 'Queued')",
        watched="SELECT greeting FROM contacts WHERE greeting_status = 'Complete'",
        addresses=["/api/v3/stages", "/api/v3/scheduler/jobs", "/metrics"],
    )

    assert shown["done"] == "Dear Ada,"
    stages = {
        each["stage"]: each for each in orjson.loads(shown["answers"]["/api/v3/stages"])
    }
    assert stages["contact_greeting"]["title"] == "Contact greeting"
    assert stages["contact_greeting"]["kind"] == "contacts"
    assert "greet_contacts" in shown["answers"]["/api/v3/scheduler/jobs"]
    assert 'stage="contact_greeting"' in shown["answers"]["/metrics"]
    assert "contact_greeting" in shown["stages"]
    assert "CONTACT_GREETING_SCHEDULER_BATCH_SIZE" in shown["settings"]
    assert "| `contact_greeting` | Contact greeting: writes" in shown["pages"]
    assert "`CONTACT_GREETING_SCHEDULER_BATCH_SIZE` | `50`" in shown["pages"]


@pytest.mark.long
def test_a_kind_added_as_the_page_says_is_everywhere(
    copy: Copy, database: TestDatabase
) -> None:
    shown = copy.look(
        url=database.url,
        statement="INSERT INTO letters (tenant_id, domain_id, subject, status,"
        " sending_status) VALUES (:tenant, :domain, 'Hello', 'Selected', 'Queued')",
        watched="SELECT subject FROM letters WHERE sending_status = 'Completed'",
        addresses=[
            "/api/v3/kinds",
            "/api/v3/letters?q=hello&filter=domain:equal:a.example",
            "/api/v3/letters/facets",
            "/api/v3/letters/export",
            "/api/v3/stages",
        ],
    )

    answers = shown["answers"]
    kind = next(
        k for k in orjson.loads(answers["/api/v3/kinds"]) if k["name"] == "letters"
    )
    assert [column["title"] for column in kind["columns"]][:2] == [
        "Subject",
        "Decision",
    ]
    assert kind["decision"]["starts"] == "letter_sending"
    listed = orjson.loads(
        answers["/api/v3/letters?q=hello&filter=domain:equal:a.example"]
    )
    assert [item["domain"] for item in listed["items"]] == ["a.example"]
    assert '"Selected","count":1' in answers["/api/v3/letters/facets"]
    assert "Hello" in answers["/api/v3/letters/export"]
    assert '"stage":"letter_sending"' in answers["/api/v3/stages"]
    assert "letters" in shown["export"]
    assert "LETTER_SENDING_SCHEDULER_ENABLED" in shown["settings"]
    assert "`/api/v3/letters/status`" in shown["pages"]
    assert "| `letters` | `letters` | `/api/v3/letters` | `status` |" in shown["pages"]


@pytest.mark.parametrize(
    ("page", "touched"),
    [
        (
            STAGE,
            {
                "src/scrapersky/records/contact.py",
                "src/scrapersky/db/migrations/versions/9002_contact_greeting.py",
                "src/scrapersky/stages/wf9_contact_greeting.py",
                "src/scrapersky/stages/__init__.py",
            },
        ),
        (
            KIND,
            {
                "src/scrapersky/records/letter.py",
                "src/scrapersky/records/__init__.py",
                "src/scrapersky/stages/wf9_letter_sending.py",
                "src/scrapersky/stages/__init__.py",
                "src/scrapersky/db/migrations/versions/9001_letters.py",
            },
        ),
    ],
)
def test_a_page_can_be_followed_and_what_it_adds_has_our_style(
    tmp_path: Path, page: str, touched: set[str]
) -> None:
    copy = Copy(tmp_path, page)
    text = (PAGES / page).read_text()

    assert {*copy.touched} == touched
    assert len(BLOCK.findall(text)) == text.count("```") // 2
    copy.run("-m", "ruff", "check", "--no-cache", *sorted(touched))
    copy.run("-m", "ruff", "format", "--check", "--no-cache", *sorted(touched))
