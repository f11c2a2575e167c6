"""Submit records directly: a few in JSON, or a file of any size as it arrives."""

from typing import Annotated, Final
from uuid import UUID

from fastapi import APIRouter, Query, Request
from pydantic import Field

from scrapersky.api.dependency import (
    BulkEngine,
    ChunkedConnection,
    Curator,
    actor_of,
)
from scrapersky.api.middleware.body import large_body
from scrapersky.api.problem import Problem
from scrapersky.api.records.lines import read_lines
from scrapersky.api.records.router import address_of
from scrapersky.api.records.schema import Priority, RefusedLine, SubmissionOut, SubmitIn
from scrapersky.api.records.unpacking import ANY_BYTES, XLSX, unpacked
from scrapersky.api.schema import REFUSALS, RequestModel
from scrapersky.api.title import Line
from scrapersky.curation.batch.submission import SubmissionResult, submit, submit_chunks
from scrapersky.records.kind import Kind, Submission

MAX_FILE_BYTES: Final = 2 * 1024**3
FILE: Final = {
    "requestBody": {
        "required": True,
        "description": "CSV whose first row names the column, one address a line, or the"
        " first sheet of an Excel workbook (xlsx).",
        "content": {
            **{
                media: {
                    "schema": {"type": "string", "maxLength": MAX_FILE_BYTES},
                    "example": "domain\nexample.com\n",
                }
                for media in ("text/csv", "text/plain")
            },
            **{
                media: {
                    "schema": {
                        "type": "string",
                        "format": "binary",
                        "maxLength": MAX_FILE_BYTES,
                    }
                }
                for media in (XLSX, ANY_BYTES)
            },
        },
    }
}


class ImportAsked(RequestModel):
    """How a file is taken in."""

    name: Line | None = Field(None, description="What to call it.")
    batch: UUID | None = Field(
        None,
        description="Go on with an import that was cut off: its batch, the same file.",
    )
    priority: Priority = 0


def add_submitting(router: APIRouter, resource: Kind, submission: Submission) -> None:
    """Add direct submission and the import of a file."""
    kind = submission.name
    many = resource.name.replace("_", " ")

    @router.post(
        address_of(resource),
        operation_id=f"submit_{resource.name}",
        summary=f"Submit {many}",
        responses=REFUSALS,
    )
    async def submit_records(
        request: Request, who: Curator, connection: ChunkedConnection, asked: SubmitIn
    ) -> SubmissionOut:
        """Submit addresses together; a bad or known one never fails the rest."""
        actor = actor_of(who, request)
        done = await submit(
            connection,
            actor,
            kind,
            asked.items,
            name=asked.name,
            priority=asked.priority,
        )
        return submission_out(done)

    @router.post(
        f"{address_of(resource)}/import",
        operation_id=f"import_{resource.name}",
        summary=f"Import {many} from a file",
        dependencies=[large_body(MAX_FILE_BYTES)],
        openapi_extra=FILE,
        responses={
            **REFUSALS,
            404: {"model": Problem, "description": "There is no such batch"},
            413: {"model": Problem, "description": "The file is too large"},
        },
    )
    async def import_records(
        request: Request,
        who: Curator,
        engine: BulkEngine,
        asked: Annotated[ImportAsked, Query()],
    ) -> SubmissionOut:
        """Import a file of any size; every thousand lines are stored together.

        If it is cut off, send the same file again with `batch` and it goes on.
        """
        lines = read_lines(unpacked(request.stream()), submission.headings)
        done = await submit_chunks(
            engine,
            actor_of(who, request),
            kind,
            lines,
            name=asked.name,
            batch_id=asked.batch,
            priority=asked.priority,
        )
        return submission_out(done)


def submission_out(done: SubmissionResult) -> SubmissionOut:
    """Report what a submission came to."""
    return SubmissionOut(
        batch_id=done.batch_id,
        accepted=done.accepted,
        duplicates=done.duplicates,
        refused_count=done.refused,
        refused=[
            RefusedLine(line=line, value=value, reason=reason)
            for line, value, reason in done.refusals
        ],
    )
