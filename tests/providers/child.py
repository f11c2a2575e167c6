"""A process that searches and may be killed at any moment; it is started by a test."""

import asyncio
import json
import os
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

from scrapersky.errors import BudgetExhausted
from scrapersky.providers.source import PlaceQuery, ResumePoint
from tests.providers.rig import DurableBudget, source_of

EXHAUSTED = 3


async def run(order: dict[str, Any]) -> int:
    """Search on from what is on disk, keeping places and state together."""
    progress = Path(order["progress"])
    done = load(progress)
    found: dict[str, Any] = done.get("found", {})
    pages = done.get("pages", 0)
    source = source_of(order["recipe"])
    budget = DurableBudget(
        Path(order["ledger"]), Decimal(order["cap"]) if order["cap"] else None
    )
    resume = ResumePoint(done["state"], frozenset(found)) if done else None
    query = PlaceQuery.from_json(order["query"])
    try:
        async for page in source.search(query, budget, resume=resume):
            found.update({place.source_place_id: place.name for place in page.places})
            pages += 1
            save(progress, {"state": page.state, "found": found, "pages": pages})
            await asyncio.sleep(order["pause"])
    except BudgetExhausted:
        return EXHAUSTED
    finally:
        await source.close()  # type: ignore[attr-defined]
    return 0


def load(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text())) if path.exists() else {}


def save(path: Path, value: dict[str, Any]) -> None:
    """Put the new content in place at once, or not at all."""
    new = path.with_suffix(".new")
    with new.open("w") as file:
        json.dump(value, file)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


if __name__ == "__main__":
    sys.exit(asyncio.run(run(json.loads(sys.argv[1]))))
