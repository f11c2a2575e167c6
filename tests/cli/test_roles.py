"""`scrapersky roles`: what it prints is run in the order it says, by whom it says."""

import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from sdk_tests.rig.cluster import running_cluster

pytestmark = pytest.mark.slow


def test_the_administrators_part_named_a_role_that_only_migrating_made() -> None:
    with running_cluster() as cluster:
        cluster.execute("CREATE ROLE quay LOGIN")
        cluster.execute("CREATE DATABASE quay OWNER quay")
        url = f"postgresql://quay@127.0.0.1:{cluster.port}/quay"
        printed = scrapersky(url, "roles", "--app", "quay_app")
        first, _, _ = printed.partition("-- The owner of the tables, after")

        with psycopg.connect(cluster.tcp_dsn("quay"), autocommit=True) as connection:
            connection.execute(first.encode())
        scrapersky(url, "migrate")
        scrapersky(url, "roles", "--app", "quay_app", "--apply")

        app = url.replace("quay@", "quay_app@")
        assert scrapersky(app, "tenant", "list")


def scrapersky(url: str, *words: str) -> str:
    return subprocess.run(
        [Path(sys.executable).with_name("scrapersky"), *words],
        env={"DATABASE_URL": url, "PATH": "/usr/bin:/bin"},
        capture_output=True,
        check=True,
        text=True,
    ).stdout
