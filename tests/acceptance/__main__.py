"""Print the table of faults: `python -m tests.acceptance --kills 10 --seeds 1`."""

import argparse
import asyncio

from tests.acceptance.scenario import Report, calm, stormy

HEAD = (
    f"{'faults injected':36}{'at work':>9}{'s':>8}{'ended':>7}{'contacts':>10}{'same':>6}"
    f"{'missed':>8}{'wrong':>7}{'stuck':>7}{'not handed on':>15}{'blamed':>8}"
    f"{'too fast':>10}{'gap ms':>8}"
)


def line(report: Report, peace: Report) -> str:
    """Write one run as a row."""
    same = "yes" if report.contacts == peace.contacts else "NO"
    ended = "yes" if report.finished else "NO"
    blamed = len(report.deaths) - len(peace.deaths)
    return (
        f"{report.name:36}{report.at_work:>9}{report.seconds:>8.1f}{ended:>7}"
        f"{len(report.contacts):>10}{same:>6}{report.missed:>8}{report.wrong:>7}"
        f"{report.not_over:>7}{report.not_handed_over:>15}{blamed:>8}"
        f"{report.too_fast:>10}{report.shortest_gap * 1000:>8.0f}"
    )


async def main() -> None:
    """Run in peace and in storms, and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=60)
    parser.add_argument("--kills", type=int, default=25)
    parser.add_argument("--restarts", type=int, default=6)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    chosen = parser.parse_args()
    print(HEAD, flush=True)
    peace = await calm(chosen.size, workers=chosen.workers)
    print(line(peace, peace), flush=True)
    for seed in chosen.seeds:
        storm = await stormy(
            chosen.size,
            workers=chosen.workers,
            kills=chosen.kills,
            restarts=chosen.restarts,
            seed=seed,
        )
        print(line(storm, peace), flush=True)
        for death in set(storm.deaths) - set(peace.deaths):
            print(f"    {death}", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
