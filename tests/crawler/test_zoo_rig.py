"""The rig notices what it is there to notice."""

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.zoo import namespace
from tests.zoo.rig import ROOT

pytestmark = pytest.mark.skipif(
    namespace.why_not() is not None, reason=f"no namespaces: {namespace.why_not()}"
)


@pytest.fixture(scope="module")
def noticed() -> dict[str, Any]:
    command = [*namespace.unshare(), sys.executable, "-m", "tests.zoo.selfcheck"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=ROOT, timeout=120
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_a_canary_sings_when_it_is_touched(noticed: dict[str, Any]) -> None:
    heard = {place.rpartition(":")[0].strip("[]") for place in noticed["canaries"]}

    assert heard == set(noticed["touched"])


def test_the_wiretap_sees_every_forbidden_packet(noticed: dict[str, Any]) -> None:
    assert set(noticed["touched"]) <= set(noticed["tapped"])


@pytest.mark.slow
def test_a_namespace_with_a_way_out_is_refused(noticed: dict[str, Any]) -> None:
    assert noticed["refuses_a_way_out"] is True
