"""Addresses spelled to hide from machines: `[at]`, `(dot)`, in words, with gaps."""

import re
from collections.abc import Iterator
from typing import Final

from contact_extraction.contacts.email.sighting import snippet_with
from contact_extraction.contacts.email.syntax import (
    MAX_FOUND,
    SIGNS,
    is_plausible,
    local_before,
    trimmed_domain,
)
from contact_extraction.contacts.model import Method, Sighting
from contact_extraction.contacts.page_text import PageText
from contact_extraction.html import words

MAX_SPELLED: Final = 300
_WINDOW_CHARACTERS: Final = 90


def from_spelling(sheet: PageText) -> Iterator[Sighting]:
    """Look at a small window around each sign that stands for '@'."""
    text = sheet.visible_text
    seen: set[str] = set()
    given = 0
    for start, end, address in _spelled_out(text, sheet.lower[: len(text)]):
        yield Sighting(
            key=address,
            value=address,
            method=Method.OBFUSCATED,
            line=sheet.line_at(start),
            start=start,
            end=end,
            snippet=snippet_with(sheet.snippet(start, end)[:120], address),
        )
    for pattern, start, end in _at_signs(text):
        line = sheet.line_at(start)
        left = max(sheet.starts[line], start - _WINDOW_CHARACTERS)
        stop = sheet.starts[line] + len(sheet.lines[line].text)
        right = min(stop, end + _WINDOW_CHARACTERS)
        joined = _joined(text[left:start].rstrip(), text[end:right], pattern)
        if joined and (key := f"{joined}{line}") not in seen:
            seen.add(key)
            given += 1
            yield Sighting(
                key=joined,
                value=joined,
                method=Method.OBFUSCATED,
                line=line,
                start=start,
                end=end,
                snippet=snippet_with(sheet.snippet(start, end)[:120], joined),
            )
        if given > MAX_FOUND:
            return


def respelled(text: str) -> str | None:
    """Undo `[at]` and `(dot)` in a short string that should be one address."""
    if "@" in text and "(" not in text and "[" not in text:
        return None
    text = text.replace("\uff20", "@").replace("\uff0e", ".")
    match = _BRACKET_AT.search(text)
    if match:
        return _joined(text[: match.start()], text[match.end() :], "bracket")
    spelled = next(
        (address for _, _, address in _spelled_out(text, text.lower())), None
    )
    return spelled or _NO_SPAM.sub("", _BRACKET_DOT.sub(".", text))


def _at_signs(text: str) -> Iterator[tuple[str, int, int]]:
    for count, match in enumerate(_BRACKET_AT.finditer(text)):
        if count > MAX_FOUND:
            break
        # "firma(a)seznam.cz" is an address, "clause (a) acme.com" is none.
        word = match[0].strip(" []{}()<>\"'").lower()
        if word in ("a", "ad") and text[match.start() - 1 : match.start()].isspace():
            continue
        yield "bracket", match.start(), match.end()
    if "@ " in text or " @" in text or "\uff20" in text:
        for count, match in enumerate(_SPACED_AT.finditer(text)):
            if count > MAX_FOUND:
                break
            # Without a space it is a plain address, or the handle @ann@example.social.
            if len(match[0]) > 1:
                yield "spaced", match.start(), match.end()
    if " AT " in text:
        for count, match in enumerate(_CAPITAL_AT.finditer(text)):
            if count > MAX_FOUND:
                break
            yield "capital", match.start(), match.end()
    if "★" in text or "☆" in text:
        for count, match in enumerate(_STAR_AT.finditer(text)):
            if count > MAX_FOUND:
                break
            yield "bracket", match.start(), match.end()


def _spelled_out(text: str, low: str) -> Iterator[tuple[int, int, str]]:
    """Yield addresses written in words: `ann at acme dot com`; `low` is the text in small.

    Only the surroundings of a word for '@' that has a word for '.' near are looked at.
    """
    if len(low) != len(text) or not any(hint in low for hint in _DOT_HINTS):
        return
    for pattern, dots, spellings in zip(
        _SPELLED, _SPELLED_DOTS, _AT_WORDS_SPELLED, strict=True
    ):
        for spelling in spellings:
            place = low.find(spelling)
            tries = 0
            while place >= 0 and tries < MAX_SPELLED:
                window = text[
                    max(0, place - _WINDOW_CHARACTERS) : place + _WINDOW_CHARACTERS
                ]
                if dots.search(window):
                    tries += 1
                    yield from _spelled_in(
                        window, max(0, place - _WINDOW_CHARACTERS), pattern, dots
                    )
                place = low.find(spelling, place + 1)


def _spelled_in(
    window: str, offset: int, pattern: re.Pattern[str], dots: re.Pattern[str]
) -> Iterator[tuple[int, int, str]]:
    for match in pattern.finditer(window):
        address = f"{dots.sub('.', match[1])}@{dots.sub('.', match[2])}".lower()
        if address.isascii() and is_plausible(address):
            yield offset + match.start(), offset + match.end(), address


def _joined(left: str, right: str, pattern: str) -> str | None:
    left = _BRACKET_DOT.sub(".", left)
    right = _BRACKET_DOT.sub(".", right)
    if pattern == "bracket":
        right = _DOT_AFTER_LABEL.sub(r"\1.", right)
        right = re.sub(r"^([\w-]{1,63}) ?\. ?(?=[a-z]{2,10}\b)", r"\1.", right)
    if pattern == "spaced":
        right = _SPACED_DOT.sub(r"\1.\2", right)
    local = local_before(left, len(left))
    domain = _HEAD_DOMAIN.match(right)
    if not local or not domain:
        return None
    name = local.strip(".-'").lower()
    host = trimmed_domain(domain[0])
    if host is None or not name or not name.isascii():
        return None
    if pattern == "spaced" and name in _COMMON_BEFORE_AT:
        return None
    address = _NO_SPAM.sub("", f"{name}@{host.lower()}")
    return address if is_plausible(address) else None


