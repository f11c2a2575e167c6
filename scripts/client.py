"""The generated part of the client: the shapes of the API as types, its operations as methods."""

import json
import keyword
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from scripts.openapi import PLACE

ROOT: Final = Path(__file__).parents[1]
CLIENT: Final = ROOT / "packages/scrapersky-client/src/scrapersky_client"
JSON: Final = "application/json"
STREAM: Final = "text/event-stream"
SENT_BY_ITSELF: Final = {"idempotency-key", "last-event-id"}
"""Headers that the client knows how to send."""
NAMES: Final = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "null": "None",
}
WIDTH: Final = 88
MADE: Final = "Made by ./check --regenerate from the description of the API."
MODELS: Final = f'''"""What the API takes and answers, as types.

{MADE}
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict
'''
OPERATIONS: Final = '''"""The operations of the API as methods{how}.

{made}
"""

from __future__ import annotations

from collections.abc import {iterator}, Sequence
from typing import Any, Literal, cast

from scrapersky_client import models
from scrapersky_client.request import FileContent, RequestParts


class {name}:
    """Every operation of the API; a subclass says how a request is sent."""

    {begin}def _json(self, parts: RequestParts) -> Any:
        raise NotImplementedError

    def _download(self, parts: RequestParts) -> {iterator}[bytes]:
        raise NotImplementedError
'''
Schema = Mapping[str, Any]


def models() -> str:
    """Write every schema of the API as a type."""
    schemas: dict[str, Schema] = document()["components"]["schemas"]
    return formatted(
        MODELS
        + "".join(
            f"\n\n{model(name_of(name), schema)}"
            for name, schema in sorted(schemas.items())
        )
    )


def operations() -> str:
    """Write every operation as a method that returns when its answer is there."""
    head = OPERATIONS.format(
        how="", made=MADE, iterator="Iterator", name="Operations", begin=""
    )
    return formatted(head + "".join(f"\n{one.method('', '')}" for one in described()))


def async_operations() -> str:
    """Write every operation as a coroutine."""
    head = OPERATIONS.format(
        how=" of an asynchronous client",
        made=MADE,
        iterator="AsyncIterator",
        name="AsyncOperations",
        begin="async ",
    )
    return formatted(
        head + "".join(f"\n{one.method('async ', 'await ')}" for one in described())
    )


FILES: Final = {
    CLIENT / "models.py": models,
    CLIENT / "operations.py": operations,
    CLIENT / "async_operations.py": async_operations,
}


def formatted(code: str) -> str:
    """Lay code out as all of ours is."""
    command = [str(Path(sys.executable).parent / "ruff"), "format", "-"]
    run = subprocess.run(
        command, input=code, capture_output=True, text=True, check=True
    )
    return run.stdout


def document() -> dict[str, Any]:
    """Read the description of the API, which is written before this."""
    found: dict[str, Any] = json.loads(PLACE.read_text(encoding="utf-8"))
    return found


def name_of(schema: str) -> str:
    """Return a schema's name as that of a class."""
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"\W|_", schema))


def model(name: str, schema: Schema) -> str:
    """Write one schema: an object as a typed dictionary, all else as another name of its type."""
    if "properties" not in schema:
        return f"{name}: TypeAlias = {type_of(schema, '')!r}\n"
    needed = set(schema.get("required", ()))
    fields = {
        field: type_of(found, "") if field in needed else optional(found)
        for field, found in schema["properties"].items()
    }
    said = docstring(str(schema.get("description", name)), 4)
    if all(field.isidentifier() and not keyword.iskeyword(field) for field in fields):
        lines = "".join(f"    {field}: {kind}\n" for field, kind in fields.items())
        return f"class {name}(TypedDict):\n{said}\n{lines}"
    pairs = ", ".join(f'"{field}": {kind!r}' for field, kind in fields.items())
    return f'{name} = TypedDict("{name}", {{{pairs}}})\n'


def optional(schema: Schema) -> str:
    """Return the type of a field that may be left out."""
    return f"NotRequired[{type_of(schema, '')}]"


def type_of(schema: Schema, prefix: str) -> str:
    """Return a schema as an annotation; names of models have a prefix outside of their module."""
    if reference := schema.get("$ref"):
        return prefix + name_of(reference.rpartition("/")[2])
    for word in ("anyOf", "oneOf"):
        if word in schema:
            return union(type_of(one, prefix) for one in schema[word])
    if len(schema.get("allOf", ())) == 1:
        return type_of(schema["allOf"][0], prefix)
    if "enum" in schema or "const" in schema:
        values = schema.get("enum", [schema.get("const")])
        return f"Literal[{', '.join(json.dumps(value) for value in values)}]"
    match schema.get("type"):
        case "array":
            return f"list[{type_of(schema.get('items', {}), prefix)}]"
        case "object":
            inner = schema.get("additionalProperties")
            kind = type_of(inner, prefix) if isinstance(inner, dict) else "Any"
            return f"dict[str, {kind}]"
        case str(word):
            return NAMES[word]
    return "Any"


