"""Thousands of requests made up from the document: no crash, no lie, nothing of others."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.api.gateway.served import Address, serving
from tests.conftest import TestDatabase

ROOT = Path(__file__).parents[3]
MARK = "zebrafish"
CHECKS = (
    "not_a_server_error", "status_code_conformance", "content_type_conformance",
    "response_schema_conformance", "shows_nothing_of_others",
)  # fmt: skip
LEFT_OUT = "/events$|/session$|^/health/"
"""A stream that does not end; the log-in; and what says of trouble by 503."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of schemathesis: which phases, how much of each."""

    phases: str
    seed: int
    examples: int = 1
    share: float = 1
    """Of the cases at the edges of the document, which make up a phase of their own."""


@pytest.fixture
def served(database: TestDatabase, quiet: None) -> Iterator[Address]:
    with serving(database, MARK) as address:
        yield address


def fuzz(served: Address, scratch: Path, run: Run, *, timeout: int = 550) -> int:
    """Run schemathesis against the application and return how many cases it sent."""
    document = httpx.get(f"{served.url}/openapi.json", timeout=60).json()
    # Wrong credentials have tests of their own: here each request is let in.
    for methods in document["paths"].values():
        for operation in methods.values():
            operation.pop("security", None)
    document["components"].pop("securitySchemes")
    home = scratch / f"run-{run.seed}"
    home.mkdir()
    place = home / "openapi.json"
    place.write_text(json.dumps(document))
    ids = [str(value) for value in served.theirs.values()]
    mine = httpx.get(
        f"{served.url}/api/v3/domains", headers=served.admin.headers, timeout=60
    )
    ids += [item["id"] for item in mine.json()["items"]]
    command = [
        str(Path(sys.executable).with_name("st")), "run", str(place), "--url", served.url,
        "--header", f"Authorization: {served.admin.headers['Authorization']}",
        "--exclude-path-regex", LEFT_OUT, "--phases", run.phases, "--mode", "all",
        "--max-examples", str(run.examples), "--seed", str(run.seed), "--no-color",
        "--checks", ",".join(CHECKS), "--continue-on-failure",
        "--suppress-health-check", "all", "--request-timeout", "30",
        "--generation-database", "none",
    ]  # fmt: skip
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "SCHEMATHESIS_HOOKS": "tests.api.gateway.fuzz_hooks",
        "FUZZ_MARK": MARK,
        "FUZZ_IDS": json.dumps(ids),
        "FUZZ_SEED": str(run.seed),
        "FUZZ_SHARE": str(run.share),
    }
    done = subprocess.run(
        command,
        cwd=home,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said[said.find("= FAILURES") :][:20_000]
    return cases_in(said)


def cases_in(said: str) -> int:
    found = re.search(r"([\d,]+) generated", said)
    assert found, said
    return int(found[1].replace(",", ""))


@pytest.mark.long
def test_hundreds_of_made_up_requests(served: Address, tmp_path: Path) -> None:
    run = Run("coverage,fuzzing", seed=7, examples=1, share=0.03)

    assert fuzz(served, tmp_path, run) >= 200


@pytest.mark.long
def test_two_thousand_made_up_requests(served: Address, tmp_path: Path) -> None:
    run = Run("coverage,fuzzing", seed=7, examples=3, share=0.34)

    assert fuzz(served, tmp_path, run) >= 2_000


@pytest.mark.long
def test_twenty_thousand_made_up_requests(served: Address, tmp_path: Path) -> None:
    runs = (
        Run("examples,coverage", seed=1),
        Run("fuzzing", seed=2, examples=90),
        Run("fuzzing", seed=3, examples=90),
        Run("stateful", seed=4, examples=100),
    )
    with ThreadPoolExecutor(2) as pool:
        cases = [
            *pool.map(lambda run: fuzz(served, tmp_path, run, timeout=3_600), runs)
        ]

    print(dict(zip((run.phases for run in runs), cases, strict=True)), cases)
    assert sum(cases) >= 20_000
