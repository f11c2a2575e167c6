"""Ask a CRM: through the crawler's guard, within its limits, and without ever telling the secret.

What an answer means is settled here once for every CRM: which statuses mean that nothing was
done and the same may work later, and which leave open whether a write was done. Only what cannot
have been done is sent again by itself.
"""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, Final
from urllib.parse import quote, urlencode

import orjson
import structlog

from contact_extraction.errors import InvalidUrl
from contact_extraction.urls import Url, parse_url
from scrapersky.connectors.meter import Metering, WaitingClock
from scrapersky.crawler.connection import Exchange, HttpConnection
from scrapersky.crawler.guard import Address, Guard, Network
from scrapersky.crawler.limits import MIB, FetchLimits
from scrapersky.crawler.policy import CrawlerPolicy
from scrapersky.crawler.pool import (
    ConnectionPool,
    ConnectTimings,
    harden,
    tls_context,
)
from scrapersky.crawler.request import pause_asked
from scrapersky.crawler.resolver import Resolver, SystemResolver
from scrapersky.errors import (
    BadCrmAnswer,
    BlockedAddress,
    BlockedScheme,
    ConnectFailed,
    CrmAnswerLost,
    CrmBusy,
    CrmError,
    CrmRejected,
    CrmScopeMissing,
    CrmTokenRejected,
    FetchError,
    SubscriptionTaken,
)

log = structlog.get_logger(__name__)

LIMITS: Final = FetchLimits(
    headers=timedelta(seconds=45),
    total=timedelta(seconds=60),
    wire_bytes=32 * MIB,
    inflated_bytes=64 * MIB,
)
ANY_PORT: Final = range(1, 65_536)
LONGEST_WAIT: Final = timedelta(seconds=60)
"""How long a call waits by itself for a limit or a lock; beyond it the caller gets an error."""
MAX_TRIES: Final = 4
LOCK_PAUSE: Final = timedelta(seconds=2)
BUSY_PAUSE: Final = timedelta(seconds=10)
OUTAGE_PAUSE: Final = timedelta(seconds=30)
BLOCKED_PAUSE: Final = timedelta(minutes=10)
UNAUTHORIZED_STATUS: Final = 401
FORBIDDEN_STATUS: Final = 403
NOT_DONE: Final = {423: LOCK_PAUSE, 425: LOCK_PAUSE, 429: BUSY_PAUSE, 477: BUSY_PAUSE}
"""Statuses that say that nothing was done, and how long to wait unless the answer says."""
FIRST_ERROR: Final = 400
FIRST_SERVER_ERROR: Final = 500
FIRST_REDIRECT: Final = 300
MAX_WORDS: Final = 500
MASK: Final = "***"
EMPTY: Final[tuple[object, ...]] = (None, False, 0, "", [], {})


@dataclass(frozen=True, slots=True)
class CrmAnswer:
    """What a CRM answered, if it was no error."""

    status: int
    headers: Mapping[str, str]
    content: bytes = field(repr=False)

    def json(self) -> Any:  # noqa: ANN401 - whatever they say
        """Return the parsed body; None if there is none."""
        if not self.content.strip():
            return None
        try:
            return orjson.loads(self.content)
        except orjson.JSONDecodeError as error:
            raise BadCrmAnswer(f"The answer is not JSON: {error}.") from None

    def rows(self, path: str) -> list[Any]:
        """Return the list at a path; an error that says 200 has none, and is BadCrmAnswer."""
        found = inside(self.json(), path)
        if not isinstance(found, list):
            raise BadCrmAnswer(f"The answer has no list '{path}'.")
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class CrmCall:
    """One request to a CRM."""

    method: str
    path: str
    """After the base address; or a whole address on the same host."""
    query: Mapping[str, Any] = field(default_factory=dict)
    """A value may be a list: its name comes once for each."""
    json: object = None
    body: bytes | None = None
    """Instead of `json`, with `content_type`."""
    content_type: str = "application/json"
    meter: Mapping[str, float] = field(default_factory=dict)
    """What it costs, by the names of the meters."""
    is_write: bool = False
    """If its answer is lost, it may have been done: CrmAnswerLost, unless it is repeatable."""
    is_repeatable: bool = True
    """Doing it twice is the same as once: a read, an update by id, an upsert by our id."""
    accept: Sequence[int] = ()
    """Statuses of errors that are returned all the same: 404, 409 and others that are read."""


