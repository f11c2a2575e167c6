"""The one HTTP client of the providers: fixed hosts, JSON in, JSON out.

The hosts are the operator's configuration, so the crawler's guard is not needed, but
an answer is trusted with nothing: it has a time, a size and a form, and may not send
us elsewhere. Secrets live in the session's headers only; an exception that leaves
this module carries no request, no header and no cause.
"""

import asyncio
import email.utils
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol, Self

import aiohttp
import orjson
import structlog

from scrapersky.errors import (
    BadProviderAnswer,
    ProviderBusy,
    ProviderError,
    ProviderUnusable,
)
from scrapersky.kit.clock import Clock, utc_now

SLOW_JSON_BYTES = 1_000_000
"""Bytes from which reading JSON would hold up the event loop noticeably."""
GOOGLE_KEY = re.compile(r"AIza[0-9A-Za-z_\-]{10,}")
MAX_QUOTE_CHARACTERS = 300

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ClientPolicy:
    """How long we wait for a provider, and how often we ask again by ourselves."""

    timeout: timedelta = timedelta(seconds=30)
    """From the request to the last byte of the answer."""
    connect_timeout: timedelta = timedelta(seconds=10)
    max_bytes: int = 16_000_000
    tries: int = 3
    pause: timedelta = timedelta(seconds=1)
    """Before the second try; doubled before each further one, with jitter."""
    longest_pause: timedelta = timedelta(seconds=20)
    """A provider that asks for more is left to the caller to come back to."""


@dataclass(frozen=True, slots=True)
class ProviderAnswer:
    """A whole answer: its status, its JSON if it is JSON, else the start of its text."""

    status: int
    data: Any = None
    text: str = ""
    retry_after: timedelta | None = None
    is_json: bool = False


@dataclass(frozen=True, slots=True)
class ProviderRequest:
    """One request; `what` is how it is named in logs and errors."""

    method: str
    url: str
    what: str
    headers: Mapping[str, str] = field(default_factory=dict)
    params: Mapping[str, str] = field(default_factory=dict)
    json: Any = None
    form: Mapping[str, str] | None = None


class RequestPace(Protocol):
    """Lets requests through no faster than a provider allows."""

    async def turn(self) -> None:
        """Return when the next request may be made."""
        ...


class LocalPace:
    """A pace kept by one process."""

    def __init__(self, interval: timedelta) -> None:
        self._interval = interval.total_seconds()
        self._lock = asyncio.Lock()
        self._next = 0.0

    async def turn(self) -> None:
        """Return when the next request may be made."""
        loop = asyncio.get_running_loop()
        async with self._lock:
            wait = self._next - loop.time()
            if wait > 0:
                await asyncio.sleep(wait)
            self._next = loop.time() + self._interval


class ProviderClient:
    """Speaks JSON with one provider."""

    def __init__(
        self,
        provider: str,
        *,
        user_agent: str,
        policy: ClientPolicy,
        headers: Mapping[str, str] | None = None,
        secrets: tuple[str, ...] = (),
        clock: Clock = utc_now,
    ) -> None:
        self.provider = provider
        self.policy = policy
        self._headers = Secret({"User-Agent": user_agent, **(headers or {})})
        self._secrets = Secret(tuple(secret for secret in secrets if secret))
        self._clock = clock
        self._session: aiohttp.ClientSession | None = None
        self._is_closed = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close every connection, for good."""
        # A request that is tried again would open another one, which nobody closes.
        self._is_closed = True
        if self._session is not None:
            session, self._session = self._session, None
            await session.close()

    async def ask(self, request: ProviderRequest) -> ProviderAnswer:
        """Make one request, once, and return the answer whatever its status.

        Raises ProviderBusy if no whole answer came in time, BadProviderAnswer if it
        cannot be read, and ProviderUnusable if we are sent elsewhere.
        """
        started = asyncio.get_running_loop().time()
        outcome = await self._ask(request)
        seconds = round(asyncio.get_running_loop().time() - started, 3)
        log.debug(
            "provider.asked",
            provider=self.provider,
            what=request.what,
            status=outcome.status if isinstance(outcome, ProviderAnswer) else None,
            problem=None if isinstance(outcome, ProviderAnswer) else str(outcome),
            seconds=seconds,
        )
        if isinstance(outcome, ProviderAnswer):
            return outcome
        # Raised here, outside of any handler, so that nothing of the HTTP library's
        # exception (which knows our headers) hangs on it.
        raise outcome

    def hide(self, text: str) -> str:
        """Return a provider's words, short, and without our secrets."""
        for secret in self._secrets.value:
            text = text.replace(secret, "[secret]")
        return GOOGLE_KEY.sub("[secret]", text)[:MAX_QUOTE_CHARACTERS]

    async def _ask(
        self, request: ProviderRequest
    ) -> ProviderAnswer | ProviderError | ProviderUnusable:
        try:
            async with asyncio.timeout(self.policy.timeout.total_seconds()):
                return await self._exchange(request)
        except TimeoutError:
            return ProviderBusy(self.provider, f"no answer in time to {request.what}")
        except aiohttp.ClientPayloadError:
            return BadProviderAnswer(
                self.provider, f"the answer to {request.what} was cut short"
            )
        except aiohttp.ClientConnectorCertificateError:
            return ProviderBusy(self.provider, "its TLS certificate is not trusted")
        except (aiohttp.ClientError, OSError) as error:
            return ProviderBusy(
                self.provider, f"no connection for {request.what}: {cause(error)}"
            )

    async def _exchange(
        self, request: ProviderRequest
    ) -> ProviderAnswer | ProviderError | ProviderUnusable:
        async with self._open().request(
            request.method,
            request.url,
            headers=request.headers,
            params=request.params or None,
            data=payload(request),
            allow_redirects=False,
        ) as response:
            if 300 <= response.status < 400:  # noqa: PLR2004
                return ProviderUnusable(
                    self.provider,
                    f"{request.what} is answered with a redirect ({response.status})",
                    hint="Set the address of this provider to where it really is.",
                )
            body = await read_capped(response, self.policy.max_bytes)
            if body is None:
                return BadProviderAnswer(
                    self.provider,
                    f"the answer to {request.what} is larger than "
                    f"{self.policy.max_bytes:,} bytes",
                )
            after = retry_after(response.headers.get("Retry-After"), self._clock())
            kind = response.content_type
            status = response.status
        # A provider may quote our key back at us: gone before anyone keeps the answer.
        for secret in self._secrets.value:
            body = body.replace(secret.encode(), b"[secret]")
        return await read_answer(status, kind, body, after)

    def _open(self) -> aiohttp.ClientSession:
        if self._is_closed:
            raise aiohttp.ClientConnectionError("the client is closed")
        if self._session is None:
            self._session = aiohttp.ClientSession(
                headers=self._headers.value,
                timeout=aiohttp.ClientTimeout(
                    total=None,
                    sock_connect=self.policy.connect_timeout.total_seconds(),
                ),
                cookie_jar=aiohttp.DummyCookieJar(),
                trust_env=False,
            )
        return self._session


