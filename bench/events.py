"""200 clients of the event stream: how late they hear, and what that costs.

    python -m bench.events [--quick]

The application is served on loopback in a process of its own with a real PostgreSQL.
Half of the clients are one tenant's, half another's; rows change at a steady rate, and
every client notes when it hears of each. The clients share the machine with the server.
"""

import argparse
import asyncio
import json
import os
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import httpx
import orjson
import psutil
from sqlalchemy import text

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(
    1, str(Path(__file__).resolve().parents[1] / "packages/curation-sdk/tests")
)

from scrapersky.api.app import create_app
from scrapersky.api.server import Server
from scrapersky.configuration import load_settings
from scrapersky.db.connection import connect, parse_target
from scrapersky.db.embedded import EmbeddedPostgres
from scrapersky.db.migrate import upgrade
from tests.api.operations.rig import AT_REST, new_key

CLIENT_COUNT = 200
KEY_STREAMS = 5

Heard = dict[str, list[float]]
"""When a client heard of each row."""


def serve(url: str, port: int) -> None:
    given = {**AT_REST, "API_RATE_PER_SECOND": "0"}
    app = create_app(load_settings(given, dotenv=None).settings, parse_target(url))
    with socket.create_server(("127.0.0.1", port)) as listener:
        Server(app, grace=2).run(sockets=[listener])


@asynccontextmanager
async def server_process(url: str) -> AsyncIterator[tuple[str, psutil.Process]]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.events", "--serve", url, str(port),
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    base = f"http://127.0.0.1:{port}"
    try:
        async with httpx.AsyncClient() as client:
            for _ in range(600):
                try:
                    if (await client.get(f"{base}/health/live")).status_code == 200:
                        break
                except httpx.TransportError:
                    await asyncio.sleep(0.1)
        yield base, psutil.Process(process.pid)
    finally:
        process.terminate()
        await process.wait()


async def listen(
    client: httpx.AsyncClient, key: str, heard: Heard, state: dict[str, int]
) -> None:
    """Listen, and come back when the server is too busy to let everyone in at once."""
    headers = {"X-API-Key": key}
    while True:
        async with client.stream(
            "GET", "/api/v3/events", headers=headers, timeout=None
        ) as answer:
            if answer.status_code == 200:
                state["open"] += 1
                await read(answer, heard, state)
                return
        state["sent_away"] += 1
        await asyncio.sleep(1)


async def read(answer: httpx.Response, heard: Heard, state: dict[str, int]) -> None:
    name = ""
    async for line in answer.aiter_lines():
        if line.startswith("event: "):
            name = line[7:]
        elif line.startswith("data: "):
            state["events"] += 1
            state["resets"] += name == "reset"
            if name == "records":
                now = time.time()
                for change in orjson.loads(line[6:])["changes"]:
                    heard.setdefault(change["id"], []).append(now)


