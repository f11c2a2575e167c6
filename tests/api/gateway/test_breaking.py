"""What programs written for the last release rely on is still there."""

import copy
import json
import lzma
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.api.gateway.document import resolve, written

RELEASED = max(Path(__file__).with_name("released").glob("*.json.xz"))
JSON = "application/json"
MEANT: dict[str, str] = {}
"""Breaks that were decided, each with what a client does instead."""
DEPTH = 6


def released() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(lzma.decompress(RELEASED.read_bytes()))
    return found


def addresses(path: str, operation: dict[str, Any]) -> Iterator[str]:
    """List the addresses of a path in which a word is one of a few."""
    for parameter in operation.get("parameters", ()):
        words = parameter["schema"].get("enum")
        if parameter["in"] == "path" and words:
            for word in words:
                yield path.replace("{" + parameter["name"] + "}", str(word))
            return
    yield path


def operation_at(document: dict[str, Any], method: str, address: str) -> Any:
    """Find what answers at an address, literal paths first."""
    paths = sorted(document["paths"], key=lambda path: path.count("{"))
    for path in paths:
        pattern = "/".join(
            r"[^/]+" if part.startswith("{") else re.escape(part)
            for part in path.split("/")
        )
        if re.fullmatch(pattern, address) and method in document["paths"][path]:
            return document["paths"][path][method]
    return None


def answer_of(operation: dict[str, Any]) -> dict[str, Any]:
    for status, answer in operation["responses"].items():
        if status.startswith("2"):
            schema: dict[str, Any] = (
                answer.get("content", {}).get(JSON, {}).get("schema", {})
            )
            return schema
    return {}


def fields(
    schema: dict[str, Any], document: dict[str, Any], place: str = "", depth: int = 0
) -> Iterator[str]:
    """List the fields of an answer, with where they stand."""
    schema = resolve(schema, document)
    if depth == DEPTH:
        return
    for part in (*schema.get("anyOf", ()), *schema.get("allOf", ())):
        yield from fields(part, document, place, depth + 1)
    if "items" in schema:
        yield from fields(schema["items"], document, f"{place}[]", depth + 1)
    for name, inner in schema.get("properties", {}).items():
        yield f"{place}.{name}"
        yield from fields(inner, document, f"{place}.{name}", depth + 1)


def needed(operation: dict[str, Any], document: dict[str, Any]) -> Iterator[str]:
    """List what a request must have."""
    for parameter in operation.get("parameters", ()):
        if parameter.get("required") and parameter["in"] != "path":
            yield f"{parameter['in']} {parameter['name']}"
    body = operation.get("requestBody", {})
    schema = resolve(body.get("content", {}).get(JSON, {}).get("schema", {}), document)
    yield from (f"body {name}" for name in schema.get("required", ()))


def broken(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    for path, methods in old["paths"].items():
        for method, before in methods.items():
            for address in addresses(path, before):
                place = f"{method.upper()} {address}"
                now = operation_at(new, method, address)
                if now is None:
                    yield f"{place} is gone"
                    continue
                gone = {*fields(answer_of(before), old)} - {
                    *fields(answer_of(now), new)
                }
                yield from (f"{place} answers no {name}" for name in sorted(gone))
                more = {*needed(now, new)} - {*needed(before, old)}
                yield from (f"{place} needs {name}" for name in sorted(more))


def test_what_the_last_release_offered_is_still_there() -> None:
    found = set(broken(released(), written()))

    assert sorted(found - MEANT.keys()) == []
    assert sorted(MEANT.keys() - found) == [], "these are no breaks any more"


def test_a_break_is_noticed() -> None:
    new = copy.deepcopy(released())
    del new["paths"]["/api/v3/actions"]
    body = new["components"]["schemas"]["SearchIn"]
    body["required"] = [*body.get("required", ()), "location"]
    del new["components"]["schemas"]["CompanyOut"]["properties"]["phone"]

    found = set(broken(released(), new))

    assert "GET /api/v3/actions is gone" in found
    assert "POST /api/v3/searches needs body location" in found
    assert "GET /api/v3/companies answers no .items[].phone" in found
