"""`scrapersky submit`."""

import csv
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.cli.operator import operator
from scrapersky.cli.options import AsJson, PathOrStream
from scrapersky.cli.pipeline import default_tenant
from scrapersky.cli.stages import on_database
from scrapersky.cli.table import print_json
from scrapersky.configuration import load_settings
from scrapersky.curation.batch import SubmissionResult
from scrapersky.curation.batch import submit as submit_lines
from scrapersky.errors import ConfigurationError
from scrapersky.kit.plain_text import plain_text
from scrapersky.privacy.key import load_suppression_keys
from scrapersky.settings import SYSTEM_USER_ID

HEADINGS = {"domain", "domains", "url", "urls", "website", "sitemap", "page", "link"}
SHOWN_REFUSALS = 20


def submit(
    file: PathOrStream,
    *,
    kind: Literal["domains", "sitemaps", "pages"] = "domains",
    priority: Annotated[int, Parameter(validator=Number(gte=-1000, lte=1000))] = 0,
    json: AsJson = False,
) -> int:
    """Submit a list of domains, sitemaps or pages.

    A line that is invalid or already in your list is reported; the others still go through.

    Parameters
    ----------
    file
        A text file with one domain or URL a line, or a CSV whose first row names the
        column (domain, url, website ...); - reads standard input.
    kind
        What the lines are.
    priority
        New records of a higher priority are taken first, from -1000 to 1000.
    """

    async def act(engine: AsyncEngine) -> SubmissionResult:
        await load_suppression_keys(
            engine, **load_settings().settings.suppression_secrets
        )
        actor = operator(await default_tenant(engine), SYSTEM_USER_ID)
        return await submit_lines(
            engine, actor, kind, lines_of(file), name=file.name, priority=priority
        )

    done: SubmissionResult = on_database(act)
    if json:
        refusals = [
            {"line": number, "value": written, "why": why}
            for number, written, why in done.refusals
        ]
        print_json(
            {
                "batch_id": done.batch_id,
                "accepted": done.accepted,
                "duplicates": done.duplicates,
                "refused": done.refused,
                "refusals": refusals,
            }
        )
        return code_of(done)
    print(
        f"Batch {done.batch_id}: {done.accepted} accepted, {done.duplicates} already in "
        f"your list, {done.refused} refused."
    )
    for number, written, why in done.refusals[:SHOWN_REFUSALS]:
        print(f"  line {number}: {written[:60]!r}: {plain_text(why)}", file=sys.stderr)
    return code_of(done)


def code_of(done: SubmissionResult) -> int:
    """Say whether any line went through."""
    if done.accepted + done.duplicates > 0:
        return 0
    if not done.refused:
        print(
            "Nothing was in it.\nWhat to do: one domain, sitemap or page on each line.",
            file=sys.stderr,
        )
    return 1


def lines_of(file: Path) -> Iterator[str]:
    """Yield the domains or URLs of a file, whatever editor wrote it."""
    try:
        if str(file) == "-":
            yield from values_of(sys.stdin or ())  # a closed one is None
            return
        with file.open(newline="", encoding="utf-8-sig", errors="replace") as opened:
            yield from values_of(opened)
    except OSError as error:
        raise ConfigurationError(f"{file} cannot be read: {error.strerror}.") from error


def values_of(opened: object) -> Iterator[str]:
    """Yield one column of a CSV: the one its heading names, or the first."""
    column = 0
    rows = csv.reader(line.replace("\0", "") for line in opened)  # type: ignore[attr-defined]
    for number, row in enumerate(rows):
        if number == 0:
            named = [
                i for i, cell in enumerate(row) if cell.strip().lower() in HEADINGS
            ]
            if named:
                column = named[0]
                continue
        if len(row) > column and row[column].strip():
            yield row[column]
