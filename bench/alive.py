"""What it costs to keep a list true, and whether it is.

    python bench/alive.py            300 businesses, a few minutes
    python bench/alive.py --quick    a small town, about a minute

The town is searched, changes in planted ways, and is searched again. Two more ratios tell what
the first leaves open: `requests_ratio_without_new_sites` leaves out the first visits to companies
that only the second run found, `requests_ratio_after_an_hour` counts the robots.txt of each
visited site too, which is believed for an hour. The keys that begin with `second_run` say which
websites the requests went to: new ones, those of which every answer was 304, and all others. Ten
changes is the least a town is given, so that in the small one every eighth website has changed and
in the large one every twentieth. The last line is one object of JSON; each part of it is a
function that returns its own keys.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scrapersky.db.connection import parse_target
from scrapersky.demo.services import town_services
from scrapersky.measuring.pipeline import a_database
from scrapersky.observability.log import configure_logs
from scrapersky.scheduler.app import work
from simulated_town.town import Town
from tests.acceptance.revisit_rig import run_twice
from tests.acceptance.rig import a_desk, settings_for

TOWN_SIZE, QUICK_TOWN_SIZE = 300, 60
Figures = dict[str, float | int]


async def second_run(size: int) -> Figures:
    """Search a town twice: what the second run cost, and what it noticed."""
    with tempfile.TemporaryDirectory() as home, a_database() as target:
        url = target.dsn
        settings = settings_for({"SCRAPERSKY_DATA_DIR": home})
        async with (
            Town.open(size=size, trouble=False, changing=True) as town,
            a_desk(url) as desk,
            town_services(town.endpoint) as services,
            work(settings, parse_target(url), services=services),
        ):
            runs = await run_twice(desk, town)
    for name in ("missed", "invented"):
        for one in sorted(getattr(runs, name), key=str):
            print(f"{name}: {one}")
    return runs.measured()


PARTS: tuple[Callable[[int], Awaitable[Figures]], ...] = (second_run,)
"""What is measured, one after the other."""


async def measure(size: int) -> Figures:
    """Measure every part."""
    figures: Figures = {}
    for part in PARTS:
        figures |= await part(size)
    return figures


def main() -> None:
    """Read the options, measure, and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    configure_logs("ERROR", "console")
    size = QUICK_TOWN_SIZE if parser.parse_args().quick else TOWN_SIZE
    print(json.dumps(asyncio.run(measure(size))))


if __name__ == "__main__":
    main()
