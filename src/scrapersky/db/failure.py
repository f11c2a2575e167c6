"""What errors of the database and of the Curation SDK mean to a caller."""

from asyncpg import PostgresError
from asyncpg.exceptions import InterfaceError, InternalClientError
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

import curation_sdk
from curation_sdk import CurationSdkError
from scrapersky.db.connection import explain_state
from scrapersky.errors import (
    DatabaseBusy,
    DatabaseUnreachable,
    ForeignReference,
    ItemNotFound,
    NotStorable,
    QueryTooSlow,
    RecordConflict,
    ScraperSkyError,
    StageError,
    StageNotFound,
)

POLICY = "row-level security"
NO_MORE_TIME = ("57014", "55P03")
UNIQUE = ("23505", "23P01")
REFERENCE = ("23503",)
SERIALIZATION = ("40001", "40P01")
OUT_OF_REACH = ("57P01", "57P02", "53400")
READ_ONLY = "25006"
VALUE_CLASSES = ("22",)
CHECK = ("23502", "23514")
CONNECTION_CLASS = "08"


def explain(error: Exception, *, reads_only: bool = False) -> ScraperSkyError | None:
    """Translate what the database refused; None if it is a bug of ours.

    `reads_only`: we have made the transaction so ourselves, and something wrote in it.
    """
    if isinstance(error, PoolTimeout):
        return DatabaseBusy("Every connection to the database is in use.")
    if isinstance(error, CurationSdkError):
        return explain_stage(error)
    cause = error.orig if isinstance(error, DBAPIError) else error
    code = getattr(cause, "sqlstate", None)
    if isinstance(code, str):
        return explain_code(code, str(cause), reads_only=reads_only)
    source = getattr(cause, "__cause__", None)
    # Running out of time has a cancellation for its cause, which says nothing.
    source = source if isinstance(source, Exception) else cause
    if isinstance(source, PostgresError):
        return explain_code(source.sqlstate or "", str(source), reads_only=reads_only)
    if isinstance(source, TimeoutError):
        return QueryTooSlow("The database did not answer in time.")
    if isinstance(source, OSError | InternalClientError):
        return database_unreachable()
    if isinstance(source, InterfaceError):
        return explain_interface(source)
    return None


def explain_stage(error: CurationSdkError) -> ScraperSkyError:
    """Translate what the Curation SDK refused."""
    match error:
        case curation_sdk.errors.UnknownStage():
            return StageNotFound(error.message, hint=error.hint)
        case curation_sdk.errors.UnknownItem():
            return ItemNotFound(error.message, hint=error.hint)
    return StageError(error.message, hint=error.hint)


def database_unreachable() -> DatabaseUnreachable:
    """Say that there is no database at the moment."""
    return DatabaseUnreachable(
        "The database does not answer.",
        hint="Try again in a moment; run `scrapersky doctor` to see what is wrong.",
    )


def explain_code(
    code: str, said: str, *, reads_only: bool = False
) -> ScraperSkyError | None:
    """Translate one of PostgreSQL's codes."""
    if code in NO_MORE_TIME:
        return QueryTooSlow("The question takes longer than one may.")
    if code in UNIQUE:
        return RecordConflict(
            "There is such a record already.", hint="Read it, and change that one."
        )
    if code in REFERENCE or (code == "42501" and POLICY in said):
        return ForeignReference(
            "The request refers to something that does not exist.",
            hint="Check the ids in the request.",
        )
    if code == READ_ONLY and reads_only:
        return None
    if (state := explain_state(code)) is not None:
        return state
    if code in SERIALIZATION:
        return DatabaseBusy("Others are changing the same records.")
    if code in OUT_OF_REACH or code.startswith(CONNECTION_CLASS):
        return database_unreachable()
    if code in CHECK or code.startswith(VALUE_CLASSES):
        return NotStorable(
            "A value in the request cannot be kept.",
            hint="Check for characters such as NUL, and for numbers out of range.",
        )
    return None


def explain_interface(error: InterfaceError) -> ScraperSkyError | None:
    """Translate what the driver refused before the database saw it."""
    said = str(error)
    if "connection" in said and ("closed" in said or "not" in said):
        return database_unreachable()
    if "invalid input for query argument" in said:
        return NotStorable("A value in the request cannot be kept.")
    return None
