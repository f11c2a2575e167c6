"""A server that alerts are sent to."""

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import orjson
from typing_extensions import override


@contextmanager
def webhook_server(*, refusals: int = 0) -> Iterator[tuple[str, list[Any]]]:
    """Keep what is sent, and refuse the first ones; give its address, and what it has."""
    reported: list[Any] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            reported.append(orjson.loads(body))
            self.send_response(503 if len(reported) <= refusals else 204)
            self.end_headers()

        @override
        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/hook", reported
    server.shutdown()
    thread.join()
    server.server_close()
