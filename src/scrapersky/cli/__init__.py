"""The command line: one file a command, loaded only when it is run."""

import sys
from difflib import get_close_matches

from cyclopts import App, CycloptsError, Parameter, UnknownCommandError
from cyclopts.exceptions import UnusedCliTokensError

from contact_extraction.errors import ExtractionError
from scrapersky.cli.commands import accounts, running, upkeep
from scrapersky.cli.commands.dead_letters import dead_letters as dead_letter_commands
from scrapersky.cli.commands.options import CARE, RUN
from scrapersky.cli.commands.stages import stages as stage_commands
from scrapersky.cli.commands.workers import workers as worker_commands
from scrapersky.cli.garbage import without_collector
from scrapersky.cli.signals import StopRequested
from scrapersky.errors import ConfigurationError, SchemaMismatch, ScraperSkyError
from scrapersky.kit.plain_text import plain_lines

FAILED = 1
MISUSED = 2
SIGNALLED = 128
"""And the number of the signal, as shells say it."""
NOT_SET_UP = ("42P01", "42703", "42883", "3F000")
"""PostgreSQL's codes for a table, column, function or schema that is not there."""
NOT_LET_IN = ("28", "3D")
"""The classes of its codes for a user, a password or a database that is wrong."""
STOPPED = "Stopped before it was done. What is stored is whole; run it again to finish."

HELP = """\
Turn a search into verified business contacts, with the source of every value.

`scrapersky up` starts everything on this machine; nothing else is needed.
"""
EPILOGUE = """\
Exit codes: 0 done, 1 it could not be done (the message says why and what to do),
2 the command or a setting is wrong, 143 or 130 stopped by SIGTERM or Ctrl-C before it was
done (128 and the signal's number). Settings: docs/reference/settings.md.
"""

app = App(
    name="scrapersky",
    help=HELP,
    help_epilogue=EPILOGUE,
    help_format="markdown",
    version_flags=[],
    default_parameter=Parameter(negative=(), show_default=False),
)

# Help of commands that are loaded for it stands here: `scrapersky --help` loads none.
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
DOCS = """\
Serve the documentation as a site with a search.

Tutorials, how-to guides, explanations, decisions, and a reference with the API and the SDK. Needs
a clone; `--build DIR` writes the site instead.
"""
VERSION = "Print the version of ScraperSky and of what it stands on."

app.command(running.up, group=RUN)
app.command(running.demo, group=RUN)
app.command(running.run, group=RUN)
app.command(running.submit, group=RUN)
app.command("scrapersky.cli.export:export", group=RUN, help=EXPORT)
app.command("scrapersky.cli.leads:leads", group=RUN, help=LEADS)
app.command(running.serve, group=RUN)
app.command(running.worker, group=RUN)
app.command(worker_commands)
app.command(stage_commands)
app.command(dead_letter_commands)
app.command(accounts.user)
app.command(accounts.tenant)
app.command(accounts.key)
app.command(upkeep.migrate, group=CARE)
app.command(upkeep.upgrade, group=CARE)
app.command(upkeep.backup, group=CARE)
app.command(upkeep.restore, group=CARE)
app.command(upkeep.move, group=CARE)
app.command(upkeep.adopt, group=CARE)
app.command(upkeep.roles, group=CARE)
app.command(upkeep.doctor, group=CARE)
app.command(upkeep.config, group=CARE)
app.command("scrapersky.cli.score:score", group=CARE, help=SCORE)
app.command(upkeep.score_sites, name="score-sites", group=CARE)
app.command("scrapersky.cli.docs:docs", group=CARE, help=DOCS)
app.command("scrapersky.cli.version:version", group=CARE, help=VERSION)
app.register_install_completion_command(group=CARE)


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
    except (ScraperSkyError, ExtractionError) as error:
        explain(error)
        sys.exit(FAILED)
    except StopRequested as stop:
        print(STOPPED, file=sys.stderr)
        sys.exit(SIGNALLED + stop.number)
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
    from scrapersky.db.connection import explain_refusal, sqlstate_of  # noqa: PLC0415

    code = sqlstate_of(error)
    if code in NOT_SET_UP:
        return SchemaMismatch(
            "The database was never set up, or by an older ScraperSky than this one.",
            hint="`scrapersky migrate` sets it up; `scrapersky up` does so too if it is "
            "empty or embedded.",
        )
    if code.startswith(NOT_LET_IN):
        return explain_refusal(error, "DATABASE_URL")
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


def explain(error: ScraperSkyError | ExtractionError) -> None:
    """Say what happened and what to do, on standard error."""
    print(f"scrapersky: {plain_lines(str(error))}", file=sys.stderr)
    if error.hint:
        print(f"What to do: {plain_lines(error.hint)}", file=sys.stderr)
