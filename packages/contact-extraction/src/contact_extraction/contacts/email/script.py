"""Read the strings a page's JavaScript puts together, without running it.

Covers what mail-hiding snippets really do: literals joined by `+`, variables and arrays
holding such strings, template literals, `fromCharCode`, `unescape`, `atob`, `split`,
`reverse`, `join`, `concat`, `replace`, ciphers that turn or move letters, CodeIgniter's
arrays, and HTML entities inside literals.
"""

import html as entities
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final
from urllib.parse import unquote

from contact_extraction.contacts.email.cipher import (
    codeigniter,
    deciphered,
    from_base64,
)
from contact_extraction.contacts.email.syntax import addresses_in

MAX_SCRIPT: Final = 300_000
MAX_KNOWN: Final = 16_000
"""Characters of a script that is remembered with many others."""
MAX_STATEMENTS: Final = 3_000
MAX_VALUE: Final = 2_000
MIN_CIPHER: Final = 6
MAX_CIPHER: Final = 300
MAX_CIPHERS: Final = 500

_HINTS: Final = ("@", "&#64", "&#x40", "%40", "\\x40", "\\u0040", "fromCharCode", "atob(", "reverse(", "&commat", "(at)", "[at]", "'|64'", '"|64"')  # fmt: skip


# Conditional comments of old browsers, and patterns that check what people type.
_NO_ADDRESS: Final = re.compile(r"/\*@cc_on!?@?\*/|@\(\[|@\(\?:\[")


def script_addresses(source: str) -> Iterable[str]:
    """Give the addresses a script puts together."""
    if len(source) <= MAX_KNOWN:
        return _known_addresses(source)
    return _known_of_large(source)


def _all_addresses(source: str) -> tuple[str, ...]:
    return tuple(_addresses_of(source))


# Every page of a site has the scripts of its template.
_known_addresses: Final = lru_cache(256)(_all_addresses)
_known_of_large: Final = lru_cache(8)(_all_addresses)


def _addresses_of(source: str) -> Iterator[str]:
    for text in written_by_script(source):
        target = entities.unescape(unquote(text)) if "%" in text else text
        yield from (a for _, _, a in addresses_in(entities.unescape(target)))


def written_by_script(source: str) -> Iterator[str]:
    """Yield the longer strings a script builds that may hold an address."""
    source = source[:MAX_SCRIPT]
    if "@" in source:
        source = _NO_ADDRESS.sub("", source)
    if not any(hint in source for hint in _HINTS):
        return
    if "|64" in source:
        yield from codeigniter(source)
    has_cipher = any(sign in source for sign in _CIPHER_SIGNS)
    ciphers = 0
    variables: dict[str, str | list[str]] = {}
    for count, statement in enumerate(_statements(source)):
        if count > MAX_STATEMENTS:
            return
        # A page held in one string is too long for a variable, not for a search.
        yield from (_unquoted(text) for _, text in statement if len(text) > MAX_VALUE)
        if has_cipher and ciphers < MAX_CIPHERS:
            texts = list(_ciphers(statement))
            ciphers += len(texts)
            for text in texts:
                yield from _plain_text(text)
        for value in _Expression(statement, variables).values():
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


def _ciphers(statement: "list[_Token]") -> Iterator[str]:
    for kind, text in statement:
        if kind == "string" and MIN_CIPHER <= len(text) - 2 <= MAX_CIPHER:
            yield _unquoted(text)


def _plain_text(coded: str) -> Iterator[str]:
    """Yield what a literal means if it is an address in cipher."""
    if any(addresses_in(coded)):
        return
    for text in deciphered(coded):
        if "mailto:" in text or text == next((a for _, _, a in addresses_in(text)), ""):
            yield text


@dataclass(slots=True)
class _Level:
    """What stands between two brackets: finished values, and the one being built."""

    call: str = ""
    receiver: str | list[str] | None = None
    items: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    current: str | list[str] | None = None
    is_sum: bool = False

    def add(self, value: str | list[str]) -> None:
        """Take a value: the next term of a sum, or a value of its own."""
        if self.is_sum and isinstance(value, str):
            before = self.current if isinstance(self.current, str) else ""
            self.current = (before + value)[:MAX_VALUE]
        else:
            self.end_value()
            self.current = value
        self.is_sum = False

    def end_value(self) -> None:
        """Finish the value being built."""
        if isinstance(self.current, str):
            self.items.append(self.current)
        elif self.current is not None:
            self.items += self.current
        self.current = None
        self.is_sum = False


