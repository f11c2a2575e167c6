"""Print the table of faults: `python -m tests.acceptance --size 40 --kills 10`."""

import argparse
import asyncio

from tests.acceptance.scenario import Report, calm, stormy

HEAD = (
    f"{'run':28}{'s':>7}{'ended':>7}{'contacts':>10}{'same':>6}{'missed':>8}{'wrong':>7}"
    f"{'not over':>10}{'not handed on':>15}{'replayed':>10}{'dead':>6}{'overlaps':>10}{'gap ms':>8}"
)


def line(report: Report, peace: Report) -> str:
    """Write one run as a row."""
    same = "yes" if report.contacts == peace.contacts else "NO"
    ended = "yes" if report.finished else "NO"
    return (
        f"{report.name:28}{report.seconds:>7.1f}{ended:>7}{len(report.contacts):>10}"
        f"{same:>6}{report.missed:>8}{report.wrong:>7}{report.not_over:>10}"
        f"{report.not_handed_over:>15}{report.replayed:>10}{len(report.deaths):>6}{report.overlaps:>10}"
        f"{report.shortest_gap * 1000:>8.0f}"
    )


async def main() -> None:
    """Run in peace and in the storm, and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=40)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--restarts", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    chosen = parser.parse_args()
    print(HEAD, flush=True)
    peace = await calm(chosen.size, workers=chosen.workers)
    print(line(peace, peace), flush=True)
    for kills, restarts in (
        (chosen.kills, 0),
        (0, chosen.restarts),
        (chosen.kills, chosen.restarts),
    ):
        storm = await stormy(
            chosen.size, workers=chosen.workers, kills=kills, restarts=restarts
        )
        print(line(storm, peace), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
