"""The largest requests that the document allows: for every route and every field."""

import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode
from uuid import UUID, uuid4

from scrapersky.api.field import LONGEST_QUERY
from scrapersky.api.middleware.body import MOST_KEYS, USUAL_BODY_BYTES
from scrapersky.records import KINDS, Kind
from tests.api.gateway.document import (
    Operation,
    in_full,
    is_id,
    operations,
    resolve,
    sample,
    written,
)

FILLINGS = ("x", "\N{GREEK SMALL LETTER ALPHA}", "1 ", "a.", "@", "\\")
"""What long texts are made of: letters of one and more bytes, and what readers look for."""
COSTLY = ("all", "filter: values", "filter: comparisons", "items: most")
"""What the largest requests of most routes are about."""
ROOM = USUAL_BODY_BYTES - 1_000
QUERY_ROOM = LONGEST_QUERY - 400
FILE_SIZE = 2 * 1024**2
"""Bytes of a file that are sent: it is read as it comes, so that more cost no more."""
MOST_LINES = 2_000
"""Lines of a file that are sent, each of which is stored."""
LEFT_OUT = (
    "/events", "/demo", "/demo/reset", "/dev-tools/process-pending-domains",
    "/dev-tools/trigger/{job_id}", "/session",
)  # fmt: skip
"""A stream that does not end, what starts work of its own, and the login's hash."""
DEPTH = 900
TABLES = {
    "actions": "curation_actions", "batches": "batch_jobs", "rules": "selection_rules",
    "places": "places_staging", "searches": "place_searches", "views": "saved_views",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class LargeRequest:
    """One request as it is sent, and what is large about it."""

    operation: Operation
    what: str
    path: str
    query: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None

    @property
    def url(self) -> str:
        return f"{self.path}?{self.query}" if self.query else self.path

    @property
    def name(self) -> str:
        return f"{self.operation.method} {self.operation.path}"


def asked_operations() -> list[Operation]:
    """List what is tried; what takes a record away comes last."""
    found = [
        one
        for one in operations(written())
        if one.path.removeprefix("/api/v3") not in LEFT_OUT
    ]
    return sorted(found, key=lambda one: one.method == "DELETE")


def requests_of(
    operation: Operation, ids: Mapping[str, UUID], fillings: tuple[str, ...] = FILLINGS
) -> Iterator[LargeRequest]:
    """Give every large request to one operation: all fields at once, then one by one."""
    path, headers = path_of(operation, ids), headers_of(operation)
    usual = None
    if operation.body is not None:
        usual = encoded(operation.sample_body())
        headers["Content-Type"] = "application/json"
    for what, query in queries_of(operation, fillings):
        yield LargeRequest(operation, what, path, query, headers, usual)
    for what, body, media in bodies_of(operation, fillings):
        typed = {**headers, "Content-Type": media}
        yield LargeRequest(operation, what, path, "", typed, body)
    for name in (p["name"] for p in operation.in_path if not is_id(p)):
        longest = path_of(operation, ids, {name: "x" * 1_500})
        yield LargeRequest(
            operation, f"{name} in the path", longest, "", headers, usual
        )


def largest_of(operation: Operation, ids: Mapping[str, UUID]) -> Iterator[LargeRequest]:
    """Give the few requests that cost most of most routes."""
    for request in requests_of(operation, ids, FILLINGS[:1]):
        if request.what.startswith(COSTLY):
            yield request


def usual_request(operation: Operation, ids: Mapping[str, UUID]) -> LargeRequest:
    """Give a request as people send it, to compare with."""
    path, headers, body = path_of(operation, ids), headers_of(operation), None
    if operation.body is not None:
        headers["Content-Type"] = "application/json"
        body = encoded(operation.sample_body())
    elif operation.body_types:
        headers["Content-Type"] = operation.body_types[0]
        body = b"domain\nexample.com\n"
    return LargeRequest(operation, "usual", path, "", headers, body)


def path_of(
    operation: Operation,
    ids: Mapping[str, UUID],
    given: Mapping[str, str] | None = None,
) -> str:
    """Fill the path with ids of what there is."""
    path, full = operation.path, in_full()[operation.id]
    first = path.removeprefix("/api/v3/").partition("/")[0]
    found = ids.get(TABLES.get(first, first.replace("-", "_")), uuid4())
    for parameter in full.in_path:
        name = parameter["name"]
        value = str(sample(parameter["schema"], full.document))
        if is_id(parameter):
            value = f"page_curation:{found}" if name == "letter_id" else str(found)
        value = (given or {}).get(name, value)
        path = path.replace("{" + name + "}", quote(value, safe=":"))
    return path


def headers_of(operation: Operation) -> dict[str, str]:
    names = {p["name"] for p in operation.parameters if p["in"] == "header"}
    return {"If-Match": "*"} if names & {"If-Match", "if-match"} else {}


def queries_of(
    operation: Operation, fillings: tuple[str, ...]
) -> Iterator[tuple[str, str]]:
    """Give the longest queries: each parameter alone, and all of them."""
    asked = [p for p in operation.parameters if p["in"] == "query"]
    if not asked:
        yield "as usual", ""
    for parameter in asked:
        name = parameter["name"]
        if name == "filter":
            yield from filters_for(kind_of(operation))
        for what, value in largest(
            parameter["schema"], operation.document, fillings, QUERY_ROOM
        ):
            yield f"{name}: {what}", query_of([(name, value)])
    if len(asked) > 1:
        room = QUERY_ROOM // len(asked)
        pairs = [
            (p["name"], first(largest(p["schema"], operation.document, ("x",), room)))
            for p in asked
        ]
        yield "all parameters", query_of(pairs)


def query_of(pairs: list[tuple[str, Any]]) -> str:
    """Write a query, no longer than one may be."""
    flat = [
        (name, str(one))
        for name, value in pairs
        for one in (value if isinstance(value, list) else [value])
    ]
    query = urlencode(flat)
    return query[:QUERY_ROOM].rpartition("%")[0] if len(query) > QUERY_ROOM else query


def first(found: Iterator[tuple[str, Any]]) -> Any:
    return next(found)[1]


def kind_of(operation: Operation) -> Kind:
    """Return the kind of record that a route is about."""
    path = operation.path.removeprefix("/api/v3")
    return next(
        (kind for kind in KINDS.values() if path.startswith(f"{kind.path}")),
        KINDS["places"],
    )


def filters_for(kind: Kind) -> Iterator[tuple[str, str]]:
    """Give filters that are let through, as large as an address has room for."""
    texts = [
        name for name, column in kind.fields.items() if column.type.python_type is str
    ]
    name = texts[0]
    own = f"own.{'a' * 40}" if "own" in kind.fields else name
    ids = ",".join(str(uuid4()) for _ in range(400))
    values = ",".join(["1"] * 1_000)
    alternatives = "|".join([f"{name}:contains:{'x' * 90}"] * 20)
    yield "filter: ids", urlencode([("filter", f"id:one_of:{ids}")])
    yield (
        "filter: values",
        urlencode([("filter", f"{own}:one_of:{values}")] * 7, safe=",:"),
    )
    yield (
        "filter: comparisons",
        urlencode([("filter", alternatives)] * 5, safe=",:|"),
    )


def bodies_of(
    operation: Operation, fillings: tuple[str, ...]
) -> Iterator[tuple[str, bytes, str]]:
    """Give the largest bodies: each field alone, all of them, and what is in none."""
    if operation.body_types and operation.body is None:
        # However they are called, files are known by what they begin with.
        yield from ((what, file, operation.body_types[0]) for what, file in files())
    if operation.body is None:
        return
    usual = operation.sample_body()
    schema = resolve(operation.body, operation.document)
    parts = {
        name: part
        for one in (schema, *schema.get("anyOf", ()))
        for name, part in resolve(one, operation.document).get("properties", {}).items()
    }
    at_once: dict[str, Any] = {}
    for name, part in parts.items():
        for what, value in (
            *conditions_for(part, kind_of(operation)),
            *largest(part, operation.document, fillings, ROOM),
        ):
            at_once.setdefault(name, value)
            yield f"{name}: {what}", encoded({**usual, name: value}), "application/json"
    yield "all fields", encoded(fitting(at_once)), "application/json"
    strange = {f"k{number}": number for number in range(MOST_KEYS)}
    yield "unknown fields", encoded(strange), "application/json"
    deep: Any = 1
    for _ in range(DEPTH):
        deep = [deep]
    yield "nested", encoded({**usual, next(iter(parts), "x"): deep}), "application/json"


def fitting(values: dict[str, Any]) -> dict[str, Any]:
    """Return as many of the values as one body holds."""
    room, found = ROOM, {}
    for name, value in sorted(values.items(), key=lambda item: len(encoded(item[1]))):
        room -= len(encoded(value)) + len(name) + 6
        if room >= 0:
            found[name] = value
    return found


def encoded(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def conditions_for(
    schema: dict[str, Any], kind: Kind
) -> Iterator[tuple[str, list[Any]]]:
    """Give filters that are let through, as large as the document says."""
    found = [s for s in (schema, *schema.get("anyOf", ())) if "x-max-values" in s]
    if not found:
        return
    most, values = found[0]["x-max-comparisons"], found[0]["x-max-values"]
    name = next(n for n, c in kind.fields.items() if c.type.python_type is str)
    own = "own.a" if "own" in kind.fields else name
    part = {"field": name, "comparison": "contains", "value": "x" * 1_000}
    yield "comparisons", [{**part, "or": [part] * 19}] * (most // 20)
    listed = {"comparison": "one_of", "value": ["x" * 90] * 1_000}
    yield "lists", [{**listed, "field": name}] * (values // 1_000)
    yield "own lists", [{**listed, "field": own}] * (values // 1_000)
    ids = [str(uuid4()) for _ in range(values)]
    yield "ids", [{"field": "id", "comparison": "one_of", "value": ids}]


def largest(
    schema: dict[str, Any],
    document: dict[str, Any],
    fillings: tuple[str, ...],
    room: int,
) -> Iterator[tuple[str, Any]]:
    """Give the longest, the most and the most nested that a schema allows."""
    schema = resolve(schema, document)
    branches = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    if branches:
        for branch in branches:
            if branch.get("type") != "null":
                yield from largest(branch, document, fillings, room)
        return
    if "enum" in schema or "const" in schema or "pattern" in schema:
        yield "as usual", sample(schema, document)
        return
    match schema.get("type"):
        case "string":
            yield from longest_texts(schema, fillings, room)
        case "array":
            yield from largest_lists(schema, document, fillings, room)
        case "object":
            yield from largest_objects(schema, document, fillings, room)
        case "integer" | "number":
            yield "largest", schema.get("maximum", 10**18)
        case _:
            yield "as usual", sample(schema, document)


def longest_texts(
    schema: dict[str, Any], fillings: tuple[str, ...], room: int
) -> Iterator[tuple[str, str]]:
    if schema.get("format") in {"uuid", "date-time", "date"}:
        yield "as usual", sample(schema, {})
        return
    for filling in fillings:
        length = min(
            schema["maxLength"],
            room // len(json.dumps(filling, ensure_ascii=False).encode()[1:-1]),
        )
        yield f"longest of {filling!a}", (filling * length)[:length]


def largest_lists(
    schema: dict[str, Any],
    document: dict[str, Any],
    fillings: tuple[str, ...],
    room: int,
) -> Iterator[tuple[str, list[Any]]]:
    most, items = schema["maxItems"], schema.get("items", {})
    usual = sample(items, document)
    if (form := resolve(items, document).get("format")) == "uuid":
        yield "most", [str(uuid4()) for _ in range(min(most, room // 40))]
    else:
        yield "most", [usual] * min(most, room // (len(encoded(usual)) + 1))
    for what, value in largest(items, document, fillings, room // 4):
        if form != "uuid":
            count = min(most, room // (len(encoded(value)) + 1))
            yield f"most, {what}", [value] * count
    wrong = min(most, room // 3)
    yield "most, of another type", [{}] * wrong


def largest_objects(
    schema: dict[str, Any],
    document: dict[str, Any],
    fillings: tuple[str, ...],
    room: int,
) -> Iterator[tuple[str, dict[str, Any]]]:
    parts = schema.get("properties", {})
    more = schema.get("additionalProperties")
    each = room // max(len(parts), 1)
    if parts:
        kinds = [
            [*itertools.islice(largest(part, document, fillings, each), 12)]
            for part in parts.values()
        ]
        for turn in range(max(map(len, kinds))):
            values = {
                name: found[min(turn, len(found) - 1)][1]
                for name, found in zip(parts, kinds, strict=True)
            }
            yield f"all fields ({turn})", values
    if isinstance(more, dict):
        count = min(schema["maxProperties"], MOST_KEYS)
        for what, value in largest(more, document, fillings, room // count):
            yield f"most, {what}", {f"k{n}": value for n in range(count)}


def files() -> Iterator[tuple[str, bytes]]:
    """Give files that are slow to read for who reads them carelessly."""
    pieces = {
        "short lines": b"a\n",
        "lines": b"example.com,Ada's Bakery,+4316000003\n",
        "domains": b"xn--bcher-kva.example\n",
        "numbers": b"+4316000003\n",
        "no line": b"x",
        "quotes": b'"\n',
        "commas": b",",
        "half characters": b"\x00\xd8",
        "no letters": b"\x81",
        "archive": b"PK\x03\x04",
    }
    for what, piece in pieces.items():
        mark = b"\xff\xfe" if what == "half characters" else b"domain\n"
        start = b"" if what == "archive" else mark
        count = MOST_LINES if b"\n" in piece else FILE_SIZE // len(piece)
        yield f"file: {what}", start + piece * count


def unbounded(document: dict[str, Any]) -> Iterator[str]:
    """Name every field of a request that the document sets no bound for."""
    for operation in operations(document):
        name = f"{operation.method} {operation.path}"
        for parameter in operation.parameters:
            where = f"{name} {parameter['name']}"
            yield from unbounded_in(parameter["schema"], document, where, ())
        body = document["paths"][operation.path][operation.method.lower()].get(
            "requestBody", {}
        )
        for media, content in body.get("content", {}).items():
            yield from unbounded_in(content["schema"], document, f"{name} {media}", ())


def unbounded_in(
    schema: dict[str, Any], document: dict[str, Any], where: str, seen: tuple[str, ...]
) -> Iterator[str]:
    reference = schema.get("$ref", "")
    if reference in seen:
        return
    seen = (*seen, reference) if reference else seen
    schema = resolve(schema, document)
    branches = [s for word in ("anyOf", "oneOf", "allOf") for s in schema.get(word, ())]
    for branch in branches:
        yield from unbounded_in(branch, document, where, seen)
    if branches or "enum" in schema or "const" in schema:
        return
    match schema.get("type"):
        case "string":
            is_short = schema.get("format") in {"uuid", "date-time", "date"}
            if not is_short and not {"maxLength", "pattern"} & schema.keys():
                yield f"{where}: a text without maxLength"
        case "array":
            if "maxItems" not in schema:
                yield f"{where}: a list without maxItems"
            yield from unbounded_in(
                schema.get("items", {}), document, f"{where}[]", seen
            )
        case "object":
            yield from unbounded_object(schema, document, where, seen)
        case None:
            yield f"{where}: anything"


def unbounded_object(
    schema: dict[str, Any], document: dict[str, Any], where: str, seen: tuple[str, ...]
) -> Iterator[str]:
    more = schema.get("additionalProperties", not schema.get("properties"))
    if more and "maxProperties" not in schema:
        yield f"{where}: an object without maxProperties"
    if isinstance(more, dict):
        yield from unbounded_in(more, document, f"{where}{{}}", seen)
    for name, part in schema.get("properties", {}).items():
        yield from unbounded_in(part, document, f"{where}.{name}", seen)
