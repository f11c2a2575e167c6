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
from alembic.script import ScriptDirectory

from scrapersky.db.migrate import alembic_config
from tests.conftest import TestDatabase

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "how-to"
BLOCK = re.compile(
    r"^   ```(?P<kind>python|diff)\n   # (?P<path>\S+)\n(?P<text>.*?)^   ```$",
    re.DOTALL | re.MULTILINE,
)


class Copy:
    """A copy of ScraperSky in which a page is followed."""

    def __init__(self, root: Path, page: str) -> None:
        self.root = root
        self.touched: list[str] = []
        source = root / "src" / "scrapersky"
        shutil.copytree(
            ROOT / "src" / "scrapersky",
            source,
            ignore=shutil.ignore_patterns("ui"),
            copy_function=same_file,
        )
        for found in BLOCK.finditer((PAGES / page).read_text()):
            self.follow(**found.groupdict())

    def follow(self, kind: str, path: str, text: str) -> None:
        """Do what one block of the page says."""
        place = self.root / path
        written = textwrap.dedent(text.replace("\n\n", "\n   \n"))
        if kind == "diff":
            written = changed(place.read_text(), diff_lines(text))
        else:
            assert not place.exists()
        place.unlink(missing_ok=True)
        place.write_text(written.replace('"LATEST"', f'"{latest_revision()}"'))
        self.touched.append(path)

    def look(self, **asked: object) -> Any:
        """Start the copy, and return what it shows."""
        sdk = ROOT / "packages" / "curation-sdk"
        answer = self.root / "answer.json"
        program = ["-m", "tests.how_to.look", orjson.dumps(asked).decode(), str(answer)]
        subprocess.run(
            [sys.executable, *program],
            cwd=ROOT,
            env={
                "PATH": os.environ["PATH"],
                "PYTHONPATH": f"{self.root / 'src'}:{sdk / 'src'}:{sdk / 'tests'}",
                "SCRAPERSKY_DATA_DIR": str(self.root / "data"),
            },
            check=True,
        )
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


def latest_revision() -> str:
    """Return the name of the latest migration."""
    head = ScriptDirectory.from_config(alembic_config()).get_current_head()
    assert head is not None
    return head


@pytest.mark.long
def test_a_stage_added_as_the_page_says_is_everywhere(
    tmp_path: Path, database: TestDatabase
) -> None:
    copy = Copy(tmp_path, "add-a-stage.md")

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
    assert stages["contact_greeting"]["done"] == 1
    assert "greet_contacts" in shown["answers"]["/api/v3/scheduler/jobs"]
    assert 'stage="contact_greeting"' in shown["answers"]["/metrics"]
    assert "contact_greeting" in shown["stages"]
    assert "CONTACT_GREETING_SCHEDULER_BATCH_SIZE" in shown["settings"]
    assert "| `contact_greeting` | Contact greeting: writes" in shown["pages"]
    assert "`CONTACT_GREETING_SCHEDULER_BATCH_SIZE` | `50`" in shown["pages"]


@pytest.mark.long
def test_a_kind_added_as_the_page_says_is_everywhere(
    tmp_path: Path, database: TestDatabase
) -> None:
    copy = Copy(tmp_path, "add-a-record-kind.md")

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
            "add-a-stage.md",
            {
                "src/scrapersky/records/contact.py",
                "src/scrapersky/db/migrations/versions/9001_contact_greeting.py",
                "src/scrapersky/stages/wf9_contact_greeting.py",
                "src/scrapersky/stages/__init__.py",
            },
        ),
        (
            "add-a-record-kind.md",
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
def test_a_page_can_be_followed_and_touches_no_other_file(
    tmp_path: Path, page: str, touched: set[str]
) -> None:
    copy = Copy(tmp_path, page)
    text = (PAGES / page).read_text()

    assert {*copy.touched} == touched
    assert len(BLOCK.findall(text)) == text.count("```") // 2
    for path in touched:
        compile((tmp_path / path).read_text(), path, "exec")
