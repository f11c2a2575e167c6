"""The pace of questions to a provider, kept over all processes by the ledger of hosts."""

from datetime import timedelta
from urllib.parse import urlsplit

from scrapersky.crawler import HostLedger
from scrapersky.errors import HostBusy, HostPaused, ProviderBusy

TURN_TIMEOUT = timedelta(minutes=2)


class LedgerPace:
    """Lets one question through at a time, and none sooner than `interval` after it."""

    def __init__(self, ledger: HostLedger, url: str, interval: timedelta) -> None:
        self._ledger = ledger
        self._url = url
        self._key = f"provider:{urlsplit(url).hostname}"
        self._interval = interval

    async def turn(self) -> None:
        """Return when the next question may be asked; raise ProviderBusy if not soon."""
        try:
            await self._ledger.acquire(self._key, url=self._url, timeout=TURN_TIMEOUT)
        except (HostBusy, HostPaused) as error:
            raise ProviderBusy(
                self._key,
                "others are asking it, or it rests",
                retry_after=error.retry_after,
            ) from error
        self._ledger.release(self._key, delay=self._interval)