# "at" as people write it to fool machines, by language; longest first.
_AT_WORDS: Final = (
    "apenstaartje|apestaartje|klammeraffe|affenschwanz|chiocciola|snabel-?a|"
    "krøllalfa|kr.llalfa|zavin[aá][cč]|arroba|arobase|arrobas|kukac|ma[lł]pa|"
    "ätt?|aett|at|ad|et-?merkki|miukumauku|собака|собачка|アット(?:マーク)?|あっと|"
    "アットマーク|골뱅이|at-sign|atsign|ät|a"
)
_DOT_WORDS: Final = (
    "punktum|punkt|punto|point|ponto|punt|piste|prick|te[cč]ka|bodka|kropka|nokta|"
    "pont|točka|точка|тчк|ドット|どっと|dot|doot|d0t|점"
)
_OPEN: Final = r"[\[({<*|«»【（［〈《]"
_CLOSE: Final = r"[\])}>*|«»】）］〉》]"
_BRACKET_AT: Final = re.compile(
    rf"{_OPEN}{{1,2}}[\s\"']{{0,3}}(?=[^\W\d_]|@)(?:{_AT_WORDS}|@)[\s\"']{{0,3}}{_CLOSE}{{1,2}}"
    r"[\s\u00a0]{0,3}",
    re.IGNORECASE,
)
_BRACKET_DOT: Final = re.compile(
    rf"[\s\u00a0]{{0,3}}{_OPEN}{{1,2}}[\s\"']{{0,3}}(?:{_DOT_WORDS}|\.)[\s\"']{{0,3}}{_CLOSE}{{1,2}}"
    r"[\s\u00a0]{0,3}",
    re.IGNORECASE,
)
# Which words for '@' and '.' go together, so that "meet at noon. Point com" is nothing.
_PAIRS: Final = (
    ("at|ät", "dot|punkt|punt"),
    ("arroba", "punto|ponto|dot"),
    ("arobase", "point|dot"),
    ("chiocciola", "punto"),
    ("snabel-?a|krøllalfa", "punkt|punktum|prick|dot"),
    ("zavin[aá][cč]", "te[cč]ka|bodka|dot"),
    ("ma[lł]pa", "kropka|dot"),
    ("apenstaartje", "punt|dot"),
    ("kukac", "pont"),
    ("собака", "точка"),
)
_SPELLED: Final = tuple(
    re.compile(
        rf"(?<![\w\u2010\u2011\u2019{re.escape(SIGNS)}])"
        rf"([\w+-]{{1,40}}(?: (?:{dot}) [\w+-]{{1,40}}){{0,2}}) (?:{at}) "
        rf"([\w-]{{1,63}}(?: (?:{dot}) [\w-]{{2,63}}){{1,3}})(?!\w)",
        re.IGNORECASE,
    )
    for at, dot in _PAIRS
)
_SPELLED_DOTS: Final = tuple(
    re.compile(rf" (?:{dot}) ", re.IGNORECASE) for _, dot in _PAIRS
)
_SPACED_AT: Final = re.compile(r"(?<=\w) {0,2}[@\uff20] {0,2}(?=\w)")
# Only where nothing of a sentence follows: "come @ noon . it is free" is not an address.
_SPACED_DOT: Final = re.compile(
    r"^([\w-]{1,63}) \. ([a-z]{2,6})(?=\s{0,3}(?:$|[|,;)]|[A-Z]))"
)
_STAR_AT: Final = re.compile(r"(?<=[\w])[★☆■◎●](?=[\w-]{1,63}(?:\.[\w-]{1,63}){1,4})")
_NO_SPAM: Final = re.compile(
    r"[-_.]?(?:no-?spam|nospam|remove-?this|removethis|entfernen|antispam|"
    r"sin-?spam|pasdespam|bez-?spamu|REMOVE)[-_.]?",
    re.IGNORECASE,
)
_CAPITAL_AT: Final = re.compile(r"(?<=[a-z0-9]) AT (?=[a-z0-9])")
_AT_WORDS_SPELLED: Final = (
    (" at ", " ät "), (" arroba ",), (" arobase ",), (" chiocciola ",),
    (" snabel-a ", " snabela ", " krøllalfa "), (" zavináč ", " zavinac "),
    (" małpa ", " malpa "), (" apenstaartje ",), (" kukac ",), (" собака ",),
)  # fmt: skip
_DOT_HINTS: Final = (
    " dot ", " punkt ", " punt ", " punto ", " ponto ", " point ", " punktum ", " prick ",
    " tečka ", " tecka ", " bodka ", " kropka ", " pont ", " точка ",
)  # fmt: skip
_DOT_AFTER_LABEL: Final = re.compile(
    rf"^([\w-]{{1,63}}) (?:{_DOT_WORDS}) (?=[a-z]{{2,10}}\b)", re.IGNORECASE
)
_HEAD_DOMAIN: Final = re.compile(r"(?:[\w-]{1,63}\.){1,6}[^\W\d_]{2,24}")
_COMMON_BEFORE_AT: Final = words("us me me: at follow tweet email e-mail mail on is")
