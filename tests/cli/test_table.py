"""What commands print can be copied, searched and piped."""

import io
import os
import shutil
import subprocess
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from rich.console import Console

from scrapersky.cli import table as module
from scrapersky.cli.table import PlainTable, print_table
from tests.cli.rig import CLEAN, Command

ROOT = Path(__file__).parents[2]
NAME = "DOMAIN_EXTRACTION_SCHEDULER_INTERVAL_MINUTES"


def test_names_were_cut_in_a_pipe(command: Command) -> None:
    lines = command("config", COLUMNS="40").stdout.splitlines()

    (line,) = [line for line in lines if NAME in line]
    assert line.split() == [NAME, "2", "default"]


def test_names_were_cut_in_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()

    def narrow(*, width: int | None = None, **_: bool) -> Console:
        return Console(
            file=out, width=width or 40, force_terminal=True, color_system=None
        )

    monkeypatch.setattr(module, "Console", narrow)
    table = PlainTable("item", "why")
    table.add_row("0190-long-identifier-of-an-item", "because " * 20)

    with redirect_stdout(out):
        print_table(table, whole=("item",))

    assert "0190-long-identifier-of-an-item " in out.getvalue()


def test_the_launcher_left_the_directory_of_its_caller(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    (clone / "scripts").mkdir(parents=True)
    (clone / ".venv/bin").mkdir(parents=True)
    (clone / "scripts/environment.sh").write_text('test "$wanted" = run\n')
    program = clone / ".venv/bin/scrapersky"
    program.write_text('#!/bin/sh\necho "$PWD $*"\n')
    program.chmod(0o755)
    shutil.copy(ROOT / "scrapersky", clone)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    done = subprocess.run(
        [os.path.relpath(clone / "scrapersky", elsewhere), "config", "--changed"],
        cwd=elsewhere,
        env=CLEAN,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout == f"{elsewhere} config --changed\n", done.stderr
