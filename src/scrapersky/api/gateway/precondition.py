"""Edits by two people at once: the second one is told, and nothing is lost."""

from datetime import datetime

from fastapi import Request

from scrapersky.errors import RecordChanged, VersionMissing


def etag_of(updated_at: datetime) -> str:
    """Return the version of a record: when it last changed, to the microsecond."""
    return f'"{int(updated_at.timestamp()):x}-{updated_at.microsecond:x}"'


def require_match(request: Request, updated_at: datetime) -> None:
    """Raise unless the caller has seen the record as it is now."""
    given = request.headers.get("if-match")
    if given is None:
        raise VersionMissing(
            "This change needs the version of the record it was made on.",
            hint="Send If-Match with the ETag that reading the record gave.",
        )
    versions = {part.strip().removeprefix("W/") for part in given.split(",")}
    if "*" not in versions and etag_of(updated_at) not in versions:
        raise RecordChanged(
            "Someone has changed the record in the meantime.",
            hint="Read it again, and make the change on what it is now.",
        )
