"""Write rows of many pages by one statement, as JSON in the columns of its table.

A statement cannot write the same row twice, so what several pages of a site say of the same
contact or person follows in a second statement, and so on.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar
from uuid import UUID

import orjson

from curation_sdk import Transaction
from scrapersky.pipeline.page_findings import Row

T = TypeVar("T")


async def write(
    transaction: Transaction, statement: str, rows: Sequence[Row]
) -> Sequence[Any]:
    """Write rows by one statement, if there are any."""
    if not rows:
        return ()
    written = orjson.dumps(rows, default=uuid_text).decode()
    return await transaction.fetch(statement, written)


def uuid_text(value: object) -> str:
    """Write an id that is of the driver's own class."""
    if isinstance(value, UUID):
        return str(value)
    raise TypeError


def rounds(rows: Iterable[T], key: Callable[[T], Hashable]) -> list[list[T]]:
    """Share out rows so that no two of a round have the same key, in their order."""
    met: dict[Hashable, int] = defaultdict(int)
    shared: list[list[T]] = []
    for row in rows:
        turn = met[key(row)]
        met[key(row)] += 1
        if turn == len(shared):
            shared.append([])
        shared[turn].append(row)
    return shared
