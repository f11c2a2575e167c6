"""Run as a program on a changed copy of ScraperSky: start it, and say what it shows."""

import asyncio
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
import orjson
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.api.app import create_app
from scrapersky.cli.export import export
from scrapersky.cli.stages import look as look_at_stages
from scrapersky.configuration import VARIABLES, load_settings
from scrapersky.db.connection import connect, parse_target
from scrapersky.db.migrate import upgrade
from scripts.reference import kinds_page, routes_page, settings_page, stages_page
from sdk_tests.rig.waiting import HUNG

DOMAIN = """INSERT INTO domains (tenant_id, domain, status)
    VALUES (:tenant, 'a.example', 'completed') RETURNING id"""


async def outcome(engine: AsyncEngine, watched: str) -> Any:
    """Wait until a query has an answer, but not for ever."""
    async with asyncio.timeout(HUNG):
        while True:
            async with engine.connect() as connection:
                if (done := await connection.scalar(text(watched))) is not None:
                    return done
            await asyncio.sleep(0.05)


async def look(url: str, statement: str, watched: str, addresses: list[str]) -> Any:
    """Migrate, start, queue one row, wait until it is done, and ask some addresses."""
    target = parse_target(url)
    engine = connect(target)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(engine.dispose)
        applied = await upgrade(engine)
        app = create_app(load_settings({}, dotenv=None).settings, target)
        await stack.enter_async_context(app.router.lifespan_context(app))
        client = await stack.enter_async_context(
            httpx.AsyncClient(
                transport=httpx.ASGITransport(app, client=("127.0.0.1", 4000)),
                base_url="http://localhost:8000",
            )
        )
        async with engine.begin() as connection:
            tenant = await connection.scalar(text("SELECT id FROM tenants LIMIT 1"))
            domain = await connection.scalar(text(DOMAIN), {"tenant": tenant})
            values = {"tenant": tenant, "domain": domain}
            await connection.execute(text(statement), values)
        done = await outcome(engine, watched)
        answers = {path: (await client.get(path)).text for path in addresses}
        lines, _ = await look_at_stages(engine)
    return {
        "applied": applied,
        "done": done,
        "answers": answers,
        "stages": [line.stage for line in lines],
        "settings": [*VARIABLES],
        "pages": stages_page() + settings_page() + routes_page() + kinds_page(),
        "export": str(export.__annotations__["kind"]),
    }


if __name__ == "__main__":
    asked = orjson.loads(sys.argv[1])
    Path(sys.argv[2]).write_bytes(orjson.dumps(asyncio.run(look(**asked))))
