"""A program that works tickets through the plain entry, for tests to kill.

python -m sdk_tests.rig.stranger URL MODE FUNCTION [LEASE]
"""

import asyncio
import os
import signal
import sys
import time
from datetime import timedelta
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine

from sdk_tests.desk import Desk, Reply, job_loop


def report(ticket_id: int) -> None:
    print("begun", ticket_id, flush=True)


async def wait_for_ever(ticket_id: int, session: AsyncSession) -> None:
    session.add(Reply(ticket_id=ticket_id, words="of a process that was killed"))
    await session.flush()
    report(ticket_id)
    await asyncio.Event().wait()


async def kill_itself(ticket_id: int, _session: AsyncSession) -> None:
    report(ticket_id)
    os.kill(os.getpid(), signal.SIGKILL)


async def interrupt(ticket_id: int, session: AsyncSession) -> None:
    session.add(Reply(ticket_id=ticket_id, words="of a process that was interrupted"))
    await session.flush()
    report(ticket_id)
    raise KeyboardInterrupt


async def block(ticket_id: int, _session: AsyncSession) -> None:
    report(ticket_id)
    time.sleep(3)  # noqa: ASYNC251 - what it is about


async def leave(ticket_id: int, session: AsyncSession) -> None:
    session.add(Reply(ticket_id=ticket_id, words="of a process that left"))
    await session.flush()
    report(ticket_id)
    raise SystemExit(3)


async def main(url: str, mode: Any, function: str, lease: str = "1") -> None:
    engine = create_async_engine(url)
    desk = Desk(engine, url)
    held = timedelta(seconds=float(lease))
    await job_loop(desk, globals()[function], mode=mode, lease=held)
    await engine.dispose()


def work(said: Connection, *arguments: str) -> None:
    """Do the same in a process of the fork server; what it prints goes to the pipe."""
    with Path(os.devnull).open("w") as nowhere:
        os.dup2(nowhere.fileno(), sys.stderr.fileno())
    os.dup2(said.fileno(), sys.stdout.fileno())
    asyncio.run(main(*arguments))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
