"""What errors of the database and of the Curation SDK mean to a caller."""

from asyncpg import PostgresError
from asyncpg.exceptions import InterfaceError, InternalClientError
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

import curation_sdk
from curation_sdk import CurationSdkError
from scrapersky.api.tenancy import READS_ONLY
from scrapersky.db.connection import explain_state
from scrapersky.errors import (
    DatabaseBusy,
    DatabaseUnreachable,
    ForeignReference,
    NotStorable,
    QueryTooSlow,
    RecordConflict,
    ScraperSkyError,
    StageError,
    UnknownItem,
    UnknownStage,
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


def explain(error: Exception) -> ScraperSkyError | None:
    """Translate what the database refused; None if it is a bug of ours."""
    if isinstance(error, PoolTimeout):
        return DatabaseBusy("Every connection to the database is in use.")
    if isinstance(error, CurationSdkError):
        return explain_stage(error)
    cause = error.orig if isinstance(error, DBAPIError) else error
    code = getattr(cause, "sqlstate", None)
    if isinstance(code, str):
        return explain_code(code, str(cause))
    source = getattr(cause, "__cause__", None)
    # Running out of time has a cancellation for its cause, which says nothing.
    source = source if isinstance(source, Exception) else cause
    if isinstance(source, PostgresError):
        return explain_code(source.sqlstate or "", str(source))
    if isinstance(source, TimeoutError):
        return QueryTooSlow("The database did not answer in time.")
    if isinstance(source, OSError | InternalClientError):
        return away()
    if isinstance(source, InterfaceError):
        return explain_interface(source)
    return None


def explain_stage(error: CurationSdkError) -> ScraperSkyError:
    """Translate what the Curation SDK refused."""
    match error:
        case curation_sdk.UnknownStage():
            return UnknownStage(str(error), hint=error.hint)
        case curation_sdk.UnknownItem():
            return UnknownItem(str(error), hint=error.hint)
    return StageError(str(error), hint=error.hint)


def away() -> DatabaseUnreachable:
    """Say that there is no database at the moment."""
    return DatabaseUnreachable(
        "The database does not answer.",
        hint="Try again in a moment; run `scrapersky doctor` to see what is wrong.",
    )


def explain_code(code: str, said: str) -> ScraperSkyError | None:
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
    if code == READ_ONLY and READS_ONLY.get():
        # We have made the transaction so ourselves: a request that asks has written.
        return None
    if (state := explain_state(code)) is not None:
        return state
    if code in SERIALIZATION:
        return DatabaseBusy("Others are changing the same records.")
    if code in OUT_OF_REACH or code.startswith(CONNECTION_CLASS):
        return away()
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
        return away()
    if "invalid input for query argument" in said:
        return NotStorable("A value in the request cannot be kept.")
    return None
