"""Read the strings a page's JavaScript puts together, without running it.

Covers what mail-hiding snippets really do: literals joined by `+`, variables holding
such strings, `fromCharCode`, `unescape`, `atob`, `split().reverse().join()`, arrays
joined, and HTML entities inside literals.
"""

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote

MAX_SCRIPT: Final = 300_000
MAX_STATEMENTS: Final = 3_000
MAX_VALUE: Final = 2_000

_HINTS: Final = ("@", "&#64", "&#x40", "%40", "\\x40", "\\u0040", "fromCharCode", "atob(", "reverse(", "&commat", "(at)", "[at]")  # fmt: skip


def written_by_script(source: str) -> Iterator[str]:
    """Yield the longer strings a script builds that may hold an address."""
    source = source[:MAX_SCRIPT]
    if not any(hint in source for hint in _HINTS):
        return
    variables: dict[str, str] = {}
    for count, statement in enumerate(_statements(source)):
        if count > MAX_STATEMENTS:
            return
        # A page held in one string is too long for a variable, not for a search.
        yield from (_unquoted(text) for _, text in statement if len(text) > MAX_VALUE)
        value, name, adds = _evaluate(statement, variables)
        if value is None:
            continue
        if name:
            old = variables.get(name, "") if adds else ""
            value = (old + value)[:MAX_VALUE]
            variables[name] = value
        if _may_hold_address(value):
            yield value


def _may_hold_address(value: str) -> bool:
    return "@" in value or "&#" in value or "%40" in value or "at" in value


_TOKEN: Final = re.compile(
    r"""
    (?P<quote>["'`])
    |(?P<note>//[^\n]{0,2000}+)
    |(?P<comment>/\*)
    |(?P<number>\d{1,6})
    |(?P<name>[A-Za-z_$][\w$.]{0,100})
    |(?P<sign>\+=|==|[=+;(),\[\]{}\n])
    """,
    re.VERBOSE,
)
# Each matches a string that is closed (group 1) or runs to the end of its line.
_STRINGS: Final = {
    '"': re.compile(r'"(?:[^"\\\n]++|\\.)*+(")?', re.DOTALL),
    "'": re.compile(r"'(?:[^'\\\n]++|\\.)*+(')?", re.DOTALL),
    "`": re.compile(r"`(?:[^`\\]++|\\.)*+(`)?", re.DOTALL),
}
_Token = tuple[str, str]


def _tokens(source: str) -> Iterator[_Token]:
    """Cut a script into tokens; no character is looked at more than a few times."""
    # Up to where no string of this quote ends: all quotes before it are escaped.
    open_until = dict.fromkeys(_STRINGS, 0)
    last_comment = source.rfind("*/")
    place = 0
    while match := _TOKEN.search(source, place):
        kind, text, place = match.lastgroup or "", match[0], match.end()
        if kind == "comment":
            if place <= last_comment:
                place = source.find("*/", place) + 2
        elif kind != "quote":
            yield kind, text
        elif match.start() >= open_until[text]:
            whole = _STRINGS[text].match(source, match.start())
            if whole is not None and whole[1]:
                place = whole.end()
                yield "string", whole[0]
            else:
                open_until[text] = whole.end() if whole is not None else place


def _statements(source: str) -> Iterator[list[_Token]]:
    """Cut a script into short runs of tokens at `;`, braces and line ends."""
    statement: list[_Token] = []
    depth = 0
    for kind, text in _tokens(source):
        if kind == "note":
            continue
        if kind == "sign" and text in "([":
            depth += 1
        elif kind == "sign" and text in ")]":
            depth = max(0, depth - 1)
        is_end = kind == "sign" and (text in ";{}" or (text == "\n" and depth == 0))
        # A line that ends in + goes on.
        if is_end and not (
            text == "\n" and statement and statement[-1][1] in ("+", "=")
        ):
            if statement:
                yield statement
            statement, depth = [], 0
        elif text != "\n":
            statement.append((kind, text))
            if len(statement) > 400:
                yield statement
                statement, depth = [], 0
    if statement:
        yield statement


def _evaluate(
    tokens: list[_Token], variables: dict[str, str]
) -> tuple[str | None, str, bool]:
    """Give the text a statement builds, the variable it goes to, and whether it adds."""
    name, adds, start = "", False, 0
    for place, (kind, text) in enumerate(tokens[:6]):
        if kind == "sign" and text in ("=", "+=") and place:
            name, adds, start = tokens[place - 1][1], text == "+=", place + 1
            break
    if not _builds_text(tokens[start:], variables):
        return None, "", False
    parts: list[str] = []
    literals: list[str] = []
    place, array, sums = start, 0, 0
    while place < len(tokens):
        kind, text = tokens[place]
        if kind == "string":
            literal = _unquoted(text)
            literals.append(literal)
            parts.append(literal)
        elif text == "[":
            array, sums = len(parts), 0
        elif text == "+":
            sums += 1
        elif text == "join" and not sums:
            parts[array:] = [_separator(tokens, place).join(parts[array:])]
            place += 2
        elif kind == "name":
            place = _apply_name(tokens, place, variables, parts)
        place += 1
    value = "".join(parts)[:MAX_VALUE]
    if any(text.endswith("reverse") for _, text in tokens):
        joined = max(literals, key=len, default="") or value
        value = joined[::-1]
    return value, name, adds


def _builds_text(tokens: list[_Token], variables: dict[str, str]) -> bool:
    return any(
        kind == "string" or text.endswith("fromCharCode") or text in variables
        for kind, text in tokens
    )


def _separator(tokens: list[_Token], place: int) -> str:
    """Give what a `join` puts between: the '@' of ['info', 'acme.com'].join('@')."""
    kind, text = tokens[place + 2] if place + 2 < len(tokens) else ("", "")
    return _unquoted(text) if kind == "string" else ""


def _apply_name(
    tokens: list[_Token], place: int, variables: dict[str, str], parts: list[str]
) -> int:
    name = tokens[place][1]
    if name in variables:
        parts.append(variables[name])
    elif name.endswith("fromCharCode"):
        codes = []
        for kind, text in tokens[place + 1 : place + 300]:
            if kind == "number":
                codes.append(int(text))
            elif text not in "(,":
                break
        parts.append("".join(chr(code) for code in codes if 0 < code < 0xD800))
        return place + 2 * len(codes)
    elif name.endswith("atob") and place + 2 < len(tokens):
        kind, text = tokens[place + 2]
        if kind == "string":
            parts.append(_from_base64(_unquoted(text)))
            return place + 2
    elif name in ("join", "split") and place + 2 < len(tokens):
        # The separator of join and split is no part of the text.
        return place + 2
    return place


def _from_base64(text: str) -> str:
    try:
        return base64.b64decode(text[:MAX_VALUE], validate=True).decode(
            "utf-8", "ignore"
        )
    except (binascii.Error, ValueError):
        return ""


_ESCAPE: Final = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(.))", re.DOTALL)


def _unquoted(token: str) -> str:
    text = token[1:-1]
    if "\\" in text:
        text = _ESCAPE.sub(_escaped, text)
    return unquote(text) if "%" in text else text


def _escaped(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    if code:
        number = int(code, 16)
        return chr(number) if not 0xD800 <= number < 0xE000 else ""
    return match[3] if match[3] not in "nrt" else " "
