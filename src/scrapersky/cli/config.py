"""`scrapersky config`."""

import orjson
from rich.text import Text

from scrapersky.cli.garbage import without_collector
from scrapersky.cli.table import PlainTable, plain_console, print_table


def config(*, json: bool = False, example: bool = False, changed: bool = False) -> None:
    """Print the settings, or an example of a `.env` file.

    Parameters
    ----------
    json
        Print them as JSON.
    example
        Print a `.env` file with every setting and its default instead.
    changed
        Print only what differs from the default.
    """
    # Every stage says what its settings are, so that they load what stages need.
    with without_collector():
        from scrapersky.configuration import example_env, load_settings  # noqa: PLC0415

    if example:
        print(example_env(), end="")
        return
    loaded = load_settings()
    rows = [row for row in loaded.rows() if not changed or row[2] != "default"]
    console = plain_console(stderr=True)
    for warning in loaded.warnings:
        console.print(Text("Warning:", style="yellow"), warning)
    if json:
        found = {
            name: {"value": value, "origin": origin} for name, value, origin in rows
        }
        print(orjson.dumps(found, option=orjson.OPT_INDENT_2).decode())
        return
    table = PlainTable("setting", "value", "origin")
    for name, value, origin in rows:
        style = None if origin == "default" else "bold"
        table.add_row(name, value, origin, style=style)
    print_table(table, whole=("setting", "origin"))
