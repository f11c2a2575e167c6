"""Overpass: questions to the map's database, and what its answers mean."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta

from scrapersky.errors import (
    AreaTooBig,
    BadProviderAnswer,
    ProviderBusy,
    ProviderRefused,
    ProviderUnusable,
)
from scrapersky.providers.area import Box
from scrapersky.providers.client import ClientPolicy, ProviderAnswer
from scrapersky.providers.openstreetmap.business_type import (
    MAIN_KEYS,
    BusinessTypeTags,
    Selector,
)
from scrapersky.providers.openstreetmap.tag import PROVIDER
from scrapersky.providers.source import Json

KINDS = "|".join(MAIN_KEYS)


@dataclass(frozen=True, slots=True)
class OverpassSettings:
    """How we ask what is in an area."""

    url: str = "https://overpass-api.de/api/interpreter"
    interval: timedelta = timedelta(seconds=2)
    """Pause between two requests; the public server has two slots for one address."""
    query_timeout: timedelta = timedelta(seconds=60)
    """How long the server may work on one query."""
    query_memory: int = 268_435_456
    floor_m: float = 1000.0
    """A cell is not cut into quarters smaller than this when the server gives up."""
    page_size: int = 1000
    """Places handed out at once."""
    policy: ClientPolicy = field(
        default_factory=lambda: ClientPolicy(
            timedelta(seconds=90),
            max_bytes=64_000_000,
            pause=timedelta(seconds=5),
            longest_pause=timedelta(seconds=60),
        )
    )


def search_query(
    meaning: BusinessTypeTags, box: Box, settings: OverpassSettings
) -> str:
    """Write the question for every place of a kind in a box."""
    places = [
        f"nwr{conditions}({box.south:.7f},{west:.7f},{box.north:.7f},{east:.7f});"
        for conditions in alternatives(meaning)
        for west, east in box.spans()
    ]
    return f"{header(settings)}({''.join(places)});out center tags qt;"


def element_query(place_id: str, settings: OverpassSettings) -> str:
    """Write the question for one element by its id."""
    kind, _, number = place_id.partition("/")
    if kind not in {"node", "way", "relation"} or not number.isdecimal():
        raise ProviderRefused(PROVIDER, "an id is node/1, way/1 or relation/1")
    return f"{header(settings)}{kind}({int(number)});out center tags;"


def header(settings: OverpassSettings) -> str:
    """Write the limits the server is to keep to."""
    seconds = int(settings.query_timeout.total_seconds())
    return f"[out:json][timeout:{seconds}][maxsize:{settings.query_memory}];"


def alternatives(meaning: BusinessTypeTags) -> Iterator[str]:
    """Give the conditions of each way to be meant."""
    if meaning.is_anything:
        yield f'[~"^({KINDS})$"~"."]["name"]'
    for selector in meaning.selectors:
        yield write_conditions(selector)
    for word in meaning.words:
        pattern = quote_text(as_pattern(word))
        tag = quote_text("^" + as_pattern(word.casefold()).replace(" ", "[_ ]") + "s?$")
        yield f'[~"^({KINDS})$"~{tag},i]'
        yield f'[~"^({KINDS})$"~"."]["name"~{pattern},i]'


def write_conditions(selector: Selector) -> str:
    """Write conditions that must all hold."""
    return "".join(
        f"[{quote_text(part.key)}~{quote_text(as_pattern(part.value))},i]"
        if part.is_part
        else f"[{quote_text(part.key)}={quote_text(part.value)}]"
        for part in selector
    )


def as_pattern(text: str) -> str:
    """Return a POSIX pattern that matches the text and nothing else."""
    return re.sub(r"([\\.^$*+?()\[\]{}|])", r"\\\1", text)


def quote_text(text: str) -> str:
    """Return a text as the query language writes it; nothing in it can end it."""
    bare = re.sub(r"[\x00-\x1f\x7f]", " ", text)
    return '"' + bare.replace("\\", "\\\\").replace('"', '\\"') + '"'


def read_elements(answer: ProviderAnswer) -> list[Json]:
    """Return the elements of an answer, or raise what its failure means."""
    match answer.status:
        case 200 if isinstance(answer.data, dict):
            refuse_remark(answer.data.get("remark"))
            elements = answer.data.get("elements")
            if not isinstance(elements, list):
                raise BadProviderAnswer(PROVIDER, "the answer has no elements")
            return [element for element in elements if isinstance(element, dict)]
        case 200:
            raise BadProviderAnswer(PROVIDER, "the answer is not a JSON object")
        case 401 | 403 | 406:
            raise ProviderUnusable(
                PROVIDER,
                f"Overpass refuses us (HTTP {answer.status})",
                hint="The public server blocks heavy or anonymous use: set a "
                "USER_AGENT that names you, or run an Overpass of your own.",
            )
        case 429:
            raise ProviderBusy(
                PROVIDER,
                "Overpass has no free slot for us",
                retry_after=answer.retry_after,
            )
        case status if 400 <= status < 500:  # noqa: PLR2004
            raise ProviderRefused(PROVIDER, f"Overpass: {error_words(answer.text)}")
    raise ProviderBusy(
        PROVIDER,
        f"Overpass is too busy (HTTP {answer.status})",
        retry_after=answer.retry_after,
    )


def refuse_remark(remark: object) -> None:
    """Raise if a remark says that the answer is not whole."""
    if not isinstance(remark, str) or "error" not in remark:
        return
    if "timed out" in remark or "out of memory" in remark:
        raise AreaTooBig(PROVIDER, f"Overpass: {remark[:200]}")
    raise ProviderBusy(PROVIDER, f"Overpass: {remark[:200]}")


def error_words(page: str) -> str:
    """Return the words of an error page."""
    found = re.findall(r"Error</strong>:([^<]*)", page)
    return "; ".join(part.strip() for part in found)[:300] or "it refused the query"
