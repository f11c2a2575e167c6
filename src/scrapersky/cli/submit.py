"""`scrapersky submit`."""

import csv
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.cli.operator import operator
from scrapersky.cli.pipeline import default_tenant
from scrapersky.cli.stages import on_database
from scrapersky.configuration import load_settings
from scrapersky.curation.batch import Submitted
from scrapersky.curation.batch import submit as submit_lines
from scrapersky.errors import ConfigurationError
from scrapersky.kit.plain_text import plain_text
from scrapersky.privacy.key import hand_out_keys
from scrapersky.settings import SYSTEM_USER_ID

HEADINGS = {"domain", "domains", "url", "urls", "website", "sitemap", "page", "link"}
SHOWN = 20


def submit(
    file: Path,
    *,
    kind: Literal["domains", "sitemaps", "pages"] = "domains",
    priority: int = 0,
) -> int:
    """Submit a list and print what became of every line."""

    async def act(engine: AsyncEngine) -> Submitted:
        await hand_out_keys(engine, **load_settings().settings.suppression_secrets)
        actor = operator(await default_tenant(engine), SYSTEM_USER_ID)
        return await submit_lines(
            engine, actor, kind, lines_of(file), name=file.name, priority=priority
        )

    done: Submitted = on_database(act)
    print(
        f"Batch {done.batch_id}: {done.accepted} accepted, {done.duplicates} already in "
        f"your list, {done.refused} refused."
    )
    for number, written, why in done.refusals[:SHOWN]:
        print(f"  line {number}: {written[:60]!r}: {plain_text(why)}", file=sys.stderr)
    return 1 if done.accepted + done.duplicates == 0 else 0


def lines_of(file: Path) -> Iterator[str]:
    """Yield the domains or URLs of a file, whatever editor wrote it."""
    try:
        if str(file) == "-":
            yield from values_of(sys.stdin)
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
