"""The page about other tools, followed: a webhook in, HTTP out, a file, and SQL."""

import asyncio
import csv
import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import orjson
import pytest

from scrapersky.stages import PIPELINE
from sdk_tests.rig.cluster import BINARIES, Cluster, running_cluster
from sdk_tests.rig.waiting import until
from tests.how_to.guide import PAGES, Shell, Step
from tests.how_to.running import running
from tests.webhooks.receiver import receiving

PAGE = "connect-other-tools.md"
AT_REST = {f"{stage.settings.prefix}_ENABLED": "false" for stage in PIPELINE}


def steps() -> Iterator[Step]:
    """Yield the commands of the page, those within lists too."""
    blocks = re.findall(
        r"^ *```console\n(.*?)^ *```$",
        (PAGES / PAGE).read_text(),
        re.DOTALL | re.MULTILINE,
    )
    for block in blocks:
        for typed in re.split(r"^ *\$ ", block, flags=re.MULTILINE)[1:]:
            command, *shown = re.sub(r"\\\n\s*", "", typed).strip().splitlines()
            yield Step(command, shown)


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with running_cluster() as cluster:
        cluster.create_database("live")
        yield cluster


@pytest.mark.slow
async def test_what_the_page_connects_is_connected(
    cluster: Cluster, tmp_path: Path
) -> None:
    settings = {
        **AT_REST,
        "DATABASE_URL": cluster.tcp_dsn("live"),
        "SCRAPERSKY_DATA_DIR": tmp_path,
        "WEBHOOK_NETWORKS": "127.0.0.0/8",
    }
    shell = Shell(tmp_path, **settings)
    key, add, read, follow, leads, grant, query = steps()
    shell.follow(key)
    shell.type("export ADMIN_KEY=$(scrapersky key create owner --role admin)")
    with ExitStack() as stack:
        api = await asyncio.to_thread(stack.enter_context, running("serve", settings))
        await asyncio.to_thread(stack.enter_context, running("worker", settings))
        shell.type(f"export SCRAPERSKY={api.address}")
        async with receiving() as receiver:
            shell.type(f"export RECEIVER='{receiver.url}'")
            made = orjson.loads(await asyncio.to_thread(shell.follow, add))
            cursor = (await asyncio.to_thread(api.ask, "GET", "/api/v3/changes")).json()
            shell.type(f"export CURSOR='{cursor['cursor']}'")
            await asyncio.to_thread(
                shell.type, "echo harbour.example | scrapersky submit - --json"
            )
            await until(lambda: bool(receiver.posted))
            (posted,) = receiver.posted
            assert posted.is_signed_with(made["secret"])
            told = posted.content["data"]
            shell.type(f"export KIND={told['kind']} RECORD_ID={told['record_id']}")
            record = orjson.loads(await asyncio.to_thread(shell.follow, read))
            assert "harbour.example" in str(record)
            changes = orjson.loads(await asyncio.to_thread(shell.follow, follow))
            assert [one["record_id"] for one in changes["changes"]] == [
                told["record_id"]
            ]
        cluster.execute(
            "INSERT INTO companies (tenant_id, name, lead_status)"
            " SELECT id, 'Harbour', 'New' FROM tenants",
            database="live",
        )
        await asyncio.to_thread(shell.follow, leads)
        with (tmp_path / "leads.csv").open(encoding="utf-8-sig") as file:
            assert "Harbour" in str(list(csv.reader(file)))
    said = await asyncio.to_thread(shell.follow, grant)
    assert "shown once" in said
    reader = cluster.tcp_dsn("live").replace("postgres@", "dashboards@")
    psql = query.command.replace("psql", str(BINARIES / "psql"), 1)
    shell.type(f"export DASHBOARDS='{reader}'")
    assert "New" in await asyncio.to_thread(shell.type, psql)
