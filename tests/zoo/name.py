"""Cases 50 to 56: what a hostile DNS server answers, and names that are none."""

import asyncio
import ipaddress
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeAlias

import dnslib

from tests.zoo.case import Case, Exhibit, Site, at_most, exhibit
from tests.zoo.redirect import INSIDE
from tests.zoo.wire import HEALTHY, NOT_FOUND, says

Records: TypeAlias = list[tuple[str, str, str]]
"""Owner, type and value of each record of an answer."""


@dataclass(slots=True)
class Zone:
    """The names of the zoo: plain ones have an address, odd ones a function."""

    plain: dict[str, str]
    pace: float
    asked: dict[str, int] = field(default_factory=dict)
    packed: dict[tuple[bytes, bool], bytes] = field(default_factory=dict)
    """Answers so long that packing them anew would slow down everybody's."""

    async def answer(self, name: str, kind: str, *, tcp: bool) -> Records | None:
        """Return the records, nothing for NXDOMAIN; may take its time."""
        labels = name.rstrip(".").lower().split(".")
        if labels[0] == "localhost":
            return (
                [(name, "A", "127.0.0.1")] if kind == "A" else [(name, "AAAA", "::1")]
            )
        slug = ".".join(labels[:-1])
        count = self.asked[f"{slug}/{kind}"] = self.asked.get(f"{slug}/{kind}", 0) + 1
        if slug == "dns-slow":
            # Far beyond the limit of 5: a starved machine may wake us seconds late.
            await asyncio.sleep(60 * self.pace)
        if odd := ODD.get(slug.removeprefix("sub.")):
            return odd(Question(name, kind, count, self.plain, tcp))
        if slug not in self.plain or labels[-1:] != ["com"]:
            return None
        return [(name, "A", self.plain[slug])] if kind == "A" else []


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked, and how often before."""

    name: str
    kind: str
    count: int
    plain: dict[str, str]
    tcp: bool

    def a(self, *values: str) -> Records:
        """Answer with addresses of the kind that was asked for."""
        kinds = (("AAAA" if ":" in value else "A", value) for value in values)
        return [(self.name, kind, value) for kind, value in kinds if kind == self.kind]

    def own(self, slug: str) -> str:
        """Return the address where the site with this name really listens."""
        return self.plain[slug]


def rebinding(question: Question) -> Records:
    # robots.txt and the first page may have it; the second page is led astray.
    early = question.count <= 2
    return question.a(question.own("dns-rebinding") if early else "127.0.0.1")


def mixed(question: Question) -> Records:
    return question.a(question.own("dns-mixed"), "10.0.0.7")


def mixed_families(question: Question) -> Records:
    return question.a(question.own("dns-mixed-6"), "::1")


def cname_inside(question: Question) -> Records:
    target = f"{INSIDE}.com"
    return [
        (question.name, "CNAME", target),
        *([(target, "A", "10.0.0.7")] if question.kind == "A" else []),
    ]


def cname_deep(question: Question) -> Records:
    names = [question.name, *(f"deep{n}.dns-cname-deep.com" for n in range(20))]
    chain = [(a, "CNAME", b) for a, b in pairwise(names)]
    last = [(names[-1], "A", question.own("dns-cname-deep"))]
    return [*chain, *(last if question.kind == "A" else [])]


def cname_loop(question: Question) -> Records:
    other = "loop.dns-cname-loop.com"
    return [(question.name, "CNAME", other), (other, "CNAME", question.name)]


def mapped(question: Question) -> Records:
    return question.a("::ffff:10.0.0.7")


def nat64(question: Question) -> Records:
    return question.a("64:ff9b::a9fe:a9fe")


def many(question: Question) -> Records:
    own = question.own("dns-many")
    network = own.rsplit(".", 2)[0]
    # All of them belong to the lane; only the first answers.
    rest = (f"{network}.{100 + n // 250}.{1 + n % 250}" for n in range(3999))
    return question.a(own, *rest)


def nxdomain_once(question: Question) -> Records | None:
    if question.count == 1:
        return None
    return question.a(question.own("dns-nxdomain-once"))


ODD: dict[str, Callable[[Question], Records | None]] = {
    "dns-rebinding": rebinding,
    "dns-mixed": mixed,
    "dns-mixed-6": mixed_families,
    "dns-cname-inside": cname_inside,
    "dns-cname-deep": cname_deep,
    "dns-cname-loop": cname_loop,
    "dns-mapped": mapped,
    "dns-nat64": nat64,
    "dns-many": many,
    "dns-nxdomain-once": nxdomain_once,
    "dns-loopback": lambda question: question.a("127.0.0.1"),
    "dns-metadata": lambda question: question.a("169.254.169.254"),
    "dns-six": lambda question: question.a("::1"),
    "dns-unique-local": lambda question: question.a("fd00:ec2::254"),
    "dns-zero": lambda question: question.a("0.0.0.0"),
    "dns-empty": lambda _: [],
    INSIDE: lambda question: question.a("10.0.0.7"),
}


def names() -> Iterator[Exhibit]:
    """Return the cases about resolution and about names."""
    blocked = "blocked_addr"
    for number, title, slug, expect in (
        ("50", "rebinding after the first answer", "dns-rebinding", blocked),
        ("51a", "a public and a private address", "dns-mixed", blocked),
        ("51b", "public IPv4, loopback IPv6", "dns-mixed-6", blocked),
        ("52a", "CNAME to a name inside", "dns-cname-inside", blocked),
        ("52b", "CNAMEs 20 deep", "dns-cname-deep", "ok dns_error"),
        ("52c", "CNAMEs in a loop", "dns-cname-loop", "dns_error"),
        ("53a", "only a mapped address", "dns-mapped", blocked),
        ("53b", "only a NAT64 address", "dns-nat64", blocked),
        ("53c", "loopback", "dns-loopback", blocked),
        ("53d", "the metadata service", "dns-metadata", blocked),
        ("53e", "::1", "dns-six", blocked),
        ("53f", "unique local", "dns-unique-local", blocked),
        ("53g", "0.0.0.0", "dns-zero", blocked),
        ("54a", "4,000 addresses", "dns-many", "ok dns_error"),
        ("54c", "no such name", "dns-nowhere", "dns_error"),
        ("54d", "no such name, then one", "dns-nxdomain-once", "ok dns_error"),
        ("54e", "a name without addresses", "dns-empty", "dns_error"),
    ):
        # Without keep-alive each request needs a connection, and so a resolution.
        closes = slug == "dns-rebinding"
        yield exhibit(
            number,
            title,
            says(HEALTHY, keep=not closes),
            robots=says(NOT_FOUND, keep=not closes),
            slug=slug,
            expect=expect,
            judge=at_most(1),
            listens=slug != "dns-nowhere",
            times=2 if slug in {"dns-rebinding", "dns-nxdomain-once"} else 1,
        )
    yield exhibit(
        "54b",
        "an answer after a minute",
        slug="dns-slow",
        expect="dns_error too_slow",
        limit=5,
        waits=True,
    )
    yield from odd_names()


def odd_names() -> Iterator[Exhibit]:
    refused = "bad_url dns_error bad_http blocked_addr"
    for letter, title, url, expect in (
        ("a", "a dot at the end", "http://odd-name.com.:{http}/", "ok"),
        ("b", "upper case", "HTTP://ODD-NAME.COM:{http}/", "ok"),
        ("c", "a label of 64", f"http://{'a' * 64}.com:{{http}}/", refused),
        ("d", "a name of 256", f"http://{'a.' * 126}abcd.com:{{http}}/", refused),
        ("e", "an underscore", "http://odd_name.com:{http}/", refused),
        ("f", "punycode that is none", "http://xn--\u00fc.com:{http}/", refused),
        ("g", "punycode that decodes to nothing", "http://xn--a.com:{http}/", refused),
        ("h", "an empty label", "http://odd..name.com:{http}/", refused),
        ("i", "a homograph", "http://\u043edd-name.com:{http}/", refused),
        ("j", "a blank", "http://odd name.com:{http}/", refused),
        ("k", "NUL", "http://odd-name.com\x00.evil.com:{http}/", refused),
        ("l", "a line break", "http://odd-name.com\r\nX: y:{http}/", refused),
        ("m", "no host", "http:///", refused),
        ("n", "no scheme", "odd-name.com", "bad_url blocked_scheme"),
        ("o", "nothing", "://", "bad_url blocked_scheme"),
        (
            "p",
            "a URL of 100 KB",
            "http://odd-name.com:{http}/" + "a" * 100_000,
            refused,
        ),
        ("q", "a lone surrogate", "http://odd-name.com:{http}/\ud800", refused + " ok"),
        ("r", "an IPv6 literal cut off", "http://[::1", refused),
        ("s", "file", "file:///etc/passwd", "blocked_scheme"),
        ("t", "port 22", "http://odd-name.com:22/", "blocked_addr"),
        ("u", "a userinfo", "http://u:p@odd-name.com:{http}/", "ok bad_url"),
        ("v", "a single label", "http://intranet:{http}/", refused),
        ("w", "metadata by name", "http://metadata.google.internal/", refused),
        ("x", "loopback as submitted", "http://127.0.0.1:{http}/", "blocked_addr"),
        ("y", "decimal as submitted", "http://2130706433/", "blocked_addr bad_url"),
        ("z", "::1 as submitted", "http://[::1]:{http}/", "blocked_addr"),
    ):
        case = Case(
            id=f"56{letter}",
            title=f"{title}, submitted",
            url=url,
            slug="odd-name",
            expect=tuple(expect.split()),
        )
        sites = (Site(slug="odd-name"),) if letter == "a" else ()
        yield Exhibit(case, sites)


class NameServer(asyncio.DatagramProtocol):
    """Answers over UDP; says "ask over TCP" when the answer does not fit."""

    def __init__(self, zone: Zone) -> None:
        self.zone = zone
        self.tasks: set[asyncio.Task[None]] = set()
        self.transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        task = asyncio.create_task(self.reply(data, addr))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def reply(self, data: bytes, addr: tuple[str, int]) -> None:
        packet = await respond(self.zone, data, tcp=False)
        if self.transport and not self.transport.is_closing():
            self.transport.sendto(packet, addr)

    async def over_tcp(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Answer the questions of one connection."""
        try:
            # The system asks for both families on one connection.
            while True:
                size = int.from_bytes(await reader.readexactly(2), "big")
                query = await reader.readexactly(size)
                packet = await respond(self.zone, query, tcp=True)
                writer.write(len(packet).to_bytes(2, "big") + packet)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


