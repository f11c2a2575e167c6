"""Versions of a record: whoever changes one says which of them they have read."""

from datetime import datetime
from typing import Annotated

from fastapi import Header

from scrapersky.errors import RecordChanged, VersionMissing

Version = Annotated[
    str | None,
    Header(alias="If-Match", max_length=100, description="The record's `etag`."),
]


def etag_of(updated_at: datetime) -> str:
    """Return the version of a record, as it stands in `ETag` and `If-Match`."""
    return f'"{microseconds(updated_at):x}"'


def require_version(
    given: str | None, updated_at: datetime, *, since: datetime | None = None
) -> None:
    """Raise unless a change was made of the record as it is now.

    `since`: as it was at any time from then on will do, because nothing that matters to a
    person has changed.
    """
    if given is None:
        raise VersionMissing(
            "Say which version of the record you have changed.",
            hint="Send the record's `etag` in the header If-Match.",
        )
    if given.strip() in {"*", etag_of(updated_at)}:
        return
    if since is None or not microseconds(since) <= read(given) <= microseconds(
        updated_at
    ):
        raise RecordChanged(
            "Someone else changed the record in the meantime.",
            hint="Read it again, and make your change of what it is now.",
        )


def microseconds(moment: datetime) -> int:
    """Count microseconds since 1970."""
    return int(moment.timestamp() * 1_000_000)


def read(etag: str) -> int:
    """Read a version in microseconds; what is not one is older than everything."""
    try:
        return int(etag.strip().strip('"'), 16)
    except ValueError:
        return -1
