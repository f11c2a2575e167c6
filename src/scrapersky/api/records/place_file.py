"""Business lists that people upload: look at the columns first, then import."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Final
from uuid import UUID, uuid4

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from scrapersky.api.auth.identity import Identity, Permission
from scrapersky.api.dependency import Bulk, actor_of, allow
from scrapersky.api.middleware.body import large_body
from scrapersky.api.problem import Problem
from scrapersky.api.records.refusal import REFUSALS
from scrapersky.api.records.schema import Strict
from scrapersky.api.records.search import PATH, SearchIn, queue_search, row_of
from scrapersky.api.records.source import FILES
from scrapersky.api.records.unpacking import XLSX, unpacked
from scrapersky.api.title import Line
from scrapersky.kit.workbook import LARGEST as LARGEST_WORKBOOK
from scrapersky.kit.workbook import MOST_ROWS
from scrapersky.pipeline.upload import store_upload
from scrapersky.providers.files.upload import (
    FIELDS,
    LOOKED_AT,
    look_at,
    store_renamed,
)
from scrapersky.providers.source import RowProblem

LARGEST: Final = 500 * 1024**2
LARGEST_LOOK: Final = LARGEST_WORKBOOK
"""A workbook has no beginning that could be looked at alone."""
MOST_COLUMNS: Final = 1_000
MOST_ABOVE: Final = 100
"""Rows of a workbook above its headings."""
NO_FIELD: Final = "-"
UPLOADS: Final = "uploads"
"""What the names of uploaded files begin with; that of their tenant follows."""
TOO_LARGE: Final[dict[int | str, dict[str, Any]]] = {
    413: {"model": Problem, "description": "The file is too large"}
}


def file_of(most: int) -> dict[str, Any]:
    """Describe the body of a request that is a file."""
    return {
        "requestBody": {
            "required": True,
            "description": "CSV in any dialect, or an Excel workbook (xlsx), whose first"
            " row names the columns. Of a workbook the first sheet is read, formulas as"
            " their values.",
            "content": {
                "text/csv": {
                    "schema": {"type": "string", "maxLength": most},
                    "example": "Firma;Web\nAda's Bakery;ada.example\n",
                },
                XLSX: {
                    "schema": {
                        "type": "string",
                        "format": "binary",
                        "maxLength": most,
                    }
                },
            },
        }
    }


router = APIRouter(tags=["records"])
Curator = Annotated[Identity, allow(Permission.CURATE)]
Fields = Annotated[
    list[Annotated[str, Field(max_length=40)]],
    Field(
        max_length=MOST_COLUMNS,
        description="What each column holds, in their order; `-` for one that is kept"
        " and not understood. Without any, the headings decide.",
        examples=[["name", "website", "-"]],
    ),
]


class LookAsked(Strict):
    """How to read the beginning of a file."""

    fields: Fields = Field(default_factory=list)


class ImportFileAsked(Strict):
    """How to import a file, and what to call it."""

    name: Line = Field(examples=["dentists.csv"])
    fields: Fields = Field(default_factory=list)


class FileColumnOut(BaseModel):
    """A column of a file."""

    heading: str
    field: str | None = Field(
        description="What it holds; null: nothing we understand.", examples=["website"]
    )
    examples: list[str]


class LineProblem(BaseModel):
    """What is wrong with a line."""

    line: int
    why: str


class FileLookOut(BaseModel):
    """What the beginning of a file holds, as the import would read it."""

    columns: list[FileColumnOut]
    fields: list[str] = Field(description="What a column may hold.")
    rows: int = Field(description="Rows looked at.")
    places: int = Field(description="Businesses found in them.")
    duplicates: int
    problems: list[LineProblem] = Field(description="The first hundred.")


class ImportStarted(BaseModel):
    """The search that reads the file."""

    search_id: UUID


@router.post(
    f"{PATH}/file/preview",
    operation_id="preview_file",
    summary="Look at a business list",
    dependencies=[large_body(LARGEST_LOOK)],
    openapi_extra=file_of(LARGEST_LOOK),
    responses={**REFUSALS, **TOO_LARGE},
)
async def preview_file(
    request: Request,
    who: Curator,  # noqa: ARG001 - checked
    asked: Annotated[LookAsked, Query()],
) -> FileLookOut:
    """Tell what the columns of a file hold, and what is wrong with its lines.

    Send the whole file; of CSV its beginning is enough, up to the end of a line.
    """
    async with received(request, rows=LOOKED_AT + MOST_ABOVE) as path:
        look = await asyncio.to_thread(look_at, path, fields_of(asked.fields))
    return FileLookOut(
        columns=[
            FileColumnOut(
                heading=column.heading,
                field=column.field,
                examples=[*column.examples],
            )
            for column in look.columns
        ],
        fields=[*FIELDS],
        rows=look.rows,
        places=look.places,
        duplicates=look.duplicates,
        problems=[problem_out(problem) for problem in look.problems],
    )


def fields_of(asked: list[str]) -> list[str]:
    """Return the field of each column, empty for none."""
    return ["" if field == NO_FIELD else field for field in asked]


def problem_out(problem: RowProblem) -> LineProblem:
    """Write what is wrong with a line."""
    return LineProblem(line=problem.line, why=problem.why)


@router.post(
    f"{PATH}/file",
    operation_id="import_file",
    summary="Import a business list",
    status_code=201,
    dependencies=[large_body(LARGEST)],
    openapi_extra=file_of(LARGEST),
    responses={**REFUSALS, **TOO_LARGE},
)
async def import_file(
    request: Request,
    who: Curator,
    engine: Bulk,
    asked: Annotated[ImportFileAsked, Query()],
) -> ImportStarted:
    """Keep a file, and queue the search that makes places of its rows.

    Every line that is not a place is listed in the search's `problems`. The file is read by
    whichever process works on searches, on any host.
    """
    name = f"{UPLOADS}/{who.tenant_id}/{uuid4().hex}.csv"
    called = re.sub(r"\s+", " ", asked.name).strip() or "file"
    search = SearchIn(source=FILES, file=name, dataset=called, location=called)
    async with received(request) as path:
        renamed = path.with_suffix(".csv")
        await asyncio.to_thread(store_renamed, path, renamed, fields_of(asked.fields))
        async with engine.begin() as connection:
            actor = actor_of(who, request)
            await store_upload(connection, actor.tenant_id, name, renamed)
            search_id = await queue_search(connection, actor, row_of(search))
    return ImportStarted(search_id=search_id)


@asynccontextmanager
async def received(request: Request, rows: int = MOST_ROWS) -> AsyncIterator[Path]:
    """Receive the body as a file, for the time of the block."""
    with TemporaryDirectory(prefix="scrapersky-") as folder:
        path = Path(folder) / "upload"
        with path.open("wb") as file:
            async for part in unpacked(request.stream(), rows):
                await asyncio.to_thread(file.write, part)
        yield path
