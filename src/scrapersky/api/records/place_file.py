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
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.api.dependency import BulkEngine, Curator, actor_of
from scrapersky.api.middleware.body import large_body
from scrapersky.api.problem import Problem
from scrapersky.api.records.import_preview import compare_with_known
from scrapersky.api.records.search import PATH, SearchIn, queue_search, row_of
from scrapersky.api.records.source import FILES
from scrapersky.api.records.unpacking import ANY_BYTES, XLSX, unpacked
from scrapersky.api.schema import REFUSALS, RequestModel
from scrapersky.api.title import Line
from scrapersky.curation.imported_line import ImportedLine
from scrapersky.curation.lead_import import HEADINGS, REPLACES_KNOWN
from scrapersky.curation.own_value import columns_of_own
from scrapersky.errors import InvalidDecision
from scrapersky.kit.workbook import MAX_BYTES as LARGEST_WORKBOOK
from scrapersky.kit.workbook import MAX_ROWS
from scrapersky.pipeline.upload import store_upload
from scrapersky.providers.files.column import OWN_FIELD
from scrapersky.providers.files.source import file_facts
from scrapersky.providers.files.upload import (
    FIELDS,
    PREVIEW_ROWS,
    read_preview,
    store_renamed,
)
from scrapersky.providers.source import FoundPlace, RowProblem, said_of

MAX_FILE_BYTES: Final = 500 * 1024**2
MAX_PREVIEW_BYTES: Final = LARGEST_WORKBOOK
"""A workbook has no beginning that could be looked at alone."""
MOST_COLUMNS: Final = 1_000
MOST_DIFFERENCES: Final = 200
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
                **{
                    media: {
                        "schema": {
                            "type": "string",
                            "format": "binary",
                            "maxLength": most,
                        }
                    }
                    for media in (XLSX, ANY_BYTES)
                },
            },
        }
    }


router = APIRouter(tags=["records"])
Fields = Annotated[
    list[Annotated[str, Field(max_length=40)]],
    Field(
        max_length=MOST_COLUMNS,
        description="What each column holds, in their order; `own.NAME` for a column of"
        " your own, `-` for one that is kept and not understood. Without any, the headings decide.",
        examples=[["name", "website", "-"]],
    ),
]


class LookAsked(RequestModel):
    """How to read the beginning of a file."""

    name: Line | None = Field(
        None, description="What the import will be called: ids in the file are its own."
    )
    fields: Fields = Field(default_factory=list)


class ImportFileAsked(RequestModel):
    """How to import a file, and what to call it."""

    name: Line = Field(examples=["dentists.csv"])
    fields: Fields = Field(default_factory=list)
    replaces_known: bool = Field(
        default=False,
        description="Show what the file says of known companies in place of what is"
        " known; otherwise it only fills in what was unknown.",
    )


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
    is_left_out: bool = Field(
        default=False,
        description="The line was not imported; otherwise all but the value was.",
    )
    field: str | None = Field(None, description="What the value was to be.")
    value: str | None = None


class KnownDifferenceOut(BaseModel):
    """What a line says of a known company, and what is known."""

    model_config = ConfigDict(from_attributes=True)

    line: int
    company_id: UUID
    company: str | None
    field: str
    known: str | None
    imported: str
    is_kept: bool = Field(
        description="Whether what is known stays shown, unless `replaces_known`."
    )


class FileLookOut(BaseModel):
    """What the beginning of a file holds, as the import would read it."""

    columns: list[FileColumnOut]
    fields: list[str] = Field(description="What a column may hold.")
    rows: int = Field(description="Rows looked at.")
    places: int = Field(description="Businesses found in them.")
    duplicates: int
    problems: list[LineProblem] = Field(description="The first hundred.")
    problems_count: int = Field(description="How many there are in these rows.")
    known_companies: int = Field(description="Rows that are of companies you know.")
    differences_count: int
    differences: list[KnownDifferenceOut] = Field(
        description="What rows say otherwise than is known: the first two hundred."
    )


class ImportStarted(BaseModel):
    """The search that reads the file."""

    search_id: UUID


