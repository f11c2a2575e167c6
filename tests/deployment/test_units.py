"""The units, started by a systemd that has booted, each under its own user."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psycopg
import pytest

from sdk_tests.rig.cluster import running_cluster
from sdk_tests.rig.port import free_port
from sdk_tests.rig.program import needed
from sdk_tests.rig.waiting import wait_until
from tests.deployment.containers import ROOT, a_podman
from tests.deployment.test_image import is_ready

pytestmark = pytest.mark.long

BOOTED = "localhost/booted:tried"
UNITS = ROOT / "deploy/systemd"
CREDENTIALS = re.compile(r"^(Uid|CapEff|NoNewPrivs|Seccomp):\s+(\S+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Machine:
    """A root file system whose systemd runs, on the network of this machine."""

    root: Path
    init: int

    def __call__(self, *words: str, check: bool = True) -> str:
        """Run a command in it as root."""
        inside = ("nsenter", "--target", str(self.init), "--all", "--wdns=/")
        environment = {"PATH": "/opt/scrapersky/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
        done = subprocess.run(
            [*inside, *words],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if check and done.returncode:
            journal = self("journalctl", "--no-pager", "--lines", "60", check=False)
            pytest.fail(f"{words}: {done.stdout}{done.stderr}\n{journal}")
        return done.stdout.strip()

    def shown(self, unit: str, field: str) -> str:
        return self("systemctl", "show", "--value", "--property", field, unit)


@pytest.fixture
def machine() -> Iterator[Machine]:
    nspawn = needed("systemd-nspawn", package="systemd-container")
    with a_podman() as podman:
        podman.build_ours()
        podman.build(BOOTED, str(Path(__file__).parent / "booted"))
        podman("create", "--name", "booted", BOOTED)
        root = Path(podman("mount", "booted").strip())
        boot = subprocess.Popen(
            [
                *(nspawn, "--register=no", "--keep-unit", "--console=pipe"),
                *("--directory", root, "--boot"),
            ],
            env={**os.environ, "SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1"},
            stdin=subprocess.DEVNULL,
        )
        try:
            wait_until(lambda: first_process(boot.pid) is not None, "a first process")
            machine = Machine(root, first_process(boot.pid) or 0)
            running = ("systemctl", "is-system-running")
            wait_until(
                lambda: machine(*running, check=False) in {"running", "degraded"},
                "systemd has booted",
            )
            yield machine
        finally:
            boot.terminate()
            boot.wait()
            podman("rm", "--force", "booted", check=False)


def first_process(starter: int) -> int | None:
    """Return the systemd that was started; another child prepares its place."""
    children = Path(f"/proc/{starter}/task/{starter}/children").read_text().split()
    for child in children:
        with suppress(FileNotFoundError):
            if Path(f"/proc/{child}/comm").read_text() == "systemd\n":
                return int(child)
    return None


def test_systemd_starts_migration_api_and_worker_as_three_users(
    machine: Machine,
) -> None:
    port, worker = free_port(), "81"  # answers on port 8081
    with running_cluster() as cluster:
        cluster.execute("CREATE ROLE owner LOGIN")
        cluster.execute("CREATE DATABASE sky OWNER owner")
        place = f"127.0.0.1:{cluster.port}/sky"
        install(machine, port, place)
        roles = ("roles", "--app", "scrapersky_app")
        owner = ("env", f"DATABASE_URL=postgresql://owner@{place}", "scrapersky")
        first, _, _ = machine(*owner, *roles).partition("-- The owner of the tables")
        with psycopg.connect(cluster.tcp_dsn("sky"), autocommit=True) as connection:
            connection.execute(first.encode())

        machine("systemctl", "start", "scrapersky-migrate")
        machine(*owner, *roles, "--apply")
        machine(*owner, "user", "create", "you@example.com", "--role", "admin")
        units = ("scrapersky-api", f"scrapersky-worker@{worker}")
        machine("systemctl", "start", *units)
        for answering in (port, 8000 + int(worker)):
            wait_until(partial(is_ready, answering), answering)

        assert machine.shown("scrapersky-migrate", "Result") == "success"
        expect_confined(machine, units)
        for unit in units:
            machine("systemctl", "stop", unit)
            # Nobody had to be killed at the end of the time to stop.
            assert machine.shown(unit, "Result") == "success"
            assert machine.shown(unit, "ExecMainStatus") == "0"


def install(machine: Machine, port: int, place: str) -> None:
    """Do what docs/how-to/deploy.md says."""
    root = machine.root
    for unit in UNITS.glob("*.service"):
        shutil.copy(unit, root / "etc/systemd/system")
    own = root / "etc/systemd/system/scrapersky-migrate.service.d"
    own.mkdir()
    shutil.copy(UNITS / "owner.conf", own)
    users = root / "etc/sysusers.d/scrapersky.conf"
    users.parent.mkdir(exist_ok=True)
    shutil.copy(UNITS / "scrapersky.sysusers", users)
    secrets = root / "etc/scrapersky/secrets"
    secrets.mkdir(parents=True)
    secrets.chmod(0o700)
    for name, value in (
        ("DATABASE_URL", f"postgresql://scrapersky_app@{place}"),
        ("OWNER_DATABASE_URL", f"postgresql://owner@{place}"),
        ("SUPPRESSION_KEY", "0123456789abcdef" * 4),
    ):
        (secrets / name).write_text(value)
    (root / "etc/scrapersky/scrapersky.env").write_text(
        f"USER_AGENT=Trial/1.0 (+https://example.com/bot)\nPORT={port}\n"
    )
    machine("systemd-sysusers")
    machine("systemctl", "daemon-reload")


def expect_confined(machine: Machine, units: tuple[str, ...]) -> None:
    """Each process is its own user, with no rights, and has a directory of its own."""
    users = set()
    for unit in units:
        pid = machine.shown(unit, "MainPID")
        status = dict(CREDENTIALS.findall(machine("cat", f"/proc/{pid}/status")))
        user = machine.shown(unit, "User")
        assert status.pop("Uid") == machine("id", "--user", user)
        assert status == {"CapEff": "0" * 16, "NoNewPrivs": "1", "Seccomp": "2"}
        users.add(user)
        owned = machine("stat", "--format", "%U %a", f"/var/lib/{user}")
        assert owned == f"{user} 700"
        # What the other was given is not to be read.
        own = ("setpriv", "--reuid", user, "--clear-groups", "cat")
        assert machine(*own, f"/run/credentials/{unit}.service/DATABASE_URL")
        other = next(one for one in units if one != unit)
        kept = f"/run/credentials/{other}.service/DATABASE_URL"
        assert machine(*own, kept, check=False) == ""
    assert users == {"scrapersky", "scrapersky-api"}
