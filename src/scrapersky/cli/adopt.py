"""`scrapersky adopt`."""

import csv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.adopt.adoption import Adoption
from scrapersky.adopt.old_database import open_old_database
from scrapersky.adopt.report import (
    ROW_FATES,
    AdoptionReport,
    ReportLine,
    ignore_line,
)
from scrapersky.cli.operator import operator
from scrapersky.cli.options import TenantName
from scrapersky.cli.table import PlainTable, print_table
from scrapersky.cli.up import say
from scrapersky.cli.user import on_database, tenant_named
from scrapersky.configuration import load_settings
from scrapersky.db.connection import Target, parse_target
from scrapersky.db.transaction import Database
from scrapersky.errors import ConfigurationError
from scrapersky.kit.plain_text import plain_text
from scrapersky.privacy.key import load_suppression_keys
from scrapersky.records.audit import note

PROGRESS_ROWS = 10_000
PATIENT = text("SET LOCAL idle_in_transaction_session_timeout = 0")


def adopt(
    url: str,
    *,
    dry_run: bool = False,
    tenant: TenantName = None,
    report: Path | None = None,
) -> int:
    """Adopt the records of the system before this one from its database.

    Reads its tables, changes nothing there, and says of every row what became of it. Rows that
    were in work wait again. If it is stopped, run it again: nothing is stored twice.

    Parameters
    ----------
    url
        The old database: postgresql://user:password@host/database.
    dry_run
        Report what would become of every row, and store nothing.
    report
        A CSV file for every line of the report; the terminal shows examples.
    """
    old = parse_target(url)
    with report_file(report) as keep:
        done: AdoptionReport = on_database(
            lambda engine: adopted(engine, old, tenant, keep, dry_run=dry_run)
        )
    show_report(done)
    if dry_run:
        print("Nothing was stored: this was a dry run.")
    return 1 if done.skipped else 0


async def adopted(
    engine: AsyncEngine,
    old: Target,
    tenant: str | None,
    keep: Callable[[ReportLine], None],
    *,
    dry_run: bool,
) -> AdoptionReport:
    """Adopt an old database; for a dry run all of it is done, and taken back."""
    async with engine.connect() as connection:
        tenant_id = (await tenant_named(connection, tenant)).id
    await load_suppression_keys(engine, **load_settings().settings.suppression_secrets)
    report = AdoptionReport(keep)
    if dry_run:
        async with engine.connect() as connection:
            await connection.execute(PATIENT)
            await adopt_into(connection, old, tenant_id, report)
            await connection.rollback()
        return report
    await adopt_into(engine, old, tenant_id, report)
    async with engine.begin() as connection:
        counts = {
            f"{table} {fate}": count for (table, fate), count in report.rows.items()
        }
        await note(connection, operator(tenant_id), "adopted", "old database", counts)
    return report


async def adopt_into(
    database: Database, old: Target, tenant_id: UUID, report: AdoptionReport
) -> None:
    """Read an old database into a tenant."""
    settings = load_settings().settings
    async with open_old_database(old) as opened:
        adoption = Adoption(
            database,
            tenant_id,
            settings.scheduler_system_user_id,
            timedelta(days=settings.google_content_days),
            report,
            tell_progress,
        )
        await adoption.adopt(opened)


def tell_progress(table: str, rows: int) -> None:
    """Say how far a table is read."""
    if rows % PROGRESS_ROWS == 0:
        say(f"{table}: {rows:,} rows")


@contextmanager
def report_file(path: Path | None) -> Iterator[Callable[[ReportLine], None]]:
    """Keep every line of the report in a CSV file, if one is asked for."""
    if path is None:
        yield ignore_line
        return
    try:
        opened = path.open("w", newline="", encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(
            f"{path} cannot be written: {error.strerror}."
        ) from error
    with opened:
        lines = csv.writer(opened)
        lines.writerow(ReportLine._fields)

        def keep(line: ReportLine) -> None:
            lines.writerow([plain_text(cell) for cell in line])

        yield keep


def show_report(report: AdoptionReport) -> None:
    """Print what became of the rows, why, and what is not there at all."""
    table = PlainTable("table", "read", *ROW_FATES)
    for name, read in report.read.items():
        counts = (report.rows[name, fate] for fate in ROW_FATES)
        table.add_row(name, f"{read:,}", *(f"{count:,}" for count in counts))
    print_table(table, whole=("table",))
    if report.reasons:
        table = PlainTable("table", "column", "rows", "became", "reason", "such as")
        for reason, count in sorted(report.reasons.items()):
            name, column, fate, why = reason
            examples = ", ".join(report.examples.get(reason, ()))
            table.add_row(name, column, f"{count:,}", fate, why, examples)
        print_table(table, whole=("table", "column", "became", "reason"))
    for remark in report.remarks:
        print(plain_text(remark))
    for name, why in report.skipped.items():
        print(f"{name}: nothing of it is adopted, because {plain_text(why)}.")
