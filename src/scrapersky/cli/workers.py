"""`scrapersky workers`."""

from dataclasses import asdict

import orjson
from cyclopts import App
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.cli.operator import note_operation
from scrapersky.cli.options import CARE, AsJson, ProcessName
from scrapersky.cli.stages import on_database
from scrapersky.cli.table import PlainTable, print_done, print_table
from scrapersky.scheduler.presence import LiveProcess, ask_to_drain, live_processes

worker_commands = App(
    name="workers",
    group=CARE,
    help="""\
List the processes that serve and work: host, version, last sign of life, why one rests.

`scrapersky workers drain NAME` lets one finish what it has and claim nothing more;
`resume NAME` lets it claim again.
""",
)


@worker_commands.default
def show(*, json: AsJson = False) -> None:
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


@worker_commands.command
def drain(name: ProcessName, *, json: AsJson = False) -> None:
    """Let one process finish what it has in work, and claim nothing more."""
    on_database(asking(name, drain=True))
    said = f"{name} was asked to drain; `scrapersky workers` says when it has."
    print_done(said, {"name": name, "is_draining": True}, as_json=json)


@worker_commands.command
def resume(name: ProcessName, *, json: AsJson = False) -> None:
    """Let a process that was asked to drain claim again."""
    on_database(asking(name, drain=False))
    facts = {"name": name, "is_draining": False}
    print_done(f"{name} claims again.", facts, as_json=json)


def asking(name: str, *, drain: bool) -> object:
    """Return what asks one process to drain or to go on, and notes who asked."""

    async def act(engine: AsyncEngine) -> None:
        async with engine.begin() as connection:
            await ask_to_drain(connection, name, drain=drain)
        action = "worker.drain" if drain else "worker.resume"
        await note_operation(engine, action, f"process {name}", {})

    return act
