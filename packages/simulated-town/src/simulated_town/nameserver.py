"""The town's DNS on a loopback port: who has which address, and who takes mail."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final, cast

import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdatatype
import dns.rrset
from typing_extensions import override

from simulated_town.addresses import LOOPBACK
from simulated_town.business import SiteKind
from simulated_town.invent import MAIL_HOST
from simulated_town.plan import TownPlan

TTL_SECONDS: Final = 60
POST_OFFICE: Final = f"mx.{MAIL_HOST}"
NO_MAIL: Final = frozenset({SiteKind.PARKED, SiteKind.FOR_SALE})


class NameServer(asyncio.DatagramProtocol):
    """Answers for the town's names and knows no others."""

    def __init__(self, addresses: Mapping[str, str], mail: Mapping[str, str]) -> None:
        self._addresses = addresses
        self._mail = mail
        self._transport: asyncio.DatagramTransport | None = None

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # The class of the event loop is one in all but name.
        self._transport = cast("asyncio.DatagramTransport", transport)

    @override
    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        try:
            asked = dns.message.from_wire(data)
        except dns.exception.DNSException:
            return
        if self._transport is not None and asked.question:
            self._transport.sendto(self.answer(asked).to_wire(), addr)

    def answer(self, asked: dns.message.Message) -> dns.message.Message:
        """Answer one question."""
        reply = dns.message.make_response(asked)
        reply.flags |= dns.flags.AA | dns.flags.RA
        question = asked.question[0]
        name = question.name.to_text(omit_final_dot=True).lower()
        record = self._record(name, question.rdtype)
        if record is not None:
            kind = dns.rdatatype.to_text(question.rdtype)
            reply.answer.append(
                dns.rrset.from_text(question.name, TTL_SECONDS, "IN", kind, record)
            )
        elif (
            name.removeprefix("www.") not in self._addresses and name not in self._mail
        ):
            reply.set_rcode(dns.rcode.NXDOMAIN)
        return reply

    def _record(self, name: str, kind: dns.rdatatype.RdataType) -> str | None:
        if kind == dns.rdatatype.MX:
            return self._mail.get(name)
        if kind == dns.rdatatype.A:
            return self._addresses.get(name.removeprefix("www."))
        return None


@asynccontextmanager
async def running_nameserver(
    plan: TownPlan, addresses: Mapping[str, str]
) -> AsyncIterator[int]:
    """Serve the town's names until the block ends; gives the port."""
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(
        lambda: NameServer(addresses, mail_records(plan)), local_addr=(LOOPBACK, 0)
    )
    try:
        yield transport.get_extra_info("sockname")[1]
    finally:
        transport.close()


def mail_records(plan: TownPlan) -> Mapping[str, str]:
    """Say who takes mail: every business that has mailboxes, and the post office."""
    records = {MAIL_HOST: f"10 {POST_OFFICE}."}
    for domain, owners in plan.owners.items():
        kind = owners[0].kind
        if kind in NO_MAIL:
            records[domain] = "0 ."
        elif kind is not SiteKind.NO_SUCH_NAME:
            records[domain] = f"10 {POST_OFFICE}."
    return records
