"""Post a message to somebody else's address: through the crawler's guard, and no further."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from contact_extraction.errors import InvalidUrl
from contact_extraction.urls import Url, parse_url
from scrapersky.crawler.connection import Exchange, HttpConnection
from scrapersky.crawler.guard import Guard, Network
from scrapersky.crawler.limits import KIB, FetchLimits
from scrapersky.crawler.policy import CrawlerPolicy
from scrapersky.crawler.pool import (
    ConnectionPool,
    ConnectTimings,
    harden,
    tls_context,
)
from scrapersky.crawler.request import pause_asked
from scrapersky.crawler.resolver import Resolver, SystemResolver
from scrapersky.errors import BadUrl, ConnectFailed, ConnectionLost, FetchError

LIMITS: Final = FetchLimits(
    headers=timedelta(seconds=15),
    total=timedelta(seconds=20),
    wire_bytes=64 * KIB,
    inflated_bytes=64 * KIB,
)
"""What an answer says does not matter, only that it comes."""
LOOP_HEADER: Final = "scrapersky-webhook"
"""Our own API refuses what bears it: a message that was sent on to us would never end."""
GONE_STATUS: Final = 410
BUSY_STATUSES: Final = frozenset({429, 502, 503, 504})
MAX_RETRY_AFTER: Final = timedelta(days=1)
MAX_WHY_CHARACTERS: Final = 300
ANY_PORT: Final = range(1, 65_536)


@dataclass(frozen=True, slots=True)
class DeliveryAttempt:
    """What came of posting a message once."""

    at: datetime
    seconds: float
    status: int | None = None
    why: str | None = None
    """Why it failed, if it did."""
    retry_after: timedelta | None = None

    @property
    def is_delivered(self) -> bool:
        """Say whether the message was taken: with a 2xx, and with nothing else."""
        return self.why is None

    def noted(self) -> dict[str, Any]:
        """Return it as it is kept."""
        return {
            "at": self.at.isoformat(),
            "ms": round(self.seconds * 1000),
            "status": self.status,
            "why": self.why,
        }


class WebhookSender:
    """Posts messages over connections of its own, which are used again."""

    def __init__(
        self,
        policy: CrawlerPolicy,
        networks: Sequence[Network] = (),
        resolver: Resolver | None = None,
    ) -> None:
        """Begin; within these networks any address and port may be posted to."""
        # A dead endpoint has a schedule of its own, and its owner may repair it now.
        self._policy = replace(policy, limits=LIMITS, failure_rest=timedelta())
        self._pool = ConnectionPool(
            self._policy,
            resolver or SystemResolver(),
            harden(tls_context()),
            Guard((*policy.extra_networks, *networks), ANY_PORT),
        )

    async def close(self) -> None:
        """Close every connection."""
        await self._pool.close()

    async def post(
        self, url: str, headers: Mapping[str, str], body: bytes, now: datetime
    ) -> DeliveryAttempt:
        """Post a message; whatever happens is returned and not raised."""
        began = time.monotonic()
        try:
            exchange = await self._exchange(parse_address(url), headers, body)
        except FetchError as error:
            why = f"{error.outcome}: {error.why}"[:MAX_WHY_CHARACTERS]
            return DeliveryAttempt(now, time.monotonic() - began, why=why)
        took = time.monotonic() - began
        status = exchange.status
        if exchange.is_success:
            return DeliveryAttempt(now, took, status)
        after = None
        if status in BUSY_STATUSES:
            asked = pause_asked(exchange.value("retry-after"), now)
            after = min(asked, MAX_RETRY_AFTER) if asked else None
        return DeliveryAttempt(now, took, status, f"answered {status}", after)

    async def _exchange(
        self, url: Url, headers: Mapping[str, str], body: bytes
    ) -> Exchange:
        request = build_post(url, self._policy, headers, body)
        deadline = time.monotonic() + LIMITS.total.total_seconds()
        if (idle := self._pool.idle(url)) is not None:
            try:
                return await ask(url, idle, request, deadline)
            except ConnectionLost:
                # The receiver knows the message by its id, should it have come twice.
                if idle.heard:
                    raise
            finally:
                self._pool.settle(url, idle)
        connection = await self._connect(url)
        try:
            return await ask(url, connection, request, deadline)
        finally:
            self._pool.settle(url, connection)

    async def _connect(self, url: Url) -> HttpConnection:
        timings = ConnectTimings()
        failure: FetchError = ConnectFailed(str(url), "no address could be tried")
        addresses = await self._pool.addresses(url, timings)
        timeout = LIMITS.connect.total_seconds() / len(addresses)
        for address in addresses:
            try:
                return await self._pool.connect(url, address, timings, timeout=timeout)
            except ConnectFailed as error:
                failure = error
        raise failure


async def ask(
    url: Url, connection: HttpConnection, request: bytes, deadline: float
) -> Exchange:
    """Send a request; of the answer only the beginning is read."""
    exchange = Exchange(
        str(url),
        LIMITS,
        max_wire=LIMITS.wire_bytes,
        max_inflated=LIMITS.inflated_bytes,
        deadline=deadline,
        keep_partial=True,
        keep=0,
    )
    return await connection.ask(request, exchange)


def parse_address(given: str) -> Url:
    """Read the address of an endpoint, or raise BadUrl."""
    try:
        return parse_url(given)
    except InvalidUrl as error:
        raise BadUrl(given, error.why) from None


def build_post(
    url: Url, policy: CrawlerPolicy, headers: Mapping[str, str], body: bytes
) -> bytes:
    """Return the bytes of a POST."""
    proxied = url.scheme == "http" and policy.proxy.choose(url) is not None
    given = {
        "Host": url.authority,
        "User-Agent": policy.user_agent,
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        LOOP_HEADER: "1",
        **headers,
    }
    lines = [
        f"POST {url if proxied else url.target} HTTP/1.1",
        *(f"{name}: {value}" for name, value in given.items()),
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("ascii") + body
