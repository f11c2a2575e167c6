"""What we use of uvicorn that it does not document: its protocol class, to be extended."""

from uvicorn.protocols.http.httptools_impl import (
    HttpToolsProtocol,
    RequestResponseCycle,
)

__all__ = ["HttpToolsProtocol", "RequestResponseCycle"]
