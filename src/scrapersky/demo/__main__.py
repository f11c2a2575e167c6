"""Serve a town in a process of its own until standard input closes or Ctrl-C."""

import argparse
import asyncio
import signal
import sys
import threading

from scrapersky.demo.town import DEFAULT_SIZE, Town


async def serve(options: argparse.Namespace) -> None:
    """Open the town, say on which ports (HTTP, DNS), and wait."""
    async with Town.open(
        size=options.size,
        seed=options.seed,
        trouble=not options.calm,
        archive=options.archive,
        port=options.port,
    ) as town:
        sys.stdout.write(f"{town.invitation.port} {town.invitation.dns_port}\n")
        sys.stdout.flush()
        await told_to_stop()


async def told_to_stop() -> None:
    """Return at the end of standard input, or at a signal."""
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()

    def wait_for_end() -> None:
        sys.stdin.read()
        loop.call_soon_threadsafe(stop.set)

    for sign in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(sign, stop.set)
    # A daemon: a read that nobody ends must not keep the process.
    threading.Thread(target=wait_for_end, daemon=True).start()
    await stop.wait()


def main() -> None:
    """Read the options and serve."""
    parser = argparse.ArgumentParser(prog="python -m scrapersky.demo")
    parser.add_argument("--size", type=int, default=DEFAULT_SIZE)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--archive", type=int, default=0)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--calm", action="store_true", help="no site makes anyone wait")
    asyncio.run(serve(parser.parse_args()))


if __name__ == "__main__":
    main()
