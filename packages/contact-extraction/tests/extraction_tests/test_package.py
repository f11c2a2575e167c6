"""The package as a stranger gets it: a README that runs, and nothing but its libraries."""

import ast
import contextlib
import io
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

PACKAGE = Path(__file__).parents[2]
SOURCES = PACKAGE / "src" / "contact_extraction"
README = (PACKAGE / "README.md").read_text()
MODULES = {"email-validator": "email_validator"}
"""What is imported under another name than it is installed by."""


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def test_the_first_screen_of_the_readme_prints_what_it_says() -> None:
    program, said = blocks("python")[0], blocks("text")[0]
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(program, "README.md", "exec"), {})
    assert out.getvalue() == said


def test_every_call_that_the_readme_names_exists() -> None:
    named = re.findall(r"`(?:contacts\.)?(\w+)\.(\w+)\(", README)
    assert len(named) >= 6
    for module, function in named:
        found = [*SOURCES.rglob(f"{module}.py"), *SOURCES.rglob(f"{module}/reader.py")]
        assert any(f"def {function}(" in each.read_text() for each in found), function


def test_it_imports_the_libraries_that_it_asks_for_and_no_other() -> None:
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    asked = {re.split(r"[<>=]", each)[0] for each in project["dependencies"]}
    imported = set()
    for file in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                imported |= {name.name.partition(".")[0] for name in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                imported.add(node.module.partition(".")[0])
    foreign = imported - sys.stdlib_module_names - {"contact_extraction"}
    assert foreign == {MODULES.get(each, each) for each in asked}


def test_the_wheel_holds_its_word_lists_and_its_types(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel"]
    subprocess.run([*command, "-d", tmp_path], cwd=PACKAGE, check=True)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        held = {*wheel.namelist()}
    assert "contact_extraction/py.typed" in held
    lists = {f"contact_extraction/data/{each.name}" for each in SOURCES.glob("data/*")}
    assert lists <= held
