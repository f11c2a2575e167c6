"""What looks after the database and the installation."""

from pathlib import Path
from uuid import UUID

from scrapersky.cli.commands.options import AsJson, TenantName
from scrapersky.cli.garbage import without_collector
from scrapersky.errors import ConfigurationError


def migrate(
    *, to: str | None = None, check: bool = False, json: AsJson = False
) -> None:
    """Bring the database to the schema this version needs, or back to that of a release.

    `scrapersky up` does this by itself on the embedded database; on any other this is a step of
    its own, before new processes start. Many may do it at once, and it is all or nothing.

    Parameters
    ----------
    to
        An older release, such as 0.3.0, or a revision: what came after it is undone. Stop all
        processes first, and back up: what the older schema has no place for is lost.
    check
        With `--to`: say what would be undone and lost, and leave everything as it is.
    """
    if to is not None:
        with without_collector():
            from scrapersky.cli.way_back import go_back

        return go_back(to, check=check, json=json)
    if check:
        raise ConfigurationError(
            "`migrate --check` needs `--to`.",
            hint="`scrapersky upgrade --check` says what migrating would do.",
        )
    with without_collector():
        from scrapersky.cli.migrate import migrate as work

    return work(json=json)


def upgrade(*, check: bool = False, json: AsJson = False) -> int:
    """Report what migrating would do (`--check`), or do it.

    Which revisions are missing, which tables they touch and how large those are, and the free disk.
    `--check` changes nothing and exits with 1 if something is missing.

    Parameters
    ----------
    check
        Print what would change and change nothing; exits with 1 if anything would.
    """
    with without_collector():
        from scrapersky.cli.upgrade import upgrade as work

    return work(check=check, json=json)


def backup(file: Path) -> None:
    """Write the whole database and the files to import into one file, while everything goes on.

    It is one snapshot, signed with the key of this installation. `SUPPRESSION_KEY` is not in
    it, and neither are logins.

    Parameters
    ----------
    file
        Where to; one that is there is replaced once the new one is whole.
    """
    with without_collector():
        from scrapersky.cli.backup import backup as work

    work(file)


def restore(file: Path, *, replace: bool = False, trust: bool = False) -> None:
    """Put a backup into the database that the settings name.

    All of it or nothing. Processes must be stopped; what was erased since the backup is
    erased again. A backup that was not signed with the key of this installation is refused.

    Parameters
    ----------
    file
        The backup.
    replace
        Replace what is in the database. What was erased since the backup is erased again.
    trust
        Restore a backup that is not signed, or with another key. Nothing in it can run a
        program, but whoever made it decides what the database holds and who may log in.
    """
    with without_collector():
        from scrapersky.cli.backup import restore as work

    work(file, replace=replace, trust=trust)


def move(url: str, *, replace: bool = False) -> None:
    """Copy the whole database to another PostgreSQL, such as from the embedded one to a server.

    `scrapersky move postgresql://user:password@host/scrapersky` in one step; the old one stays.

    Parameters
    ----------
    url
        Where to: postgresql://user:password@host/database, empty.
    replace
        Replace what ScraperSky has in that database, such as an earlier copy.
    """
    with without_collector():
        from scrapersky.cli.backup import move as work

    work(url, replace=replace)


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
    with without_collector():
        from scrapersky.cli.adopt import adopt as work

    return work(url, dry_run=dry_run, tenant=tenant, report=report)


def roles(
    *,
    app: str | None = None,
    reader: str | None = None,
    tenant: UUID | None = None,
    apply: bool = False,
) -> None:
    """Print the SQL for database users who own nothing: our processes, and reports.

    The owner of the tables migrates; the API and the workers can connect as a user who may change
    rows and nothing else, reports as one who may read records. Neither needs to be a superuser or
    to bypass row-level security. Without names it is printed for `scrapersky_app` and
    `scrapersky_reader`.

    Parameters
    ----------
    app
        The user of the API and the workers.
    reader
        The user of reports.
    tenant
        The only tenant whose records the reader sees (`scrapersky tenant list`); all without.
    apply
        Run the owner's part now, as the user of DATABASE_URL, instead of printing.
    """
    with without_collector():
        from scrapersky.cli.roles import roles as work

    work(app=app, reader=reader, tenant=tenant, apply=apply)


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
    with without_collector():
        from scrapersky.cli.doctor import doctor as work

    return work(json=json, watch=watch)


def config(
    *,
    json: bool = False,
    example: bool = False,
    changed: bool = False,
    all: bool = False,  # noqa: A002 - the name of the option
) -> None:
    """Print the settings with their values and origins.

    Secrets are masked. What was changed while ScraperSky runs (`scrapersky stages set`, the
    page) beats the environment, which beats `.env`, which beats the default.

    Parameters
    ----------
    json
        Print every setting as JSON.
    example
        Print a `.env` file with every setting and its default instead.
    changed
        Print only what differs from the default.
    all
        Print the settings for fine tuning too.
    """
    # Every stage says what its settings are, so that they load what stages need.
    with without_collector():
        from scrapersky.cli.config import config as work

    work(json=json, example=example, changed=changed, every=all)


def score_sites(
    directory: Path,
    *,
    quick: bool = False,
    only: str | None = None,
    misses: int = 20,
    out: Path | None = None,
) -> int:
    """Measure the whole pipeline on annotated websites.

    Serves a directory of sites on this machine's loopback, submits their domains, and compares what
    is stored in the end with the truth: shares by kind, every miss, one line of JSON. The format is
    explained in docs/explanation/real-sites.md.

    Parameters
    ----------
    directory
        Holds `truth.jsonl` and one directory a site.
    quick
        Measure a few sites only, evenly spread over the list.
    only
        Measure only the sites of this comma-separated list.
    misses
        How many misses of each kind to list.
    out
        A JSON file for what was stored and every miss, by site.
    """
    with without_collector():
        from scrapersky.cli.score_sites import score_sites as work

    return work(directory, quick=quick, only=only, misses=misses, out=out)
