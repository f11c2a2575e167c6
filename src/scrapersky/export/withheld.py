"""The rows of a file, and which of them stay out of it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from sqlalchemy import CursorResult, Executable
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.privacy.suppression_filter import SuppressionFilter
from scrapersky.records.kind import Kind

Row = dict[str, Any]
HIDES: Final[Mapping[str, Callable[[SuppressionFilter, str], bool]]] = {
    "domain": SuppressionFilter.hides_domain,
    "email": SuppressionFilter.hides_email,
    "phone": SuppressionFilter.hides_phone,
}


async def rows_of_file(
    connection: AsyncConnection,
    query: Executable,
    tenant_id: UUID,
    ids: Sequence[UUID],
) -> list[Row]:
    """Return the rows of these records, in this order, also of who is suppressed."""
    rows = dicts(await connection.execute(query, {"tenant": tenant_id, "ids": [*ids]}))
    found = {row["id"]: row for row in rows}
    return [found[each] for each in ids if each in found]


def dicts(result: CursorResult[Any]) -> list[Row]:
    """Return rows as plain dictionaries; at a million of them the difference counts."""
    names = [*result.keys()]
    return [dict(zip(names, row, strict=True)) for row in result]


def allowed_rows(
    kind: Kind, suppressions: SuppressionFilter, rows: Sequence[Row]
) -> list[Row]:
    """Leave out who is suppressed, and strike suppressed values out of the others."""
    allowed = [
        row
        for row in rows
        if not any(
            row.get(name) and HIDES[name](suppressions, row[name])
            for name in kind.file.withheld_by
        )
    ]
    cleaned: list[Row] = suppressions.clean(allowed)
    return cleaned
