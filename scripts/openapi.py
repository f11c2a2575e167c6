"""Write the API's own description for the web page: python -m scripts.openapi."""

import json
from pathlib import Path

from scrapersky.api.app import create_app
from scrapersky.db.connection import parse_target
from scrapersky.settings import Settings

PLACE = Path(__file__).parents[1] / "frontend" / "openapi.json"


def description() -> str:
    """Describe the API as JSON that changes only when the API does."""
    app = create_app(Settings(), parse_target("postgresql://nobody@localhost/nothing"))
    document = app.openapi()
    # The version of the package is no part of the API's shape.
    document["info"]["version"] = "3"
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def main() -> None:
    """Write the description."""
    PLACE.write_text(description(), encoding="utf-8")
    print(PLACE)


if __name__ == "__main__":
    main()
