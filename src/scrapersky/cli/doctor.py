"""`scrapersky doctor`."""

import asyncio
import os
import shutil
import stat
from collections.abc import AsyncIterator, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
from rich.text import Text
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.api.auth.secret import weak_secret
from scrapersky.cli.database import a_database
from scrapersky.cli.options import AsJson
from scrapersky.cli.signals import raised_signals, run_stoppable, stop_on_signals
from scrapersky.cli.table import PlainTable, plain_console
from scrapersky.configuration import LoadedSettings, load_settings
from scrapersky.db.connection import Target, check_server, connect, explain_refusal
from scrapersky.db.roles import check_rights
from scrapersky.db.schema import check_schema
from scrapersky.errors import ScraperSkyError
from scrapersky.kit.clock import utc_now
from scrapersky.privacy.key import KeyExposure, count_exposed
from scrapersky.records import METADATA
from scrapersky.records.check import check_system_user, check_writing
from scrapersky.scheduler.alert import ActiveAlert, active_alerts
from scrapersky.scheduler.alert_monitor import SnapshotReader
from scrapersky.settings import Settings

MIN_DISK_BYTES = 1024**3
CLOCK_TOLERANCE = timedelta(seconds=5)
WATCH_SECONDS = 10.0
GROUP_OR_OTHERS = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one check found, and how to fix it."""

    check: str
    ok: bool
    found: str
    fix: str = ""
    warning: bool = False
    """Whether it works, but should be looked at."""


def doctor(*, json: AsJson = False, watch: bool = False) -> int:
    """Check what ScraperSky needs, and say how to fix it.

    Settings, data directory, disk, database, clock, rights, schema, system user. Changes nothing;
    exits with 1 if something is wrong. `--watch` goes on looking at the whole installation: stages
    that stall, workers that vanish, jobs that keep missing.

    Parameters
    ----------
    watch
        Look at the alerts every ten seconds instead, until Ctrl-C.
    """
    if watch:
        return watch_alerts(as_json=json)
    with raised_signals():
        findings = examine()
        show(findings, as_json=json)
    return 0 if findings and all(finding.ok for finding in findings) else 1


def examine() -> list[CheckResult]:
    """Make every check; one that cannot be made says why."""
    try:
        loaded = load_settings()
    except ScraperSkyError as error:
        return [ailing("settings", error)]
    findings = [settings_finding(loaded), *file_findings(loaded.settings)]
    try:
        with a_database(loaded.settings) as target:
            findings += run_stoppable(database_findings(target, loaded.settings))
    except ScraperSkyError as error:
        findings.append(ailing("database", error))
    return findings


def settings_finding(loaded: LoadedSettings) -> CheckResult:
    """Report how many settings were given, and which are no longer used."""
    if loaded.warnings:
        return CheckResult("settings", ok=True, found="; ".join(loaded.warnings))
    return CheckResult(
        "settings", ok=True, found=f"{len(loaded.origins)} given, all valid"
    )


def file_findings(settings: Settings) -> Iterator[CheckResult]:
    """Check the data directory: free space, and who may enter it."""
    existing = settings.data_dir
    while not existing.exists():
        existing = existing.parent
    free = shutil.disk_usage(existing).free
    yield CheckResult(
        "disk",
        ok=free >= MIN_DISK_BYTES,
        found=f"{free / 1024**3:.1f} GiB free for {settings.data_dir}",
        fix="Free some space, or move SCRAPERSKY_DATA_DIR to a larger disk.",
    )
    if settings.database_url is None:
        yield permission_finding(settings.data_dir)


def permission_finding(home: Path) -> CheckResult:
    """Check that nobody else can read the embedded database."""
    open_to_others = [
        str(path)
        for path in (home / "postgres", home / "run")
        if path.exists() and path.stat().st_mode & GROUP_OR_OTHERS
    ]
    if open_to_others:
        return CheckResult(
            "permissions",
            ok=False,
            found=f"{', '.join(open_to_others)} can be entered by others",
            fix=f"chmod 700 {' '.join(open_to_others)}",
        )
    existing = home if home.exists() else home.parent
    if existing.exists() and not os.access(existing, os.W_OK):
        return CheckResult(
            "permissions",
            ok=False,
            found=f"{existing} is not writable",
            fix="Make it writable for you, or choose another SCRAPERSKY_DATA_DIR.",
        )
    return CheckResult("permissions", ok=True, found=f"{home} is closed to others")


async def database_findings(target: Target, settings: Settings) -> list[CheckResult]:
    """Check the database from the outside in; stop at the first that is wrong."""
    engine = connect(target, name="scrapersky-doctor", pool_size=1)
    findings = []
    try:
        async for finding in look_inside(engine, settings):
            findings.append(finding)  # noqa: PERF401 - those before a failure count
    except ScraperSkyError as error:
        findings.append(ailing(CHECKS[len(findings)], error))
    finally:
        await engine.dispose()
    return findings


CHECKS = (
    "database",
    "clock",
    "rights",
    "migrations",
    "system user",
    "writing",
    "suppression list",
)


async def look_inside(
    engine: AsyncEngine, settings: Settings
) -> AsyncIterator[CheckResult]:
    """Yield a finding for each of CHECKS, in that order; raise at what is wrong."""
    await check_server(engine)
    async with engine.connect() as connection:
        version = await connection.scalar(text("SHOW server_version"))
        theirs = await connection.scalar(text("SELECT clock_timestamp()"))
        user = await connection.scalar(text("SELECT current_user"))
    yield CheckResult(
        "database", ok=True, found=f"PostgreSQL {version} at {address_of(engine)}"
    )
    yield clock_finding(theirs)
    await check_rights(engine, *METADATA)
    yield CheckResult("rights", ok=True, found=f"{user} may do what our processes do")
    await check_schema(engine, *METADATA)
    yield CheckResult("migrations", ok=True, found="code and database agree")
    await check_system_user(engine, settings.scheduler_system_user_id)
    yield CheckResult(
        "system user", ok=True, found=str(settings.scheduler_system_user_id)
    )
    await check_writing(engine)
    yield CheckResult("writing", ok=True, found="a row was written, and taken back")
    async with engine.connect() as connection:
        yield list_finding(
            settings,
            await count_exposed(
                connection, settings.suppression_key, settings.suppression_other_keys
            ),
        )


def list_finding(settings: Settings, list_: KeyExposure) -> CheckResult:
    """Say whether a copy of the database would reveal who asked to be left alone.

    On a laptop nobody else has such a copy; a server's is in its backups.
    """
    weak = [*weak_secret("SUPPRESSION_KEY", settings.suppression_key)]
    has_copies = settings.environment.is_deployed or settings.database_url is not None
    entries = f"{list_.entries:,} entries"
    if settings.suppression_key is None:
        return CheckResult(
            "suppression list",
            ok=True,
            found=f"{entries}; SUPPRESSION_KEY is not set: the key lies in the database",
            fix="Set SUPPRESSION_KEY (32 random characters or more, the same for every "
            "process) before the list grows: whoever has a backup could find out who is "
            "on it.",
            warning=has_copies,
        )
    if weak:
        return CheckResult(
            "suppression list",
            ok=True,
            found=f"{entries}; {weak[0]}",
            fix="Choose a random one. Once the list has entries, keep the old one among "
            "SUPPRESSION_OTHER_KEYS: docs/how-to/rotate-secrets.md has the steps.",
            warning=True,
        )
    if list_.readable:
        return CheckResult(
            "suppression list",
            ok=True,
            found=f"{entries}; {list_.readable:,} of them from before SUPPRESSION_KEY, "
            "under a key in the database",
            fix="They stay readable to whoever has a copy: keep old backups as safe as "
            "the list itself.",
            warning=has_copies,
        )
    return CheckResult(
        "suppression list", ok=True, found=f"{entries}; the key is kept outside"
    )


def clock_finding(theirs: datetime) -> CheckResult:
    """Compare the clocks; only the database's decides, ours is for people."""
    apart = abs(datetime.now(UTC) - theirs)  # noqa: TID251 - this clock is what is checked
    return CheckResult(
        "clock",
        ok=apart <= CLOCK_TOLERANCE,
        found=f"{apart.total_seconds():.1f} s from the database's",
        fix="Let both machines keep time (NTP). Work stays correct meanwhile.",
    )


