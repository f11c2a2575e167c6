"""Look after queues from a shell: `python -m curation_sdk --help`."""

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from curation_sdk import dead_letters
from curation_sdk.connection import engine_of, why_not_asked
from curation_sdk.control import (
    StageState,
    cancel,
    depth,
    pause,
    rate,
    resume,
    states,
)
from curation_sdk.errors import CurationSdkError
from curation_sdk.history import history
from curation_sdk.migrations import migrate
from curation_sdk.reap import reap

MAX_COUNTED_ROWS = 100_000


def make_parser() -> argparse.ArgumentParser:
    """Return what reads the command line."""
    parser = argparse.ArgumentParser(prog="python -m curation_sdk", description=__doc__)
    parser.add_argument(
        "--url",
        default=os.environ.get("DATABASE_URL"),
        help="postgresql://...; DATABASE_URL unless given",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("migrate", help="bring the SDK's own tables up to date")
    commands.add_parser("stages", help="what is queued, finished and paused")
    listed = commands.add_parser(
        "dead-letters", help="what failed for good, latest first"
    )
    listed.add_argument("stage", nargs="?")
    listed.add_argument("--limit", type=int, default=100)
    for command, what in (
        ("retry", "queue dead letters again"),
        ("dismiss", "forget them"),
    ):
        changed = commands.add_parser(command, help=what)
        changed.add_argument("stage")
        changed.add_argument("items", nargs="*", help="their keys")
        changed.add_argument("--all", action="store_true", help="all of the stage")
    paused = commands.add_parser("pause", help="stop a stage in every worker")
    paused.add_argument("stage")
    paused.add_argument("why")
    commands.add_parser("resume", help="let it go on").add_argument("stage")
    cancelled = commands.add_parser("cancel", help="fail queued or running items")
    cancelled.add_argument("stage")
    cancelled.add_argument("items", nargs="+", help="their keys")
    cancelled.add_argument("--why", default="cancelled")
    shown = commands.add_parser("item", help="everything that happened to one row")
    shown.add_argument("stage")
    shown.add_argument("item")
    commands.add_parser("reap", help="rescue what dead workers hold, now")
    return parser


async def run(engine: AsyncEngine, asked: argparse.Namespace) -> list[str]:
    """Carry out a command; return the lines to print."""
    match asked.command:
        case "migrate":
            return [f"{await migrate(engine)} versions applied"]
        case "stages":
            return [await stage_line(engine, each) for each in await states(engine)]
        case "dead-letters":
            letters = await dead_letters.list(engine, asked.stage, limit=asked.limit)
            return [
                f"{each.died_at:%Y-%m-%d %H:%M:%S}  {each.stage}  {each.item}  {each.kind}"
                f"  {each.why or ''}"
                for each in letters
            ]
        case "retry":
            count = await dead_letters.replay(engine, asked.stage, *asked.items)
            return [f"{count} queued again"]
        case "dismiss":
            count = await dead_letters.discard(engine, asked.stage, *asked.items)
            return [f"{count} dismissed"]
        case "pause":
            await pause(engine, asked.stage, asked.why)
            return [f"{asked.stage} is paused"]
        case "resume":
            await resume(engine, asked.stage)
            return [f"{asked.stage} is resumed"]
        case "cancel":
            count = await cancel(engine, asked.stage, *asked.items, why=asked.why)
            return [f"{count} cancelled"]
        case "item":
            return await item_lines(engine, asked.stage, asked.item)
    found = await reap(engine)
    counts = f"{found.rescued} rescued, {found.quarantined} quarantined"
    return [f"{counts}, {found.requeued} queued again"]


async def stage_line(engine: AsyncEngine, state: StageState) -> str:
    """Describe a stage in one line."""
    queued = await depth(engine, state.name, at_most=MAX_COUNTED_ROWS)
    speed = await rate(engine, state.name)
    why = f"  paused: {state.paused_why}" if state.paused else ""
    return f"{state.name}  {queued} queued  {speed:.1f}/s{why}"


async def item_lines(engine: AsyncEngine, stage: str, item: str) -> list[str]:
    """Describe what happened to one row."""
    known = await history(engine, stage, item)
    lines = [f"{stage} {item}: {known.status}"]
    for attempt in known.attempts:
        lines.append(
            f"{attempt.settled_at:%Y-%m-%d %H:%M:%S}  {attempt.outcome}"
            f"  {attempt.why or ''}".rstrip()
        )
        if attempt.traceback:
            lines.append(attempt.traceback.rstrip())
    return lines


async def answer(arguments: Sequence[str] | None = None) -> int:
    """Read the command line, carry it out and print; return the exit code."""
    parser = make_parser()
    asked = parser.parse_args(arguments)
    if not asked.url:
        parser.error("say where the database is: --url or DATABASE_URL")
    if asked.command in {"retry", "dismiss"} and bool(asked.items) == asked.all:
        parser.error("name the items, or say --all")
    try:
        engine = engine_of(asked.url)
    except CurationSdkError as error:
        parser.error(str(error))
    try:
        for line in await run(engine, asked):
            sys.stdout.write(f"{line}\n")
    except CurationSdkError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except (SQLAlchemyError, OSError) as error:
        sys.stderr.write(f"{why_not_asked(error)}\n")
        return 1
    finally:
        await engine.dispose()
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(answer()))
