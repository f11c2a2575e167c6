"""JSON lines: flat objects, GeoJSON features, and places in Overture's shape."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from contact_extraction.contacts.place import country_code
from scrapersky.errors import BadPlaceFile
from scrapersky.providers.area import Point
from scrapersky.providers.files.column import meaning_of
from scrapersky.providers.files.encoding import encoding_of
from scrapersky.providers.files.record import (
    EMAIL,
    PROVIDER,
    FileRecord,
    RowNotes,
    clean_cell,
    confidence_of,
    status_of,
)
from scrapersky.providers.files.table import MAX_LINE_CHARACTERS, LineReader, Row
from scrapersky.providers.source import Json, RowProblem
from scrapersky.providers.value import point_of, text_of, texts_of, website_of

WKT_POINT = re.compile(r"^\s*POINT\s*\(\s*(\S+)\s+(\S+)\s*\)\s*$", re.IGNORECASE)
LICENCES = {
    "meta": "CDLA-Permissive-2.0",
    "microsoft": "CDLA-Permissive-2.0",
    "msft": "CDLA-Permissive-2.0",
    "pinmeto": "CDLA-Permissive-2.0",
    "foursquare": "Apache-2.0",
    "alltheplaces": "CC0-1.0",
    "openstreetmap": "ODbL-1.0",
}


def read_lines(path: Path) -> Iterator[Row | RowProblem]:
    """Give every object of the file; what cannot be read is a problem with its line."""
    encoding = encoding_of(path)
    with path.open(encoding=encoding, errors="replace", newline="\n") as file:
        lines = LineReader(file)
        for line in lines:
            if lines.take_cut():
                yield RowProblem(
                    lines.number,
                    f"the line is longer than {MAX_LINE_CHARACTERS:,} letters",
                )
            # Sequences of GeoJSON begin each record with a separator of their own.
            elif text := line.strip("\x1e\ufeff \t\r\n"):
                yield read_line(lines.number, text)


def read_line(number: int, text: str) -> Row | RowProblem:
    """Read one object."""
    if number == 1 and text.startswith("["):
        raise BadPlaceFile(
            PROVIDER,
            "the file is one JSON array",
            hint="Write one object per line; `jq -c '.[]'` turns an array into lines.",
        )
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        return RowProblem(number, f"not JSON: {error.msg}")
    if not isinstance(value, dict):
        return RowProblem(number, "not a JSON object")
    if value.get("type") == "FeatureCollection":
        return RowProblem(number, "a FeatureCollection; write one Feature per line")
    return Row(number, flattened_feature(value))


def flattened_feature(value: Json) -> Json:
    """Return the properties of a GeoJSON feature with its geometry beside them."""
    properties = value.get("properties")
    if value.get("type") != "Feature" or not isinstance(properties, dict):
        return value
    outer = {name: value[name] for name in ("id", "geometry") if name in value}
    return {**outer, **properties}


def is_overture(value: Json) -> bool:
    """Say whether an object has the shape of an Overture place."""
    names = value.get("names")
    return isinstance(names, dict) and ("primary" in names or "common" in names)


def record_from_overture(value: Json) -> FileRecord:
    """Make a record of an Overture place."""
    address = first_dict(value.get("addresses"))
    brand = value.get("brand")
    brand_names = brand.get("names") if isinstance(brand, dict) else None
    attributes: Json = {
        "brand": text_of(brand_names.get("primary"))
        if isinstance(brand_names, dict)
        else None,
        "confidence": confidence_of(value.get("confidence")),
    }
    websites = (website_of(site) for site in texts_of(value.get("websites")))
    links = (website_of(link) for link in texts_of(value.get("socials")))
    return FileRecord(
        id=text_of(value.get("id")),
        name=text_of(value["names"].get("primary")),
        address=text_of(address.get("freeform")) and full_address(address),
        street=text_of(address.get("freeform")),
        city=text_of(address.get("locality")),
        region=text_of(address.get("region")),
        postal_code=text_of(address.get("postcode")),
        country=country_code(text_of(address.get("country")) or ""),
        point=geometry_point(value),
        websites=tuple(site for site in websites if site),
        phones=texts_of(value.get("phones")),
        emails=tuple(
            email for email in texts_of(value.get("emails")) if EMAIL.match(email)
        ),
        links=tuple(dict.fromkeys(link for link in links if link)),
        categories=overture_categories(value),
        status=status_of(text_of(value.get("operating_status"))),
        attributes={key: kept for key, kept in attributes.items() if kept is not None},
        licence=overture_licence(value),
    )


def full_address(address: Json) -> str:
    """Return an Overture address in one line."""
    names = ("freeform", "postcode", "locality", "region", "country")
    return ", ".join(part for name in names if (part := text_of(address.get(name))))


def overture_categories(value: Json) -> tuple[str, ...]:
    """Return the primary category and the alternates."""
    categories = value.get("categories")
    if not isinstance(categories, dict):
        return ()
    alternate = texts_of(categories.get("alternate"))
    return texts_of([categories.get("primary"), *alternate])


def overture_licence(value: Json) -> str | None:
    """Return the licences of the sources a place was made from."""
    found: list[str] = []
    sources = value.get("sources")
    for source in sources if isinstance(sources, list) else ():
        if isinstance(source, dict):
            dataset = (text_of(source.get("dataset")) or "").casefold()
            licence = text_of(source.get("license")) or LICENCES.get(dataset)
            found += [licence] if licence else []
    return " AND ".join(dict.fromkeys(found)) or None


def geometry_point(value: Json) -> Point | None:
    """Return where a place is: GeoJSON, well-known text, or a box around it."""
    match value.get("geometry"):
        case {"type": "Point", "coordinates": [lng, lat, *_]}:
            return point_of(lat, lng)
        case str(text) if found := WKT_POINT.match(text):
            return point_of(found[2], found[1])
    match value.get("bbox"):
        case {"xmin": lng, "ymin": lat} | [lng, lat, *_]:
            return point_of(lat, lng)
    return None


def cells_from_object(value: Json, notes: RowNotes) -> dict[str, str]:
    """Return the values of a flat object by their meaning, as a table would have them."""
    cells: dict[str, str] = {}
    for name, inner in value.items():
        meaning = meaning_of(str(name))
        text = flat_text(inner)
        if meaning is None or meaning in cells or text is None:
            continue
        cell = clean_cell(text, meaning, notes)
        if cell is not None:
            cells[meaning] = cell
    point = geometry_point(value)
    if point is not None and "latitude" not in cells:
        cells["latitude"], cells["longitude"] = (
            str(point.latitude),
            str(point.longitude),
        )
    return cells


def flat_text(value: Any) -> str | None:  # noqa: ANN401 - other people's JSON
    """Return a value as a cell of a table would hold it; None for what has no such form."""
    match value:
        case bool() | None:
            return None
        case str():
            return value
        case int() | float():
            return str(value)
        case list():
            parts = [part for item in value if (part := flat_text(item))]
            return ";".join(parts) or None
    return None


def first_dict(value: Any) -> Json:  # noqa: ANN401 - other people's JSON
    """Return the first object of a list, or an empty one."""
    if isinstance(value, list):
        return next((item for item in value if isinstance(item, dict)), {})
    return {}
