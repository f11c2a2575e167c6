"""`scrapersky replay`."""

import asyncio
import sys
from dataclasses import asdict
from typing import Final
from uuid import UUID

import orjson
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.cli.options import AsJson
from scrapersky.cli.pipeline import default_tenant
from scrapersky.cli.signals import SIGNALS, StopRequested
from scrapersky.cli.stages import on_database
from scrapersky.configuration import load_settings
from scrapersky.crawler import Sandbox
from scrapersky.kit.plain_text import plain_text
from scrapersky.observability.log import configure_logs
from scrapersky.pipeline.parsers import WARM
from scrapersky.privacy.key import load_suppression_keys
from scrapersky.proofs.difference import ReplayReport, ValueDifference
from scrapersky.proofs.replay import NOWHERE, Replayer

SAMPLES_SHOWN: Final = 20
LONGEST_SHOWN: Final = 50


def replay(
    *,
    apply: bool = False,
    everything: bool = False,
    sites: int | None = None,
    after: UUID = NOWHERE,
    samples: int = SAMPLES_SHOWN,
    json: AsJson = False,
) -> int:
    """Show what the present readers would change over the stored pages; nothing is fetched.

    With `--apply` it is settled as if the pages had just been fetched. What people wrote, brought
    and decided stays, and so does the suppression list. Stopped, it goes on where it was.

    Parameters
    ----------
    apply
        Store what is new and take back what is gone.
    everything
        Also pages that the present readers have read already.
    sites
        At most this many sites.
    after
        Go on after this site, as an earlier run has said.
    samples
        How many differences to show.
    """
    configure_logs("ERROR", "console")
    settings = load_settings().settings
    stopped: list[int] = []

    async def act(engine: AsyncEngine) -> ReplayReport:
        for number in SIGNALS:
            asyncio.get_running_loop().add_signal_handler(
                number, stopped.append, number
            )
        await load_suppression_keys(engine, **settings.suppression_secrets)
        async with Sandbox(warm=WARM) as sandbox:
            replayer = Replayer(
                engine,
                sandbox,
                await default_tenant(engine),
                settings.scheduler_system_user_id,
                applies=apply,
                everything=everything,
            )
            return await replayer.run(
                progress, after=after, most=sites, is_stopping=lambda: bool(stopped)
            )

    report: ReplayReport = on_database(act)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    if json:
        print(orjson.dumps(as_json(report)).decode())
    else:
        print(as_text(report, samples, applied=apply))
    if stopped:
        if not json:
            print(where_it_goes_on(report, applied=apply))
        raise StopRequested(stopped[0])
    return 0


def progress(report: ReplayReport) -> None:
    """Show how far it is, to whoever watches."""
    if sys.stderr.isatty():
        line = f"\r{report.sites:,} sites, {report.pages:,} pages"
        print(line, end="", file=sys.stderr, flush=True)


def where_it_goes_on(report: ReplayReport, *, applied: bool) -> str:
    """Say how to go on after a stop."""
    if applied or report.after is None:
        return "The same command goes on where it was stopped."
    return f"`--after {report.after}` goes on there."


def as_text(report: ReplayReport, samples: int, *, applied: bool) -> str:
    """Write the report for people."""
    share = (
        100 * (report.counts["gone"] + report.counts["changed"]) / max(report.values, 1)
    )
    head = (
        f"{report.sites:,} sites, {report.pages:,} pages read again, "
        f"{report.unreadable:,} unreadable; {report.values:,} values are stored of them."
    )
    lines = [
        head,
        ", ".join(
            f"{report.counts[kind]:,} {kind}" for kind in ("new", "gone", "changed")
        )
        + f": {share:.1f} % of what is stored goes or changes.",
        *(
            f"{count:>9,}  {name} {kind}"
            for (name, kind), count in sorted(report.fields.items())
        ),
        *map(line_of, report.samples[:samples]),
        "Applied." if applied else "Nothing is changed; `--apply` does it.",
    ]
    return "\n".join(lines)


def line_of(one: ValueDifference) -> str:
    """Write one difference."""
    shown = {
        "new": f"+ {one.after}",
        "gone": f"- {one.before}",
        "changed": f"{one.before} -> {one.after}",
    }[one.kind]
    return plain_text(f"{one.key}, {one.field}: {shown[:LONGEST_SHOWN]} ({one.url})")


def as_json(report: ReplayReport) -> dict[str, object]:
    """Write the report for programs."""
    return {
        "sites": report.sites,
        "pages": report.pages,
        "unreadable": report.unreadable,
        "values": report.values,
        **{kind: report.counts[kind] for kind in ("new", "gone", "changed")},
        "after": str(report.after) if report.after else None,
        "samples": [asdict(one) | {"kind": one.kind} for one in report.samples],
    }
