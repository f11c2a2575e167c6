"""Read values out of other people's JSON and tables: the wanted type, or None."""

import math
import re
from collections.abc import Iterable
from typing import Any

from contact_extraction.errors import InvalidUrl
from contact_extraction.urls import parse_url
from scrapersky.providers.area import Point

MAX_TEXT_CHARACTERS = 4096
MAX_ID_CHARACTERS = 512
MAX_DEPTH = 64
CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def text_of(value: Any, *, longest: int = MAX_TEXT_CHARACTERS) -> str | None:  # noqa: ANN401
    """Return a text without control characters, or None if there is none."""
    if not isinstance(value, str):
        return None
    return CONTROLS.sub("", value)[:longest].strip() or None


def number_of(value: Any) -> float | None:  # noqa: ANN401
    """Return a finite number, also one written as a text, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def rating_of(value: Any) -> float | None:  # noqa: ANN401
    """Return a rating between 0 and 5, or None."""
    number = number_of(value)
    return number if number is not None and 0 <= number <= 5 else None  # noqa: PLR2004


def count_of(value: Any) -> int | None:  # noqa: ANN401
    """Return a whole number of 0 or more that a database column can hold, or None."""
    number = number_of(value)
    if number is None or not 0 <= number < 2**31 or number != int(number):
        return None
    return int(number)


def point_of(latitude: Any, longitude: Any) -> Point | None:  # noqa: ANN401
    """Return a point on Earth, or None."""
    lat, lng = number_of(latitude), number_of(longitude)
    if lat is None or lng is None:
        return None
    try:
        return Point(lat, lng)
    except ValueError:
        return None


def website_of(value: Any) -> str | None:  # noqa: ANN401
    """Return an http(s) URL in normal form; a bare domain is taken as https."""
    text = text_of(value)
    if text is None or any(letter.isspace() for letter in text):
        return None
    if "://" not in text:
        text = f"https://{text}"
    try:
        url = parse_url(text)
    except InvalidUrl:
        return None
    return str(url) if "." in url.host else None


def texts_of(values: Any) -> tuple[str, ...]:  # noqa: ANN401
    """Return the texts of a list, each once."""
    if not isinstance(values, list | tuple):
        return ()
    found = (text_of(value) for value in values)
    return tuple(dict.fromkeys(text for text in found if text))


def country_of(value: Any) -> str | None:  # noqa: ANN401
    """Return an ISO 3166-1 alpha-2 code, or None."""
    text = text_of(value)
    if text is None or not re.fullmatch(r"[A-Za-z]{2}", text):
        return None
    return text.upper()


def join_parts(parts: Iterable[str | None], separator: str = ", ") -> str | None:
    """Return the parts that are there in one text, or None if there are none."""
    return separator.join(part for part in parts if part) or None


def storable(value: Any, depth: int = 0) -> Any:  # noqa: ANN401
    """Return JSON that PostgreSQL can keep: no NUL, no infinity, no endless depth."""
    if depth > MAX_DEPTH:
        return None
    match value:
        case str():
            return CONTROLS.sub("", value)
        case dict():
            return {
                CONTROLS.sub("", str(key)): storable(inner, depth + 1)
                for key, inner in value.items()
            }
        case list() | tuple():
            return [storable(inner, depth + 1) for inner in value]
        case float() if not math.isfinite(value):
            return None
    return value
