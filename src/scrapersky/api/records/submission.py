"""Submit records directly: a few in JSON, or a file of any size as it arrives."""

from typing import Annotated, Final
from uuid import UUID

from fastapi import APIRouter, Query, Request
from pydantic import Field

from scrapersky.api.auth.identity import Identity, Permission
from scrapersky.api.dependency import Bulk, Chunks, actor_of, allow
from scrapersky.api.middleware.body import large_body
from scrapersky.api.problem import Problem
from scrapersky.api.records.lines import read_lines
from scrapersky.api.records.refusal import REFUSALS
from scrapersky.api.records.router import address_of
from scrapersky.api.records.schema import (
    Priority,
    Refusal,
    Strict,
    SubmitIn,
    SubmittedOut,
)
from scrapersky.api.records.unpacking import XLSX, unpacked
from scrapersky.api.title import Line
from scrapersky.curation.batch.submission import Submitted, submit, submit_chunks
from scrapersky.records.kind import Kind, Submission

LARGEST_FILE: Final = 2 * 1024**3
FILE: Final = {
    "requestBody": {
        "required": True,
        "description": "CSV whose first row names the column, one address a line, or the"
        " first sheet of an Excel workbook (xlsx).",
        "content": {
            **{
                media: {
                    "schema": {"type": "string", "maxLength": LARGEST_FILE},
                    "example": "domain\nexample.com\n",
                }
                for media in ("text/csv", "text/plain")
            },
            XLSX: {
                "schema": {
                    "type": "string",
                    "format": "binary",
                    "maxLength": LARGEST_FILE,
                }
            },
        },
    }
}

Curator = Annotated[Identity, allow(Permission.CURATE)]


class ImportAsked(Strict):
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
        request: Request, who: Curator, connection: Chunks, asked: SubmitIn
    ) -> SubmittedOut:
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
        return shown(done)

    @router.post(
        f"{address_of(resource)}/import",
        operation_id=f"import_{resource.name}",
        summary=f"Import {many} from a file",
        dependencies=[large_body(LARGEST_FILE)],
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
        engine: Bulk,
        asked: Annotated[ImportAsked, Query()],
    ) -> SubmittedOut:
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
        return shown(done)


def shown(done: Submitted) -> SubmittedOut:
    """Report what a submission came to."""
    return SubmittedOut(
        batch_id=done.batch_id,
        accepted=done.accepted,
        duplicates=done.duplicates,
        refused_count=done.refused,
        refused=[
            Refusal(line=line, value=value, reason=reason)
            for line, value, reason in done.refusals
        ],
    )
