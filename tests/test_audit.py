"""The audit of what is locked: what it asks, and what it says when nobody answers."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from scripts import audit


class Source(BaseHTTPRequestHandler):
    """Knows one vulnerability."""

    asked: list[dict[str, Any]]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        queries = json.loads(body)["queries"]
        type(self).asked += queries
        results = [
            {"vulns": [{"id": "TEST-1"}]} if q["package"]["name"] == "fastapi" else {}
            for q in queries
        ]
        answer = json.dumps({"results": results}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def source() -> Iterator[str]:
    Source.asked = []
    with HTTPServer(("127.0.0.1", 0), Source) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_every_locked_version_is_asked_for_and_what_is_known_is_said(
    source: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert audit.main(["--source", source]) == audit.VULNERABLE

    assert "TEST-1" in capsys.readouterr().out
    asked = {(q["package"]["ecosystem"], q["package"]["name"]) for q in Source.asked}
    assert {("PyPI", "sqlalchemy"), ("PyPI", "uv"), ("npm", "react")} <= asked
    assert len(Source.asked) == len(audit.locked(audit.ROOT))


def test_what_was_looked_into_is_left_out(source: str) -> None:
    assert audit.main(["--source", source, "--accept", "TEST-1"]) == audit.CLEAN


def test_an_audit_that_could_not_be_made_is_no_clean_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert audit.main(["--source", "http://127.0.0.1:9"]) == audit.NOT_AUDITED

    assert "Not audited" in capsys.readouterr().out
