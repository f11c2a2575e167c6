"""Requests that are under way when the server stops: cut off in time, and gone on with."""

import http.client
import json
import re
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from threading import Thread
from typing import Any

import pytest

from sdk_tests.rig.waiting import HUNG
from tests.stopping.rig import House, Running

pytestmark = pytest.mark.slow

ROWS = 11_000
PERSON = "ada@a.example"
FILL = (
    """INSERT INTO domains (tenant_id, domain, home_url, description)
      SELECT id, n || '.example', 'https://x.example/', 'Write to ada@a.example.'
      FROM tenants, generate_series(1, 3000) AS n""",
    f"""INSERT INTO pages (tenant_id, domain_id, url)
      SELECT d.tenant_id, d.id, 'https://1.example/' || n
      FROM domains d, generate_series(1, {ROWS}) AS n WHERE d.domain = '1.example'""",
    f"""INSERT INTO contacts (tenant_id, domain_id, email, notes)
      SELECT d.tenant_id, d.id, n || '@b.example', repeat(md5(n::text), 60)
      FROM domains d, generate_series(1, {ROWS}) AS n WHERE d.domain = '2.example'""",
)


@dataclass
class Answer:
    """What a client was told, as far as it was."""

    status: int | None = None
    body: bytes = b""
    error: Exception | None = None
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Client:
    """Someone who asks a server."""

    port: int
    key: str

    def ask(self, method: str, path: str, body: object = None, **more: str) -> Answer:
        answer = Answer()
        self.send(answer, method, path, body, more)
        return answer

    def send(
        self,
        answer: Answer,
        method: str,
        path: str,
        body: object = None,
        more: dict[str, str] | None = None,
    ) -> None:
        """Send a request, and note what comes of it."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=HUNG)
        kind = "text/plain" if isinstance(body, bytes) else "application/json"
        sent = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        headers = {"X-API-Key": self.key, "Content-Type": kind, **(more or {})}
        try:
            connection.request(method, f"/api/v3{path}", sent, headers)
            with connection.getresponse() as response:
                answer.status = response.status
                answer.headers = {k.lower(): v for k, v in response.getheaders()}
                answer.body = response.read()
        except (OSError, http.client.HTTPException) as error:
            answer.error = error
        finally:
            connection.close()

    @contextmanager
    def asking(self, *request: Any, **more: str) -> Iterator[Answer]:
        """Send a request while the block lasts, and wait for what comes of it."""
        answer = Answer()
        thread = Thread(
            target=self.send, args=(answer, *request), kwargs={"more": more}
        )
        thread.start()
        try:
            yield answer
        finally:
            thread.join(HUNG)


@pytest.fixture
def key(house: House) -> str:
    """Make a key for a program."""
    with house.running("key", "create", "test", "--role", "admin") as command:
        command.wait()
    found = re.search(r"\b(ssk_\S+)", command.words)
    assert found is not None, command.words
    return found.group(1)


def client_of(server: Running, key: str) -> Client:
    return Client(server.port, key)


def is_cut_off(answer: Answer) -> bool:
    """Say whether a client was told to come back, in words that programs read."""
    return answer.status == 503 and "retry-after" in answer.headers


@pytest.mark.long
def test_requests_under_way_held_up_the_stop_or_ended_in_500(
    house: House, key: str
) -> None:
    house.run(*FILL)
    lines = b"".join(b"new-%d.example\n" % n for n in range(6_000))
    people = b"".join(b"someone-%d@c.example\n" % n for n in range(6_000))
    decision = {
        "filter": [{"field": "url", "comparison": "contains", "value": "1.example"}],
        "status": "Skipped",
    }
    decided = "SELECT count(*) FROM pages WHERE page_curation_status = 'Skipped'"
    imported = "SELECT count(*) FROM domains WHERE domain LIKE 'new-%%'"
    suppressed = "SELECT count(*) FROM suppressions"
    named = f"SELECT count(*) FROM domains WHERE description LIKE '%%{PERSON}%%'"
    undone = "SELECT count(*) FROM contacts WHERE contact_curation_status = 'New'"
    with house.serving("serve") as server:
        client = client_of(server, key)
        every = {"filter": [], "status": "Skipped"}
        done = client.ask("POST", "/contacts/status", every)
        assert done.status == 200, done.body
        action = done.json["action_id"]
        with ExitStack() as stack:
            for table, event in (
                ("pages", "UPDATE"),
                ("contacts", "UPDATE"),
                ("batch_items", "INSERT"),
                ("suppressions", "INSERT"),
                ("domains", "UPDATE"),
            ):
                stack.enter_context(house.slowly(table, event))
            again = {"Idempotency-Key": "decide"}
            deciding = stack.enter_context(
                client.asking("POST", "/pages/status", decision, **again)
            )
            undoing = stack.enter_context(
                client.asking("POST", f"/actions/{action}/undo", {})
            )
            importing = stack.enter_context(
                client.asking("POST", "/domains/import?name=new", lines)
            )
            house.wait_for(f"SELECT ({imported}) > 0")
            suppressing = stack.enter_context(
                client.asking("POST", "/suppressions/import", people)
            )
            erasing = stack.enter_context(
                client.asking("POST", "/people/erase", {"email": PERSON})
            )
            for counted, most in (
                (decided, ROWS),
                (undone, ROWS),
                (imported, 6_000),
                (suppressed, 6_000),
                (named, 3_000),
            ):
                house.wait_for(f"SELECT ({counted}) BETWEEN 1 AND {most - 1}")
            server.stop("five requests")
    for answer in (deciding, undoing, importing, suppressing, erasing):
        assert is_cut_off(answer), answer

    batch = house.text("SELECT id::text FROM batch_jobs WHERE name = 'new'")
    with house.serving("serve") as server:
        client = client_of(server, key)
        deciding = client.ask("POST", "/pages/status", decision, **again)
        undoing = client.ask("POST", f"/actions/{action}/undo", {})
        importing = client.ask("POST", f"/domains/import?batch={batch}", lines)
        suppressing = client.ask("POST", "/suppressions/import", people)
        erasing = client.ask("POST", "/people/erase", {"email": PERSON})
        for answer in (deciding, undoing, importing, suppressing, erasing):
            assert answer.status in {200, 201}, answer
        server.stop("nothing")

    assert house.ask(decided) == ROWS
    assert house.ask(undone) == ROWS
    assert house.ask(imported) == 6_000
    items = "SELECT count(*) FROM batch_items"
    assert house.ask(items) == house.ask(f"{items} WHERE NOT is_duplicate") == 6_000
    assert house.ask(named) == 0


@pytest.mark.parametrize("version", ["HTTP/1.0", "HTTP/1.1"])
def test_an_export_that_the_stop_cut_off_looked_whole(
    house: House, key: str, version: str
) -> None:
    house.run(*FILL)
    with house.serving("serve") as server, slow_reader(server.port) as reader:
        reader.sendall(
            f"GET /api/v3/contacts/export?format=csv {version}\r\nHost: localhost\r\n"
            f"X-API-Key: {key}\r\nConnection: close\r\n\r\n".encode()
        )
        assert reader.recv(1024).split(b" ")[1] == b"200"
        server.stop(f"an export over {version}")
        with pytest.raises(ConnectionResetError):
            read_to_the_end(reader)


def read_to_the_end(reader: socket.socket) -> None:
    while reader.recv(65_536):
        pass


@contextmanager
def slow_reader(port: int) -> Iterator[socket.socket]:
    """Open a connection on which little waits to be read."""
    with socket.socket() as reader:
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        reader.settimeout(HUNG)
        reader.connect(("127.0.0.1", port))
        yield reader


def test_half_of_an_uploaded_file_stayed(house: House, key: str) -> None:
    rows = b"name,website\n" + b"".join(
        b"Business %d,https://b%d.example/%s\n" % (n, n, b"x" * 200)
        for n in range(40_000)
    )
    at_work = """SELECT count(*) > 0 FROM pg_stat_activity WHERE state = 'active'
      AND query ILIKE '%%INSERT INTO uploaded_parts%%' AND pid <> pg_backend_pid()"""
    upload = ("POST", "/searches/file?name=big.csv", rows)
    with (
        house.slowly("uploaded_parts", "INSERT", each=2_000),
        house.serving("serve") as server,
        client_of(server, key).asking(*upload) as answer,
    ):
        house.wait_for(at_work)
        server.stop("an uploaded file")

    assert is_cut_off(answer), answer
    assert house.ask("SELECT count(*) FROM uploaded_parts") == 0
    assert house.ask("SELECT count(*) FROM place_searches") == 0
    with house.serving("serve") as server:
        assert client_of(server, key).ask(*upload).status == 201
    assert house.ask("SELECT count(*) FROM place_searches") == 1
