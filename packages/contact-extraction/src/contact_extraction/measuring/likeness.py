"""Say whether two names, organisations or addresses are the same."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from contact_extraction.text import fold

MIN_WORDS: Final = 2
ENDING_LETTERS: Final = 5
"""Letters of a street that are enough to know it by."""


def words_of_name(name: str | None) -> list[str]:
    """Return the words of a person's name, without titles."""
    return [word for word in _WORD.findall(fold(name or "")) if word not in _TITLES]


def is_same_person(first: str, second: str) -> bool:
    """Say whether two names are one person's: all words of the shorter one, two at least."""
    small, big = sorted(
        (set(words_of_name(first)), set(words_of_name(second))), key=len
    )
    if not small:
        return False
    return small == big or (len(small) >= MIN_WORDS and small <= big)


def is_named(name: str, names: Iterable[str]) -> bool:
    """Say whether a name is one of some, or exactly as one of them is written."""
    return any(
        is_same_person(name, other) or words_of_name(name) == words_of_name(other)
        for other in names
        if words_of_name(other)
    )


def is_same_organisation(first: str | None, second: str | None) -> bool:
    """Say whether two names are one organisation's, whatever its legal form."""
    one, other = _words_of_organisation(first), _words_of_organisation(second)
    if not one or not other:
        return False
    if "".join(one) == "".join(other):
        return True
    small, big = sorted((set(one), set(other)), key=len)
    return small <= big and (len(small) >= MIN_WORDS or small == big)


def is_same_address(stored: Mapping[str, Any], true: Mapping[str, Any]) -> bool:
    """Say whether an address is the true one, its postal code included."""
    code = _digits(true.get("postal_code"))
    written = _digits(stored.get("text"))
    if code and code != _digits(stored.get("postal_code")) and code not in written:
        return False
    if not true.get("street"):
        said = f"{stored.get('city') or ''} {stored.get('text') or ''}"
        return fold(true.get("city") or "") in fold(said)
    return _is_same_street(stored, true)


def is_same_place(stored: Mapping[str, Any], true: Mapping[str, Any]) -> bool:
    """Say whether an address names the true street and no other postal code."""
    code = _digits(stored.get("postal_code"))
    if code and code != _digits(true.get("postal_code")):
        return is_same_address(stored, true)
    return bool(true.get("street")) and _is_same_street(stored, true)


def address_key(stored: Mapping[str, Any]) -> tuple[str, str]:
    """Return what two readings of one address have in common."""
    street = stored.get("street") or stored.get("text")
    return street_key(street), _digits(stored.get("postal_code"))


def _is_same_street(stored: Mapping[str, Any], true: Mapping[str, Any]) -> bool:
    said, meant = (
        street_key(stored.get("street") or stored.get("text")),
        street_key(true["street"]),
    )
    if not said or not meant:
        return False
    if said in meant or meant in said:
        return True
    last = street_key(str(true["street"]).rpartition(",")[2])
    return len(last) > ENDING_LETTERS and last in street_key(stored.get("text"))


def street_key(text: Any) -> str:  # noqa: ANN401 - as the truth and the records have it
    """Return a street so that its usual spellings are one."""
    plain = _ABBREVIATED.sub(
        lambda word: _SHORT[word[0]], _STREET.sub("str", fold(str(text or "")))
    )
    return _NOT_LETTER.sub("", _WAY.sub("", plain))


def _digits(text: Any) -> str:  # noqa: ANN401 - as the truth and the records have it
    return _NOT_DIGIT.sub("", str(text or ""))


def _words_of_organisation(name: str | None) -> list[str]:
    return [word for word in _WORD.findall(fold(name or "")) if word not in _FORMS]


_WORD: Final = re.compile(r"[a-z0-9]+")
_NOT_LETTER: Final = re.compile(r"[^a-z0-9]")
_NOT_DIGIT: Final = re.compile(r"\D")
_STREET: Final = re.compile(r"str(?:asse|eet|\.)?(?=\s|$|\d|,)|strasse")
_SHORT: Final = {
    "suite": "ste", "#": "ste", "freeway": "fwy", "avenue": "ave", "boulevard": "blvd",
    "road": "rd", "drive": "dr", "lane": "ln", "parkway": "pkwy", "highway": "hwy",
    "floor": "fl", "building": "bldg",
}  # fmt: skip
_ABBREVIATED: Final = re.compile(rf"#|\b(?:{'|'.join(sorted(_SHORT)[1:])})\b")
_WAY: Final = re.compile(r"\b(?:ul|c|calle|rue|via|al|avda|avenida)\b\.?")
_TITLES: Final = frozenset((
    "dr", "med", "dent", "dipl", "ing", "fh", "mag", "msc", "bsc", "m", "sc", "prof",
    "herr", "frau", "maitre", "me", "mr", "mrs", "ms", "mme", "monsieur", "madame",
    "lek", "mgr", "hab", "avv", "dott", "dottssa", "arch", "geom", "ra", "inh", "doc",
))  # fmt: skip
_FORMS: Final = frozenset((
    "gmbh", "ag", "kg", "og", "ohg", "eu", "e", "u", "mbh", "co", "srl", "s", "r", "l",
    "sl", "sa", "sas", "sarl", "as", "ab", "oy", "bv", "ans", "sp", "z", "o", "sc", "c",
    "llc", "inc", "ltd", "plc", "pllc", "pc", "pa", "the", "le", "la", "les", "de", "der",
    "die", "das", "des", "di", "del",
))  # fmt: skip
