"""`scrapersky verify`."""

import sys
from pathlib import Path
from typing import Final

import orjson
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.cli.options import AsJson
from scrapersky.cli.pipeline import default_tenant
from scrapersky.cli.stages import on_database
from scrapersky.crawler import Sandbox
from scrapersky.kit.plain_text import plain_text
from scrapersky.observability.log import configure_logs
from scrapersky.pipeline.parsers import WARM
from scrapersky.proofs.outcome import DoubtfulValue, ProofVerdict, VerificationReport
from scrapersky.proofs.verification import Verifier, verify_file

DOUBTS_SHOWN: Final = 20
LONGEST_SHOWN: Final = 60


def verify(file: Path, *, all: bool = False, json: AsJson = False) -> int:  # noqa: A002
    """Derive every value of an exported file again from the stored pages, offline.

    Reports each value that does not follow from its page, and which have no page behind them: from
    a place source, imported, written by hand. Exit code 1 if any value is false, or if a stored
    page is not what was read, whether or not others say the same.

    Parameters
    ----------
    file
        Contacts or companies as they were exported: .csv, .xlsx or .jsonl, with the column `proof`.
    all
        Show every value in doubt, not only the first 20.
    """
    configure_logs("ERROR", "console")

    async def act(engine: AsyncEngine) -> VerificationReport:
        async with Sandbox(warm=WARM) as sandbox:
            verifier = Verifier(engine, sandbox, await default_tenant(engine))
            return await verify_file(file, verifier, progress)

    report: VerificationReport = on_database(act)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    print(orjson.dumps(as_json(report)).decode() if json else as_text(report, all=all))
    return 0 if report.is_sound else 1


def progress(report: VerificationReport) -> None:
    """Show how far it is, to whoever watches."""
    if sys.stderr.isatty():
        print(f"\r{report.rows:,} rows", end="", file=sys.stderr, flush=True)


def as_text(report: VerificationReport, *, all: bool) -> str:  # noqa: A002 - as the option
    """Write the report for people."""
    head = f"{report.rows:,} rows, {report.values:,} values, {report.pages:,} pages read again."
    counts = [
        f"{report.counts[verdict]:>9,}  {verdict}"
        for verdict in ProofVerdict
        if report.counts[verdict]
    ]
    shown = report.doubts if all else report.doubts[:DOUBTS_SHOWN]
    doubts = [line_of(one) for one in shown]
    if len(report.doubts) > len(shown):
        doubts.append(f"... {len(report.doubts) - len(shown)} more: --all")
    end = (
        f"{report.false:,} values are FALSE." if report.false else "No value is false."
    )
    if report.open:
        end += f" {report.open:,} cannot be decided."
    if report.damaged:
        end += f" Stored pages that are NOT what was read: {len(report.damaged):,}."
    return "\n".join([head, *counts, *doubts, end])


def line_of(one: DoubtfulValue) -> str:
    """Write one value in doubt."""
    value = plain_text(one.value)[:LONGEST_SHOWN]
    why = f" ({plain_text(one.judgement.why)})" if one.judgement.why else ""
    return f"row {one.row}, {one.column}: {value}: {one.judgement.verdict}{why}"


def as_json(report: VerificationReport) -> dict[str, object]:
    """Write the report for programs."""
    return {
        "rows": report.rows,
        "values": report.values,
        "pages": report.pages,
        "false": report.false,
        "open": report.open,
        "damaged": sorted(digest.hex() for digest in report.damaged),
        "counts": {one.name.lower(): report.counts[one] for one in ProofVerdict},
        "doubts": [
            {
                "row": one.row, "column": one.column, "value": one.value,
                "verdict": one.judgement.verdict.name.lower(), "why": one.judgement.why,
            }
            for one in report.doubts
        ],
    }  # fmt: skip
