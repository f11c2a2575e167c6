"""The package as a stranger gets it: a wheel, in an environment with nothing else."""

import ast
import asyncio
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import asyncpg
import orjson
import pytest
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import Connection, create_engine, make_url
from sqlalchemy.ext.asyncio import create_async_engine

from curation_sdk import errors
from curation_sdk.migrations import LATEST, current_version
from sdk_tests.conftest import Database
from sdk_tests.rig.waiting import HUNG

PACKAGE = Path(__file__).parents[2]
TOOLS = PACKAGE.parents[1] / ".tools" / "bin" / "uv"
README = (PACKAGE / "README.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
INSTALLED = {
    "asyncpg",
    "curation-sdk",
    "greenlet",
    "sqlalchemy",
    "typing-extensions",
}
ASK = """
import importlib.metadata, importlib.util, json, curation_sdk
names = [each.metadata["Name"] for each in importlib.metadata.distributions()]
found = importlib.util.find_spec("scrapersky") is not None
print(json.dumps({"names": names, "scrapersky": found, "file": curation_sdk.__file__}))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel as an installer would, with the backend that is here already."""
    directory = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel"]
    subprocess.run([*command, "-d", directory], cwd=PACKAGE, check=True)
    return next(directory.glob("*.whl"))


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel into an environment of its own, from uv's cache if it is there."""
    home = tmp_path_factory.mktemp("clean")
    uv = shutil.which("uv") or (str(TOOLS) if TOOLS.exists() else None)
    if uv is None:
        if os.environ.get("CI"):
            pytest.fail("uv is not installed")
        pytest.skip("uv is not installed")
    # The versions of this environment, which uv has cached when it made it.
    pins = home / "constraints.txt"
    pins.write_text(
        "".join(
            f"{each.name}=={each.version}\n"
            for each in importlib.metadata.distributions()
            if re.sub(r"[-_.]+", "-", each.name).lower() in INSTALLED - {"curation-sdk"}
        )
    )
    place = home / "venv"
    python = place / "bin" / "python"
    subprocess.run([uv, "venv", "-q", "-p", sys.executable, place], check=True)
    places = ("-p", str(python), "-c", str(pins), str(wheel))
    install = [uv, "pip", "install", "-q", *places]
    if subprocess.run([*install, "--offline"], check=False).returncode != 0:
        subprocess.run(install, check=True)
    return python


@pytest.mark.slow
def test_the_wheel_says_that_it_is_typed_and_under_which_licence(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()

    assert "curation_sdk/py.typed" in names
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
    assert {name.split("/")[0].split("-")[0] for name in names} == {"curation_sdk"}


@pytest.mark.slow
def test_only_the_sdk_and_its_two_dependencies_are_installed(python: Path) -> None:
    reported = orjson.loads(run(python, "-c", ASK))

    assert {
        re.sub(r"[-_.]+", "-", name).lower() for name in reported["names"]
    } == INSTALLED
    assert not reported["scrapersky"]
    assert Path(reported["file"]).is_relative_to(python.parents[1])


@pytest.mark.slow
def test_the_first_example_of_the_readme_runs_where_nothing_else_is_installed(
    python: Path, empty_database: Database, tmp_path: Path
) -> None:
    script = tmp_path / "example.py"
    script.write_text(BLOCKS[0])
    url = empty_database.url
    with subprocess.Popen(
        [python, "-I", script],
        env={"PATH": os.environ["PATH"], "DATABASE_URL": url},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        queued = "INSERT INTO page (text) VALUES ('five words are in here')"
        asyncio.run(execute_when_possible(empty_database.dsn, queued))
        assert process.stdout is not None
        first = process.stdout.readline()
        process.terminate()

    assert (first, process.returncode) == ("5 words\n", 0)


async def execute_when_possible(dsn: str, statement: str) -> None:
    """Execute a statement as soon as its table is there."""
    connection = await asyncpg.connect(dsn)
    deadline = time.monotonic() + HUNG
    while True:
        try:
            await connection.execute(statement)
            break
        except asyncpg.UndefinedTableError:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.05)
    await connection.close()


def run(python: Path, *words: str, url: str = "") -> str:
    """Run this Python, which sees no other environment; return what it printed."""
    environment = {"PATH": os.environ["PATH"], "DATABASE_URL": url}
    done = subprocess.run(
        [python, "-I", *words],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


async def test_the_other_examples_of_the_readme_run_too(
    empty_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", empty_database.url)
    names: dict[str, Any] = {"__name__": "readme"}
    for block in BLOCKS:
        if "alembic" not in block:
            exec(compile(block, "README.md", "exec", dont_inherit=True), names)
    engine = create_async_engine(empty_database.url)

    async with engine.begin() as connection:
        await connection.run_sync(names["Base"].metadata.create_all)
    Letter = names["Letter"]  # noqa: N806 - a class
    async with names["AsyncSession"](engine) as session, session.begin():
        session.add(Letter(text="a row is queued by its status"))
    counted = await names["count_once"](engine)
    async with names["AsyncSession"](engine) as session, session.begin():
        (await session.get_one(Letter, 1)).status = names["Status"].NEW
    settled = await names["shorten_new_letters"](engine)
    await names["look_after"](engine)

    async with names["AsyncSession"](engine) as session:
        letter = await session.get_one(Letter, 1)
    await engine.dispose()
    assert (counted, settled) == (1, 1)
    assert (letter.status, letter.text, letter.words) == ("counted", "a row is q", 7)


@pytest.mark.parametrize("driver", ["asyncpg", "psycopg"])
async def test_the_revision_of_the_readme_upgrades_and_downgrades(
    empty_database: Database, driver: str
) -> None:
    names: dict[str, Any] = {"__name__": "revision"}
    exec(next(block for block in BLOCKS if "alembic" in block), names)

    def go(act: Callable[[], None]) -> Callable[[Connection], int]:
        def within(connection: Connection) -> int:
            with Operations.context(MigrationContext.configure(connection)):
                act()
            return current_version(connection)

        return within

    url = make_url(empty_database.url).set(drivername=f"postgresql+{driver}")
    if driver == "asyncpg":
        engine = create_async_engine(url)
        async with engine.begin() as opened:
            versions = [
                await opened.run_sync(go(names[name]))
                for name in ("upgrade", "downgrade")
            ]
        await engine.dispose()
    else:
        plain = create_engine(url)
        with plain.begin() as connection:
            versions = [
                go(names[name])(connection) for name in ("upgrade", "downgrade")
            ]
        plain.dispose()

    assert versions == [LATEST, 0]


IMPORT_EACH = """
import os, pkgutil, sys, types
# Without what the package itself imports: as if each module were the first.
package = sys.modules["curation_sdk"] = types.ModuleType("curation_sdk")
package.__path__ = [os.environ["PACKAGE"]]
for _, name, _ in pkgutil.iter_modules(package.__path__):
    child = os.fork()
    if not child:
        try:
            __import__(f"curation_sdk.{name}")
        except BaseException as error:
            print(f"curation_sdk.{name}: {error!r}", flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


def hintless() -> Iterator[str]:
    """Yield the errors that say what is wrong and not what to do."""
    # Who lost a claim can do nothing, and is told for the log.
    names = {name for name in errors.__dict__ if name[0].isupper()} - {"ClaimLost"}
    for path in sorted((PACKAGE / "src" / "curation_sdk").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                given = {keyword.arg for keyword in node.keywords}
                if node.func.id in names and "hint" not in given:
                    yield f"{path.name}: {ast.unparse(node)}"


def test_an_error_did_not_say_what_to_do() -> None:
    # What these say is a rule: "batch must be at least 1".
    rules = {"stage.py: InvalidStage(self.name, problem)"}
    assert set(hintless()) - rules == set()


@pytest.mark.slow
def test_some_modules_could_not_be_imported_first() -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_EACH],
        env=os.environ | {"PACKAGE": str(PACKAGE / "src" / "curation_sdk")},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == ""
