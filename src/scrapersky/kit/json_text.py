"""JSON as a statement takes it."""

import orjson


def json_text(value: object) -> str:
    """Write a value as JSON; the driver's own kind of UUID as any other."""
    return orjson.dumps(value, default=str).decode()
