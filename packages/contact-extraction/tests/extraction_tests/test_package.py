"""What the README promises is there."""

import re
from pathlib import Path

PACKAGE = Path(__file__).parents[2]
SOURCES = PACKAGE / "src" / "contact_extraction"
README = (PACKAGE / "README.md").read_text()


def test_every_call_that_the_readme_names_exists() -> None:
    named = re.findall(r"`(?:contacts\.)?(\w+)\.(\w+)\(", README)
    assert len(named) >= 6
    for module, function in named:
        found = [*SOURCES.rglob(f"{module}.py"), *SOURCES.rglob(f"{module}/reader.py")]
        assert any(f"def {function}(" in each.read_text() for each in found), function