async def prepare(
    url: str, count: int = 20_000
) -> tuple[list[UUID], list[str], list[list[UUID]]]:
    engine = connect(parse_target(url), statement_timeout=None)
    await upgrade(engine)
    async with engine.begin() as connection:
        await connection.execute(
            text("INSERT INTO tenants (name, slug) VALUES ('Other', 'other')")
        )
        tenants = list(await connection.scalars(text("SELECT id FROM tenants")))
        places = []
        for tenant in tenants:
            made = await connection.scalars(
                text(
                    "INSERT INTO places_staging (tenant_id, source, source_place_id)"
                    " SELECT :tenant, 'file', g::text FROM generate_series(1, :count) g"
                    " RETURNING id"
                ),
                {"tenant": tenant, "count": count},
            )
            places.append(list(made))
    keys = []
    for tenant in tenants:
        for _ in range(CLIENT_COUNT // KEY_STREAMS // 2):
            keys += [await new_key(engine, tenant)] * KEY_STREAMS
    await engine.dispose()
    return tenants, keys, places


async def measure(seconds: float, rate: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="bench-events-") as home:
        Path(home).chmod(0o711)  # noqa: ASYNC240 - before anything runs
        with EmbeddedPostgres(Path(home) / "pg") as server:
            _, keys, places = await prepare(server.url)
            async with server_process(server.url) as (base, process):
                return await run(
                    server.url,
                    base,
                    process,
                    keys,
                    places,
                    seconds=seconds,
                    rate=rate,
                )


async def run(
    url: str,
    base: str,
    process: psutil.Process,
    keys: list[str],
    places: list[Any],
    *,
    seconds: float,
    rate: float,
) -> dict[str, float]:
    dsn = parse_target(url).dsn
    writer = await asyncpg.connect(dsn)
    limits = httpx.Limits(max_connections=None)
    heard: list[Heard] = [{} for _ in keys]
    state = {"open": 0, "events": 0, "resets": 0, "sent_away": 0}
    async with httpx.AsyncClient(base_url=base, limits=limits) as client:
        before = process.memory_info().rss
        tasks = [
            asyncio.create_task(listen(client, key, mine, state))
            for key, mine in zip(keys, heard, strict=True)
        ]
        while state["open"] < len(keys):
            await asyncio.sleep(0.1)
            for task in tasks:
                if task.done():
                    task.result()
        refused = (
            await client.get("/api/v3/events", headers={"X-API-Key": keys[0]})
        ).status_code
        await asyncio.sleep(5)
        for mine in heard:
            mine.clear()  # the rows were made a moment ago, and that is reported too
        cpu = process.cpu_times()
        busy_before = cpu.user + cpu.system
        began = time.time()
        written: list[dict[str, float]] = [{}, {}]
        step = 0.1
        per_step = max(1, int(rate * step / 2))
        number = 0
        while time.time() - began < seconds:
            for side in (0, 1):
                ids = places[side][number : number + per_step]
                await writer.execute(
                    "UPDATE places_staging SET status = 'Maybe' WHERE id = ANY($1)", ids
                )
                now = time.time()
                written[side].update({str(one): now for one in ids})
            number += per_step
            await asyncio.sleep(max(0, began + number / per_step * step - time.time()))
        await asyncio.sleep(4)
        cpu = process.cpu_times()
        busy = (cpu.user + cpu.system - busy_before) / (time.time() - began)
        connections = await writer.fetchval(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name"
            " = 'scrapersky-operations'"
        )
        memory = process.memory_info().rss - before
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    await writer.close()
    half = len(keys) // 2
    delays, missed, foreign = [], 0, 0
    for index, mine in enumerate(heard):
        side = 0 if index < half else 1
        missed += sum(one not in mine for one in written[side])
        foreign += sum(one in written[1 - side] for one in mine)
        delays += [
            mine[one][0] - at for one, at in written[side].items() if one in mine
        ]
    delays.sort()
    return {
        "clients": len(keys),
        "changes": sum(map(len, written)),
        "changes_per_second": round(sum(map(len, written)) / seconds, 1),
        "delay_p50_ms": round(statistics.median(delays) * 1000),
        "delay_p95_ms": round(delays[int(len(delays) * 0.95)] * 1000),
        "delay_p99_ms": round(delays[int(len(delays) * 0.99)] * 1000),
        "missed": missed,
        "foreign": foreign,
        "resets": state["resets"],
        "client_201_status": refused,
        "server_cpu_share": round(busy, 3),
        "memory_per_client_kib": round(memory / len(keys) / 1024, 1),
        "database_connections": connections,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--serve", nargs=2, metavar=("URL", "PORT"))
    options = parser.parse_args()
    if options.serve:
        serve(options.serve[0], int(options.serve[1]))
        return
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    found = asyncio.run(measure(10 if options.quick else 30, rate=50))
    print("| figure | value |\n|---|---:|")
    for name, value in found.items():
        print(f"| {name.replace('_', ' ')} | {value} |")
    print(json.dumps(found))


if __name__ == "__main__":
    main()
