"""A list as a file: how it is sent, and how the document describes it."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send
from typing_extensions import override

from scrapersky.api.records.open_export import OpenExport
from scrapersky.api.records.schema import ExportFormat
from scrapersky.export.table import Parts
from scrapersky.kit.clock import utc_now

MEDIA_TYPES: Final[Mapping[str, str]] = {
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "jsonl": "application/jsonl",
}
A_FILE: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "The file",
        "content": {
            media: {"schema": {"type": "string", "format": "binary"}}
            for media in MEDIA_TYPES.values()
        },
    }
}


class Attachment(StreamingResponse):
    """A file of today, to be kept and never shown in place.

    It ends at once when the client has left.
    """

    def __init__(
        self, name: str, form: ExportFormat, export: OpenExport, body: Parts
    ) -> None:
        self._export = export
        self._body = body
        super().__init__(
            body,
            media_type=MEDIA_TYPES[form],
            headers={
                "Content-Disposition": (
                    f'attachment; filename="{name}-{utc_now():%Y-%m-%d}.{form}"'
                ),
                "Cache-Control": "no-store",
                "X-Content-Type-Options": "nosniff",
            },
        )

    @override
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sending = asyncio.create_task(self.stream_response(send))
        leaving = asyncio.create_task(self.listen_for_disconnect(receive))
        try:
            await asyncio.wait([sending, leaving], return_when=asyncio.FIRST_COMPLETED)
            if sending.done():
                sending.result()
        finally:
            # Cancelled once, as tasks are, and not again and again as a scope does it:
            # what reads the rows gives its connection back.
            sending.cancel()
            leaving.cancel()
            await asyncio.gather(sending, leaving, return_exceptions=True)
            await self._body.aclose()
            self._export.close()
