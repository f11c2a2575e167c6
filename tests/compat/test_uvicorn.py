"""What our protocol extends of uvicorn's is there to be extended."""

import inspect

from scrapersky.api.http_protocol import HttpProtocol
from scrapersky.compat.uvicorn import HttpToolsProtocol, RequestResponseCycle

EXTENDED = (
    "connection_made", "data_received", "on_headers_complete", "pause_writing",
    "resume_writing", "connection_lost",
)  # fmt: skip


def test_every_method_we_extend_is_one_of_uvicorns() -> None:
    for name in EXTENDED:
        ours, theirs = getattr(HttpProtocol, name), getattr(HttpToolsProtocol, name)
        assert [*inspect.signature(ours).parameters] == [
            *inspect.signature(theirs).parameters
        ]


def test_the_state_we_read_is_kept_by_uvicorn() -> None:
    made = inspect.getsource(HttpToolsProtocol.__init__)

    assert all(f"self.{name}" in made for name in ("cycle", "connections", "loop"))
    assert "response_complete" in inspect.getsource(RequestResponseCycle.__init__)
