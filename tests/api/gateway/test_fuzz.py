"""Thousands of requests made up from the document: no crash, no lie, nothing of others."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
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
"""A stream that does not end; the log-in; and what tells of trouble by 503."""


@pytest.fixture
def served(database: TestDatabase) -> Iterator[Address]:
    with serving(database, MARK) as address:
        yield address


def fuzz(
    served: Address,
    scratch: Path,
    *,
    phases: str,
    examples: int,
    seed: int,
    patience: int = 550,
) -> str:
    """Run schemathesis against the application and return what it says."""
    document = httpx.get(f"{served.url}/openapi.json", timeout=60).json()
    # Wrong credentials have tests of their own: here each request is let in.
    for methods in document["paths"].values():
        for operation in methods.values():
            operation.pop("security", None)
    document["components"].pop("securitySchemes")
    place = scratch / "openapi.json"
    place.write_text(json.dumps(document))
    ids = [str(value) for value in served.theirs.values()]
    mine = httpx.get(
        f"{served.url}/api/v3/domains", headers=served.admin.headers, timeout=60
    )
    ids += [item["id"] for item in mine.json()["items"]]
    command = [
        str(Path(sys.executable).with_name("st")), "run", str(place), "--url", served.url,
        "--header", f"Authorization: {served.admin.headers['Authorization']}",
        "--exclude-path-regex", LEFT_OUT, "--phases", phases, "--mode", "all",
        "--max-examples", str(examples), "--seed", str(seed), "--no-color",
        "--checks", ",".join(CHECKS), "--continue-on-failure",
        "--suppress-health-check", "all", "--request-timeout", "30",
    ]  # fmt: skip
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "SCHEMATHESIS_HOOKS": "tests.api.gateway.fuzz_hooks",
        "FUZZ_MARK": MARK,
        "FUZZ_IDS": json.dumps(ids),
        "FUZZ_SEED": str(seed),
    }
    done = subprocess.run(
        command,
        cwd=scratch,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=patience,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said[said.find("= FAILURES") :][:20_000]
    return said


def cases_in(said: str) -> int:
    found = re.search(r"([\d,]+) generated", said)
    assert found, said
    return int(found[1].replace(",", ""))


def test_two_thousand_made_up_requests(served: Address, tmp_path: Path) -> None:
    said = fuzz(served, tmp_path, phases="fuzzing", examples=22, seed=7)

    assert cases_in(said) >= 2_000
    assert "shows_nothing_of_others" in CHECKS


@pytest.mark.long
def test_twenty_thousand_made_up_requests(served: Address, tmp_path: Path) -> None:
    total = 0
    for seed in (1, 2, 3):
        said = fuzz(
            served, tmp_path, phases="examples,coverage,fuzzing,stateful",
            examples=25, seed=seed, patience=7_200,
        )  # fmt: skip
        total += cases_in(said)

    assert total >= 20_000