@dataclass(slots=True)
class CrmSession:
    """Calls to one account, over connections that are used again."""

    base: str
    headers: Mapping[str, str]
    """With what authorises; they are never logged or shown."""
    transport: "CrmTransport"
    metering: Metering
    clock: WaitingClock
    longest_outage: timedelta = LONGEST_WAIT
    """What would have to wait longer is raised at once."""
    secrets: tuple[str, ...] = ()
    """Texts that never leave here in a message."""
    error_at: str = ""
    """Where an answer that says 200 says that it is an error: a path of names with dots."""
    hear: "Callable[[CrmAnswer], Awaitable[timedelta | None]] | None" = None
    """A connector's look at every answer, for what its headers say of limits; it returns how
    long to leave the account alone, if the answer says so in its own way."""
    may_send: "Callable[[], bool] | None" = None
    """Asked before the first byte of every call: a process that was held up too long is not to
    write any more."""
    spared: float = 0.0
    """The share of a day's limits that calls leave for what may not wait."""
    calls: int = 0
    spent: dict[str, float] = field(default_factory=dict)
    """What calls have cost so far, by meter."""

    async def ask(self, call: CrmCall) -> CrmAnswer:
        """Send a call and return its answer; raise one of CrmError for every other end."""
        may_be_done = False
        for turn in range(1, MAX_TRIES + 1):
            try:
                await self._wait_for_room(call)
                answer = await self._send(call)
                asked = await self.hear(answer) if self.hear else None
                return self._judge(call, answer, asked)
            except CrmError as error:
                may_be_done = error.may_be_done = may_be_done or error.may_be_done
                if not isinstance(error, CrmBusy) or error.limit is not None:
                    raise
                if turn == MAX_TRIES or error.after > self.longest_outage:
                    raise
                await self.clock.sleep(error.after.total_seconds())
        raise AssertionError  # the last turn returns or raises

    def mask(self, text: str) -> str:
        """Return a text of theirs without our secrets, and not too long."""
        for secret in self.secrets:
            if secret:
                text = text.replace(secret, MASK)
        return text[:MAX_WORDS]

    async def _wait_for_room(self, call: CrmCall) -> None:
        """Take what the call costs from the meters, waiting for a while if need be."""
        waited = timedelta()
        while True:
            wait, which = await self.metering.take(call.meter, self.spared)
            if not wait:
                break
            if waited + wait > LONGEST_WAIT:
                text = f"The limit '{which}' of the account is reached."
                raise CrmBusy(text, after=wait, limit=which)
            await self.clock.sleep(wait.total_seconds())
            waited += wait
        for name, cost in call.meter.items():
            self.spent[name] = self.spent.get(name, 0.0) + cost

    async def _send(self, call: CrmCall) -> CrmAnswer:
        url = self._address(call)
        self.calls += 1
        began = time.monotonic()
        try:
            request = self._request(call, url)
            exchange = await self.transport.send(url, request, self.may_send)
        except (BlockedAddress, BlockedScheme) as error:
            raise CrmError(self.mask(f"{url.host}: {error.why}")) from None
        except ConnectFailed as error:
            text = self.mask(f"{url.host} cannot be reached: {error.why}")
            raise CrmBusy(text, after=OUTAGE_PAUSE) from None
        except FetchError as error:
            raise self._lost(call, f"no whole answer: {error.why}") from None
        if exchange.cut is not None:
            raise self._lost(call, f"the answer was cut: {exchange.cut}")
        took = round((time.monotonic() - began) * 1000)
        log.debug(
            "crm.asked",
            method=call.method,
            host=url.host,
            status=exchange.status,
            ms=took,
        )
        return CrmAnswer(exchange.status, header_map(exchange), exchange.content)

    def _judge(
        self, call: CrmCall, answer: CrmAnswer, asked: timedelta | None
    ) -> CrmAnswer:
        """Return an answer, or raise what its status means."""
        status = answer.status
        if status < FIRST_REDIRECT and self.error_at:
            self._refuse_error(answer)
        if status < FIRST_REDIRECT or status in call.accept:
            return answer
        words = self.mask(
            f"{call.method} {call.path.partition('?')[0]} answered {status}"
        )
        if status < FIRST_ERROR:
            raise BadCrmAnswer(f"{words}, a redirect, which is not followed.")
        body = self._body(answer)
        words = f"{words}: {self.mask(said(body))}" if body else f"{words}."
        if status in NOT_DONE:
            raise CrmBusy(words, after=asked or self._pause(answer, NOT_DONE[status]))
        if status >= FIRST_SERVER_ERROR:
            raise self._lost(call, words, self._pause(answer, OUTAGE_PAUSE))
        if status == UNAUTHORIZED_STATUS:
            raise CrmTokenRejected(words)
        if status == FORBIDDEN_STATUS:
            if not isinstance(body, dict):
                # A page of the network before the CRM: we were too insistent.
                raise CrmBusy(words, after=asked or BLOCKED_PAUSE)
            raise CrmScopeMissing(words)
        raise CrmRejected(words, status=status, body=body)

    def _refuse_error(self, answer: CrmAnswer) -> None:
        """Raise CrmRejected if an answer that says 200 has an error inside."""
        error = inside(answer.json(), self.error_at)
        if error not in EMPTY:
            text = f"It answered {answer.status} and an error: {said(error)}"
            raise CrmRejected(self.mask(text), status=answer.status, body=answer.json())

    def _lost(
        self, call: CrmCall, why: str, after: timedelta = OUTAGE_PAUSE
    ) -> CrmError:
        """Return what an outage during a call means."""
        if call.is_write and not call.is_repeatable:
            return CrmAnswerLost(self.mask(why))
        busy = CrmBusy(self.mask(why), after=after)
        busy.may_be_done = call.is_write
        return busy

    def _pause(self, answer: CrmAnswer, otherwise: timedelta) -> timedelta:
        asked = pause_asked(answer.headers.get("retry-after", ""), self.clock.now())
        return otherwise if asked is None else max(asked, timedelta(seconds=1))

    def _body(self, answer: CrmAnswer) -> object:
        try:
            return answer.json()
        except BadCrmAnswer:
            words = answer.content[:MAX_WORDS].decode("latin-1")
        # A page of a server before the CRM: its marks say nothing to a person.
        return "" if words.lstrip().startswith("<") else words

    def _address(self, call: CrmCall) -> Url:
        path = call.path
        if not path.startswith(("http://", "https://")):
            path = self.base.rstrip("/") + path
        if call.query:
            path += ("&" if "?" in path else "?") + urlencode(
                {
                    name: value
                    for name, value in call.query.items()
                    if value is not None
                },
                doseq=True,
            )
        try:
            base, url = parse_url(self.base), parse_url(path)
        except InvalidUrl as error:
            raise CrmError(f"The address is not valid: {error.why}.") from None
        if (url.scheme, url.authority) != (base.scheme, base.authority):
            # The credential is for this host alone, whatever an answer names as its next page.
            raise BadCrmAnswer(f"The answer leads to another host, {url.host}.")
        return url

    def _request(self, call: CrmCall, url: Url) -> bytes:
        content = b"" if call.json is None else orjson.dumps(call.json)
        if call.body is not None:
            content = call.body
        given = {"Accept": "application/json", **self.headers}
        if content or call.method in {"POST", "PUT", "PATCH"}:
            given |= {
                "Content-Type": call.content_type,
                "Content-Length": str(len(content)),
            }
        if not all(
            f"{name}{value}".isascii() and f"{name}{value}".isprintable()
            for name, value in given.items()
        ):
            # It would end the line, and begin another header.
            raise CrmError("The credential has characters that cannot be sent.")
        return self.transport.build(call.method, url, given, content)


class CrmTransport:
    """Sends requests to checked addresses; shared by all connections of a process."""

    def __init__(
        self,
        policy: CrawlerPolicy,
        networks: Sequence[Network] = (),
        resolver: Resolver | None = None,
    ) -> None:
        """Begin; within these networks any address and port may be asked, else only the web's."""
        self._networks = (*policy.extra_networks, *networks)
        self._policy = replace(policy, limits=LIMITS, failure_rest=timedelta())
        self._pool = ConnectionPool(
            self._policy,
            resolver or SystemResolver(),
            harden(tls_context()),
            Guard(self._networks, ANY_PORT),
        )

    async def close(self) -> None:
        """Close every connection."""
        await self._pool.close()

    def build(
        self, method: str, url: Url, headers: Mapping[str, str], body: bytes
    ) -> bytes:
        """Return the bytes of a request."""
        proxied = url.scheme == "http" and self._policy.proxy.choose(url) is not None
        given = {
            "Host": url.authority,
            "User-Agent": self._policy.user_agent,
            "Accept-Encoding": "gzip, deflate",
            **headers,
        }
        lines = [
            f"{method} {url if proxied else url.target} HTTP/1.1",
            *(f"{name}: {value}" for name, value in given.items()),
        ]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("ascii") + body

    async def send(
        self, url: Url, request: bytes, may_send: Callable[[], bool] | None = None
    ) -> Exchange:
        """Send a request; ConnectFailed if it cannot have been received.

        `may_send` is asked once the connection is there: to make one takes a while.
        """
        connection = self._pool.idle(url) or await self._connect(url)
        exchange = Exchange(
            str(url),
            LIMITS,
            max_wire=LIMITS.wire_bytes,
            max_inflated=LIMITS.inflated_bytes,
            deadline=time.monotonic() + LIMITS.total.total_seconds(),
        )
        try:
            if may_send is not None and not may_send():
                text = "The connection may be another process's by now."
                raise SubscriptionTaken(text)
            return await connection.ask(request, exchange)
        finally:
            self._pool.settle(url, connection)

    async def _connect(self, url: Url) -> HttpConnection:
        timings = ConnectTimings()
        failure = "no address could be tried"
        try:
            addresses = await self._pool.addresses(url, timings)
            self._refuse_plain(url, addresses)
            timeout = LIMITS.connect.total_seconds() / len(addresses)
            for address in addresses:
                try:
                    return await self._pool.connect(
                        url, address, timings, timeout=timeout
                    )
                except ConnectFailed as error:
                    failure = error.why
        except (BlockedAddress, BlockedScheme):
            raise
        except FetchError as error:
            failure = error.why
        raise ConnectFailed(str(url), failure)

    def _refuse_plain(self, url: Url, addresses: Sequence[Address]) -> None:
        if url.scheme != "https" and not all(map(self._is_ours, addresses)):
            raise BlockedScheme(str(url), "a credential is sent over https alone")

    def _is_ours(self, address: Address) -> bool:
        """Say whether an address is in a network that was allowed on purpose."""
        return any(
            address.version == network.version and address in network
            for network in self._networks
        )


def header_map(exchange: Exchange) -> dict[str, str]:
    """Return the headers by their names in lower case, the first of each."""
    found: dict[str, str] = {}
    for name, value in exchange.headers:
        found.setdefault(name, value.decode("latin-1").strip())
    return found


def said(body: object) -> str:
    """Return what an error says in words, as far as that can be told."""
    if isinstance(body, dict):
        for name in ("message", "error", "error_info", "detail", "title"):
            if isinstance(body.get(name), str):
                return str(body[name])
    return body if isinstance(body, str) else orjson.dumps(body).decode()


def path_part(text: str) -> str:
    """Return a text as one part of a path."""
    return quote(text, safe="")


def inside(value: Any, path: str) -> Any:  # noqa: ANN401 - JSON of theirs
    """Return what is at a path of names with dots; None if there is nothing."""
    for name in path.split(".") if path else ():
        value = value.get(name) if isinstance(value, dict) else None
    return value
