"""`scrapersky dead-letters`."""

from dataclasses import asdict

import orjson
from cyclopts import App
from sqlalchemy.ext.asyncio import AsyncEngine

import curation_sdk
from scrapersky.cli.operator import note_operation
from scrapersky.cli.options import CARE, AsJson
from scrapersky.cli.stages import on_database
from scrapersky.cli.table import PlainTable, print_done, print_table

dead_letter_commands = App(
    name="dead-letters",
    group=CARE,
    help="""\
List the items that failed for good; inspect, replay or discard them.
""",
)


@dead_letter_commands.default
def show(stage: str | None = None, *, limit: int = 50, json: AsJson = False) -> None:
    """List the items that failed for good, the latest first.

    Parameters
    ----------
    stage
        Only of this stage.
    limit
        How many at the most.
    """

    async def act(engine: AsyncEngine) -> object:
        return await curation_sdk.dead_letters.list(engine, stage, limit=limit)

    letters = on_database(act)
    if json:
        print(orjson.dumps([asdict(letter) for letter in letters]).decode())
        return
    table = PlainTable("stage", "item", "kind", "tries", "when", "why")
    for letter in letters:
        when = letter.died_at.strftime("%Y-%m-%d %H:%M")
        why = (letter.why or "")[:200]
        table.add_row(
            letter.stage, letter.item, letter.kind, str(letter.tries), when, why
        )
    print_table(table, whole=("stage", "item"))


@dead_letter_commands.command
def inspect(stage: str, item: str, *, json: AsJson = False) -> None:
    """Show the whole history of one dead letter.

    Parameters
    ----------
    stage
        The stage it died in.
    item
        Its id.
    """

    async def act(engine: AsyncEngine) -> object:
        return await curation_sdk.dead_letters.inspect(engine, stage, item)

    letter = on_database(act)
    # Indented for a person, one line for a program.
    option = None if json else orjson.OPT_INDENT_2
    print(orjson.dumps(asdict(letter), option=option).decode())


@dead_letter_commands.command
def replay(stage: str, *items: str, json: AsJson = False) -> None:
    """Queue dead letters again with all their attempts; none named: the stage's all.

    Parameters
    ----------
    stage
        The stage they died in.
    items
        Their ids.
    """

    async def act(engine: AsyncEngine) -> object:
        count = await curation_sdk.dead_letters.replay(engine, stage, *items)
        await note_change(engine, "replayed", stage, items, count)
        return count

    count = on_database(act)
    print_done(f"{count} queued for retry.", {"queued": count}, as_json=json)


@dead_letter_commands.command
def discard(stage: str, *items: str, json: AsJson = False) -> None:
    """Dismiss failed records from the list; they keep their failed status.

    Parameters
    ----------
    stage
        The stage they died in.
    items
        Their ids; none named: the stage's all.
    """

    async def act(engine: AsyncEngine) -> object:
        count = await curation_sdk.dead_letters.discard(engine, stage, *items)
        await note_change(engine, "discarded", stage, items, count)
        return count

    count = on_database(act)
    print_done(f"{count} dismissed.", {"dismissed": count}, as_json=json)


async def note_change(
    engine: AsyncEngine, action: str, stage: str, items: tuple[str, ...], count: int
) -> None:
    """Write down what was done, as the API does."""
    if count:
        details = {"stage": stage, "ids": len(items), "changed": count}
        await note_operation(engine, action, "dead letters", details)
