"""Fields that hold another value there than here: what a person says of each is kept.

An answer is about the two values that were seen. If either changes, the field is asked about again.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Select, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.connectors.outbox import RECORDS
from scrapersky.connectors.protocol import CrmField, CrmValues
from scrapersky.connectors.values import normalised
from scrapersky.errors import UnknownRecord
from scrapersky.records.sync import SyncState

ANSWER: Final = "answer"
Differences = Mapping[str, Mapping[str, Any]]


class DifferenceAnswer(StrEnum):
    """Whose value is to stand there."""

    OURS = "ours"
    THEIRS = "theirs"


def with_answers(
    before: Differences,
    now: dict[str, dict[str, Any]],
    schema: Mapping[str, CrmField],
    values: CrmValues,
) -> dict[str, Any]:
    """Keep the answers that still hold; return the fields that are to be written after all."""
    changes: dict[str, Any] = {}
    for name, found in list(now.items()):
        known = before.get(name, {})
        is_same = all(
            normalised(known.get(side), schema.get(name))
            == normalised(found.get(side), schema.get(name))
            for side in DifferenceAnswer
        )
        if not is_same or ANSWER not in known:
            continue
        if known[ANSWER] == DifferenceAnswer.OURS and name in values:
            changes[name] = values[name]
            del now[name]
        else:
            found[ANSWER] = known[ANSWER]
            found.pop("asks", None)
    return changes


def open_differences(sync_id: UUID) -> Select[Any]:
    """Select the records of a connection that hold something else there."""
    return select(RECORDS).where(
        RECORDS.c.connection_id == sync_id,
        RECORDS.c.state == SyncState.DONE,
        RECORDS.c.differs != text("'{}'"),
    )


async def answer_difference(
    connection: AsyncConnection,
    sync_id: UUID,
    record_id: UUID,
    field: str,
    answer: DifferenceAnswer,
) -> None:
    """Keep what a person says of a field, and queue the record where ours is to stand."""
    query = open_differences(sync_id).where(RECORDS.c.record_id == record_id)
    row = (await connection.execute(query.with_for_update())).one_or_none()
    if row is None or field not in row.differs:
        raise UnknownRecord("Nothing of this record differs there in this field.")
    told = {**row.differs[field], ANSWER: answer.value}
    told.pop("asks", None)
    is_ours = answer is DifferenceAnswer.OURS
    await connection.execute(
        update(RECORDS)
        .where(RECORDS.c.id == row.id)
        .values(
            differs={**row.differs, field: told},
            state=SyncState.QUEUED if is_ours else row.state,
            next_at=text("clock_timestamp()"),
        )
    )
