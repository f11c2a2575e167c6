"""Write a batch of HubSpot's so that one bad row costs that row alone."""

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias, TypeVar

from scrapersky.connectors.hubspot_values import sent
from scrapersky.connectors.protocol import (
    OWN_ID,
    RecordWrite,
    Refused,
    Unknown,
    WriteResult,
    Written,
)
from scrapersky.errors import CrmError, CrmRejected

Item = TypeVar("Item")
Row: TypeAlias = dict[str, Any]
"""An input of a batch; what it is called there comes back with its result."""
TRACE: Final = "objectWriteTraceId"
BATCH_ROWS: Final = 100
OF_ROWS: Final = {400, 404, 409}
"""Statuses of a batch that one of its rows may be the reason for."""
EXISTING: Final = re.compile(r"Existing ID:\s*(\d+)")
OF_EVERY_ROW: Final = {"PROPERTY_DOESNT_EXIST", "READ_ONLY_VALUE"}
"""Faults of a property and not of its value: they are the same in every row."""
GONE: Final = "OBJECT_NOT_FOUND"


def parts(items: Sequence[Item]) -> Iterator[list[Item]]:
    """Cut into batches."""
    for at in range(0, len(items), BATCH_ROWS):
        yield list(items[at : at + BATCH_ROWS])


def row_of(record: RecordWrite) -> Row:
    """Return a record as an input: by their id where it is known, else by ours."""
    own = str(record.our_id)
    values = {name: sent(value) for name, value in record.values.items()}
    row: Row = {"properties": {**values, OWN_ID: own}, TRACE: own}
    if record.their_id:
        return row | {"id": record.their_id}
    return row | {"id": own, "idProperty": OWN_ID}


def folded(records: Sequence[RecordWrite]) -> list[Row]:
    """Return the inputs, one for each id of ours: the same twice refuses the whole batch."""
    rows: dict[str, Row] = {}
    for record in records:
        row = row_of(record)
        if before := rows.get(row[TRACE]):
            row["properties"] = {**before["properties"], **row["properties"]}
        rows[row[TRACE]] = row
    return list(rows.values())


async def written_apart(
    send: Callable[[list[Row]], Awaitable[Mapping[str, Any]]],
    rows: list[Row],
    *,
    is_first: bool = True,
) -> dict[str, WriteResult]:
    """Write rows and return what became of each; a refused batch is halved.

    As long as nothing was written, an error of the whole call is raised. `is_first` says that
    nothing was written before.
    """
    outcomes: dict[str, WriteResult] = {}
    waiting = [rows] if rows else []
    while waiting:
        part = waiting.pop()
        try:
            outcomes |= read_answer(part, await send(part))
        except CrmRejected as error:
            if error.status not in OF_ROWS and is_first and not outcomes:
                raise
            refused, rest = blamed(part, error)
            outcomes |= refused
            waiting += [half for half in rest if half]
        except CrmError as error:
            if is_first and not outcomes:
                raise
            left = [*part, *(row for other in waiting for row in other)]
            return outcomes | {row[TRACE]: Unknown(str(error)) for row in left}
    return outcomes


def read_answer(
    part: Sequence[Row], answer: Mapping[str, Any]
) -> dict[str, WriteResult]:
    """Read the rows of an answer, in whatever order they come, and those that failed."""
    by_name = {name: row[TRACE] for row in part for name in (row[TRACE], row.get("id"))}
    outcomes: dict[str, WriteResult] = {
        row[TRACE]: Unknown("HubSpot's answer does not name it.") for row in part
    }
    for result in answer.get("results") or ():
        properties = result.get("properties") or {}
        for name in (result.get(TRACE), properties.get(OWN_ID), result["id"]):
            if name in by_name:
                is_new = bool(result.get("new"))
                outcomes[by_name[name]] = Written(str(result["id"]), is_new)
                break
    for error in answer.get("errors") or ():
        context = error.get("context") or {}
        for name in (*context.get(TRACE, ()), *context.get("ids", ())):
            if name in by_name:
                outcomes[by_name[name]] = refusal(error)
    return outcomes


def blamed(
    part: list[Row], error: CrmRejected
) -> tuple[dict[str, WriteResult], Sequence[list[Row]]]:
    """Return the rows that an error is known to mean, and what to try of the others."""
    body: Mapping[str, Any] = error.body if isinstance(error.body, dict) else {}
    names = {name for code, name, _ in faults(body) if code in OF_EVERY_ROW}
    hit = [row for row in part if names & row.get("properties", {}).keys()]
    if hit:
        told = refusal(body)
        rest = [row for row in part if row not in hit]
        return {row[TRACE]: told for row in hit}, [rest]
    if len(part) > 1 and error.status in OF_ROWS and "non-unique" not in str(error):
        middle = len(part) // 2
        return {}, [part[middle:], part[:middle]]
    return {row[TRACE]: refusal(body, str(error)) for row in part}, []


def refusal(body: Mapping[str, Any], otherwise: str = "") -> Refused:
    """Return an error of theirs as the refusal of a row."""
    message = str(body.get("message") or otherwise)
    existing = EXISTING.search(message)
    reasons = {name: text for _, name, text in faults(body)}
    return Refused(
        reasons or {"": message},
        existing_id=existing[1] if existing else None,
        is_gone=body.get("category") == GONE,
    )


def faults(body: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield what is wrong with which property: the code, its name, and the text."""
    for one in body.get("errors") or ():
        for name in (one.get("context") or {}).get("propertyName") or ():
            yield str(one.get("code")), str(name), str(one.get("message"))
