"""Read JSON-LD as pages write it, mistakes included."""

import re
from collections.abc import Iterator
from typing import Any, Final

import orjson

MAX_OBJECTS: Final = 2_000


def read_json_ld(text: str) -> Iterator[dict[str, Any]]:
    """Yield every object of a JSON-LD block; nothing if it is beyond repair."""
    return _unfolded(_lenient_json(text))


def _lenient_json(text: str) -> Any:  # noqa: ANN401
    """Read JSON as pages write it: comments around it, raw line ends, extra commas."""
    text = text.strip()[:1_000_000]
    for attempt in (_as_is, _mended):
        try:
            return orjson.loads(attempt(text))
        except orjson.JSONDecodeError:
            continue
    return None


def _as_is(text: str) -> str:
    return text


_JSON_HEAD: Final = re.compile(
    r"\s*(?:<!--|//\s*<!\[CDATA\[|/\*\s*<!\[CDATA\[\s*\*/|<!\[CDATA\[)"
)
_JSON_TAIL: Final = re.compile(
    r"(?:(?://\s*)?-->|//\s*\]\]>|/\*\s*\]\]>\s*\*/|\]\]>|;)\s*$"
)
MAX_TAIL: Final = 200
_JSON_COMMA: Final = re.compile(r",(?=\s{0,200}[}\]])")
_CONTROL: Final = re.compile(r"[\x00-\x1f]")
# Whoever cuts a text to a length cuts emoji in half, and half of a pair is not JSON.
_HALF_OF_PAIR: Final = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    r"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)


def _mended(text: str) -> str:
    if head := _JSON_HEAD.match(text):
        text = text[head.end() :]
    cut = max(0, len(text) - MAX_TAIL)
    text = text[:cut] + _JSON_TAIL.sub("", text[cut:])
    text = _CONTROL.sub(" ", text.strip())
    return _JSON_COMMA.sub("", _HALF_OF_PAIR.sub("", text))


def _unfolded(value: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401
    """Yield the objects of a JSON-LD value, without recursion, at most a thousand."""
    waiting = [value]
    given = 0
    while waiting and given < MAX_OBJECTS:
        thing = waiting.pop(0)
        if isinstance(thing, list):
            waiting[:0] = thing[:MAX_OBJECTS]
        elif isinstance(thing, dict):
            graph = thing.get("@graph")
            if isinstance(graph, list):
                waiting[:0] = graph[:MAX_OBJECTS]
            given += 1
            yield thing
