"""The compose files, read as the specification of Compose says, and the one in the root run."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import httpx
import pytest
import yaml  # type: ignore[import-untyped]

from scripts.deployment import COMPOSE, SMALL_COMPOSE
from sdk_tests.rig.port import free_port
from sdk_tests.rig.waiting import wait_until
from tests.deployment.containers import IMAGE, Podman, a_podman
from tests.deployment.packages import package
from tests.deployment.test_image import is_ready

pytestmark = pytest.mark.long

SERVER = yaml.safe_load(SMALL_COMPOSE.read_text())["services"]["postgres"]["image"]
ADDRESS = "10.231.7.2"
# Docker has a name server for the names of services; podman has one where a plug-in is there.
HERE = {
    "networks": {"default": {"ipam": {"config": [{"subnet": "10.231.7.0/24"}]}}},
    "services": {
        "postgres": {"networks": {"default": {"ipv4_address": ADDRESS}}},
        "scrapersky": {"extra_hosts": [f"postgres:{ADDRESS}"]},
    },
}
PASSWORD = re.compile(r"^(\S+@\S+) can now log in.*: (\S+)$", re.DOTALL)


@pytest.mark.parametrize(
    ("path", "service"), [(COMPOSE, "api"), (SMALL_COMPOSE, "scrapersky")]
)
def test_compose_would_take_every_value(path: Path, service: str) -> None:
    specification = package("compose_spec").ComposeSpecification
    composed = yaml.safe_load(path.read_text())

    specification.model_validate(composed)

    composed["services"][service]["stop_grace_period"] = 20
    with pytest.raises(ValueError, match="stop_grace_period"):
        specification.model_validate(composed)


@dataclass(frozen=True, slots=True)
class PodmanCompose:
    """`docker compose` in the root of the project, as podman-compose understands it."""

    folder: Path
    port: int

    def __call__(self, *words: str) -> str:
        options = [
            *("--podman-path", f"{self.folder}/podman"),
            "--podman-run-args=--ulimit host",
            *("--file", str(SMALL_COMPOSE), "--file", f"{self.folder}/here.json"),
        ]
        done = subprocess.run(
            [sys.executable, "-m", "podman_compose", *options, *words],
            env={
                **os.environ,
                "SCRAPERSKY_IMAGE": IMAGE,
                "PORT": str(self.port),
                "DOMAIN_SCHEDULER_BATCH_SIZE": "7",
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def inside(self, *words: str) -> str:
        """Run a program in our service."""
        return self("exec", "-T", "scrapersky", *words)

    def log_in(self, email: str, password: str) -> int:
        wait_until(partial(is_ready, self.port), "our service is ready")
        answer = httpx.post(
            f"http://127.0.0.1:{self.port}/api/v3/session",
            json={"email": email, "password": password},
        )
        return answer.status_code


@pytest.fixture
def compose(tmp_path: Path) -> Iterator[PodmanCompose]:
    package("podman_compose")
    with a_podman() as podman:
        podman.build_ours()
        stand_in = Path(__file__).parent / "postgres"
        podman.build(f"docker.io/library/{SERVER}", str(stand_in))
        write_podman(podman, tmp_path / "podman")
        (tmp_path / "here.json").write_text(json.dumps(HERE))
        compose = PodmanCompose(tmp_path, free_port())
        yield compose
        compose("down", "--volumes")


def write_podman(podman: Podman, path: Path) -> None:
    """Write a program that is podman with its images and networks in our directory."""
    conf = podman.environment["CONTAINERS_CONF"]
    command = " ".join(("/usr/bin/env podman", *podman.options))
    path.write_text(f'#!/bin/sh\nCONTAINERS_CONF={conf} exec {command} "$@"\n')
    path.chmod(0o755)


def test_compose_in_the_root_starts_with_nothing_prepared(
    compose: PodmanCompose,
) -> None:
    compose("up", "--detach", "--no-build")

    wait_until(partial(is_ready, compose.port), "our service is ready")
    secrets = compose.inside("cat", "/secrets/database_url", "/secrets/suppression_key")
    login = PASSWORD.fullmatch(compose.inside("cat", "/data/first-login").strip())
    assert login is not None
    assert compose.log_in(*login.groups()) == 201
    batch = compose.inside("printenv", "DOMAIN_SCHEDULER_BATCH_SIZE")
    assert batch.strip() == "7"

    # Whatever is started again has the same secrets and the same admin.
    compose("restart", "scrapersky")
    assert compose.log_in(*login.groups()) == 201
    said = compose("logs", "scrapersky")
    assert said.count("application.started") == 2
    assert said.count("To log in the first time") == 1
    assert login[2] not in said

    compose("down")
    compose("up", "--detach", "--no-build")
    assert compose.log_in(*login.groups()) == 201
    again = compose.inside("cat", "/secrets/database_url", "/secrets/suppression_key")
    assert again == secrets
