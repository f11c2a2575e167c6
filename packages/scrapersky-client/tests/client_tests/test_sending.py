"""What is sent, sent again and never sent again, over sockets to a server that fails on request."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from scrapersky_client import (
    ApiError,
    AsyncScraperSky,
    RetryPolicy,
    ScraperSky,
    ServerUnreachable,
    StartOver,
)
from scrapersky_client.request import retry_after

QUICK = RetryPolicy(tries=3, first_seconds=0.001)
CUT = 0
"""Instead of a status: the connection is closed without an answer."""


@dataclass
class FailingServer:
    """Answers what it was told to, in order, and keeps what came."""

    answers: list[tuple[int, Any]] = field(default_factory=list)
    seen: list[tuple[str, str, str | None, bytes]] = field(default_factory=list)
    url: str = ""


@pytest.fixture
def server() -> Iterator[FailingServer]:
    told = FailingServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            told.seen.append(
                (
                    self.command,
                    self.path,
                    self.headers.get("Idempotency-Key"),
                    self.body(),
                )
            )
            status, content = told.answers.pop(0)
            if status == CUT:
                self.close_connection = True
                return
            sent = (
                content if isinstance(content, bytes) else json.dumps(content).encode()
            )
            self.send_response(status)
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def body(self) -> bytes:
            if self.headers.get("Transfer-Encoding") != "chunked":
                return self.rfile.read(int(self.headers.get("Content-Length", 0)))
            parts = b""
            while size := int(self.rfile.readline(), 16):
                parts += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return parts

        do_GET = do_POST = do_PATCH = do_DELETE = answer  # noqa: N815 - as its base asks

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        told.url = f"http://127.0.0.1:{listening.server_port}"
        thread = threading.Thread(target=listening.serve_forever, args=(0.01,))
        thread.start()
        yield told
        listening.shutdown()
        thread.join()


Call = Callable[[ScraperSky], object]


def call_sync(url: str, call: Call) -> object:
    with ScraperSky(url, "ssk_key", retry=QUICK) as sky:
        return call(sky)


def call_async(url: str, call: Call) -> object:
    async def run() -> object:
        async with AsyncScraperSky(url, "ssk_key", retry=QUICK) as sky:
            return await call(sky)  # type: ignore[arg-type, misc]

    return asyncio.run(run())


both = pytest.mark.parametrize("run", [call_sync, call_async], ids=["sync", "async"])
Run = Callable[[str, Call], Any]


@both
@pytest.mark.parametrize("first", [503, 429, 502, CUT])
def test_a_post_is_sent_again_with_the_same_key(
    server: FailingServer, run: Run, first: int
) -> None:
    server.answers = [(first, {}), (201, {"id": "1"})]

    answer = run(server.url, lambda sky: sky.create_search({"business_type": "x"}))

    assert answer == {"id": "1"}
    keys = [key for _, _, key, _ in server.seen]
    assert len(keys) == 2
    assert len(set(keys)) == 1
    assert keys[0]


@both
def test_what_the_server_refuses_is_not_sent_again(
    server: FailingServer, run: Run
) -> None:
    problem = {
        "type": "https://scrapersky.example/problems/not-found",
        "detail": "There is nothing at this address.",
        "hint": "Check the id.",
    }
    server.answers = [(404, problem)]

    with pytest.raises(ApiError, match="Check the id") as refused:
        run(server.url, lambda sky: sky.read_company("1"))

    assert (refused.value.status, refused.value.kind) == (404, "not-found")
    assert len(server.seen) == 1


@both
def test_a_server_that_never_answers_is_said_to_be_unreachable(
    server: FailingServer, run: Run
) -> None:
    server.answers = [(CUT, None)] * 3

    with pytest.raises(ServerUnreachable):
        run(server.url, lambda sky: sky.list_companies())

    assert len(server.seen) == 3


@both
def test_a_cursor_that_is_too_old_is_an_error_of_its_own(
    server: FailingServer, run: Run
) -> None:
    server.answers = [(410, {"detail": "Not known any more."})]

    with pytest.raises(StartOver):
        run(server.url, lambda sky: sky.list_changes(since="1-a"))


@both
def test_a_file_is_read_anew_for_every_try(
    server: FailingServer, run: Run, tmp_path: Path
) -> None:
    file = tmp_path / "leads.csv"
    file.write_bytes(b"domain\n" + b"a.example\n" * 60_000)
    server.answers = [(503, {}), (200, {"accepted": 1})]

    run(server.url, lambda sky: sky.import_domains(file, name="leads.csv"))

    assert [body for *_, body in server.seen] == [file.read_bytes()] * 2


def test_a_list_is_followed_to_its_end(server: FailingServer) -> None:
    server.answers = [
        (200, {"items": [1, 2], "next_cursor": "c2", "total": {}}),
        (200, {"items": [3], "next_cursor": None, "total": {}}),
    ]

    with ScraperSky(server.url) as sky:
        found = list(sky.pages(sky.list_companies, filter=["a:known", "b:known"]))

    assert found == [1, 2, 3]
    assert server.seen[0][1].endswith("?filter=a%3Aknown&filter=b%3Aknown&limit=200")
    assert server.seen[1][1].endswith("&cursor=c2")


@pytest.mark.parametrize("given", ["", "soon", "-5"])
def test_a_pause_that_nobody_can_read_is_none(given: str) -> None:
    assert retry_after(given) == 0
    assert retry_after("7") == 7


@both
def test_a_search_is_waited_for_until_nothing_is_left_to_do(
    server: FailingServer, run: Run
) -> None:
    states = ["searching", "following", "following", "undecided"]
    server.answers = [(200, {"state": state, "open": 1}) for state in states]
    seen: list[str] = []

    found = run(
        server.url,
        lambda sky: sky.wait_for_search(
            "1", progress=lambda now: seen.append(now["state"]), every_seconds=0.001
        ),
    )

    assert found["state"] == "undecided"
    assert seen == ["searching", "following", "undecided"]


def test_a_stream_goes_on_after_the_last_event(server: FailingServer) -> None:
    server.answers = [
        (
            200,
            b': welcome\n\nevent: records\ndata: {"kind":\ndata: "pages"}\nid: 5\n\n',
        ),
        (200, b"event: records\ndata: []\nid: 6\n\n"),
    ]

    with ScraperSky(server.url, retry=QUICK) as sky:
        stream = sky.events()
        found = [next(stream), next(stream)]
        stream.close()  # type: ignore[attr-defined]

    assert [(one.id, one.event, one.data) for one in found] == [
        ("5", "records", {"kind": "pages"}),
        ("6", "records", []),
    ]