class _Expression:
    """One statement, evaluated as far as its strings go."""

    def __init__(
        self, tokens: list[_Token], variables: dict[str, str | list[str]]
    ) -> None:
        self.tokens = tokens
        self.variables = variables
        self.built: list[str] = []
        self.levels = [_Level()]
        self.target = ""
        self.adds = False

    def values(self) -> list[str]:
        """Evaluate the statement and give every text that was built on the way."""
        if not self._builds_text():
            return []
        for place, (kind, text) in enumerate(self.tokens):
            if kind == "string":
                self.levels[-1].add(self._literal(text))
            elif kind == "number":
                self._read_number(text)
            elif kind == "name":
                self._read_name(place, text)
            else:
                self._read_sign(place, text)
        while len(self.levels) > 1:
            self._close()
        self._assign()
        return self.built

    def _builds_text(self) -> bool:
        return any(
            kind == "string"
            or text.endswith("fromCharCode")
            or text.partition(".")[0] in self.variables
            for kind, text in self.tokens
        )

    def _literal(self, token: str) -> str:
        text = _unquoted(token)[:MAX_VALUE]
        if token[0] == "`" and "${" in text:
            return _SLOT.sub(self._slot, text)[:MAX_VALUE]
        return text

    def _slot(self, match: re.Match[str]) -> str:
        value = self.variables.get(match[1])
        return value if isinstance(value, str) else _UNKNOWN

    def _read_number(self, text: str) -> None:
        level = self.levels[-1]
        if level.is_sum:
            level.add(text)
        else:
            level.numbers.append(int(text))

    def _read_name(self, place: int, name: str) -> None:
        after = self._sign_at(place + 1)
        level = self.levels[-1]
        if after == "(":
            return
        if after in ("=", "+=") and len(self.levels) == 1:
            self._assign()
            self.target, self.adds = name, after == "+="
        elif name in self.variables:
            level.add(self.variables[name])
        elif level.is_sum or after == "+":
            # What is not known parts what stands around it: no address is made up.
            level.add(_UNKNOWN)

    def _read_sign(self, place: int, sign: str) -> None:
        level = self.levels[-1]
        if sign == "+":
            level.is_sum = True
        elif sign == ",":
            if len(self.levels) == 1:
                self._assign()
            level.end_value()
        elif sign == "(":
            self._open_call(place)
        elif sign == "[":
            self.levels.append(_Level("["))
        elif sign in ")]" and len(self.levels) > 1:
            self._close()

    def _open_call(self, place: int) -> None:
        kind, name = self.tokens[place - 1] if place else ("", "")
        owner, _, method = name.rpartition(".") if kind == "name" else ("", "", "")
        level = self.levels[-1]
        receiver = self.variables.get(owner)
        if not owner and method in _METHODS:
            receiver, level.current = level.current, None
        self.levels.append(_Level(method, receiver))

    def _close(self) -> None:
        level = self.levels.pop()
        level.end_value()
        if level.call == "[":
            if level.items:
                self.levels[-1].add(level.items)
            return
        value = _called(level)
        if value is not None:
            self.levels[-1].add(value)
        if level.call not in _METHODS:
            self.built += level.items

    def _assign(self) -> None:
        level = self.levels[0]
        value = level.current
        if self.target and value is not None:
            old = self.variables.get(self.target, "") if self.adds else ""
            if isinstance(value, str) and isinstance(old, str):
                value = (old + value)[:MAX_VALUE]
            self.variables[self.target] = level.current = value
        level.end_value()
        self.built += level.items
        level.items = []
        self.target = ""

    def _sign_at(self, place: int) -> str:
        kind, text = self.tokens[place] if place < len(self.tokens) else ("", "")
        return text if kind == "sign" else ""


def _called(level: _Level) -> str | list[str] | None:
    """Give what a call returns; None if that is not a text."""
    receiver, items = level.receiver, level.items
    match level.call:
        case "join" if isinstance(receiver, list):
            return (items[0] if items else "").join(receiver)[:MAX_VALUE]
        case "reverse" if isinstance(receiver, list):
            return receiver[::-1]
        case "split" if isinstance(receiver, str):
            separator = items[0] if items else ""
            return receiver.split(separator) if separator else list(receiver)
        case "concat" if isinstance(receiver, str):
            return (receiver + "".join(items))[:MAX_VALUE]
        case "replace" if isinstance(receiver, str) and len(items) == 2 and items[0]:
            return receiver.replace(items[0], items[1])[:MAX_VALUE]
        case "fromCharCode":
            return "".join(chr(code) for code in level.numbers if 0 < code < 0xD800)
        case "atob":
            return from_base64(items[-1]) if items else None
        case call if call in _METHODS:
            return receiver
    return items[0] if len(items) == 1 else None


_METHODS: Final = frozenset(
    ("join", "reverse", "split", "concat", "replace", "trim", "toLowerCase", "toString")
)
_CIPHER_SIGNS: Final = ("charCodeAt", "rot13", "reverse(")
_UNKNOWN: Final = " "
_SLOT: Final = re.compile(r"\$\{\s?([^{}]{1,100}?)\s?\}")
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
