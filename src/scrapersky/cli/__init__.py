"""The command line: one file a command, imported only when it is asked for."""

import sys
from difflib import get_close_matches

from cyclopts import App, CycloptsError, Group, Parameter, UnknownCommandError
from cyclopts.exceptions import UnusedCliTokensError

from scrapersky.cli.garbage import without_collector
from scrapersky.errors import ConfigurationError, ScraperSkyError

FAILED = 1
MISUSED = 2

HELP = """\
Turn a search into verified business contacts, with the source of every value.

`scrapersky up` starts everything on this machine; nothing else is needed.
"""
EPILOGUE = """\
Exit codes: 0 done, 1 it could not be done (the message says why and what to do),
2 the command or a setting is wrong. Settings: docs/reference/settings.md.
"""

app = App(
    name="scrapersky",
    help=HELP,
    help_epilogue=EPILOGUE,
    help_format="markdown",
    version_flags=[],
    default_parameter=Parameter(negative=(), show_default=False),
)
run = Group("Run it", sort_key=1)
care = Group("Look after it", sort_key=2)

# Help stands here and not in the functions, so that `--help` imports none of them.
UP = """\
Start everything on this machine.

The embedded PostgreSQL is created on the first start, under your data directory or
`SCRAPERSKY_DATA_DIR`; `DATABASE_URL` selects another. Migrations are applied, the
application listens on `HOST`:`PORT` (127.0.0.1:8000). Ctrl-C stops all of it. `--workers N` works
the stages in N processes.
"""
MIGRATE = """\
Bring the database to the schema this version needs.

`scrapersky up` does this by itself on the embedded database; on any other this is a step of
its own, before new processes start. Many may do it at once, and it is all or nothing.
"""
UPGRADE = """\
Tell what migrating would do (`--check`), or do it.

Which revisions are missing, which tables they touch and how large those are, and the free disk.
`--check` changes nothing and exits with 1 if something is missing.
"""
DOCTOR = """\
Check what ScraperSky needs, and say how to fix it.

Settings, data directory, disk, database, clock, schema, system user. Changes nothing;
exits with 1 if something is wrong. `--watch` goes on looking at the whole installation: stages
that stall, workers that vanish, jobs that keep missing.
"""
BACKUP = """\
Write the whole database and the files to import into one file, while everything goes on.

It is one snapshot. `SUPPRESSION_KEY` is not in it, and neither are logins.
"""
RESTORE = """\
Put a backup into the database that the settings name.

All of it or nothing. Processes must be stopped; what was erased since the backup is erased again.
"""
MOVE = """\
Copy the whole database to another PostgreSQL, such as from the embedded one to a server.

`scrapersky move postgresql://user:password@host/scrapersky` in one step; the old one stays.
"""
CONFIG = """\
Print every setting with its value and its origin.

Secrets are masked. The environment beats `.env`, which beats the default.
"""
WORKER = """\
Run the stages and the scheduler, without the application.

As many as you like, on any number of hosts: they share the work through the database that
`DATABASE_URL` names. Ctrl-C finishes what is in hand and hands the rest back. How it stands is
served at `WORKER_HOST`:`WORKER_PORT` (`/metrics`, `/health/live`, `/health/ready`).
"""
SERVE = """\
Serve the API and the page, without the stages.

For a fleet: the stages run in `scrapersky worker`, here or on other hosts, on the database that
`DATABASE_URL` names. Restarting one disturbs no work in the other.
"""
WORKERS = """\
List the processes that serve and work: host, version, last sign of life, why one rests.

`scrapersky workers drain NAME` lets one finish what it has and claim nothing more;
`resume NAME` lets it claim again.
"""
RUN = """\
Search, follow every place to its contacts, and write them to a file.

`scrapersky run "dentists in Austin, TX"` does it all without a person. Ctrl-C keeps what is
done, and the same command goes on.
"""
DEMO = """\
Run the whole pipeline over a simulated town, and compare with the truth.

Business websites of many kinds on this machine's loopback; no internet, no key. The
application stays open on the result until Ctrl-C.
"""
STAGES = """\
Print depth, rate, oldest item, failures and pauses of every stage.

`scrapersky stages pause NAME` and `resume NAME` stop a stage and let it go on.
"""
DEAD_LETTERS = """\
List the items that failed for good; inspect, replay or discard them.
"""
SUBMIT = """\
Submit a list of domains, sitemaps or pages.

A line that is invalid or already in your list is reported; the others still go through.
"""
EXPORT = """\
Write contacts, or any other list, to a CSV, Excel or JSON lines file.

`scrapersky export contacts --preset hubspot --out leads.csv` writes what HubSpot reads.
Filters are those of the API; who is on the suppression list is left out.
"""
LEADS = """\
Write the lead list: one row per company, with whom to talk to and how.

`scrapersky leads --named-person --since 2026-11-01 --out leads.xlsx` writes companies first seen
since then of which a named person's e-mail is known. Who must not be contacted is left out.
"""
SCORE = """\
Measure contact extraction on annotated pages.

Prints precision, recall and F1 per label, micro and macro, how well the confidences hold, and
the list of misses; then how many contact pages are ranked among the first three of their site,
by address alone and with the texts of links. The format is explained in
docs/explanation/contacts.md, the ranking in docs/reference/page-types.md.
"""
SCORE_SITES = """\
Measure the whole pipeline on annotated websites.

Serves a directory of sites on this machine's loopback, submits their domains, and compares what
is stored in the end with the truth: shares by kind, every miss, one line of JSON. The format is
explained in docs/explanation/real-sites.md.
"""
DOCS = """\
Serve the documentation as a site with a search.

Tutorials, how-to guides, explanations, decisions, and a reference with the API and the SDK. Needs
a clone; `--build DIR` writes the site instead.
"""
USER = """\
Manage accounts: create, list, deactivate, set a password.

`scrapersky user create YOU@EXAMPLE.COM --role admin` creates the first administrator.
"""
TENANT = "Create and list tenants, each with its own data."
KEY = "Create an API key for a program."
VERSION = "Print the version of ScraperSky and of what it stands on."

