"""WF8: an address is judged by itself and by a DNS of our own, never by writing to it."""

import socketserver
from collections.abc import AsyncIterator, Iterator
from typing import Any
from uuid import UUID

import pytest
import pytest_asyncio
from dnslib import MX, QTYPE, RCODE, RR, A
from dnslib.server import DNSServer

from scrapersky.crawler import Sandbox
from scrapersky.pipeline.mail_server import DnsMailServers
from scrapersky.records import Contact
from tests.stages.rig import Line, running_line
from tests.stages.shared_database import SharedDatabase

pytestmark = pytest.mark.asyncio(loop_scope="session")
STAGE = "contact_validation"


class Names:
    """Answers as the name servers of small businesses do, or not at all."""

    def __init__(self) -> None:
        self.silent: set[str] = {"silent.bv"}

    def resolve(self, request: Any, _handler: Any) -> Any:
        reply, name = request.reply(), str(request.q.qname).rstrip(".").lower()
        kind = QTYPE[request.q.qtype]
        match name, kind:
            case "mail.bv" | "mailinator.com" | "gmail.com", "MX":
                for rank in (20, 10):
                    server = MX(f"mx{rank}.mail.bv", rank)
                    reply.add_answer(RR(name, QTYPE.MX, rdata=server))
            case "null.bv", "MX":
                reply.add_answer(RR(name, QTYPE.MX, rdata=MX(".", 0)))
            case "address.bv", "A":
                reply.add_answer(RR(name, QTYPE.A, rdata=A("192.0.2.1")))
            case "address.bv" | "nothing.bv", _:
                pass
            case _ if name in self.silent:
                raise TimeoutError
            case _:
                reply.header.rcode = RCODE.NXDOMAIN
        return reply


class QuietServer(socketserver.ThreadingUDPServer):
    """Says nothing about questions it was told not to answer."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Leave a question without an answer."""


@pytest.fixture
def names() -> Names:
    return Names()


@pytest.fixture
def nameserver(names: Names) -> Iterator[int]:
    server = DNSServer(names, address="127.0.0.1", port=0, server=QuietServer)
    server.start_thread()
    yield server.server.server_address[1]
    server.stop()
    server.server.server_close()


@pytest_asyncio.fixture(loop_scope="session")
async def line(
    shared_database: SharedDatabase, sandbox: Sandbox, nameserver: int
) -> AsyncIterator[Line]:
    servers = DnsMailServers(("127.0.0.1",), nameserver, lifetime=1.0)
    async with running_line(
        shared_database.database,
        sandbox,
        engine=shared_database.engine,
        mail_servers=servers,
    ) as line:
        yield line


async def add_contact(line: Line, email: str | None, **values: Any) -> UUID:
    domain = await line.add_domain("a.bv")
    return await line.add(Contact, domain_id=domain, email=email, **values)


@pytest.mark.parametrize(
    ("email", "verdict", "mail"),
    [
        ("ada@mail.bv", "deliverable", "takes_mail"),
        ("ada@address.bv", "deliverable", "address_only"),
        ("ada@null.bv", "undeliverable", "refuses_mail"),
        ("ada@nowhere.bv", "undeliverable", "no_such_domain"),
        ("ada@nothing.bv", "undeliverable", "no_server"),
        ("ada@mailinator.com", "risky", "takes_mail"),
        ("ada lovelace@mail.bv", "undeliverable", None),
    ],
)
async def test_an_address_is_judged_with_what_it_rests_on(
    line: Line, email: str, verdict: str, mail: str | None
) -> None:
    contact = await add_contact(line, email)

    decided = await line.decide("contacts", "Queued", contact)
    await line.work(STAGE)
    # What the DNS knows nothing of is believed the second time.
    await line.work_again(STAGE)

    row = await line.row(Contact, contact)
    assert decided.queued == 1
    assert (row.validation["verdict"], row.validation["mail"]) == (verdict, mail)
    assert row.validation_processing_status == "Complete"
    assert row.contact_curation_status == "Complete"
    assert row.validated_at is not None


async def test_mail_servers_are_kept_the_preferred_first(line: Line) -> None:
    contact = await add_contact(line, "ada@mail.bv")

    await line.decide("contacts", "Queued", contact)
    await line.work(STAGE)

    servers = (await line.row(Contact, contact)).validation["mail_servers"]
    assert servers == ["mx10.mail.bv", "mx20.mail.bv"]


@pytest.mark.parametrize(
    ("email", "kind"), [("ada@gmail.com", "FREE"), ("info@mail.bv", "SERVICE")]
)
async def test_the_kind_of_address_is_told(line: Line, email: str, kind: str) -> None:
    contact = await add_contact(line, email)

    await line.decide("contacts", "Queued", contact)
    await line.work(STAGE)

    assert (await line.row(Contact, contact)).email_type == kind


async def test_silence_is_no_verdict_and_is_asked_again(
    line: Line, names: Names
) -> None:
    contact = await add_contact(line, "ada@silent.bv")
    await line.decide("contacts", "Queued", contact)
    await line.work(STAGE)
    between = await line.row(Contact, contact)

    names.silent.clear()
    await line.work_again(STAGE)

    assert between.validation is None
    assert between.validation_processing_status == "Processing"
    assert "silent.bv" in between.validation_processing_error
    assert await line.outcomes(STAGE, contact) == ["retried", "done"]
    row = await line.row(Contact, contact)
    assert row.validation["verdict"] == "undeliverable"
    assert row.validation_processing_error is None


async def test_a_contact_without_an_address_is_complete_with_the_reason(
    line: Line,
) -> None:
    contact = await add_contact(line, None, phone="+442079460018")

    await line.decide("contacts", "Queued", contact)
    await line.work(STAGE)

    story = await line.story(STAGE, contact)
    assert story.attempts[-1].why == "the contact has no e-mail address"
    assert (await line.row(Contact, contact)).validation is None


async def test_a_contact_put_aside_meanwhile_stays_aside(line: Line) -> None:
    contact = await add_contact(
        line,
        "ada@mail.bv",
        validation_processing_status="Queued",
        contact_curation_status="Skipped",
    )

    await line.work(STAGE)

    row = await line.row(Contact, contact)
    assert row.contact_curation_status == "Skipped"
    assert row.validation["verdict"] == "deliverable"
