"""Packages as a stranger gets them: a README that runs, and nothing but their libraries.

The Curation SDK has tests of its own, in an environment with nothing else.
"""

import ast
import contextlib
import io
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

PACKAGES = Path(__file__).parents[1] / "packages"
MODULES = {
    "contact-extraction": "contact_extraction",
    "simulated-town": "simulated_town",
}
PROGRAMS = {**MODULES, "scrapersky-client": "scrapersky_client"}
"""With the client, whose first screen needs a server: tests/client."""
each_program = pytest.mark.parametrize("name", PROGRAMS)
each_package = pytest.mark.parametrize("name", MODULES)


def first_block(name: str, language: str) -> str:
    readme = (PACKAGES / name / "README.md").read_text()
    found = re.search(rf"^```{language}\n(.*?)^```$", readme, re.DOTALL | re.MULTILINE)
    assert found
    return found[1]


@each_package
def test_the_first_screen_of_the_readme_prints_what_it_says(name: str) -> None:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(first_block(name, "python"), "README.md", "exec"), {})
    assert out.getvalue() == first_block(name, "text")


@each_program
def test_it_imports_the_libraries_that_it_asks_for_and_no_other(name: str) -> None:
    project = tomllib.loads((PACKAGES / name / "pyproject.toml").read_text())["project"]
    asked = {re.split(r"[<>=]", each)[0] for each in project["dependencies"]}
    imported = set()
    for file in (PACKAGES / name / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                imported |= {name.name.partition(".")[0] for name in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                imported.add(node.module.partition(".")[0])
    foreign = imported - sys.stdlib_module_names - {PROGRAMS[name]}
    assert {
        "dnspython" if each == "dns" else each.replace("_", "-") for each in foreign
    } == asked


@each_package
def test_the_wheel_holds_its_data_and_its_types(name: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel"]
    subprocess.run([*command, "-d", tmp_path], cwd=PACKAGES / name, check=True)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        held = {*wheel.namelist()}
    source = PACKAGES / name / "src"
    data = {str(each.relative_to(source)) for each in source.glob("*/data/*")}
    assert len(data) > 5
    assert {f"{MODULES[name]}/py.typed", *data} <= held


IMPORT_EACH = """
import importlib, os, pkgutil, sys
package = importlib.import_module(os.environ["PACKAGE"])
names = [found.name for found in pkgutil.walk_packages(package.__path__, package.__name__ + ".")]
# Only what others have made is loaded once; our own modules are new to every child.
for name in [name for name in sys.modules if name.split(".")[0] == package.__name__]:
    del sys.modules[name]
for name in names:
    child = os.fork()
    if not child:
        try:
            importlib.import_module(name)
        except BaseException as error:
            print(f"{name}: {error!r}", flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


@pytest.mark.slow
@each_program
def test_some_modules_could_not_be_imported_first(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_EACH],
        env=os.environ | {"PACKAGE": PROGRAMS[name]},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == ""