def union(kinds: Iterator[str]) -> str:
    """Write alternatives, None last."""
    found = sorted(dict.fromkeys(kinds), key=lambda kind: kind == "None")
    if "str" in found:  # a word of it is one too
        found = [kind for kind in found if not kind.startswith('Literal["')]
    return "Any" if "Any" in found else " | ".join(found)


def docstring(said: str, indent: int) -> str:
    """Write a text between quotes, no line of it too long."""
    margin = " " * indent
    paragraphs = [
        textwrap.fill(part, WIDTH - indent, break_long_words=False)
        for part in said.replace("\\", "\\\\").strip().split("\n\n")
    ]
    text = "\n\n".join(paragraphs)
    if "\n" in text:
        text += "\n"
    return textwrap.indent(f'"""{text}"""', margin, lambda line: bool(line.strip()))


@dataclass(frozen=True, slots=True)
class DescribedOperation:
    """One operation, as it is to be written."""

    name: str
    verb: str
    path: str
    said: str
    given: tuple[Schema, ...]
    body: str | None
    is_body_needed: bool
    takes_file: bool
    answer: str | None
    """The type of what is answered; None where it is a file."""

    def method(self, begin: str, wait: str) -> str:
        """Write the method."""
        is_file = self.answer is None
        answer = self.answer or f"{'Async' if begin else ''}Iterator[bytes]"
        begin, wait = ("", "") if is_file else (begin, wait)
        call = f"{wait}self._{'download' if is_file else 'json'}({self.parts()})"
        if answer == "None":
            last = f"        {call}\n"
        else:
            said = call if is_file or answer == "Any" else f'cast("{answer}", {call})'
            last = f"        return {said}\n"
        return (
            f"    {begin}def {self.name}({', '.join(self.parameters())}) -> {answer}:\n"
            f"{docstring(self.said, 8)}\n{last}"
        )

    def parameters(self) -> Iterator[str]:
        """Write what the method takes: what is in the path, the body, then names."""
        yield "self"
        for one in self.within("path"):
            yield f"{argument(one)}: {type_of(one['schema'], 'models.')}"
        if self.takes_file:
            yield "file: FileContent"
        elif self.body:
            kind = self.body.removesuffix(" | None")
            yield (
                f"body: {self.body}"
                if self.is_body_needed
                else f"body: {kind} | None = None"
            )
        named = [*self.within("query"), *self.within("header")]
        if named:
            yield "*"
        for one in named:
            kind = type_of(one["schema"], "models.")
            if kind.startswith("list["):
                kind = "Sequence" + kind.removeprefix("list")
            if not one.get("required"):
                kind = f"{kind.removesuffix(' | None')} | None = None"
            yield f"{argument(one)}: {kind}"

    def parts(self) -> str:
        """Write the request."""
        found = [f'"{self.verb}"', f'"{self.path}"']
        for place in ("path", "query", "header"):
            if given := self.within(place):
                pairs = ", ".join(f'"{one["name"]}": {argument(one)}' for one in given)
                found.append(f"{place}={{{pairs}}}")
        if self.takes_file:
            found.append("file=file")
        elif self.body:
            found.append("body=body")
        return f"RequestParts({', '.join(found)})"

    def within(self, place: str) -> list[Schema]:
        """Return what stands in the path, the query or the headers."""
        return [
            one
            for one in self.given
            if one["in"] == place and one["name"].lower() not in SENT_BY_ITSELF
        ]


def argument(parameter: Schema) -> str:
    """Return a parameter's name in Python."""
    name = re.sub(r"\W", "_", parameter["name"].lower())
    return f"{name}_" if keyword.iskeyword(name) else name


def described() -> Iterator[DescribedOperation]:
    """List the operations of the API, but for streams, which the client follows itself."""
    for path, methods in document()["paths"].items():
        for verb, found in methods.items():
            answer = answer_of(found)
            if answer == STREAM:
                continue
            body = found.get("requestBody", {})
            content = body.get("content", {})
            schema = content.get(JSON, {}).get("schema")
            yield DescribedOperation(
                name=found["operationId"],
                verb=verb.upper(),
                path=path,
                said=found.get("description", found["operationId"]),
                given=tuple(found.get("parameters", ())),
                body=type_of(schema, "models.") if schema else None,
                is_body_needed=body.get("required", False),
                takes_file=bool(content) and JSON not in content,
                answer=answer,
            )


def answer_of(operation: Schema) -> str | None:
    """Return the type of what an operation answers: None for a file, or that it is a stream."""
    for status, answer in operation["responses"].items():
        if not status.startswith("2"):
            continue
        content = answer.get("content", {})
        if JSON in content:
            return type_of(content[JSON].get("schema", {}), "models.")
        if STREAM in content:
            return STREAM
        return None if content or status == "200" else "None"
    return "None"
