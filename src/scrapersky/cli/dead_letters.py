"""`scrapersky dead-letters`."""

from dataclasses import asdict

import orjson
from sqlalchemy.ext.asyncio import AsyncEngine

import curation_sdk
from scrapersky.cli.operator import note_operation
from scrapersky.cli.stages import on_database
from scrapersky.cli.table import PlainTable, print_table


def show(stage: str | None = None, *, limit: int = 50, json: bool = False) -> None:
    """List the items that failed for good, the latest first."""

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


def inspect(stage: str, item: str) -> None:
    """Show the whole history of one dead letter."""

    async def act(engine: AsyncEngine) -> object:
        return await curation_sdk.dead_letters.inspect(engine, stage, item)

    letter = on_database(act)
    print(orjson.dumps(asdict(letter), option=orjson.OPT_INDENT_2).decode())


def replay(stage: str, *items: str) -> None:
    """Queue dead letters again with all their attempts; none named: the stage's all."""

    async def act(engine: AsyncEngine) -> object:
        count = await curation_sdk.dead_letters.replay(engine, stage, *items)
        await note_change(engine, "replayed", stage, items, count)
        return count

    print(f"{on_database(act)} queued for retry.")


def discard(stage: str, *items: str) -> None:
    """Dismiss failed records from the list; they keep their failed status."""

    async def act(engine: AsyncEngine) -> object:
        count = await curation_sdk.dead_letters.discard(engine, stage, *items)
        await note_change(engine, "discarded", stage, items, count)
        return count

    print(f"{on_database(act)} dismissed.")


async def note_change(
    engine: AsyncEngine, action: str, stage: str, items: tuple[str, ...], count: int
) -> None:
    """Write down what was done, as the API does."""
    if count:
        details = {"stage": stage, "ids": len(items), "changed": count}
        await note_operation(engine, action, "dead letters", details)
