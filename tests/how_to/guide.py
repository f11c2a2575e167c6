"""The commands that a page of the documentation tells its reader to type."""

import re
from pathlib import Path

PAGES = Path(__file__).parents[2] / "docs" / "how-to"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def commands_of(page: str) -> list[str]:
    """Return the commands in the console blocks of a page, each once."""
    blocks = BLOCK.findall((PAGES / page).read_text())
    lines = (line for block in blocks for line in block.splitlines())
    typed = (line.removeprefix("$ ").split("  #")[0].strip() for line in lines)
    return list(dict.fromkeys(typed))
