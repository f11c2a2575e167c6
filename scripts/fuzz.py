"""Throw rubbish at every parser, guided by what it makes them do (libFuzzer by atheris).

    python -m scripts.fuzz                    a minute, shared by all targets
    python -m scripts.fuzz --seconds 3600     longer
    python -m scripts.fuzz sitemap robots     these targets only
    python -m scripts.fuzz --keep             also add what reached new code to the corpus

It begins with the corpus of `tests/fuzz/corpus`, which every test run reads too. What a
target falls over is written to `build/fuzz` and said; the exit code is then 1. Without
atheris (Linux only) the corpus is changed at random instead, blindly.
"""

import argparse
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

CORPUS = ROOT / "tests" / "fuzz" / "corpus"
BUILD = ROOT / "build" / "fuzz"
LONGEST_INPUT = 8_192
SLOWEST_SECONDS = 10
"""Seconds after which one input counts as a finding."""
MOST_MEMORY = 2_048
SEED = 1


def main() -> int:
    """Fuzz every target for its share of the time; return 1 if one fell over."""
    from tests.fuzz.target import TARGETS  # noqa: PLC0415 - children load it instrumented

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", choices=[[], *TARGETS], metavar="TARGET")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--keep", action="store_true")
    asked = parser.parse_args()
    chosen = asked.targets or list(TARGETS)
    share = max(asked.seconds // len(chosen), 1)
    fallen = [name for name in chosen if not fuzz(name, share, keep=asked.keep)]
    for name in fallen:
        print(f"{name} fell over; the input is in {BUILD / name}", flush=True)
    return int(bool(fallen))


def fuzz(name: str, seconds: int, *, keep: bool) -> bool:
    """Fuzz one target in a process of its own; return whether it stood."""
    found = BUILD / name
    found.mkdir(parents=True, exist_ok=True)
    if find_spec("atheris") is None:
        return blindly(name, seconds, found)
    known = CORPUS / name
    code = child(
        name,
        *(str(found), str(known)),
        f"-max_total_time={seconds}",
        f"-artifact_prefix={found}/fallen-",
    )
    if keep:
        child(name, "-merge=1", str(known), str(found))
    return code == 0


def child(name: str, *options: str) -> int:
    """Run libFuzzer over one target."""
    command = [sys.executable, "-m", "scripts.fuzz", "--inside", name, *options]
    limits = (
        f"-max_len={LONGEST_INPUT}", f"-timeout={SLOWEST_SECONDS}",
        f"-rss_limit_mb={MOST_MEMORY}", f"-seed={SEED}", "-verbosity=1",
    )  # fmt: skip
    done = subprocess.run(
        [*command, *limits], cwd=ROOT, capture_output=True, text=True, check=False
    )
    said = (done.stdout + done.stderr).splitlines()
    runs = [line for line in said if line.startswith(("Done ", "MERGE-OUTER"))]
    print(f"{name}: {(runs or ['no summary'])[-1]}", flush=True)
    if done.returncode:
        print("\n".join(said[-40:]), flush=True)
    return done.returncode


def inside(name: str, options: list[str]) -> None:
    """Be the process in which a target is fuzzed."""
    import atheris  # noqa: PLC0415 - not everywhere

    with atheris.instrument_imports(include=["scrapersky", "protego"]):
        from tests.fuzz.target import run  # noqa: PLC0415 - instrumented as it is loaded

    atheris.Setup([sys.argv[0], *options], lambda data: run(name, data))
    atheris.Fuzz()


def blindly(name: str, seconds: int, found: Path) -> bool:
    """Change the corpus at random for a while, without seeing what it does."""
    from tests.fuzz.target import run  # noqa: PLC0415 - see main

    deadline = time.monotonic() + seconds
    count = 0
    for data in changed(name):
        count += 1
        try:
            run(name, data)
        except Exception as error:  # noqa: BLE001 - that is what is looked for
            (found / f"fallen-{count}").write_bytes(data)
            print(f"{name}: {error!r}", flush=True)
            return False
        if time.monotonic() > deadline:
            break
    print(f"{name}: {count} inputs, blindly", flush=True)
    return True


def changed(name: str) -> Iterator[bytes]:
    """Yield the files of a corpus with a few bytes cut, doubled, swapped or mixed."""
    files = [path.read_bytes() for path in sorted((CORPUS / name).iterdir())]
    chance = random.Random(SEED)  # noqa: S311 - the same rubbish each time
    while True:
        data = bytearray(chance.choice(files))
        for _ in range(chance.randint(1, 8)):
            at, other = chance.randint(0, len(data)), chance.choice(files)
            cut = chance.randint(0, max(len(other) - 1, 0))
            piece = other[cut : cut + chance.randint(1, 64)]
            match chance.randint(0, 3):
                case 0:
                    del data[at : at + chance.randint(1, 32)]
                case 1:
                    data[at:at] = piece
                case 2:
                    data[at : at + len(piece)] = piece
                case _:
                    data[at:at] = bytes(chance.choices(range(256), k=4))
        yield bytes(data[:LONGEST_INPUT])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--inside"]:
        inside(sys.argv[2], sys.argv[3:])
    else:
        sys.exit(main())
