"""`scrapersky config`."""

from collections.abc import Mapping
from dataclasses import replace

import orjson
from rich.text import Text

from scrapersky.cli import database_failure
from scrapersky.cli.stages import on_database
from scrapersky.cli.table import PlainTable, plain_console, print_table
from scrapersky.configuration import LoadedSettings, example_env, load_settings
from scrapersky.db.embedded import EmbeddedPostgres
from scrapersky.errors import DatabaseProblem, ScraperSkyError
from scrapersky.scheduler.overrides import (
    StageChanges,
    origins_of_changes,
    stored_changes,
    useless_changes,
    with_changes,
)
from scrapersky.settings import Settings


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
    if example:
        print(example_env(), end="")
        return
    loaded = with_overrides(load_settings())
    console = plain_console(stderr=True)
    for warning in loaded.warnings:
        console.print(Text("Warning:", style="yellow"), warning)
    rows = [row for row in loaded.rows() if not changed or row[2] != "default"]
    if json:
        found = {
            variable.name: {"value": value, "origin": origin}
            for variable, value, origin in rows
        }
        print(orjson.dumps(found, option=orjson.OPT_INDENT_2).decode())
        return
    table = PlainTable("setting", "value", "origin")
    left_out = 0
    for variable, value, origin in rows:
        is_default = origin == "default"
        if is_default and not all and not variable.is_essential:
            left_out += 1
            continue
        style = None if is_default else "bold"
        table.add_row(variable.name, value, origin, style=style)
    print_table(table, whole=("setting", "origin"))
    if left_out:
        console.print(
            f"{left_out} settings for fine tuning have their defaults; --all shows them."
        )


def with_overrides(loaded: LoadedSettings) -> LoadedSettings:
    """Return the settings with what was changed while processes run."""
    try:
        changes, unknown = read_overrides(loaded.settings), []
    except ScraperSkyError as error:
        changes = {}
        unknown = [f"What was changed while ScraperSky runs is not shown. {error}"]
    useless = useless_changes(loaded.settings, changes)
    return replace(
        loaded,
        settings=with_changes(loaded.settings, changes),
        origins={**loaded.origins, **origins_of_changes(loaded.settings, changes)},
        warnings=(*loaded.warnings, *unknown, *useless),
    )


def read_overrides(settings: Settings) -> Mapping[str, StageChanges]:
    """Return what was changed while processes run, or raise ScraperSkyError."""
    try:
        refuse_to_make_one(settings)
        found: Mapping[str, StageChanges] = on_database(stored_changes)
    except Exception as error:
        if (known := database_failure(error)) is None:
            raise
        raise known from error
    return found


def refuse_to_make_one(settings: Settings) -> None:
    """Raise DatabaseProblem where opening the database would create it."""
    if settings.database_url is None and not EmbeddedPostgres(settings.data_dir).exists:
        raise DatabaseProblem("There is no database yet.")
