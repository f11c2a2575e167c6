"""How often a caller may ask: a bucket of requests each, refilled steadily.

Buckets are kept by each process. Several processes together let through as many times
more; a limit for all of them belongs into the proxy before them.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Network, ip_address
from typing import Final

from cachetools import LRUCache

from scrapersky.errors import TooManyRequests

MOST_CALLERS: Final = 20_000
"""Buckets kept at once; beyond that, who was not heard of for longest starts anew."""

CUSTOMER_PREFIX: Final = 64
"""Bits of an IPv6 address that a provider gives a customer; the rest are the customer's."""


@lru_cache(1_000)
def counted_as(address: str) -> str:
    """Return what the requests of an address are counted under.

    Whoever has one IPv6 address has the 18 quintillion others of its /64. An IPv4 address
    within an IPv6 one is the IPv4 address.
    """
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(IPv6Network((int(parsed), CUSTOMER_PREFIX), strict=False))


@dataclass(frozen=True, slots=True)
class RateLimitStatus:
    """How a caller stands after one request."""

    limit: int
    remaining: int
    reset_seconds: int
    is_granted: bool = True
    wait: timedelta = timedelta(0)

    def headers(self) -> dict[str, str]:
        """Say it to the caller."""
        return {
            "RateLimit-Limit": str(self.limit),
            "RateLimit-Remaining": str(self.remaining),
            "RateLimit-Reset": str(self.reset_seconds),
        }


@dataclass(slots=True)
class Bucket:
    """What one caller has left, and when that was counted."""

    left: float
    at: float


class Limiter:
    """Buckets of one size for many callers."""

    def __init__(
        self,
        *,
        burst: int,
        per_second: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.burst = burst
        self.per_second = per_second
        self._clock = clock
        self._buckets: LRUCache[str, Bucket] = LRUCache(MOST_CALLERS)

    def take(self, caller: str) -> RateLimitStatus:
        """Count one request of a caller, and say whether it may go on."""
        if self.per_second <= 0:
            return RateLimitStatus(self.burst, self.burst, 0)
        bucket = self._bucket(caller)
        is_granted = bucket.left >= 1
        if is_granted:
            bucket.left -= 1
        return RateLimitStatus(
            limit=self.burst,
            remaining=int(bucket.left),
            reset_seconds=math.ceil((self.burst - bucket.left) / self.per_second),
            is_granted=is_granted,
            wait=timedelta(seconds=max(1 - bucket.left, 0) / self.per_second),
        )

    def is_empty(self, caller: str) -> bool:
        """Say whether a caller has nothing left, without counting."""
        return self.per_second > 0 and self._bucket(caller).left < 1

    def forget(self, caller: str) -> None:
        """Fill a caller's bucket again."""
        self._buckets.pop(caller, None)

    def _bucket(self, caller: str) -> Bucket:
        now = self._clock()
        bucket = self._buckets.get(caller)
        if bucket is None:
            bucket = self._buckets[caller] = Bucket(float(self.burst), now)
        gained = (now - bucket.at) * self.per_second
        bucket.left = min(bucket.left + gained, float(self.burst))
        bucket.at = now
        return bucket


def refuse(allowance: RateLimitStatus, what: str) -> TooManyRequests:
    """Say that a caller asks too often, and when to come back."""
    seconds = math.ceil(allowance.wait.total_seconds()) or 1
    return TooManyRequests(
        what,
        hint=f"Try again in {seconds} s.",
        retry_after=timedelta(seconds=seconds),
    )
