"""`scrapersky export`."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, BinaryIO, get_args

from cyclopts import Parameter
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.api.records.export import export_bytes, read_export
from scrapersky.api.records.list_query import DEFAULT_SORT, ListQuery, read_sort
from scrapersky.api.records.query import read_filters
from scrapersky.api.records.schema import ExportFormat
from scrapersky.cli.options import AsJson, PathOrStream
from scrapersky.cli.pipeline import default_tenant
from scrapersky.cli.stages import on_database
from scrapersky.cli.table import print_done
from scrapersky.configuration import load_settings
from scrapersky.errors import ConfigurationError
from scrapersky.export.contacts import STANDARD_OUTPUT
from scrapersky.kit.private_file import appearing_whole
from scrapersky.privacy.key import load_suppression_keys
from scrapersky.records import CURATED, kind_named
from scrapersky.records.people import PEOPLE

Several = Annotated[list[str], Parameter(negative=())]
EXPORTED = {**CURATED, PEOPLE.name: PEOPLE}
ExportedKind = Annotated[str, Parameter(help=f"What to write: {', '.join(EXPORTED)}.")]


def export(
    kind: ExportedKind = "contacts",
    *,
    out: PathOrStream | None = None,
    filter: Several | None = None,  # noqa: A002 - as the API calls it
    q: str | None = None,
    sort: str = DEFAULT_SORT,
    columns: str = "",
    preset: str = "",
    json: AsJson = False,
) -> int:
    """Write contacts, or any other list, to a CSV, Excel or JSON lines file.

    `scrapersky export contacts --preset hubspot --out leads.csv` writes what HubSpot reads.
    Filters are those of the API; who is on the suppression list is left out.

    Parameters
    ----------
    kind
        What to write.
    out
        The file; its ending says the form: .csv, .xlsx or .jsonl. - is standard output,
        as CSV. Without it, KIND.csv.
    filter
        Only what satisfies it: FIELD:COMPARISON:VALUE, as in the API. May be repeated.
    q
        Only what has all these words.
    sort
        A field to sort by; with - before it the other way round.
    columns
        The columns to write, separated by commas.
    preset
        The columns of a CRM: hubspot, salesforce, pipedrive, mailchimp, zoho or
        google-contacts.
    """
    path = out or Path(f"{kind}.csv")
    form = form_of(path)
    resource = kind_named(kind, EXPORTED)
    plan = read_export(resource, form, columns, preset)

    async def act(engine: AsyncEngine) -> None:
        await load_suppression_keys(
            engine, **load_settings().settings.suppression_secrets
        )
        list_query = ListQuery(
            tenant_id=await default_tenant(engine),
            conditions=read_filters(filter or []),
            words=q,
            sort=read_sort(resource, sort),
        )
        await write_to(path, await export_bytes(engine, resource, list_query, plan))

    on_database(act)
    if str(path) != STANDARD_OUTPUT:
        facts = {"file": path, "bytes": path.stat().st_size}
        print_done(f"Written to {path}.", facts, as_json=json)
    return 0


def form_of(path: Path) -> ExportFormat:
    """Return the form that a file's name asks for."""
    for form in get_args(ExportFormat):
        if path.suffix == f".{form}":
            found: ExportFormat = form
            return found
    if str(path) == STANDARD_OUTPUT:
        return "csv"
    raise ConfigurationError(
        f"{path} does not say in which form to write.",
        hint="Let its name end in .csv, .xlsx or .jsonl.",
    )


async def write_to(path: Path, parts: AsyncIterator[bytes]) -> None:
    """Write to a file, or to standard output."""
    if str(path) == STANDARD_OUTPUT:
        await write(parts, sys.stdout.buffer)
    else:
        await write_file(parts, path)


async def write_file(parts: AsyncIterator[bytes], path: Path) -> None:
    """Write a file that appears whole or not at all."""
    try:
        with appearing_whole(path) as file:
            await write(parts, file)
    except OSError as error:
        raise ConfigurationError(
            f"{path} cannot be written: {error.strerror}."
        ) from error


async def write(parts: AsyncIterator[bytes], file: BinaryIO) -> None:
    """Write the parts as they come."""
    async for part in parts:
        file.write(part)
