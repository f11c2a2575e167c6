"""Serve a town in a process of its own until standard input closes or Ctrl-C."""

import argparse
import asyncio
import sys

from simulated_town.process import until_stopped
from simulated_town.town import DEFAULT_SIZE, Town


async def serve(options: argparse.Namespace) -> None:
    """Open the town, say on which ports (HTTP, DNS), and wait."""
    async with Town.open(
        size=options.size,
        seed=options.seed,
        trouble=not options.calm,
        lies=options.lies,
        archive=options.archive,
        port=options.port,
    ) as town:
        sys.stdout.write(f"{town.endpoint.port} {town.endpoint.dns_port}\n")
        sys.stdout.flush()
        await until_stopped()


def main() -> None:
    """Read the options and serve."""
    parser = argparse.ArgumentParser(prog="python -m simulated_town")
    parser.add_argument("--size", type=int, default=DEFAULT_SIZE)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--archive", type=int, default=0)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--calm", action="store_true", help="no site makes anyone wait")
    parser.add_argument(
        "--lies", action="store_true", help="the register is wrong about many"
    )
    asyncio.run(serve(parser.parse_args()))


if __name__ == "__main__":
    main()
