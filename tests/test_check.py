"""The command that checks everything: what it runs for a change, and what it tells."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from scrapersky.kit.build import version
from scripts import check, regenerate, release_fixture
from scripts.affected import EVERYTHING, Plan, plan_for
from scripts.tested import (
    Results,
    fixtures,
    folders,
    forget_fixtures,
    keep_fixtures,
    read,
    remember,
    remembered,
)

ROOT = Path(__file__).parents[1]
REPORT = """<testsuites><testsuite>
<testcase classname="tests.db.test_pool" name="test_a[x@y.bv]" time="3.5"/>
<testcase classname="tests.api.test_front" name="test_b@test_front" time="0.5">
  <failure message="no"/></testcase>
<testcase classname="tests.api.test_front" name="test_c" time="0.1">
  <error message="no"/></testcase>
<testcase classname="tests.api.test_front" name="test_d" time="0">
  <skipped message="no Chromium"/></testcase>
</testsuite></testsuites>"""

GATE = """
import threading, time
try:
    print("running", flush=True)
    time.sleep(60)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    # Longer than Python waits for a child after Ctrl-C by itself.
    threading.Event().wait(0.5)
    print("ended", flush=True)
"""


@pytest.mark.parametrize(
    ("path", "tests"),
    [
        ("src/scrapersky/db/explain.py", ("tests/db",)),
        ("src/scrapersky/api/records/listing.py", ("tests/api/records",)),
        ("src/scrapersky/api/account/user.py", ("tests/api",)),
        ("src/scrapersky/settings.py", ("tests/test_settings.py",)),
        ("tests/db/test_embedded.py", ("tests/db/test_embedded.py",)),
        ("tests/db/test_gone.py", None),
        (
            "packages/curation-sdk/src/curation_sdk/reap.py",
            ("packages/curation-sdk/tests/sdk_tests/test_reap.py",),
        ),
        (
            "packages/curation-sdk/src/curation_sdk/settle.py",
            ("packages/curation-sdk/tests/sdk_tests",),
        ),
        ("tests/stages/rig.py", ("tests/stages",)),
        ("docs/explanation/proofs.md", ("tests/test_docs.py",)),
        ("frontend/src/app/App.tsx", None),
    ],
)
def test_a_change_runs_the_tests_of_its_room(
    path: str, tests: tuple[str, ...] | None
) -> None:
    assert plan_for(ROOT, [path]).tests == tests


def test_tests_that_are_named_run_however_slow_they_are() -> None:
    named = plan_for(ROOT, ["tests/db/test_embedded.py::test_it_is_durable_by_default"])
    room = plan_for(ROOT, ["src/scrapersky/db"])

    assert named.tests == ("tests/db/test_embedded.py::test_it_is_durable_by_default",)
    assert not named.is_daily
    assert room == Plan(("tests/db",), page=False)


QUICK, SLOW, BOTH = "not long and not slow", "slow and not long", "not long"


@pytest.mark.parametrize(
    ("words", "chosen"),
    [
        ([], [QUICK]),
        (["--slow"], [SLOW]),
        (["--long"], [BOTH, "long"]),
        (["src/scrapersky/db"], [QUICK]),
        (["tests/page/test_curate.py"], [BOTH]),
        (["tests/page/test_curate.py", "--slow"], [SLOW]),
    ],
)
def test_slow_tests_run_where_they_are_asked_for(
    words: list[str], chosen: list[str]
) -> None:
    asked = check.options(words)
    plan = plan_for(ROOT, asked.paths) if asked.paths else EVERYTHING

    commands = check.pytest(plan, asked).values()

    assert [words[words.index("-m") + 1] for words in commands] == chosen


def test_a_run_names_the_tests_that_it_left_out() -> None:
    def left_out(*words: str) -> str:
        asked = check.options(words)
        plan = plan_for(ROOT, asked.paths) if asked.paths else EVERYTHING
        return ", ".join(check.left_out(plan, asked))

    slow, long = "slow tests (./check --slow)", "long tests (./check --long)"
    assert left_out() == f"{slow}, {long}"
    assert left_out("--slow") == long
    assert left_out("--long") == ""
    assert left_out("src/scrapersky/db").startswith("tests that last took more than")


def test_continuous_integration_runs_what_nobody_waits_for_too() -> None:
    commands = (ROOT / ".ci/run").read_text().splitlines()

    assert [line for line in commands if "./check" in line] == [
        "./check",
        "exec ./check --slow",
    ]


@pytest.mark.parametrize("path", ["tests/db/test_pol.py::test_it", "src/nope", "/etc"])
def test_a_path_that_is_not_in_the_repository_is_refused(
    path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as refused:
        check.options(["src/scrapersky/db", path])

    assert refused.value.code == 2
    said = capsys.readouterr().err
    assert f"{path}: no such file or folder in this repository" in said


def test_a_folder_is_not_run_twice() -> None:
    paths = ["src/scrapersky/api/app.py", "src/scrapersky/api/auth/token.py"]

    assert plan_for(ROOT, paths).tests == ("tests/api",)


def test_the_page_is_checked_when_its_sources_change() -> None:
    assert plan_for(ROOT, ["frontend/src/app/App.tsx"]).page
    assert not plan_for(ROOT, ["src/scrapersky/db/explain.py"]).page


def test_a_report_says_what_failed_what_was_slow_and_what_was_skipped(
    tmp_path: Path,
) -> None:
    (tmp_path / "tests.xml").write_text(REPORT)

    results = read(tmp_path / "tests.xml")

    assert results.slowest(1) == [("tests/db/test_pool.py::test_a[x@y.bv]", 3.5)]
    assert results.failed == [
        "tests/api/test_front.py::test_b",
        "tests/api/test_front.py::test_c",
    ]
    assert dict(results.skipped) == {"no Chromium": ["tests/api/test_front.py::test_d"]}


def test_a_run_without_a_report_is_no_reason_to_forget_the_last_one(
    tmp_path: Path,
) -> None:
    kept = tmp_path / "build" / "seconds.json"
    remember(Results(seconds={"a": 1.0}), kept)
    remember(read(tmp_path / "missing.xml"), kept)
    assert remembered(kept) == {"a": 1.0}

    # A part of the tests says nothing about the others.
    remember(Results(seconds={"b": 2.0}), kept)
    assert remembered(kept) == {"a": 1.0, "b": 2.0}


def test_seconds_are_added_up_by_folder_and_by_fixture(tmp_path: Path) -> None:
    keep_fixtures("gw0", {"database": 1.0}, tmp_path)
    keep_fixtures("gw1", {"database": 0.5, "app": 2.0}, tmp_path)
    added = fixtures(tmp_path)
    forget_fixtures(tmp_path)

    assert added == {"database": 1.5, "app": 2.0}
    assert fixtures(tmp_path) == {}
    assert folders({"a/b/test_x.py::one": 1.0, "a/b/test_y.py::two": 2.0}) == {"a/b": 3}


@pytest.mark.parametrize("ended_by", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_ended_left_its_tests_and_their_servers_running(
    tmp_path: Path, ended_by: signal.Signals
) -> None:
    gate = tmp_path / "gate.py"
    gate.write_text(GATE)
    program = (
        "from scripts import check; check.end_on_signals();"
        f"check.run('tests', ['python', {str(gate)!r}])"
    )
    run = subprocess.Popen(
        # A shell's background job ignores SIGINT.
        ["sh", "-c", 'trap "" INT; exec "$0" -c "$1"', sys.executable, program],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    with run:
        assert run.stdout is not None
        for line in run.stdout:
            if line == "running\n":
                break
        if ended_by is signal.SIGINT:
            os.killpg(run.pid, ended_by)  # as a terminal does
        else:
            run.send_signal(ended_by)
        said = run.stdout.read()

    assert (said, run.returncode != 0) == ("interrupted\nended\n", True)


def test_what_was_generated_from_a_generated_page_stayed_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tmp_path / "contents.md", tmp_path / "page.md"
    second.write_text("old")
    made: list[str] = []
    files = {first: second.read_text, second: lambda: "new"}
    monkeypatch.setattr(regenerate, "ROOT", tmp_path)
    monkeypatch.setattr(regenerate, "FILES", files)
    monkeypatch.setattr(regenerate, "revisions", lambda: ("9999_of_tomorrow",))
    monkeypatch.setattr("scripts.page.types", lambda: made.append("types"))
    monkeypatch.setattr("scripts.release_fixture.make", made.append)

    regenerate.main()

    assert (first.read_text(), second.read_text()) == ("new", "new")
    assert made == ["types", version()]


def test_a_running_scrapersky_kept_the_fixture_from_being_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ports: list[object] = []

    def run(_tree: Path, *_words: str, **settings: object) -> None:
        ports.append(settings["PORT"])
        raise LookupError

    monkeypatch.setattr(release_fixture, "run", run)
    with pytest.raises(LookupError):
        release_fixture.make("0.0.0")

    assert ports != [8765]
