"""The commands that a page of the documentation tells its reader to type."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sdk_tests.rig.waiting import HUNG

PAGES = Path(__file__).parents[2] / "docs" / "how-to"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
STATEMENTS = re.compile(r"^```sql\n(.*?)^```$", re.DOTALL | re.MULTILINE)
ANYTHING = "…"
"""What stands on a page for what differs from time to time."""


def commands_of(page: str) -> list[str]:
    """Return the commands in the console blocks of a page, each once."""
    blocks = BLOCK.findall((PAGES / page).read_text())
    lines = (line for block in blocks for line in block.splitlines())
    typed = (line.removeprefix("$ ").split("  #")[0].strip() for line in lines)
    return list(dict.fromkeys(typed))


def statements_of(page: str) -> list[str]:
    """Return the statements of a page for the database, one a line."""
    blocks = STATEMENTS.findall((PAGES / page).read_text())
    return [line for block in blocks for line in block.splitlines()]


@dataclass(frozen=True, slots=True)
class Step:
    """A command of a page, and what the page says it prints."""

    command: str
    shown: list[str] = field(default_factory=list)


def steps_of(page: str, heading: str = "") -> Iterator[Step]:
    """Yield the commands of a page, or below one heading of it, as they stand there.

    A line that begins with `$` is typed, with those it is continued on; others are printed.
    """
    whole = (PAGES / page).read_text()
    part = re.split(rf"^#+ {re.escape(heading)}$", whole, flags=re.MULTILINE)[-1]
    part = re.split(r"^## ", part, flags=re.MULTILINE)[0] if heading else part
    for block in BLOCK.findall(part):
        for typed in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *shown = re.sub(r"\\\n\s*", "", typed).splitlines()
            yield Step(command.split("  #")[0].strip(), shown)


class Shell:
    """A shell in which the steps of a page are followed, one after the other."""

    def __init__(
        self,
        place: Path,
        identity: Mapping[str, Any] | None = None,
        /,
        **settings: object,
    ) -> None:
        self.place = place
        self.identity = identity or {}
        self.exported = place / ".exported"
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        self.environment = {"PATH": path, "HOME": str(place), "COLUMNS": "200"} | {
            name: str(value) for name, value in settings.items()
        }

    def type(self, command: str) -> str:
        """Run one command; return what it printed. What is exported holds for the next."""
        exported = f"'{self.exported}'"
        done: subprocess.CompletedProcess[str] = subprocess.run(
            ["bash", "-c", (f"[ -e {exported} ] && . {exported}\nset -eo pipefail\n"
             f"{command}\nexport -p > {exported}")],
            cwd=self.place, env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=4 * HUNG, check=False, **self.identity,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}\n{done.stdout}"
        return done.stdout

    def follow(self, step: Step) -> str:
        """Do what a page says, and see what it shows."""
        printed = self.type(step.command)
        lines = [" ".join(line.split()) for line in printed.splitlines()]
        for shown in step.shown:
            words = " ".join(shown.split())
            parts = (re.escape(part.strip()) for part in words.split(ANYTHING))
            pattern = ".*".join(parts)
            assert any(re.fullmatch(pattern, line) for line in lines), (
                f"{step.command}\ndoes not print: {shown}\nbut:\n{printed}"
            )
        return printed
