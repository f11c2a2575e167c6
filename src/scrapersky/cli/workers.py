"""`scrapersky workers`."""

from dataclasses import asdict

import orjson
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.cli.operator import note_operation
from scrapersky.cli.stages import on_database
from scrapersky.cli.table import PlainTable, print_table
from scrapersky.scheduler.presence import LiveProcess, ask_to_drain, live_processes


def show(*, json: bool = False) -> None:
    """List the processes that serve and work on the database."""
    live: list[LiveProcess] = on_database(live_processes)
    if json:
        print(orjson.dumps([asdict(one) for one in live]).decode())
        return
    table = PlainTable(
        "name", "role", "state", "version", "in hand", "last seen", "address", "resting",
    )  # fmt: skip
    for one in live:
        table.add_row(
            one.name,
            one.role,
            one.state,
            one.version,
            str(one.in_hand),
            f"{one.seen_seconds:.0f} s ago",
            one.address or "",
            one.resting or "",
        )
    print_table(table, whole=("name", "version"))


def drain(name: str) -> None:
    """Let one process finish what it has in work, and claim nothing more."""
    on_database(asking(name, drain=True))
    print(f"{name} was asked to drain; `scrapersky workers` says when it has.")


def resume(name: str) -> None:
    """Let a process that was asked to drain claim again."""
    on_database(asking(name, drain=False))
    print(f"{name} claims again.")


def asking(name: str, *, drain: bool) -> object:
    """Return what asks one process to drain or to go on, and notes who asked."""

    async def act(engine: AsyncEngine) -> None:
        async with engine.begin() as connection:
            await ask_to_drain(connection, name, drain=drain)
        action = "worker.drain" if drain else "worker.resume"
        await note_operation(engine, action, f"process {name}", {})

    return act