@dataclass(frozen=True, slots=True, repr=False)
class Secret:
    """A value that no representation shows."""

    value: Any

    def __repr__(self) -> str:
        return "Secret(...)"


def next_pause(
    policy: ClientPolicy, failed: int, asked: timedelta | None
) -> timedelta | None:
    """Return how long to wait after so many failures, or None to leave it."""
    if failed >= policy.tries:
        return None
    if asked is not None:
        return asked if asked <= policy.longest_pause else None
    jitter = random.uniform(0.5, 1)  # noqa: S311 - no secret
    return min(policy.pause * (2.0 ** (failed - 1) * jitter), policy.longest_pause)


def payload(
    request: ProviderRequest,
) -> bytes | Mapping[str, str] | aiohttp.Payload | None:
    """Return the body to send."""
    if request.json is None:
        return request.form
    return aiohttp.BytesPayload(
        orjson.dumps(request.json), content_type="application/json"
    )


async def read_capped(response: aiohttp.ClientResponse, limit: int) -> bytes | None:
    """Read the whole body, or return None once it is larger than the limit."""
    parts: list[bytes] = []
    size = 0
    async for part in response.content.iter_any():
        size += len(part)
        if size > limit:
            response.close()
            return None
        parts.append(part)
    return b"".join(parts)


async def read_answer(
    status: int, kind: str, body: bytes, after: timedelta | None
) -> ProviderAnswer:
    """Read a body as JSON if it says it is, else keep the start of its text."""
    if kind == "application/json" or kind.endswith("+json"):
        try:
            if len(body) > SLOW_JSON_BYTES:
                data = await asyncio.to_thread(orjson.loads, body)
            else:
                data = orjson.loads(body)
        except orjson.JSONDecodeError:
            pass
        else:
            return ProviderAnswer(status, data, retry_after=after, is_json=True)
    text = body[:4000].decode("utf-8", "replace")
    return ProviderAnswer(status, text=text, retry_after=after)


def retry_after(value: str | None, now: datetime) -> timedelta | None:
    """Read a Retry-After header: seconds, or a date."""
    if value is None:
        return None
    if value.strip().isdigit() and len(value) < 9:  # noqa: PLR2004 - years
        return timedelta(seconds=int(value))
    try:
        when = email.utils.parsedate_to_datetime(value)
    except ValueError:
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max(when - now, timedelta(0))


def cause(error: Exception) -> str:
    """Name a connection failure without repeating what the library says of it."""
    match error:
        case aiohttp.ServerDisconnectedError():
            return "the server closed it"
        case aiohttp.ClientConnectorDNSError():
            return "the name does not resolve"
        case aiohttp.ClientConnectorError() | ConnectionRefusedError():
            return "nobody answers there"
        case aiohttp.InvalidURL():
            return "the address is not a URL"
        case ConnectionResetError():
            return "the server reset it"
    return type(error).__name__
