"""Write records as JSON, in the very bytes that their response models would.

What comes from the database has the right types already. To check all of it again took
longer than to read it, so lists and details are written without their models; a test
compares both.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

import orjson
from fastapi import Response
from sqlalchemy import Row

from scrapersky.api.records.list_statement import PLACE, TOTAL


def json_answer(
    content: Any,  # noqa: ANN401 - any JSON
    headers: Mapping[str, str] | None = None,
    *,
    status: int = 200,
) -> Response:
    """Answer with this, without looking at it again."""
    written = orjson.dumps(content, default=json_default, option=orjson.OPT_UTC_Z)
    return Response(written, status, headers, media_type="application/json")


def json_default(value: object) -> str:
    """Write what JSON has no type for."""
    # The driver's UUIDs are of a class of their own.
    if isinstance(value, UUID | Decimal):
        return str(value)
    raise TypeError(f"{type(value).__name__} is not written in an answer")


def as_dicts(rows: Sequence[Row[*tuple[Any, ...]]]) -> list[dict[str, Any]]:
    """Return rows of one query as dictionaries, without what they were counted by."""
    if not rows:
        return []
    names = rows[0]._fields
    while names[-1] in (TOTAL, PLACE):
        names = names[:-1]
    return [dict(zip(names, row, strict=False)) for row in rows]
