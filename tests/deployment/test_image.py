"""The image, built line by line and run as a stranger on a disk that cannot be written."""

import random
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import httpx
import psycopg
import pytest

from sdk_tests.rig.cluster import running_cluster
from sdk_tests.rig.port import free_port
from sdk_tests.rig.waiting import wait_until
from tests.deployment.containers import IMAGE, Podman, a_podman

pytestmark = pytest.mark.long

GRACE = 8
PLACES = "name,website\n" + "".join(
    f"Bakery {number},https://bakery-{number}.example\n" for number in range(1200)
)
STATUS = re.compile(
    r"^(Uid|Gid|CapEff|CapBnd|NoNewPrivs|Seccomp):\s+(\S+)", re.MULTILINE
)


@pytest.fixture(scope="module")
def podman() -> Iterator[Podman]:
    with a_podman() as podman:
        podman.build_ours()
        yield podman


@dataclass(frozen=True, slots=True)
class Host:
    """A machine that runs containers as an orchestrator does that trusts no image."""

    podman: Podman
    secrets: Path
    user: int
    port: int
    worker_port: int

    def options(self, url: str) -> list[str]:
        environment = {
            "DATABASE_URL_FILE": f"/run/secrets/{url}",
            "SUPPRESSION_KEY_FILE": "/run/secrets/suppression_key",
            "USER_AGENT": "Trial/1.0 (+https://example.com/bot)",
            "HOST": "127.0.0.1",
            "WORKER_HOST": "127.0.0.1",
            "PORT": str(self.port),
            "WORKER_PORT": str(self.worker_port),
            "SHUTDOWN_GRACE_SECONDS": str(GRACE),
        }
        return [
            *("--network", "host", "--ulimit", "host"),
            *("--user", f"{self.user}:0", "--cap-drop", "ALL"),
            *("--security-opt", "no-new-privileges"),
            *("--read-only", "--read-only-tmpfs=false", "--tmpfs", "/tmp:mode=1777"),
            *("--volume", f"{self.secrets}:/run/secrets:ro"),
            *(f"--env={name}={value}" for name, value in environment.items()),
        ]

    def run(self, *words: str, url: str = "app_url") -> str:
        return self.podman("run", "--rm", *self.options(url), IMAGE, *words)

    def start(self, name: str) -> None:
        words = ("run", "--detach", "--name", name, *self.options("app_url"))
        self.podman(*words, IMAGE, name)


@pytest.fixture
def host(podman: Podman, tmp_path: Path) -> Iterator[Host]:
    with running_cluster() as cluster:
        cluster.execute("CREATE ROLE owner LOGIN")
        cluster.execute("CREATE DATABASE sky OWNER owner")
        place = f"127.0.0.1:{cluster.port}/sky"
        written = {
            "owner_url": f"postgresql://owner@{place}",
            "app_url": f"postgresql://scrapersky_app@{place}",
            "suppression_key": "0123456789abcdef" * 4,
        }
        for name, value in written.items():
            (tmp_path / name).write_text(value)
            (tmp_path / name).chmod(0o644)
        tmp_path.chmod(0o755)
        # Any number that no image can know.
        user = random.randrange(100_000, 2**31)
        host = Host(podman, tmp_path, user, free_port(), free_port())
        printed = host.run("roles", "--app", "scrapersky_app", url="owner_url")
        administrators, _, _ = printed.partition("-- The owner of the tables")
        with psycopg.connect(cluster.tcp_dsn("sky"), autocommit=True) as connection:
            connection.execute(administrators.encode())
        yield host
        for name in ("serve", "worker"):
            podman("rm", "--force", "--time", "0", name, check=False)


def test_the_image_works_read_only_for_a_user_without_a_name(host: Host) -> None:
    host.run("migrate", url="owner_url")
    host.run("roles", "--app", "scrapersky_app", "--apply", url="owner_url")
    host.run("user", "create", "you@example.com", "--role", "admin")
    key = host.run("key", "create", "trial", "--role", "admin").split()[-1]
    for name in ("serve", "worker"):
        host.start(name)

    api = f"http://127.0.0.1:{host.port}"
    for port in (host.port, host.worker_port):
        wait_until(partial(is_ready, port), f"port {port} is ready")
    with httpx.Client(
        base_url=f"{api}/api/v3", headers={"Authorization": f"Bearer {key}"}
    ) as client:
        answer = client.post(
            "/searches/file?name=bakeries.csv&fields=name&fields=website",
            content=PLACES,
            headers={"Content-Type": "text/csv"},
        )
        assert answer.status_code == 201, answer.text
        url = (host.secrets / "owner_url").read_text().replace("owner@", "postgres@")
        wait_until(lambda: imported(url) == 1200, "every line is a place")
    for name in ("serve", "worker"):
        state = host.podman.state(name)
        status = Path(f"/proc/{state['Pid']}/status").read_text()
        assert dict(STATUS.findall(status)) == {
            "Uid": str(host.user),
            "Gid": "0",
            "CapEff": "0" * 16,
            "CapBnd": "0" * 16,
            "NoNewPrivs": "1",
            "Seccomp": "2",
        }
        began = time.monotonic()
        host.podman("stop", "--time", str(GRACE + 12), name)
        print(f"{name} ended after {time.monotonic() - began:.1f} s")
        # Whoever is killed at the end of the grace has 137.
        assert host.podman.state(name)["ExitCode"] == 0
    print(f"{host.podman.size(IMAGE) / 1e6:.0f} MB")


def is_ready(port: int) -> bool:
    try:
        answer = httpx.get(f"http://127.0.0.1:{port}/health/ready", timeout=5)
    except httpx.TransportError:
        return False
    return answer.status_code == 200


def imported(url: str) -> int:
    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT count(*) FROM places_staging").fetchone()
    return found[0] if found else 0


def test_nothing_in_the_image_builds_or_installs(podman: Podman) -> None:
    looked_for = "command -v cc gcc node npm; ls /opt/scrapersky/bin; ls -A /src"
    run = ("run", "--rm", "--ulimit", "host", "--entrypoint", "sh", IMAGE)
    found = podman(*run, "-c", f"{looked_for}; true").split()

    assert "/opt/scrapersky/bin/scrapersky" not in found
    assert "scrapersky" in found
    assert {name for name in found if re.match(r"pip|node|npm|/", name)} == set()
