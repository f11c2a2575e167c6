"""An Overpass that reads the part of the query language we write, strictly."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from tests.providers.servers.fault import FaultyServer, status
from tests.providers.town import Business

ERROR_PAGE = """<?xml version="1.0" encoding="UTF-8"?><html><head>
<title>OSM3S Response</title></head>
<body><p>The data included in this document is from www.openstreetmap.org.</p>
<p><strong style="color:#FF0000">Error</strong>: {text} </p></body></html>"""
NO_SLOT = status(
    429,
    ERROR_PAGE.format(text="runtime error: open64: 0 Success rate_limited").encode(),
    content_type="text/html",
)
BUSY = status(
    504,
    ERROR_PAGE.format(
        text="runtime error: open64: 0 Success timeout. The server is probably too busy."
    ).encode(),
    content_type="text/html",
)


def remark(text: str) -> dict[str, Any]:
    return {**envelope([]), "remark": text}


TIMED_OUT = 'runtime error: Query timed out in "query" at line 1 after 61 seconds.'
NO_MEMORY = 'runtime error: Query run out of memory in "query" at line 1 using 2048 MB.'

STRING = r'"((?:[^"\\]|\\.)*)"'
SETTING = re.compile(r"\[(out|timeout|maxsize):([^\]]*)\]")
FILTER = re.compile(
    rf"\[(?:(?P<any>~){STRING}~{STRING}(?P<anyi>,i)?|{STRING}(?:(?P<op>=|~){STRING}(?P<i>,i)?)?)\]"
)
BBOX = re.compile(r"\((-?[\d.]+),(-?[\d.]+),(-?[\d.]+),(-?[\d.]+)\);")


class ParseError(Exception):
    pass


@dataclass(frozen=True, slots=True)
class Statement:
    filters: tuple[Any, ...]
    bbox: tuple[float, float, float, float]


class OverpassServer(FaultyServer):
    """Holds elements, answers queries, and gives up on areas that are too large."""

    def __init__(self, town: Iterable[Business] = ()) -> None:
        super().__init__()
        self.elements = [as_element(business) for business in town if business.point]
        self.queries: list[str] = []
        self.gives_up_above: float | None = None
        self.gives_up_with = TIMED_OUT

    @property
    def interpreter(self) -> str:
        return f"{self.url}/api/interpreter"

    def add_routes(self, app: web.Application) -> None:
        app.router.add_post("/api/interpreter", self.interpret)

    async def interpret(self, request: web.Request) -> web.Response:
        if not request.headers.get("User-Agent") or request.headers[
            "User-Agent"
        ].startswith("Python"):
            return web.Response(status=406, text="Not Acceptable")
        form = await request.post()
        query = str(form.get("data", ""))
        self.queries.append(query)
        try:
            return web.json_response(self.answer(query))
        except ParseError as error:
            return web.Response(
                status=400,
                text=ERROR_PAGE.format(text=f"line 1: parse error: {error}"),
                content_type="text/html",
            )

    def answer(self, query: str) -> dict[str, Any]:
        position = 0
        settings = {}
        while found := SETTING.match(query, position):
            settings[found[1]] = found[2]
            position = found.end()
        if settings.get("out") != "json" or query[position] != ";":
            raise ParseError("';' expected")
        position += 1
        if single := re.compile(
            r"(node|way|relation)\((\d+)\);out center tags;"
        ).fullmatch(query, position):
            return envelope(
                [
                    e
                    for e in self.elements
                    if e["type"] == single[1] and e["id"] == int(single[2])
                ]
            )
        statements, position = read_union(query, position)
        if query[position:] != "out center tags qt;":
            raise ParseError(
                f"'out' expected, {query[position : position + 20]!r} found"
            )
        if self.is_too_large(statements):
            return remark(self.gives_up_with)
        return envelope(
            [e for e in self.elements if any(matches(s, e) for s in statements)]
        )

    def is_too_large(self, statements: list[Statement]) -> bool:
        if self.gives_up_above is None:
            return False
        return any(s.bbox[2] - s.bbox[0] > self.gives_up_above for s in statements)


def read_union(query: str, position: int) -> tuple[list[Statement], int]:
    if query[position] != "(":
        raise ParseError("'(' expected")
    position += 1
    statements = []
    while not query.startswith(");", position):
        if not query.startswith("nwr", position):
            raise ParseError(f"unknown type {query[position : position + 10]!r}")
        position += 3
        filters = []
        while found := FILTER.match(query, position):
            filters.append(read_filter(found))
            position = found.end()
        box = BBOX.match(query, position)
        if box is None or not filters:
            raise ParseError(f"unexpected {query[position : position + 10]!r}")
        position = box.end()
        south, west, north, east = (float(box[n]) for n in range(1, 5))
        if south > north or west > east:
            raise ParseError("bbox out of order")
        statements.append(Statement(tuple(filters), (south, west, north, east)))
    return statements, position + 2


def read_filter(found: re.Match[str]) -> Any:
    if found["any"]:
        flags = re.IGNORECASE if found["anyi"] else 0
        key, value = unescaped(found[2]), unescaped(found[3])
        return ("any", re.compile(key, flags), re.compile(value, flags))
    key = unescaped(found[5])
    if found["op"] is None:
        return ("has", key)
    value = unescaped(found[7])
    if found["op"] == "=":
        return ("is", key, value)
    return ("like", key, re.compile(value, re.IGNORECASE if found["i"] else 0))


def unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


def matches(statement: Statement, element: dict[str, Any]) -> bool:
    south, west, north, east = statement.bbox
    at = element.get("center", element)
    if not (south <= at["lat"] <= north and west <= at["lon"] <= east):
        return False
    tags = element["tags"]
    for condition in statement.filters:
        match condition:
            case ("has", key) if key not in tags:
                return False
            case ("is", key, value) if tags.get(key) != value:
                return False
            case ("like", key, pattern) if not pattern.search(tags.get(key, "\0")):
                return False
            case ("any", keys, wanted) if not any(
                keys.search(key) and wanted.search(value) for key, value in tags.items()
            ):
                return False
    return True


def envelope(elements: list[Any]) -> dict[str, Any]:
    return {
        "version": 0.6,
        "generator": "Overpass API 0.7.62.8 e802775f",
        "osm3s": {
            "timestamp_osm_base": "2026-11-14T00:00:00Z",
            "copyright": "The data included in this document is from www.openstreetmap.org.",
        },
        "elements": elements,
    }


def as_element(business: Business) -> dict[str, Any]:
    assert business.point is not None
    kind, number = business.osm_id.split("/")
    key = {"dentist": "amenity", "plumber": "craft", "bakery": "shop"}[business.kind]
    at = {"lat": business.point.latitude, "lon": business.point.longitude}
    tags = {
        key: business.kind,
        "name": business.name,
        "addr:housenumber": business.street.split()[0],
        "addr:street": "Invented Street",
        "addr:city": "Austin",
        "addr:state": "TX",
        "addr:postcode": "78701",
        "opening_hours": "Mo-Fr 08:30-17:00; Sa,Su off",
    }
    if business.website:
        tags["contact:website" if business.number % 2 else "website"] = business.website
    tags["phone"] = f"{business.phone};+1 512-555-9999"
    tags.update({name: str(value) for name, value in business.extra.items()})
    where: dict[str, Any] = {"center": at} if kind == "way" else at
    return {"type": kind, "id": int(number), **where, "tags": tags}
