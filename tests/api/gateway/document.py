"""Read the OpenAPI document: which operations there are, and a body each would take."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from fastapi import FastAPI

from scrapersky.api.app import create_app
from scrapersky.configuration import load_settings
from scrapersky.db.connection import parse_target
from scripts.openapi import PLACE

PREFIXES = {"letter_id": "page_curation:"}
"""Ids that say more than which."""
UUID_LIKE = "00000000-0000-4000-8000-00000000abcd"


@cache
def an_app() -> FastAPI:
    """Build the application once for all who only look at it: it never starts."""
    settings = load_settings({}, dotenv=None).settings
    return create_app(settings, parse_target("postgresql://nobody@/none"))


@cache
def written() -> dict[str, Any]:
    """Read the description that a test keeps current, without its examples.

    To describe the application takes a second, which every process would spend before
    its first test.
    """
    found: dict[str, Any] = json.loads(PLACE.read_text(encoding="utf-8"))
    return found


@cache
def in_full() -> dict[str, "Operation"]:
    """Give the operations with the examples that values are made of, by their names."""
    return {found.id: found for found in operations(an_app().openapi())}


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation as the document describes it."""

    method: str
    path: str
    id: str
    permission: str
    parameters: tuple[dict[str, Any], ...]
    body: dict[str, Any] | None
    body_types: tuple[str, ...]
    document: dict[str, Any]

    @property
    def in_path(self) -> tuple[dict[str, Any], ...]:
        return tuple(p for p in self.parameters if p["in"] == "path")

    def address(self, value: object) -> str:
        """Fill every id in the path with one value, and words with what they may be."""
        path, full = self.path, in_full()[self.id]
        for parameter in full.in_path:
            filled = str(sample(parameter["schema"], full.document))
            if is_id(parameter):
                filled = f"{PREFIXES.get(parameter['name'], '')}{value}"
            path = path.replace("{" + parameter["name"] + "}", filled)
        return path

    @property
    def takes_id(self) -> bool:
        return any(is_id(parameter) for parameter in self.in_path)

    def sample_body(self) -> Any:
        full = in_full()[self.id]
        return None if full.body is None else sample(full.body, full.document)


def is_id(parameter: dict[str, Any]) -> bool:
    schema = parameter["schema"]
    name: str = parameter["name"]
    return schema.get("format") == "uuid" or name.endswith("_id")


def operations(document: dict[str, Any]) -> Iterator[Operation]:
    """List the operations of the API."""
    for path, methods in document["paths"].items():
        for method, found in methods.items():
            content = found.get("requestBody", {}).get("content", {})
            json_body = content.get("application/json", {}).get("schema")
            yield Operation(
                method=method.upper(),
                path=path,
                id=found["operationId"],
                permission=found["x-permission"],
                parameters=tuple(found.get("parameters", ())),
                body=json_body,
                body_types=tuple(content),
                document=document,
            )


def resolve(schema: dict[str, Any], document: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        found: Any = document
        for step in schema["$ref"].removeprefix("#/").split("/"):
            found = found[step]
        schema = found
    return schema


def properties(
    schema: dict[str, Any], document: dict[str, Any]
) -> dict[str, str | None]:
    """Name the parts of a body with their types, optional ones too."""
    whole = resolve(schema, document)
    found: dict[str, str | None] = {}
    for part in (whole, *(resolve(p, document) for p in whole.get("anyOf", ()))):
        for name, described in part.get("properties", {}).items():
            found[name] = resolve(described, document).get("type")
    return found


def sample(schema: dict[str, Any], document: dict[str, Any], depth: int = 0) -> Any:
    """Make up a value that a schema takes; of an object, what it must have."""
    schema = resolve(schema, document)
    for word in ("examples", "enum"):
        if schema.get(word):
            return schema[word][0]
    if "const" in schema:
        return schema["const"]
    for word in ("anyOf", "oneOf", "allOf"):
        if word in schema:
            real = [s for s in schema[word] if s.get("type") != "null"]
            return sample((real or schema[word])[0], document, depth)
    match schema.get("type"):
        case "object":
            return sample_object(schema, document, depth)
        case "array":
            return [sample(schema.get("items", {}), document, depth + 1)]
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return False
        case "string":
            return sample_text(schema)
    return "x"


def sample_object(
    schema: dict[str, Any], document: dict[str, Any], depth: int
) -> dict[str, Any]:
    properties = schema.get("properties", {})
    names = schema.get("required") or list(properties)[:1]
    return {
        name: "sample@example.com"
        if name == "email"
        else sample(properties[name], document, depth + 1)
        for name in names
        if name in properties
    }


def sample_text(schema: dict[str, Any]) -> str:
    match schema.get("format"):
        case "uuid":
            return UUID_LIKE
        case "date-time":
            return "2026-01-01T00:00:00Z"
        case "password":
            return "four horses 4 staples"
        case "email":
            return "sample@example.com"
    return "sample"[: schema.get("maxLength", 6)].ljust(schema.get("minLength", 0), "x")