app.command("scrapersky.cli.up:up", group=run, help=UP)
app.command("scrapersky.cli.demo:demo", group=run, help=DEMO)
app.command("scrapersky.cli.run:run", group=run, help=RUN)
app.command("scrapersky.cli.submit:submit", group=run, help=SUBMIT)
app.command("scrapersky.cli.export:export", group=run, help=EXPORT)
app.command("scrapersky.cli.leads:leads", group=run, help=LEADS)
app.command("scrapersky.cli.serve:serve", group=run, help=SERVE)
app.command("scrapersky.cli.worker:worker", group=run, help=WORKER)
app.command("scrapersky.cli.workers:workers", group=care, help=WORKERS)
app.command("scrapersky.cli.stages:stages", group=care, help=STAGES)
app.command(
    "scrapersky.cli.dead_letters:dead_letters", name="dead-letters", group=care,
    help=DEAD_LETTERS,
)  # fmt: skip
app.command("scrapersky.cli.user:user", group=care, help=USER)
app.command("scrapersky.cli.user:tenant", group=care, help=TENANT)
app.command("scrapersky.cli.user:key", group=care, help=KEY)
app.command("scrapersky.cli.migrate:migrate", group=care, help=MIGRATE)
app.command("scrapersky.cli.upgrade:upgrade", group=care, help=UPGRADE)
app.command("scrapersky.cli.backup:backup", group=care, help=BACKUP)
app.command("scrapersky.cli.backup:restore", group=care, help=RESTORE)
app.command("scrapersky.cli.backup:move", group=care, help=MOVE)
app.command("scrapersky.cli.doctor:doctor", group=care, help=DOCTOR)
app.command("scrapersky.cli.config:config", group=care, help=CONFIG)
app.command("scrapersky.cli.score:score", group=care, help=SCORE)
app.command(
    "scrapersky.cli.score_sites:score_sites", name="score-sites", group=care,
    help=SCORE_SITES,
)  # fmt: skip
app.command("scrapersky.cli.docs:docs", group=care, help=DOCS)
app.command("scrapersky.cli.version:version", group=care, help=VERSION)
app.register_install_completion_command(group=care)


def main() -> None:
    """Run the command line; every failure we foresaw is said in words."""
    try:
        with without_collector():
            command, given, _ = app.parse_args(exit_on_error=False, print_error=False)
        code = command(*given.args, **given.kwargs)
        sys.exit(code if isinstance(code, int) else 0)
    except UnknownCommandError as error:
        explain(unknown(error))
        sys.exit(MISUSED)
    except CycloptsError as error:
        explain(misused(error))
        sys.exit(MISUSED)
    except ConfigurationError as error:
        explain(error)
        sys.exit(MISUSED)
    except ScraperSkyError as error:
        explain(error)
        sys.exit(FAILED)
    except BrokenPipeError:
        # Whoever read our output has seen enough.
        sys.stderr.close()
        sys.exit(0)
    except Exception as error:
        known = database_failure(error)
        if known is None:
            raise
        explain(known)
        sys.exit(FAILED)


def database_failure(error: Exception) -> ScraperSkyError | None:
    """Say in words that the database went away or refused; None if it was not that."""
    from scrapersky.api.refusal import explain as explained  # noqa: PLC0415 - heavy

    return explained(error)


def unknown(error: UnknownCommandError) -> ConfigurationError:
    """Name the nearest command; Cyclopts would load every command to list them."""
    word = error.unused_tokens[0] if error.unused_tokens else ""
    names = [name for name in error.app or app if not name.startswith("-")]
    near = get_close_matches(word, names, n=1)
    meant = f" Did you mean {near[0]}?" if near else ""
    return ConfigurationError(
        f'There is no command "{word}".{meant}',
        hint=f"Commands: {', '.join(names)}. `scrapersky --help` explains them.",
    )


def misused(error: CycloptsError) -> ConfigurationError:
    """Say what is wrong with the words after the command."""
    said = str(error)
    if isinstance(error, UnusedCliTokensError):
        said = f"The command does not take these words: {' '.join(error.unused_tokens or ())}"
    return ConfigurationError(
        said, hint="`--help` after the command says what it takes."
    )


def explain(error: ScraperSkyError) -> None:
    """Say what happened and what to do, on standard error."""
    print(f"scrapersky: {error}", file=sys.stderr)
    if error.hint:
        print(f"What to do: {error.hint}", file=sys.stderr)
