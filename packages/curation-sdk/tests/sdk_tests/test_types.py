"""Mistakes that a type checker finds where a stage is declared or used."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PACKAGE = Path(__file__).parents[2]
DECLARED = Path(__file__).parent / "typed" / "declared.py"

HEAD = """\
import enum
from functools import partial
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession
from curation_sdk import Done, Outcome, Stage, Worker, run_job_loop, stage
from curation_sdk.testing import drain
from sdk_tests.typed.declared import *

STATUSES = (Status.QUEUED, Status.WORKING, Status.DONE, Status.FAILED)

class Color(enum.StrEnum):
    RED = "red"
"""

COLUMN = """\
    claims=Letter.status,
    queued=Status.QUEUED,
    processing=Status.WORKING,
    done=Status.DONE,
    failed=Status.FAILED,
"""

# What is written, and what the type checker says about it.
MISTAKES = {
    "an item of another model": (
        f"""\
@stage("wrong", Letter,
{COLUMN})
async def work(parcel: Parcel, tools: Stamps) -> Outcome:
    return Done()""",
        r'"Callable\[\[Parcel, Stamps\], .*; expected "Callable\[\[Letter, Stamps\]',
    ),
    "a model that the function does not take": (
        f"""\
async def work(letter: Letter, tools: Stamps) -> Outcome:
    return Done()

Stage(name="wrong", model=Parcel, work=work,
{COLUMN})""",
        r'"work" to "Stage" has incompatible type "Callable\[\[Letter, Stamps\]',
    ),
    "a stage that is not async": (
        f"""\
@stage("wrong",
{COLUMN})
def work(letter: Letter, tools: Stamps) -> Done:
    return Done()""",
        r'"Callable\[\[Letter, Stamps\], Done\]"; expected .* Awaitable\[Done',
    ),
    "a stage that returns something else": (
        f"""\
@stage("wrong",
{COLUMN})
async def work(letter: Letter, tools: Stamps) -> bool:
    return True""",
        r"Coroutine\[Any, Any, bool\]\]\"; expected .* Awaitable\[Done",
    ),
    "a status of another enum": (
        """\
@stage("wrong", claims=Letter.status, queued=Status.QUEUED, done=Color.RED)
async def work(letter: Letter, tools: Stamps) -> Done:
    return Done()""",
        'Cannot infer value of type parameter "StatusT"|"done" .* incompatible type',
    ),
    "a status that its column cannot hold": (
        """\
@stage("wrong", claims=Letter.status, queued="queued")
async def work(letter: Letter, tools: Stamps) -> Done:
    return Done()""",
        'Cannot infer value of type parameter "StatusT"|"queued" .* incompatible type',
    ),
    "an option that does not exist": (
        f"""\
stage("wrong",
{COLUMN}
    batch_size=10)""",
        'Unexpected keyword argument "batch_size"',
    ),
    "an option of another type": (
        f"""\
stage("wrong",
{COLUMN}
    timeout=3)""",
        'No overload variant of "stage" matches',
    ),
    "a change of another type": (
        'send_letter.configured(batch="10")',
        'Argument "batch" .* incompatible type "str"; expected "int"',
    ),
    "a change that does not exist": (
        "send_letter.configured(batches=10)",
        'Unexpected keyword argument "batches"',
    ),
    "tools that a stage cannot use": (
        """\
def use(engine: AsyncEngine, scales: Scales) -> None:
    Worker(engine, [send_letter], tools=scales)""",
        r'No overload variant of "Worker" matches|incompatible type "Stage\[|"ToolsT" of',
    ),
    "tools that a stage cannot use in a test": (
        """\
async def use(engine: AsyncEngine) -> None:
    await drain(engine, send_letter, tools="stamps")""",
        r'No overload variant of "drain" matches|incompatible type "Stage\[|"ToolsT" of',
    ),
    "tools that are missing": (
        """\
def use(engine: AsyncEngine) -> None:
    Worker(engine, [send_letter])""",
        r'No overload variant of "Worker" matches|incompatible type "Stage\[|"ToolsT" of',
    ),
    "tools that are missing in a test": (
        """\
async def use(engine: AsyncEngine) -> None:
    await drain(engine, send_letter)""",
        r'No overload variant of "drain" matches|incompatible type "Stage\[|"ToolsT" of',
    ),
    "a function of a loop that is not async": (
        """\
def function(letter_id: int, session: AsyncSession) -> None: ...

async def use(engine: AsyncEngine) -> None:
    await run_job_loop(Letter, Status, *STATUSES, function, engine=engine)""",
        r'"Callable\[\[int, AsyncSession\], None\]"; expected .* Awaitable',
    ),
    "a function of a loop that takes another session": (
        """\
async def function(letter_id: int, session: str) -> None: ...

async def use(engine: AsyncEngine) -> None:
    await run_job_loop(Letter, Status, *STATUSES, function, engine=engine)""",
        r'"Callable\[\[int, str\], .*; expected "Callable\[\[Any, JobSession\]',
    ),
    "a mode that does not exist": (
        """\
async def use(engine: AsyncEngine) -> None:
    await run_job_loop(Letter, Status, *STATUSES, post, engine=engine, mode="x")""",
        r"\"mode\" .* expected \"Literal\['drain', 'one_batch'\]",
    ),
}


def file_name(name: str) -> str:
    return f"{name.replace(' ', '_')}.py"


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Check what is right and each of the mistakes, all in one run."""
    folder = tmp_path_factory.mktemp("typed")
    for name, (mistake, _) in MISTAKES.items():
        (folder / file_name(name)).write_text(f"{HEAD}\n{mistake}\n")
    options = ["--strict", "--config-file=", "--explicit-package-bases"]
    ran = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "--no-pretty", DECLARED, folder],
        cwd=PACKAGE,
        env={**os.environ, "MYPYPATH": f"{PACKAGE / 'src'}:{PACKAGE / 'tests'}"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert not ran.stderr
    return ran.stdout


def errors_in(said: str, file: str) -> list[str]:
    return re.findall(rf"{re.escape(file)}:\d+: error: (.*)", said)


def test_a_correct_declaration_has_no_type_error(said: str) -> None:
    assert errors_in(said, DECLARED.name) == []


@pytest.mark.parametrize("name", sorted(MISTAKES))
def test_a_type_checker_finds(said: str, name: str) -> None:
    found = errors_in(said, file_name(name))

    assert [text for text in found if re.search(MISTAKES[name][1], text)], found
