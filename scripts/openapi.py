"""The API's own description, from which the types of the web page are made."""

import json
from pathlib import Path
from typing import Any

from scrapersky.api.app import create_app
from scrapersky.db.connection import parse_target
from scrapersky.settings import Settings

PROSE = {"title", "examples", "example", "summary"}
PLACE = Path(__file__).parents[1] / "frontend" / "openapi.json"


def description() -> str:
    """Describe the API as JSON that changes only when the API does."""
    app = create_app(Settings(), parse_target("postgresql://nobody@localhost/nothing"))
    document = app.openapi()
    # The version of the package is not part of the API's shape.
    document["info"]["version"] = "3"
    shape = without_prose(document)
    return json.dumps(shape, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def without_prose(value: Any, *, names: bool = False) -> Any:  # noqa: ANN401 - any JSON
    """Leave out titles and examples, which no type is made from."""
    if isinstance(value, list):
        return [without_prose(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: without_prose(item, names=key == "properties" and not names)
        for key, item in value.items()
        if names or key not in PROSE
    }
