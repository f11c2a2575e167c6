"""The public keys of whoever issues access tokens, fetched seldom and kept."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import structlog
from jwt import PyJWK
from jwt.exceptions import PyJWTError

from scrapersky.errors import ScraperSkyError
from scrapersky.providers.client import ClientPolicy, ProviderClient, ProviderRequest

log = structlog.get_logger(__name__)

KEYS_MAX_AGE: Final = timedelta(minutes=10)
SOONEST_AGAIN: Final = timedelta(seconds=30)
"""Between two fetches, however many tokens name keys that nobody has."""
MOST_KEYS: Final = 50
POLICY: Final = ClientPolicy(
    timeout=timedelta(seconds=5),
    connect_timeout=timedelta(seconds=3),
    max_bytes=262_144,
    tries=1,
)
KINDS: Final = {"RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A key of the issuer, and what the issuer wrote beside it."""

    jwk: PyJWK
    algorithm: str | None
    """The only one it is for, if the issuer named one."""

    def fits(self, algorithm: str) -> bool:
        """Say whether the key is of the kind an algorithm works with."""
        if self.algorithm is not None and self.algorithm != algorithm:
            return False
        return self.jwk.key_type == KINDS.get(algorithm[:2])


class KeySet:
    """The keys at one address; if it is down, the last ones seen stay good."""

    def __init__(
        self, url: str, *, user_agent: str, clock: Callable[[], float] | None = None
    ) -> None:
        self._url = url
        self._client = ProviderClient("JWKS", user_agent=user_agent, policy=POLICY)
        self._keys: dict[str | None, SigningKey] = {}
        self._fetched = -float("inf")
        self._asked = -float("inf")
        self._lock = asyncio.Lock()
        self._clock = clock

    async def close(self) -> None:
        """Close the connection to the issuer."""
        await self._client.close()

    async def find(self, name: object, algorithm: str) -> Any | None:  # noqa: ANN401 - a key of any algorithm
        """Return the key of this name if it fits the algorithm, else None."""
        wanted = name if isinstance(name, str) else None
        if self._is_stale() or wanted not in self._keys:
            await self._refresh(wanted)
        if wanted is None and len(self._keys) == 1:
            wanted = next(iter(self._keys))
        found = self._keys.get(wanted)
        if found is None or not found.fits(algorithm):
            return None
        return found.jwk.key

    def _now(self) -> float:
        return (self._clock or asyncio.get_running_loop().time)()

    def _is_stale(self) -> bool:
        return self._now() - self._fetched > KEYS_MAX_AGE.total_seconds()

    async def _refresh(self, wanted: str | None) -> None:
        async with self._lock:
            if not self._is_stale() and wanted in self._keys:
                return
            if self._now() - self._asked < SOONEST_AGAIN.total_seconds():
                return
            self._asked = self._now()
            try:
                request = ProviderRequest("GET", self._url, what="the signing keys")
                answer = await self._client.ask(request)
                if answer.status == 200 and answer.is_json:  # noqa: PLR2004
                    self._keys = read_keys(answer.data)
                    self._fetched = self._now()
                    return
                log.warning("jwks.refused", status=answer.status)
            except ScraperSkyError as error:
                log.warning("jwks.unreachable", why=str(error))


def read_keys(document: object) -> dict[str | None, SigningKey]:
    """Read the keys we can use; one that cannot be read does not spoil the others."""
    found: dict[str | None, SigningKey] = {}
    listed = document.get("keys") if isinstance(document, dict) else None
    for entry in (listed if isinstance(listed, list) else [])[:MOST_KEYS]:
        if not isinstance(entry, dict) or entry.get("use", "sig") != "sig":
            continue
        # A shared secret has no place in a published list.
        if entry.get("kty") not in set(KINDS.values()):
            continue
        name = entry.get("kid")
        try:
            key = SigningKey(PyJWK(entry), entry.get("alg"))
        except (PyJWTError, ValueError, TypeError, KeyError):
            log.warning("jwks.key_unreadable")
        else:
            found[name if isinstance(name, str) else None] = key
    return found
