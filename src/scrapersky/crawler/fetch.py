"""The crawler: a URL in; a body within limits, or an error that says what happened, out."""

import asyncio
import ssl
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Self, TypeVar
from weakref import WeakValueDictionary

from contact_extraction.errors import InvalidUrl, UnsupportedScheme
from contact_extraction.urls import Url, parse_url, registrable_domain
from scrapersky.crawler.charset import decide_charset
from scrapersky.crawler.connection import Exchange, HttpConnection
from scrapersky.crawler.failures import BackoffTracker
from scrapersky.crawler.fetch_options import NO_VALIDATORS, NOT_MODIFIED, FetchOptions
from scrapersky.crawler.fetch_state import FetchState
from scrapersky.crawler.guard import Guard
from scrapersky.crawler.head import HeadHints, read_hints
from scrapersky.crawler.host_slot import HostSlot, WaitingFetches
from scrapersky.crawler.hosts import HostLedger, RobotsState, StoredRobots
from scrapersky.crawler.limits import MIB
from scrapersky.crawler.log import FetchRecord, Listener, log, log_fetch, printable
from scrapersky.crawler.meter import count_bytes
from scrapersky.crawler.policy import CrawlerPolicy
from scrapersky.crawler.pool import ConnectionPool, harden, tls_context
from scrapersky.crawler.request import (
    build_request,
    kept_headers,
    redirect_target,
    retry_after,
)
from scrapersky.crawler.resolver import Resolver, SystemResolver
from scrapersky.crawler.result import (
    Accept,
    CacheValidators,
    FetchResult,
    RobotsVerdict,
)
from scrapersky.crawler.robots import (
    ParsedRobotsCache,
    RobotsRules,
    interpret,
    parse_robots,
    unreachable_robots,
)
from scrapersky.crawler.sniff import ContentKind
from scrapersky.errors import (
    BadHttp,
    BadUrl,
    BlockedScheme,
    ConnectFailed,
    ConnectionLost,
    CrawlDelayTooLong,
    FetchError,
    HostBackoff,
    RobotsDenied,
    RobotsUnreachable,
    TooBig,
    TooSlow,
    Trap,
    Unforeseen,
)
from scrapersky.kit.spool import give_memory_back

AnswerT = TypeVar("AnswerT")

MAX_ROBOTS_WIRE_BYTES = 8 * MIB
"""A robots.txt may be long, and is then cut; one without end is not a robots.txt."""
TOO_MANY_REQUESTS = 429
UNAVAILABLE = 503


