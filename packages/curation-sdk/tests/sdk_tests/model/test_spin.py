"""The protocol, checked in every interleaving by SPIN; its broken kin must fail."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from sdk_tests.rig.program import needed

pytestmark = pytest.mark.slow


MODEL = Path(__file__).parent / "claim.pml"
NO_FAULTS = ("-DCRASHES=0", "-DEXPIRIES=0", "-DPEOPLE=0")


@dataclass(frozen=True, slots=True)
class Settlement:
    """What the exhaustive search found."""

    states: int
    violated: str | None


@pytest.mark.parametrize("switches", [(), NO_FAULTS], ids=["faults", "no-faults"])
def test_no_interleaving_breaks_the_protocol(
    tmp_path: Path, switches: tuple[str, ...]
) -> None:
    verdict = search(tmp_path, *switches)

    assert verdict.violated is None
    assert verdict.states > 20


@pytest.mark.parametrize(
    ("switches", "violated"),
    [
        (("-DNO_FENCE",), "read==input"),
        (("-DNO_STATUS",), "status!="),
        (("-DSPLIT",), "effects==settled"),
        (("-DEFFECT_FIRST",), "effects==settled"),
        (("-DNO_REAPER",), "status=="),
        (("-DREUSE",), "read==input"),
        (("-DNO_EXPIRY", *NO_FAULTS), "status=="),
    ],
    ids=lambda value: value[0][2:].lower() if isinstance(value, tuple) else "",
)
def test_a_broken_protocol_has_a_counterexample(
    tmp_path: Path, switches: tuple[str, ...], violated: str
) -> None:
    verdict = search(tmp_path, *switches)

    assert verdict.violated is not None
    assert violated in verdict.violated


def search(folder: Path, *switches: str) -> Settlement:
    """Compile the model with these switches and visit every reachable state."""
    spin = needed("spin", package="spin")
    gcc = needed("gcc", package="gcc")
    run(folder, spin, *switches, "-a", str(MODEL))
    run(folder, gcc, "-O0", "-DSAFETY", "-DNOREDUCE", "-w", "-o", "pan", "pan.c")
    said = run(folder, "./pan", "-m100000", "-E")
    assert "Search not completed" not in said or "errors: 1" in said, said
    states = re.search(r"(\d+) states, stored", said)
    violated = re.search(r"assertion violated (.+) \(at depth", said)
    assert states is not None, said
    return Settlement(int(states[1]), violated[1] if violated else None)


def run(folder: Path, *command: str) -> str:
    """Run one program in the folder and return what it said."""
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout
