"""Connections: resolve once, check every address, connect to the checked one, reuse.

The address a socket is opened to is checked again at that very moment; a literal
address in a URL never passes a resolver, and a proxy does not excuse the check.
"""

import asyncio
import errno
import socket
import ssl
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, zip_longest

from contact_extraction.urls import Url
from scrapersky.crawler.connection import READ_BYTES, HttpConnection
from scrapersky.crawler.failures import KnownFailures
from scrapersky.crawler.guard import Address, Guard, parse_address
from scrapersky.crawler.limits import FetchLimits
from scrapersky.crawler.policy import CrawlerPolicy
from scrapersky.crawler.resolver import Resolver
from scrapersky.errors import (
    BadTls,
    BlockedAddress,
    ConfigurationError,
    ConnectFailed,
    DnsFailed,
    FetchError,
    NoSuchHost,
    TlsTooSlow,
)

Key = tuple[str, str, int]
MAX_PROXY_ANSWER_BYTES = 16 * 1024
LOOPBACK_NAMES = frozenset({"localhost", "localhost.localdomain"})
"""Names that mean this machine whatever a resolver says (RFC 6761)."""
LOOPBACK = ("127.0.0.1", "::1")


@dataclass(slots=True)
class ConnectTimings:
    """How long the steps to a connection took."""

    dns: float = 0.0
    connect: float = 0.0
    tls: float = 0.0


