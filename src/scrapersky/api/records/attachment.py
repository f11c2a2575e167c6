"""A list as a file: how it is sent, and how the document describes it."""

from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

from fastapi.responses import StreamingResponse

from scrapersky.api.records.schema import ExportFormat
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


def attachment(
    name: str, form: ExportFormat, body: AsyncIterator[bytes]
) -> StreamingResponse:
    """Send a file of today, to be kept and never shown in place."""
    return StreamingResponse(
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
