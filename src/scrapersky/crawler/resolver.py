"""Names to addresses: asked once per connection, answered in time or not at all."""

import asyncio
import socket
import threading
from collections.abc import Sequence
from datetime import timedelta
from typing import Protocol

from scrapersky.errors import DnsFailed, HostBusy, NoSuchHost

MAX_LOOKUPS = 512
"""How many lookups may be under way, those included whose answer nobody waits for."""
RETRY_DELAY = timedelta(seconds=5)


class Resolver(Protocol):
    """Finds the addresses of a name."""

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """Return the addresses of a host as text, best first; raise DnsFailed."""


class SystemResolver:
    """Asks the operating system, each lookup in a thread of its own.

    A lookup cannot be cancelled. A thread that hangs is left behind, as a daemon, until
    the system gives up on it; it keeps nobody else from asking, unless very many hang.
    """

    def __init__(self, lookups: int = MAX_LOOKUPS) -> None:
        self._free = lookups

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """Return the addresses of a host; raise DnsFailed, NoSuchHost or HostBusy."""
        if self._free == 0:
            # Not the name's fault: it has not been asked for.
            raise HostBusy(
                host, "too many names are being looked up", retry_after=RETRY_DELAY
            )
        self._free -= 1
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Sequence[str]] = loop.create_future()

        def finish(addresses: Sequence[str], error: DnsFailed | None) -> None:
            self._free += 1
            if answer.done():
                return
            if error is None:
                answer.set_result(addresses)
            else:
                answer.set_exception(error)

        def lookup() -> None:
            addresses, error = _lookup(host, port)
            try:
                loop.call_soon_threadsafe(finish, addresses, error)
            except RuntimeError:
                return  # the loop closed while the system was still thinking

        threading.Thread(target=lookup, name="dns", daemon=True).start()
        return await answer


def _lookup(host: str, port: int) -> tuple[Sequence[str], DnsFailed | None]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        if error.errno in {socket.EAI_NONAME, getattr(socket, "EAI_NODATA", None)}:
            return (), NoSuchHost(host, "the name does not exist or has no address")
        return (), DnsFailed(host, f"the name could not be resolved: {error.strerror}")
    except (OSError, UnicodeError) as error:
        return (), DnsFailed(host, f"the name could not be resolved: {error}")
    return [str(entry[4][0]) for entry in found], None