class ConnectionPool:
    """Opens connections to checked addresses and keeps idle ones for a while."""

    def __init__(
        self,
        policy: CrawlerPolicy,
        resolver: Resolver,
        tls: ssl.SSLContext,
        guard: Guard,
    ) -> None:
        self._policy = policy
        self._resolver = resolver
        self._tls = tls
        self._guard = guard
        self._idle: OrderedDict[Key, HttpConnection] = OrderedDict()
        self._open: set[HttpConnection] = set()
        self._dead_names = KnownFailures(policy.failure_rest)
        self._dead_addresses = KnownFailures(policy.failure_rest)
        self._sweeper: asyncio.TimerHandle | None = None
        self._make = partial(HttpConnection, bytearray(READ_BYTES))

    def idle(self, url: Url) -> HttpConnection | None:
        """Take an idle connection to the URL's host, if there is a live one."""
        connection = self._idle.pop(_key(url), None)
        if connection is None or connection.is_idle:
            return connection
        connection.abort()
        return None

    async def addresses(self, url: Url, timings: ConnectTimings) -> Sequence[Address]:
        """Resolve a host once and return the few addresses to try, all of them allowed."""
        self._guard.check_port(url)
        if (literal := url.address) is not None:
            return self._guard.check_all(url, [str(literal)])
        if url.host in LOOPBACK_NAMES:
            return self._guard.check_all(url, LOOPBACK)
        started = time.monotonic()
        try:
            found = await self._resolve(url)
        finally:
            timings.dns += time.monotonic() - started
        return _interleave(self._guard.check_all(url, found))[: self._limits.addresses]

    async def probe(self, url: Url, *, dial: bool) -> None:
        """See whether a host can be resolved, and reached; raise FetchError if not.

        What failed a moment ago is asked for all the same: this is about ourselves. At an
        https address the handshake is made too.
        """
        try:
            async with asyncio.timeout(self._limits.dns.total_seconds()):
                found = await self._resolver.resolve(url.host, url.port)
        except TimeoutError:
            raise DnsFailed(str(url), "the name was not resolved in time") from None
        if dial:
            [address, *_] = self._guard.check_all(url, found)
            timeout = self._limits.connect.total_seconds()
            sock = await self._dial(url, address, timeout)
            try:
                connection = await self._speak(url, sock, ConnectTimings())
            except BaseException:
                sock.close()
                raise
            connection.abort()

    def trust(self, tls: ssl.SSLContext) -> None:
        """Believe these authorities from the next connection on."""
        self._tls = tls

    def clear_failures(self) -> None:
        """Forget every failure: it was our own."""
        self._dead_names.clear()
        self._dead_addresses.clear()

    async def connect(
        self,
        url: Url,
        address: Address,
        timings: ConnectTimings,
        *,
        timeout: float,
    ) -> HttpConnection:
        """Open a connection to one checked address; raise ConnectFailed or BadTls."""
        started = time.monotonic()
        sock = await self._dial_unless_dead(url, address, timeout)
        timings.connect += time.monotonic() - started
        try:
            connection = await self._speak(url, sock, timings)
        except BaseException:
            sock.close()
            raise
        connection.address = str(address)
        self._open.add(connection)
        connection.on_lost = self._open.discard
        return connection

    def settle(self, url: Url, connection: HttpConnection) -> None:
        """Keep a connection for the next request if it can serve one, else close it."""
        if not connection.is_idle:
            connection.abort()
            return
        connection.idle_since = time.monotonic()
        if (older := self._idle.pop(_key(url), None)) is not None:
            older.abort()
        self._idle[_key(url)] = connection
        if len(self._idle) > self._policy.idle_connections:
            self._idle.popitem(last=False)[1].abort()
        if self._sweeper is None:
            self._sweep_later()

    async def close(self) -> None:
        """Close every connection and wait until the sockets are gone."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        self._idle.clear()
        leaving = list(self._open)
        for connection in leaving:
            connection.abort()
        for connection in leaving:
            await connection.closed()

    @property
    def _limits(self) -> FetchLimits:
        return self._policy.limits

    async def _resolve(self, url: Url) -> Sequence[str]:
        """Ask for a name, unless it failed a moment ago; raise DnsFailed."""
        zone = f"*.{url.site}"
        for key in (url.host, zone):
            self._dead_names.refuse(key, str(url))
        error: DnsFailed
        try:
            async with asyncio.timeout(self._limits.dns.total_seconds()):
                found = await self._resolver.resolve(url.host, url.port)
        except NoSuchHost as answer:
            key, error = url.host, NoSuchHost(str(url), answer.why)
        except DnsFailed as answer:
            key, error = url.host, DnsFailed(str(url), answer.why)
        except TimeoutError:
            # Whoever is silent about one name of a domain is so about the others.
            key = zone
            error = DnsFailed(str(url), "the name was not resolved in time")
        else:
            for key in (url.host, zone):
                self._dead_names.forget(key)
            return found
        error.retry_after = self._dead_names.remember(key, error)
        raise error

    async def _dial_unless_dead(
        self, url: Url, address: Address, timeout: float
    ) -> socket.socket:
        """Connect, unless nobody could a moment ago: then the address itself is dead."""
        if self._policy.proxy.choose(url) is not None:
            # It is the proxy that was not reached, or that refused for its own reasons.
            return await self._dial(url, address, timeout)
        key = f"{address} {url.port}"
        self._dead_addresses.refuse(key, str(url))
        try:
            sock = await self._dial(url, address, timeout)
        except ConnectFailed as error:
            error.retry_after = self._dead_addresses.remember(key, error)
            raise
        self._dead_addresses.forget(key)
        return sock

    async def _dial(self, url: Url, address: Address, timeout: float) -> socket.socket:
        self._guard.check(url, address)
        target, port = str(address), url.port
        if (proxy := self._policy.proxy.choose(url)) is not None:
            target, port = await self._proxy_address(proxy), proxy.port
        family = socket.AF_INET6 if ":" in target else socket.AF_INET
        sock = socket.socket(family, socket.SOCK_STREAM)
        try:
            sock.setblocking(False)  # noqa: FBT003
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            async with asyncio.timeout(timeout):
                await asyncio.get_running_loop().sock_connect(sock, (target, port))
            self._check_peer(url, sock, target)
        except TimeoutError:
            sock.close()
            raise ConnectFailed(str(url), f"{target} did not answer in time") from None
        except OSError as error:
            sock.close()
            name = errno.errorcode.get(error.errno or 0, "an error")
            raise ConnectFailed(str(url), f"{target} gave {name}") from None
        except BaseException:
            sock.close()
            raise
        return sock

    def _check_peer(self, url: Url, sock: socket.socket, target: str) -> None:
        peer = sock.getpeername()[0]
        if parse_address(peer) != parse_address(target):
            raise BlockedAddress(
                str(url), f"the connection led to {peer}, not {target}"
            )

    async def _proxy_address(self, proxy: Url) -> str:
        if proxy.address is not None:
            return proxy.host
        try:
            async with asyncio.timeout(self._limits.dns.total_seconds()):
                found = await self._resolver.resolve(proxy.host, proxy.port)
        except (TimeoutError, DnsFailed):
            found = ()
        if not found:
            raise ConnectFailed(str(proxy), "the proxy's name could not be resolved")
        return found[0]

    async def _speak(
        self, url: Url, sock: socket.socket, timings: ConnectTimings
    ) -> HttpConnection:
        proxied = self._policy.proxy.choose(url) is not None
        loop = asyncio.get_running_loop()
        if url.scheme == "http":
            _, plain = await loop.create_connection(self._make, sock=sock)
            return plain
        if proxied:
            await self._tunnel(url, sock)
        started = time.monotonic()
        try:
            _, secure = await loop.create_connection(
                self._make,
                sock=sock,
                ssl=self._tls,
                server_hostname=url.host,
                ssl_handshake_timeout=self._limits.tls.total_seconds(),
                ssl_shutdown_timeout=1.0,
            )
        except ssl.CertificateError as error:
            why = ascii(error.verify_message or error.reason or "unverified").strip(
                "'\""
            )
            raise BadTls(
                str(url), f"the certificate is not good: {why[:200]}"
            ) from None
        except (ssl.SSLError, OSError, ValueError) as error:
            raise _tls_failure(url, error, started, self._limits) from None
        finally:
            timings.tls += time.monotonic() - started
        return secure

    async def _tunnel(self, url: Url, sock: socket.socket) -> None:
        """Ask the proxy for a tunnel; the name goes to it only after our own check."""
        loop = asyncio.get_running_loop()
        host = f"[{url.host}]" if ":" in url.host else url.host
        request = (
            f"CONNECT {host}:{url.port} HTTP/1.1\r\nHost: {host}:{url.port}\r\n\r\n"
        )
        answer = b""
        try:
            async with asyncio.timeout(self._limits.connect.total_seconds()):
                await loop.sock_sendall(sock, request.encode("ascii"))
                while (
                    not answer.endswith(b"\r\n\r\n")
                    and len(answer) < MAX_PROXY_ANSWER_BYTES
                ):
                    # Byte by byte: what follows the headers belongs to the TLS layer.
                    if not (byte := await loop.sock_recv(sock, 1)):
                        break
                    answer += byte
        except (TimeoutError, OSError):
            raise ConnectFailed(
                str(url), "the proxy did not open a tunnel in time"
            ) from None
        if answer.split(b" ", 2)[1:2] != [b"200"] or not answer.endswith(b"\r\n\r\n"):
            raise ConnectFailed(str(url), "the proxy refused a tunnel")

    def _sweep_later(self) -> None:
        wait = max(self._policy.idle_time.total_seconds() / 2, 0.1)
        self._sweeper = asyncio.get_running_loop().call_later(wait, self._sweep)

    def _sweep(self) -> None:
        self._sweeper = None
        oldest = time.monotonic() - self._policy.idle_time.total_seconds()
        while self._idle:
            key, connection = next(iter(self._idle.items()))
            if connection.idle_since > oldest and connection.is_idle:
                break
            del self._idle[key]
            connection.abort()
        if self._idle:
            self._sweep_later()


@cache
def tls_context() -> ssl.SSLContext:
    """Return how we speak TLS: verified, 1.2 or newer, HTTP/1.1 only."""
    # Reading the certificates of a system takes tens of milliseconds: once is enough.
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


def harden(context: ssl.SSLContext) -> ssl.SSLContext:
    """Return the context with nothing less than we promise; raise if it verifies nothing."""
    if context.verify_mode != ssl.CERT_REQUIRED or not context.check_hostname:
        raise ConfigurationError(
            "a TLS context must verify certificates and host names"
        )
    # A certificate speaks for the names in its subjectAltName, not for its title.
    context.hostname_checks_common_name = False
    context.minimum_version = max(context.minimum_version, ssl.TLSVersion.TLSv1_2)
    return context


def _key(url: Url) -> Key:
    return (url.scheme, url.host, url.port)


def _interleave(addresses: Sequence[Address]) -> list[Address]:
    """Take turns between the families, so that a dead one costs one attempt."""
    first = [one for one in addresses if one.version == addresses[0].version]
    other = [one for one in addresses if one.version != addresses[0].version]
    return [one for one in chain(*zip_longest(first, other)) if one is not None]


def _tls_failure(
    url: Url, error: Exception, started: float, limits: FetchLimits
) -> FetchError:
    if time.monotonic() - started >= limits.tls.total_seconds() * 0.98:
        return TlsTooSlow(str(url), "the TLS handshake did not end in time")
    if isinstance(error, ssl.SSLError):
        why = ascii(error.reason or "no reason given").strip("'\"")
        return BadTls(str(url), f"no TLS connection: {why[:200]}")
    return BadTls(
        str(url), f"the TLS handshake was broken off ({type(error).__name__})"
    )