@router.post(
    f"{PATH}/file/preview",
    operation_id="preview_file",
    summary="Look at a business list",
    dependencies=[large_body(MAX_PREVIEW_BYTES)],
    openapi_extra=file_of(MAX_PREVIEW_BYTES),
    responses={**REFUSALS, **TOO_LARGE},
)
async def preview_file(
    request: Request,
    who: Curator,
    engine: BulkEngine,
    asked: Annotated[LookAsked, Query()],
) -> FileLookOut:
    """Tell what the columns of a file hold, what is wrong with its lines, and what they change.

    Nothing is stored. Send the whole file; of CSV its beginning is enough, up to the end of a line.
    """
    async with received(request, rows=PREVIEW_ROWS + MOST_ABOVE) as path:
        look = await asyncio.to_thread(
            read_preview, path, fields_of(asked.fields), called(asked.name)
        )
    async with engine.begin() as connection:
        own = await own_fields(connection, who.tenant_id)
        check_own(asked.fields, own)
        lines = [(int(place.raw["line"]), read_line(place)) for place in look.found]
        known = await compare_with_known(connection, who.tenant_id, FILES, lines)
    return FileLookOut(
        columns=[
            FileColumnOut(
                heading=column.heading,
                field=column.field,
                examples=[*column.examples],
            )
            for column in look.columns
        ],
        fields=[*FIELDS, *own],
        rows=look.rows,
        places=look.places,
        duplicates=look.duplicates,
        problems=[problem_out(problem) for problem in look.problems],
        problems_count=look.problems_count,
        known_companies=known.lines,
        differences_count=len(known.differences),
        differences=[
            KnownDifferenceOut.model_validate(one)
            for one in known.differences[:MOST_DIFFERENCES]
        ],
    )


def read_line(place: FoundPlace) -> ImportedLine:
    """Read all that a row says, as the import will; nothing of it is kept."""
    return ImportedLine(place.source_place_id, file_facts(place.raw), origin="")


async def own_fields(connection: AsyncConnection, tenant_id: UUID) -> list[str]:
    """Name the tenant's own columns as fields of a file."""
    columns = await columns_of_own(connection, tenant_id)
    return [f"{OWN_FIELD}{name}" for name in columns]


def check_own(asked: list[str], own: list[str]) -> None:
    """Refuse a column of one's own that there is not."""
    for field in asked:
        if field.startswith(OWN_FIELD) and field not in own:
            raise InvalidDecision(
                f"You have no column '{field}'.",
                hint="List yours: GET /api/v3/company-columns.",
            )


def called(name: str | None) -> str:
    """Return what a file is called: what its ids belong to."""
    return re.sub(r"\s+", " ", name or "").strip() or "file"


def fields_of(asked: list[str]) -> list[str]:
    """Return the field of each column, empty for none."""
    return ["" if field == NO_FIELD else field for field in asked]


def problem_out(problem: RowProblem) -> LineProblem:
    """Write what is wrong with a line."""
    return LineProblem.model_validate(said_of(problem))


@router.post(
    f"{PATH}/file",
    operation_id="import_file",
    summary="Import a business list",
    status_code=201,
    dependencies=[large_body(MAX_FILE_BYTES)],
    openapi_extra=file_of(MAX_FILE_BYTES),
    responses={**REFUSALS, **TOO_LARGE},
)
async def import_file(
    request: Request,
    who: Curator,
    engine: BulkEngine,
    asked: Annotated[ImportFileAsked, Query()],
) -> ImportStarted:
    """Keep a file, and queue the search that makes places of its rows.

    Every line that is not a place is listed in the search's `problems`. The file is read by
    whichever process works on searches, on any host.
    """
    name = f"{UPLOADS}/{who.tenant_id}/{uuid4().hex}.csv"
    title = called(asked.name)
    search = SearchIn(source=FILES, file=name, dataset=title, location=title)
    row = row_of(search)
    row["params"][REPLACES_KNOWN] = asked.replaces_known
    async with received(request) as path:
        renamed = path.with_suffix(".csv")
        row["params"][HEADINGS] = await asyncio.to_thread(
            store_renamed, path, renamed, fields_of(asked.fields)
        )
        async with engine.begin() as connection:
            actor = actor_of(who, request)
            check_own(asked.fields, await own_fields(connection, actor.tenant_id))
            await store_upload(connection, actor.tenant_id, name, renamed)
            search_id = await queue_search(connection, actor, row)
    return ImportStarted(search_id=search_id)


@asynccontextmanager
async def received(request: Request, rows: int = MAX_ROWS) -> AsyncIterator[Path]:
    """Receive the body as a file, for the time of the block."""
    with TemporaryDirectory(prefix="scrapersky-") as folder:
        path = Path(folder) / "upload"
        with path.open("wb") as file:
            async for part in unpacked(request.stream(), rows):
                await asyncio.to_thread(file.write, part)
        yield path