def address_of(engine: AsyncEngine) -> str:
    """Write where the database is, without its password."""
    return engine.url.set(drivername="postgresql").render_as_string()


def ailing(check: str, error: ScraperSkyError) -> CheckResult:
    """Turn an error into a finding."""
    return CheckResult(check, ok=False, found=str(error), fix=error.hint or "")


def show(findings: list[CheckResult], *, as_json: bool) -> None:
    """Print the findings."""
    if as_json:
        print(orjson.dumps([asdict(found) for found in findings]).decode())
        return
    table = PlainTable("", "check", "found", "what to do")
    for finding in findings:
        mark = Text("ok", "green") if finding.ok else Text("no", "red")
        if finding.ok and finding.warning:
            mark = Text("!", "yellow")
        fix = finding.fix if finding.warning or not finding.ok else ""
        table.add_row(mark, finding.check, finding.found, fix)
    plain_console().print(table)


def watch_alerts(*, as_json: bool) -> int:
    """Print what is wrong with the installation whenever that changes."""
    settings = load_settings().settings
    with stop_on_signals(), a_database(settings) as target:
        run_stoppable(keep_watching(target, settings, as_json=as_json))
    return 0


async def keep_watching(target: Target, settings: Settings, *, as_json: bool) -> None:
    """Look again and again; a database that goes away is one of the active_alerts."""
    engine = connect(target, name="scrapersky-doctor", pool_size=1)
    reader, before = SnapshotReader(engine, settings), None
    try:
        while True:
            found = await trouble_now(reader)
            if found != before:
                show_troubles(found, as_json=as_json)
            before = found
            await asyncio.sleep(WATCH_SECONDS)
    finally:
        await engine.dispose()


async def trouble_now(reader: SnapshotReader) -> list[ActiveAlert]:
    """Return everything that is wrong now."""
    try:
        return active_alerts(await reader.read())
    except (SQLAlchemyError, OSError) as error:
        problem = explain_refusal(error, address_of(reader.engine))
        advice = problem.hint or "`scrapersky doctor` says more."
        return [ActiveAlert("database", "database", str(problem), advice)]


def show_troubles(found: list[ActiveAlert], *, as_json: bool) -> None:
    """Print what is wrong at this moment."""
    at = utc_now().isoformat(timespec="seconds")
    if as_json:
        listed = [asdict(alert) for alert in found]
        print(orjson.dumps({"at": at, "alerts": listed}).decode(), flush=True)
        return
    if not found:
        print(f"{at}  nothing is wrong", flush=True)
        return
    table = PlainTable("rule", "about", "what", "what to do", title=at)
    for alert in found:
        table.add_row(alert.rule, alert.subject, alert.summary, alert.advice)
    plain_console().print(table)
