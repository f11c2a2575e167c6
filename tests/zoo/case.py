"""What one case of the hostile web is, and what may come of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from tests.zoo.wire import Connect, Lane, Request, Serve, healthy, no_robots

ON_PLAIN = "on-plain"
"""Speaks TLS on the port of plain HTTP."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What the server saw of one case: the requests, the bytes it could send."""

    slug: str
    request: Request
    began: float
    ended: float
    sent: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """All there is to judge a case by."""

    outcome: str
    result: Any
    """The `Fetched`, or the error."""
    seen: Sequence[Seen]
    """The requests for it, robots.txt left out."""
    robots: Sequence[Seen]
    """The requests for robots.txt."""
    lane: Lane


Judge: TypeAlias = Callable[[Evidence], str | None]
"""Returns a complaint, or nothing when all is well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One host of the zoo: its name, its address, and how it behaves."""

    slug: str
    serve: Serve = healthy
    robots: Serve = no_robots
    connect: Connect | None = None
    tls: str | None = None
    listens: bool = True
    good: bool = False
    """Not hostile at all; served by a process of its own."""
    both: bool = False
    """Also answers on the plain port (a TLS site) or on the TLS port."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One fetch of one site, and the outcomes that are acceptable."""

    id: str
    title: str
    url: str
    """A path on the case's own site, or a whole URL with {slug} origins filled in."""
    slug: str
    tls: bool = False
    expect: tuple[str, ...]
    limit: float = 5.0
    """Seconds of a real run; the quick one takes its pace into account."""
    waits: bool = False
    """It ends by a time-out, so it runs beside others and not alone."""
    judge: Judge | None = None
    memory: int = 32 << 20
    """Most the process may grow while this case runs alone."""
    namespace: bool = False
    """It needs addresses that only a network namespace has."""
    times: int = 1
    """How often the URL is fetched in a row; the last outcome counts."""

    def address(self, lane: Lane) -> str:
        """Return the URL to fetch in this lane."""
        if not self.url.startswith("/"):
            return self.url.replace("{http}", str(lane.http)).replace(
                "{https}", str(lane.https)
            )
        return lane.origin(self.slug, tls=self.tls) + self.url


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A case and the site it needs; some need further sites."""

    case: Case | None
    sites: tuple[Site, ...]


def exhibit(
    number: str,
    title: str,
    serve: Serve = healthy,
    *,
    slug: str,
    expect: str,
    url: str = "/",
    limit: float = 5.0,
    waits: bool = False,
    judge: Judge | None = None,
    tls: str | None = None,
    robots: Serve | None = None,
    connect: Connect | None = None,
    listens: bool = True,
    both: bool = False,
    memory: int = 32 << 20,
    namespace: bool = False,
    times: int = 1,
    more: Sequence[Site] = (),
) -> Exhibit:
    """Write down one case; `expect` holds outcome words separated by blanks."""
    on_tls_port = tls is not None and tls != ON_PLAIN
    site = Site(
        slug=slug,
        serve=serve,
        robots=robots or no_robots,
        connect=connect,
        tls=tls,
        listens=listens,
        both=both,
    )
    case = Case(
        id=number,
        title=title,
        url=url,
        slug=slug,
        tls=on_tls_port,
        expect=tuple(expect.split()),
        limit=limit,
        waits=waits,
        judge=judge,
        memory=memory,
        namespace=namespace,
        times=times,
    )
    return Exhibit(case, (site, *more))


def at_most(requests: int) -> Judge:
    """Return a judge who counts requests."""

    def judge(evidence: Evidence) -> str | None:
        count = len(evidence.seen)
        return f"{count} requests" if count > requests else None

    return judge


def took_at_most(size: int) -> Judge:
    """Return a judge of how much the server could send before it was stopped."""

    def judge(evidence: Evidence) -> str | None:
        # The kernels at both ends hold some megabytes that nobody has asked for.
        most = max((seen.sent for seen in evidence.seen), default=0)
        return f"the server sent {most:,} bytes" if most > size else None

    return judge


def every(*judges: Judge) -> Judge:
    """Return a judge who asks several."""

    def judge(evidence: Evidence) -> str | None:
        verdicts = (each(evidence) for each in judges)
        return next((verdict for verdict in verdicts if verdict), None)

    return judge
