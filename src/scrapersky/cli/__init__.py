"""The command line: one file a command, loaded only when it is run."""

import re
import sys
from difflib import get_close_matches
from inspect import cleandoc
from pathlib import Path
from typing import Final

from cyclopts import App, CycloptsError, Group, Parameter, UnknownCommandError
from cyclopts.exceptions import UnusedCliTokensError

from contact_extraction.errors import ExtractionError
from scrapersky.cli.garbage import without_collector
from scrapersky.cli.options import CARE, RUN
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

COMMANDS: Final = {
    RUN: (
        "up:up", "demo:demo", "run:run", "submit:submit", "searches:search_commands",
        "completeness:completeness", "export:export", "verify:verify", "replay:replay",
        "leads:leads", "sync:sync_commands", "up:serve", "worker:worker",
    ),
    CARE: (
        "workers:worker_commands", "stages:stage_commands",
        "dead_letters:dead_letter_commands", "user:user_commands",
        "tenant:tenant_commands", "user:key_commands", "migrate:migrate",
        "upgrade:upgrade", "backup:backup", "backup:restore", "backup:move",
        "adopt:adopt", "roles:roles", "bi:bi_commands", "doctor:doctor", "config:config",
        "score:score", "score_sites:score_sites", "docs:docs", "mcp:mcp", "version:version",
    ),
}  # fmt: skip
"""Every command: the module beside this one and the function, or the group of commands."""
DECLARATION: Final = r'^(?:def {0}\(|{0} = App\(\n    name="([a-z-]+)").*?"""(.*?)"""'


def add_command(path: str, group: Group) -> None:
    """Add a command that is loaded when it is run or its own help is asked for.

    What the list of commands says of it is read from its declaration as text: loading them
    all takes seconds.
    """
    module, _, name = path.partition(":")
    source = (Path(__file__).parent / f"{module}.py").read_text(encoding="utf-8")
    found = re.search(DECLARATION.format(name), source, re.DOTALL | re.MULTILINE)
    if found is None:
        raise LookupError(path)
    words = cleandoc(found[2].removeprefix("\\\n")).partition("\n\nParameters\n")[0]
    app.command(
        f"{__name__}.{path}",
        name=found[1] or name.replace("_", "-"),
        group=group,
        help=words,
    )


for command_group, paths in COMMANDS.items():
    for command_path in paths:
        add_command(command_path, command_group)
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
        known = unreadable_file(error) or database_failure(error)
        if known is None:
            raise
        explain(known)
        sys.exit(FAILED)


def unreadable_file(error: Exception) -> ScraperSkyError | None:
    """Say in words which file cannot be used; None if it was not that."""
    if isinstance(error, OSError) and error.filename is not None:
        return ConfigurationError(f"{error.filename} cannot be used: {error.strerror}.")
    return None


def database_failure(error: Exception) -> ScraperSkyError | None:
    """Say in words that the database went away or refused; None if it was not that."""
    from scrapersky.db.connection import explain_refusal, sqlstate_of  # noqa: PLC0415
    from scrapersky.db.failure import explain as explained  # noqa: PLC0415 - heavy

    code = sqlstate_of(error)
    if code in NOT_SET_UP:
        return SchemaMismatch(
            "The database is not set up, or its schema is older than this version needs.",
            hint="Run `scrapersky up` or `scrapersky migrate` first. `up` leaves a database "
            "of your own that is not empty as it is.",
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
