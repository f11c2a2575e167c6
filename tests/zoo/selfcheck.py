"""Proves that the rig would notice: does by hand what the crawler must never do.

Run as `python -m tests.zoo.selfcheck` in a network namespace; prints one line of JSON.
"""

import asyncio
import json
from contextlib import suppress

from tests.zoo import namespace
from tests.zoo.canary import Canaries
from tests.zoo.rig import Rig
from tests.zoo.wiretap import Wiretap

FORBIDDEN = (
    *namespace.INSIDE_V4,
    *namespace.INSIDE_V6,
    "127.0.0.1",
    "::1",
)


async def touch(address: str) -> None:
    """Open a connection and drop it."""
    with suppress(OSError):
        async with asyncio.timeout(3):
            _, writer = await asyncio.open_connection(address, 80)
            writer.close()


def refuses_a_way_out() -> bool:
    """Say whether the rig refuses to run once there is a default route."""
    namespace.ip("route", "add", "default", "dev", namespace.CRAWLER_SIDE)
    try:
        namespace.verify_isolation()
    except namespace.NotIsolated:
        return True
    finally:
        namespace.ip("route", "del", "default")
    return False


async def main() -> dict[str, object]:
    """Touch every forbidden place, and make a way out."""
    async with (
        Rig("namespace", 0.1, good=False) as rig,
        Canaries(["127.0.0.1:80", "[::1]:80"]) as own,
    ):
        with Wiretap(["93.184.0.0/16"]) as tap:
            for address in FORBIDDEN:
                await touch(address)
            await asyncio.sleep(0.5)
        report = await rig.report()
        return {
            "touched": sorted(FORBIDDEN),
            "canaries": sorted({*report.canaries, *own.hits}),
            "tapped": sorted({place.split()[0] for place in tap.forbidden}),
            "refuses_a_way_out": refuses_a_way_out(),
        }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main())))