class Crawler:
    """Fetches politely and safely. Use it as an async context manager."""

    def __init__(
        self,
        policy: CrawlerPolicy,
        hosts: HostLedger,
        *,
        resolver: Resolver | None = None,
        ssl_context: ssl.SSLContext | None = None,
        listeners: Sequence[Listener] = (log_fetch,),
        now: Callable[[], datetime] | None = None,
    ) -> None:
        self.policy = policy
        self._hosts = hosts
        give_memory_back()
        self._listeners = tuple(listeners)
        self.fetches = WaitingFetches()
        self._now = now or _utc_now
        self._guard = Guard(policy.extra_networks, policy.extra_ports)
        self._reads_certificates = ssl_context is None
        self._pool = ConnectionPool(
            policy,
            resolver or SystemResolver(),
            harden(ssl_context or tls_context()),
            self._guard,
        )
        self._parse_threads = ThreadPoolExecutor(1, thread_name_prefix="robots")
        self._inflate_threads = ThreadPoolExecutor(2, thread_name_prefix="inflate")
        self._parsed_robots = ParsedRobotsCache()
        self._backoffs = BackoffTracker()
        self._robots_locks: WeakValueDictionary[str, asyncio.Lock] = (
            WeakValueDictionary()
        )
        # The list of suffixes takes a while to load: not in a host's turn, and not while
        # the application starts.
        self._suffixes = self._parse_threads.submit(registrable_domain, "example.com")
        if policy.extra_networks:
            networks = [str(network) for network in policy.extra_networks]
            log.warning(
                "guard.widened", networks=networks, ports=sorted(policy.extra_ports)
            )

    async def __aenter__(self) -> Self:
        """Begin; nothing is opened before the first fetch."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close every connection."""
        await self.close()

    def listen(self, listener: Listener) -> None:
        """Call `listener` with what every fetch comes to, from now on."""
        self._listeners = (*self._listeners, listener)

    async def close(self) -> None:
        """Close every connection."""
        await self._pool.close()
        self._parse_threads.shutdown(cancel_futures=True)
        self._inflate_threads.shutdown(cancel_futures=True)

    async def fetch(
        self,
        url: str | Url,
        *,
        conditions: CacheValidators = NO_VALIDATORS,
        accept: Accept = Accept.HTML,
        max_bytes: int | None = None,
        keep_partial: bool = False,
        spool: bool = False,
    ) -> FetchResult:
        """Fetch a URL, or raise a FetchError that says what happened; nothing else.

        `max_bytes` replaces the limits on the body's size; beyond them the fetch ends
        with TooBig, or with what came so far where `keep_partial` is set. With `spool`
        a long body goes to a file as it comes, so that memory does not grow with it.
        """
        limits = self.policy.limits
        options = FetchOptions(
            accept,
            conditions,
            max_wire=max_bytes or limits.wire_bytes,
            max_inflated=max_bytes or limits.inflated_bytes,
            keep_partial=keep_partial,
            may_spool=spool,
        )
        if not self._suffixes.done():
            await asyncio.wrap_future(self._suffixes)
        state: FetchState | None = None
        started = time.monotonic()
        try:
            start = _parse(url)
            state = FetchState(start, start, started)
            fetched = await self._follow_redirects(state, options)
        except FetchError as error:
            self._report_failure(url, state, started, error)
            raise
        except Exception as error:
            log.exception("fetch.unforeseen", url=printable(str(url)))
            unforeseen = Unforeseen(
                printable(str(url)), f"failed with {type(error).__name__}"
            )
            self._report_failure(url, state, started, unforeseen)
            raise unforeseen from error
        self._report(
            state,
            fetched.outcome,
            status=fetched.status,
            body_bytes=fetched.inflated_bytes,
        )
        return fetched

    async def robots(self, url: str | Url) -> RobotsVerdict:
        """Return what the site's robots.txt says about a URL, reading it if need be."""
        await asyncio.wrap_future(self._suffixes)
        target = _parse(url)
        state = FetchState(target, target)
        return (await self._rules(state)).verdict(target)

    async def probe(self, url: Url, *, dial: bool) -> None:
        """See whether a host is known, or answers; nothing is asked of it."""
        await self._pool.probe(url, dial=dial)

    def reread_certificates(self) -> None:
        """Read again which authorities this machine trusts: somebody may have fixed it."""
        if self._reads_certificates:
            tls_context.cache_clear()
            self._pool.trust(harden(tls_context()))

    def clear_failures(self) -> None:
        """Try everything again that failed: it was this machine that could not."""
        self._pool.clear_failures()

    async def _follow_redirects(
        self, state: FetchState, options: FetchOptions
    ) -> FetchResult:
        limit = self.policy.limits.redirects
        while True:
            url = state.current
            # The conditions belong to the URL asked for, not to where it leads.
            if state.hops and options.held is not NO_VALIDATORS:
                options = replace(options, held=NO_VALIDATORS)
            delay = await self._permission(state)
            exchange = await self._visit(state, options, delay)
            await self._record_backoff(state, exchange)
            if (target := redirect_target(exchange, url)) is not None:
                state.go_on(target, exchange.status, "http", limit=limit)
                continue
            kind = options.check_body(exchange)
            hints = (
                read_hints(exchange.content)
                if kind is ContentKind.HTML
                else HeadHints()
            )
            if (target := self._refresh(url, exchange, hints)) is not None:
                state.go_on(target, exchange.status, "meta", limit=limit)
                continue
            return _fetched(state, exchange, kind, hints)

    async def _permission(self, state: FetchState) -> timedelta:
        """Return the delay the site asks for; raise if it does not want us."""
        url = state.current
        self._guard.check_port(url)
        if not self.policy.obey_robots:
            return self.policy.host_delay
        began = time.monotonic()
        try:
            rules = await self._rules(state)
        finally:
            # A state of its own, or waiting for someone else's.
            state.waited += time.monotonic() - began
        verdict = state.verdict = await _computed(
            partial(rules.verdict, url),
            self._parse_threads if rules.stored.is_long else None,
        )
        if self._is_given_up(rules.stored):
            state.verdict = replace(verdict, allowed=True)
            return self.policy.host_delay
        if rules.stored.state is RobotsState.UNREACHABLE:
            wait = max(rules.stored.expires - self._now(), timedelta(seconds=1))
            raise RobotsUnreachable(
                str(url), f"robots.txt: {rules.stored.why}", retry_after=wait
            )
        if not verdict.allowed:
            raise RobotsDenied(
                str(url), f"robots.txt says {printable(verdict.rule or '')}"
            )
        asked = verdict.crawl_delay or timedelta()
        if asked > self.policy.max_crawl_delay:
            raise CrawlDelayTooLong(
                str(url), f"robots.txt asks for {asked} between requests"
            )
        return max(asked, self.policy.host_delay)

    def _is_given_up(self, stored: StoredRobots) -> bool:
        """Say whether a robots.txt is away for so long that its site has no rules."""
        longest, since = self.policy.robots_absence, stored.unreachable_since
        return (
            stored.state is RobotsState.UNREACHABLE
            and longest is not None
            and since is not None
            and self._now() - since >= longest
        )

    async def _visit(
        self, state: FetchState, options: FetchOptions, delay: timedelta
    ) -> Exchange:
        """Make one request in the site's turn and the address's turn."""
        url = state.current
        slot = HostSlot(self._hosts, self.policy, self.fetches, state, url.site, delay)
        async with slot:
            return await self._send(state, options)

    async def _send(self, state: FetchState, options: FetchOptions) -> Exchange:
        url = state.current
        if (idle := self._pool.idle(url)) is not None:
            try:
                async with self._address_slot(state, idle.address):
                    return await self._ask(state, idle, options)
            except ConnectionLost:
                # The server closed it between two requests; a GET may be repeated as
                # long as nothing of an answer was seen.
                if idle.heard:
                    raise
            finally:
                self._pool.settle(url, idle)
        failure: FetchError = ConnectFailed(str(url), "no address could be tried")
        addresses = await self._pool.addresses(url, state.connect_timings)
        timeout = self.policy.limits.connect.total_seconds() / len(addresses)
        for address in addresses:
            async with self._address_slot(state, str(address)):
                try:
                    connection = await self._pool.connect(
                        url, address, state.connect_timings, timeout=timeout
                    )
                except ConnectFailed as error:
                    failure = error
                    continue
                try:
                    return await self._ask(state, connection, options)
                finally:
                    self._pool.settle(url, connection)
        raise failure

    def _exchange(self, state: FetchState, options: FetchOptions) -> Exchange:
        url, limits = state.current, self.policy.limits
        remaining = limits.total.total_seconds() - state.spent
        if remaining <= 0:
            raise TooSlow(str(url), "took too long overall")
        return Exchange(
            str(url),
            limits,
            max_wire=options.max_wire + limits.header_bytes,
            max_inflated=options.max_inflated,
            deadline=time.monotonic() + remaining,
            keep_partial=options.keep_partial,
            may_spool=options.may_spool,
            keep=options.keep,
            aside=self._inflate_threads,
            judge=options.check_head,
        )

    async def _ask(
        self, state: FetchState, connection: HttpConnection, options: FetchOptions
    ) -> Exchange:
        # Made only now: its time runs from here, not from before the turns.
        exchange = self._exchange(state, options)
        url = state.current
        state.peer = connection.address
        request = build_request(
            url, self.policy, accept=options.accept, held=options.held
        )
        try:
            return await connection.ask(request, exchange)
        finally:
            state.wire_bytes += exchange.wire_bytes
            count_bytes(exchange.wire_bytes)

    def _address_slot(self, state: FetchState, address: str) -> HostSlot:
        # A URL with a bare address has only one turn to wait for.
        key = None if address == state.current.site else address
        policy = self.policy
        return HostSlot(
            self._hosts,
            policy,
            self.fetches,
            state,
            key,
            policy.host_delay,
            policy.address_turn,
        )

    async def _record_backoff(self, state: FetchState, exchange: Exchange) -> None:
        if exchange.status not in {TOO_MANY_REQUESTS, UNAVAILABLE}:
            return
        url, address = state.current, state.peer
        wait = retry_after(exchange, self.policy, self._now())
        why = f"it answered {exchange.status}"
        await self._hosts.pause(url.site, wait, why=why)
        if self._backoffs.record(address, url.site):
            why = f"{why} for several sites"
            await self._hosts.pause(address, wait, why=why)
        raise HostBackoff(str(url), f"{why}, so it rests for {wait}", retry_after=wait)

    def _refresh(self, url: Url, exchange: Exchange, hints: HeadHints) -> Url | None:
        if not (
            self.policy.follow_meta_refresh and hints.refresh and exchange.is_success
        ):
            return None
        try:
            return parse_url(hints.refresh, url)
        except InvalidUrl:
            return None

    async def _rules(self, state: FetchState) -> RobotsRules:
        origin, token = state.current.origin, self.policy.product_token
        stored = await self._hosts.read_robots(origin)
        if stored is None:
            lock = self._robots_locks.setdefault(origin, asyncio.Lock())
            is_read_already = lock.locked()
            async with lock:
                if is_read_already:
                    stored = await self._hosts.read_robots(origin)
                if stored is None:
                    room = await self._robots_bytes_left(state.current)
                    stored = await self._read_robots(state, room)
                    stored = await self._hosts.keep_robots(origin, stored)
        if (robots := self._parsed_robots.find(origin, stored)) is None:
            robots = await _computed(
                partial(parse_robots, stored, token),
                self._parse_threads if stored.is_long else None,
            )
            self._parsed_robots.put(origin, robots)
        return robots

    async def _robots_bytes_left(self, url: Url) -> int:
        """Return how large a robots.txt may be; raise Trap if its site has had enough.

        Every host of a site has one: names without end would be files without end.
        """
        most = self.policy.site_robots_bytes
        room = await self._hosts.robots_bytes_left(url, most)
        if room <= 0:
            raise Trap(
                str(url), f"the hosts of {url.site} have used up their robots_bytes"
            )
        return min(room, MAX_ROBOTS_WIRE_BYTES)

    async def _read_robots(self, state: FetchState, room: int) -> StoredRobots:
        """Read a robots.txt; what fails before HTTP speaks fails the page as well."""
        site = state.current
        start = Url(site.scheme, site.host, site.port, "/robots.txt")
        state = FetchState(start, start)
        try:
            exchange = await self._robots_answer(state, room)
        except (TooSlow, TooBig, BadHttp, BlockedScheme) as error:
            self._report(state, error.outcome, why=error.why)
            away = unreachable_robots(error.why, self.policy, self._now())
            return replace(away, bytes=state.wire_bytes)
        except FetchError as error:
            self._report(state, error.outcome, why=error.why)
            raise
        self._report(
            state, "ok", status=exchange.status, body_bytes=len(exchange.content)
        )
        found = interpret(exchange, self.policy, self._now())
        return replace(found, bytes=state.wire_bytes)

    async def _robots_answer(self, state: FetchState, room: int) -> Exchange:
        limits = self.policy.limits
        # One byte more than is read, which says that there was more.
        options = FetchOptions(
            max_wire=room,
            max_inflated=MAX_ROBOTS_WIRE_BYTES,
            keep=limits.robots_bytes + 1,
        )
        while True:
            exchange = await self._visit(state, options, self.policy.host_delay)
            target = redirect_target(exchange, state.current)
            if (
                target is None
                or len(state.hops) == limits.redirects
                or target in state.seen
            ):
                return exchange
            self._guard.check_port(target)
            state.seen.add(state.current)
            state.go_on(target, exchange.status, "http", limit=limits.redirects)

    def _report(
        self,
        state: FetchState,
        outcome: str,
        *,
        status: int | None = None,
        body_bytes: int = 0,
        why: str | None = None,
    ) -> None:
        record = FetchRecord(
            url=str(state.requested),
            final_url=str(state.current),
            host=state.current.site,
            outcome=outcome,
            status=status,
            wire_bytes=state.wire_bytes,
            body_bytes=body_bytes,
            seconds=state.spent,
            waited=state.waited,
            redirects=len(state.hops),
            robots="allowed"
            if state.verdict.allowed
            else (state.verdict.rule or "denied"),
            why=why,
        )
        self._hosts.record(
            record.host, outcome, size=state.wire_bytes, seconds=record.seconds
        )
        for listener in self._listeners:
            listener(record)

    def _report_failure(
        self,
        url: str | Url,
        state: FetchState | None,
        started: float,
        error: FetchError,
    ) -> None:
        if state is not None:
            self._report(state, error.outcome, why=error.why)
            return
        seconds = time.monotonic() - started
        shown = printable(str(url))
        record = FetchRecord(
            shown, shown, "", error.outcome, None, 0, 0, seconds, 0.0, 0, "", error.why
        )
        for listener in self._listeners:
            listener(record)


