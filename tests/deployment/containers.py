"""Images built and containers run without a daemon, by buildah and podman."""

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sdk_tests.rig.program import needed

ROOT = Path(__file__).parents[2]
CONTAINERFILE = ROOT / "deploy/Containerfile"
IMAGE = "localhost/scrapersky:tried"
CACHE = ROOT / "build/stand-in.tar"
"""The base as an archive: made once, deleted by whoever wants a newer one."""
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
PACKAGES = "ca-certificates,python3,python3-venv,python-is-python3"
PATH = "/usr/local/bin:/usr/bin:/usr/sbin:/bin"
SETTINGS = """\
[containers]
default_ulimits = []
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
"""


@dataclass(frozen=True, slots=True)
class Podman:
    """Images and containers in a directory of their own."""

    home: Path

    @property
    def store(self) -> tuple[str, ...]:
        """Return where both programs keep what they make, and how."""
        places = ("--root", f"{self.home}/store", "--runroot", f"{self.home}/run")
        # Plain copies work anywhere, and take many times the space and time.
        layered = "overlay" in Path("/proc/filesystems").read_text()
        return (*places, "--storage-driver", "overlay" if layered else "vfs")

    @property
    def options(self) -> tuple[str, ...]:
        # Of the two usual runtimes, this one also knows a machine with old control groups.
        networks = ("--network-config-dir", f"{self.home}/networks")
        return (*self.store, "--runtime", "runc", *networks)

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "CONTAINERS_CONF": f"{self.home}/containers.conf"}

    def __call__(self, *words: str, check: bool = True) -> str:
        """Run podman; return what it says."""
        return self._run(["podman", *self.options, *words], check=check)

    def build(self, tag: str, *words: str) -> None:
        """Build an image of what is here, from images that are here."""
        build = ("bud", "--isolation", "chroot", "--pull-never")
        self._run(["buildah", *self.store, *build, "--tag", tag, *words])

    def build_ours(self) -> None:
        """Build our own image, as IMAGE."""
        ignored = f"{CONTAINERFILE}.dockerignore"
        words = ("--file", str(CONTAINERFILE), "--ignorefile", ignored, str(ROOT))
        self.build(IMAGE, *words)

    def size(self, image: str) -> int:
        (found,) = json.loads(self("image", "inspect", image))
        size: int = found["Size"]
        return size

    def state(self, container: str) -> dict[str, Any]:
        (found,) = json.loads(self("container", "inspect", container))
        state: dict[str, Any] = found["State"]
        return state

    def _run(self, command: Sequence[str], *, check: bool = True) -> str:
        done = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, check=False
        )
        if check and done.returncode:
            raise RuntimeError(f"{command}: {done.stdout[-4000:]}{done.stderr[-4000:]}")
        return done.stdout


@contextmanager
def a_podman() -> Iterator[Podman]:
    """Yield a podman with a stand-in for the base of our image, and remove all it made."""
    for program in ("buildah", "podman", "runc", "debootstrap"):
        needed(program, package=program)
    home = Path(tempfile.mkdtemp(prefix="scrapersky-podman-", dir="/var/tmp"))
    podman = Podman(home)
    (home / "containers.conf").write_text(SETTINGS)
    try:
        podman("import", "--change", f"ENV PATH={PATH}", str(stand_in()), base_name())
        yield podman
    finally:
        podman("rm", "--all", "--force", "--time", "0", check=False)
        shutil.rmtree(home, ignore_errors=True)


def base_name() -> str:
    """Return the image that ours is made from, as its full name."""
    (name,) = {
        *re.findall(r"^FROM (python:\S+)", CONTAINERFILE.read_text(), re.MULTILINE)
    }
    return f"docker.io/library/{name}"


def stand_in() -> Path:
    """Return a root file system like that of our base: the same Debian, with its Python."""
    if CACHE.exists():
        return CACHE
    release = base_name().rpartition("-")[2]
    CACHE.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        root = Path(folder) / "root"
        command = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}"]
        subprocess.run([*command, release, root], check=True, capture_output=True)
        if CERTIFICATES.exists():
            # The package index may be reached through a proxy that this machine trusts.
            shutil.copy(CERTIFICATES, root / CERTIFICATES.relative_to("/"))
            (root / "etc/pip.conf").write_text(f"[global]\ncert = {CERTIFICATES}\n")
            (root / "root/.npmrc").write_text(f"cafile={CERTIFICATES}\n")
        new = CACHE.with_suffix(".new")
        subprocess.run(["tar", "-C", root, "-cf", new, "."], check=True)
        new.rename(CACHE)
    return CACHE