async def respond(zone: Zone, query: bytes, *, tcp: bool) -> bytes:
    """Return the packet that answers a query."""
    key = (query[2:], tcp)
    if b"dns-many" in query and key in zone.packed:
        return query[:2] + zone.packed[key][2:]
    packet = await pack(zone, query, tcp=tcp)
    if b"dns-many" in query:
        zone.packed[key] = packet
    return packet


async def pack(zone: Zone, query: bytes, *, tcp: bool) -> bytes:
    question = dnslib.DNSRecord.parse(query)
    reply = question.reply()
    name, kind = str(question.q.qname), dnslib.QTYPE[question.q.qtype]
    records = await zone.answer(name, kind, tcp=tcp)
    if records is None:
        reply.header.rcode = dnslib.RCODE.NXDOMAIN
    for owner, type_, value in records or ():
        # The library reads no IPv6 address that ends like an IPv4 one.
        plain = ipaddress.ip_address(value).exploded if type_ == "AAAA" else value
        data = getattr(dnslib, type_)(plain)
        reply.add_answer(
            dnslib.RR(owner, getattr(dnslib.QTYPE, type_), rdata=data, ttl=0)
        )
    packet = bytes(reply.pack())
    if len(packet) <= 512 or tcp:
        return packet
    return bytes(reply.truncate().pack())