def _fetched(
    state: FetchState, exchange: Exchange, kind: ContentKind, hints: HeadHints
) -> FetchResult:
    return FetchResult(
        requested=state.requested,
        url=state.current,
        status=exchange.status,
        headers=kept_headers(exchange),
        body=exchange.content,
        kind=kind,
        charset=decide_charset(exchange.content, exchange.value("content-type")),
        hops=state.trail,
        timings=state.timings(),
        wire_bytes=state.wire_bytes,
        robots=state.verdict,
        x_robots_tag=tuple(
            printable(value) for value in exchange.values("x-robots-tag")[:10]
        ),
        meta_robots=hints.robots,
        cut=exchange.cut,
        not_modified=exchange.status == NOT_MODIFIED,
        peer=state.peer,
        downgraded=state.downgraded,
        spool=exchange.spool,
    )


async def _computed(question: Callable[[], AnswerT], aside: Executor | None) -> AnswerT:
    """Answer at once, or in a thread where it may take long and others would wait."""
    if aside is None:
        return question()
    return await asyncio.get_running_loop().run_in_executor(aside, question)


def _parse(url: str | Url) -> Url:
    if isinstance(url, Url):
        return url
    try:
        return parse_url(url)
    except UnsupportedScheme as error:
        raise BlockedScheme(error.url, error.why) from None
    except InvalidUrl as error:
        raise BadUrl(error.url, error.why) from None


def _utc_now() -> datetime:
    return datetime.now(UTC)
