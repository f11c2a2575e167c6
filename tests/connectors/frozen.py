"""A process that works on a connection and stops itself where its first company is sent.

    python -m tests.connectors.frozen DATABASE_URL TENANT CONNECTION FOLDER late|early

`late`: after its last look at its lease, before the first byte. `early`: before that look. Whoever
started it lets it go on by SIGCONT.
"""

import asyncio
import contextlib
import os
import signal
import sys
from pathlib import Path
from typing import Any
from uuid import UUID

from scrapersky.connectors import work
from scrapersky.connectors.session import CrmTransport
from scrapersky.crawler.connection import HttpConnection
from scrapersky.db.connection import connect, parse_target
from scrapersky.errors import SubscriptionTaken
from tests.connectors.desk import SalesDesk
from tests.connectors.fakes.clock import StillClock


def freezing(of: type[Any], name: str, at: int) -> None:
    """Let the process stop where a function is given the request that makes a company."""
    as_it_is = getattr(of, name)
    frozen: list[bool] = []

    async def stop(*given: Any) -> Any:
        if not frozen and given[at].startswith(b"POST /api/v2/organizations"):
            frozen.append(True)
            # What it sleeps through is enough for its lease to be over.
            work.STALE_SECONDS = 0.5  # type: ignore[misc]
            os.kill(os.getpid(), signal.SIGSTOP)
        return await as_it_is(*given)

    setattr(of, name, stop)


async def main(url: str, tenant: str, sync_id: str, folder: str, when: str) -> None:
    if when == "late":
        freezing(HttpConnection, "ask", 1)
    else:
        freezing(CrmTransport, "send", 2)
    engine = connect(parse_target(url), pool_size=3)
    desk = SalesDesk(engine, UUID(tenant), Path(folder), StillClock())
    with contextlib.suppress(SubscriptionTaken):
        await desk.work(UUID(sync_id))
    await desk.tools.transport.close()
    await engine.dispose()


asyncio.run(main(*sys.argv[1:]))
