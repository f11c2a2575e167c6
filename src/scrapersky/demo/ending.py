"""How a process of the demo ends: with whoever started it."""

import asyncio
import signal
import sys
import threading


async def until_stopped() -> None:
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
