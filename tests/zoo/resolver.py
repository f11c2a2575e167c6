"""Asks the zoo's own DNS server, as a stub resolver does: UDP, then TCP."""

import asyncio
import socket
import struct
from collections.abc import Iterator, Sequence
from typing import Any

import dnslib

from scrapersky.errors import DnsFailed, NoSuchHost

TRUNCATED, RCODE, NXDOMAIN = 2, 15, 3
POINTER = 0xC0
RECORD = struct.Struct("!HHIH")


class ZooResolver:
    """A resolver for the lane in which the system's cannot be pointed at the zoo."""

    def __init__(self, address: str, port: int) -> None:
        self.place = (address, port)

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """Return the addresses of both families; raise DnsFailed or NoSuchHost."""
        found = await asyncio.gather(*(self.ask(host, kind) for kind in ("A", "AAAA")))
        addresses = [address for answer in found for address in answer or ()]
        if all(answer is None for answer in found) or not addresses:
            raise NoSuchHost(host, "the name does not exist or has no address")
        return addresses

    async def ask(self, host: str, kind: str) -> list[str] | None:
        """Return the addresses of one family; nothing when there is no such name."""
        try:
            query = bytes(dnslib.DNSRecord.question(host, kind).pack())
        except (UnicodeError, dnslib.DNSError, ValueError) as error:
            raise DnsFailed(host, "is not a name that can be asked for") from error
        reply = await self.over_udp(query)
        if reply[2] & TRUNCATED:
            reply = await self.over_tcp(query)
        if reply[3] & RCODE == NXDOMAIN:
            return None
        return list(addresses_of(reply, getattr(dnslib.QTYPE, kind)))

    async def over_udp(self, query: bytes) -> bytes:
        """Send one datagram and return the answer to it."""
        loop = asyncio.get_running_loop()
        transport, inbox = await loop.create_datagram_endpoint(
            Inbox, remote_addr=self.place
        )
        try:
            transport.sendto(query)
            return await inbox.answer
        finally:
            transport.close()

    async def over_tcp(self, query: bytes) -> bytes:
        """Ask again for an answer that did not fit into a datagram."""
        reader, writer = await asyncio.open_connection(*self.place)
        try:
            writer.write(len(query).to_bytes(2, "big") + query)
            size = int.from_bytes(await reader.readexactly(2), "big")
            return await reader.readexactly(size)
        finally:
            writer.close()
            await writer.wait_closed()


def addresses_of(packet: bytes, wanted: int) -> Iterator[str]:
    """Return the addresses in an answer; a library is too slow for 4,000 of them."""
    (count,) = struct.unpack_from("!H", packet, 6)
    at = after_name(packet, 12) + 4
    for _ in range(count):
        at = after_name(packet, at)
        kind, _class, _ttl, size = RECORD.unpack_from(packet, at)
        at += RECORD.size
        if kind == wanted:
            family = socket.AF_INET if size == 4 else socket.AF_INET6
            yield socket.inet_ntop(family, packet[at : at + size])
        at += size


def after_name(packet: bytes, at: int) -> int:
    while packet[at] and packet[at] < POINTER:
        at += packet[at] + 1
    return at + (2 if packet[at] else 1)


class Inbox(asyncio.DatagramProtocol):
    """Holds the first datagram that comes back."""

    def __init__(self) -> None:
        self.answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    def datagram_received(self, data: bytes, addr: tuple[str | Any, int]) -> None:
        if not self.answer.done():
            self.answer.set_result(data)

    def error_received(self, exc: Exception) -> None:
        if not self.answer.done():
            self.answer.set_exception(DnsFailed("dns", str(exc)))
