"""Find the words we know in the name of a page: a part of its address, or a link's text."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from contact_extraction.page_word import (
    CONTACT,
    OTHER_CONTACTS,
    OTHER_TEAMS,
    STOPS,
    TEAM,
    WordMeaning,
    words,
)
from contact_extraction.wordlist import load_words

MANY_WORDS: Final = 3


class Match(NamedTuple):
    """A known word in a segment, and how much else the segment says."""

    meaning: WordMeaning
    word: str
    extra: int


def tokens_of(segment: str) -> tuple[str, ...]:
    """Split a segment into words: no accents, no case, no file ending."""
    if "." in segment:
        segment = _ENDING.sub("", segment)
    if not segment.isascii():
        segment = _INNER_APOSTROPHE.sub("", segment)
    if not segment.islower():
        segment = _CAMEL.sub("-", segment)
    return tuple(_WORD.findall(_fold(segment)))


parent_tokens = lru_cache(2_048)(tokens_of)
"""The folders of a site are few, as are the texts of links, and its pages many."""


def _fold(text: str) -> str:
    text = text.casefold()
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKD", text.translate(_LETTERS))
    return unicodedata.normalize("NFC", _ACCENT.sub("", text))


def best_match(tokens: tuple[str, ...]) -> Match | None:
    """Return the known word that says most about a page of this name."""
    # Apart from its words, a segment may be one word we know: "contactus", "o-nas".
    matches = () if _BY_FIRST.keys().isdisjoint(tokens) else tuple(_matches(tokens))
    if not matches:
        return _glued(tokens) or _match_inside(tokens)
    # "Work with us" is no page about us: what a longer name holds is not said apart.
    longest = max(len(word) for _, word in matches)
    if longest > 1:
        matches = tuple(_outer(matches))
    best = max(matches, key=lambda pair: (pair[0].likelihood, len(pair[1])))
    covered = {token for _, word in matches for token in word}
    left = [token for token in tokens if token not in covered and token not in STOPS]
    if best[0] is TEAM and not OTHER_TEAMS.isdisjoint(left):
        return None
    if best[0] is CONTACT:
        if not OTHER_CONTACTS.isdisjoint(left):
            return None
        if len(tokens) <= _A_FEW and tokens[: len(best[1])] == best[1]:
            # "Contact Hart Vale Limited" is named by its first word.
            left = left[: MANY_WORDS - 1]
    return Match(best[0], "-".join(best[1]), min(len(left), MANY_WORDS))


_Matches = Sequence[tuple[WordMeaning, tuple[str, ...]]]


def _outer(matches: _Matches) -> Iterator[tuple[WordMeaning, tuple[str, ...]]]:
    """Yield the words that no longer one holds."""
    for meaning, word in matches:
        if not any(
            len(other) > len(word) and set(word) <= set(other) for _, other in matches
        ):
            yield meaning, word


parent_match = lru_cache(2_048)(best_match)


def _matches(tokens: tuple[str, ...]) -> Iterator[tuple[WordMeaning, tuple[str, ...]]]:
    for at, token in enumerate(tokens[:_MAX_TOKENS]):
        for word, meaning in _BY_FIRST.get(token, ()):
            if tokens[at : at + len(word)] == word:
                yield meaning, word


def _glued(tokens: tuple[str, ...]) -> Match | None:
    """Take "contactaustinplumber" for a contact page, with little trust.

    Where words are glued the last part says what a page is: "physiotherapeuten".
    """
    if len(tokens) <= _A_FEW and OTHER_TEAMS.isdisjoint(tokens):
        for token in tokens:
            if token.endswith(_TEAM_ENDS) and not token.endswith(_NO_TEAM_ENDS):
                return Match(TEAM, token, min(len(tokens) - 1, MANY_WORDS))
    for token in tokens:
        if _STEM.search(token) is None:
            continue
        if token.startswith(_STEMS):
            stem = next(stem for stem in _STEMS if token.startswith(stem))
            rest = token.removeprefix(stem)
            if len(rest) >= _GLUED_PARTS and not rest.startswith(_OTHER_STEMS):
                return Match(CONTACT, stem, MANY_WORDS - 1)
        elif token.endswith(_ENDS) and not token.startswith(_OTHER_BEGINNINGS):
            stem = next(stem for stem in _ENDS if token.endswith(stem))
            return Match(CONTACT, stem, MANY_WORDS - 1)
    return None


def _match_inside(tokens: tuple[str, ...]) -> Match | None:
    """Find a word of a script that puts no space between words."""
    together = "".join(tokens)
    if together.isascii():
        return None
    if any(word in together for word in _OTHER_UNSPACED):
        return None
    for word, meaning in _UNSPACED:
        if word in together:
            left = len(together) - len(word)
            return Match(meaning, word, min(left // 4, MANY_WORDS))
    return None


def is_plain_contact(match: Match | None) -> bool:
    """Say whether a name says contact and nothing else."""
    return match is not None and match.meaning is CONTACT and not match.extra


def is_person(tokens: tuple[str, ...]) -> bool:
    """Say whether a name is a person's: "susan-r-vale", "dr-ole-lund", "meet-ana-ruiz"."""
    has_title = not _HONORIFICS.isdisjoint(tokens)
    name = [token for token in tokens if token not in _BESIDE_NAMES]
    if not _FEWEST_NAMES <= len(name) <= _MOST_NAMES or not all(map(str.isalpha, name)):
        return False
    # "roy-ut" is a town and its state.
    if len(name[-1]) < _SHORTEST_NAME:
        return False
    return has_title or name[0] in _given_names()


@lru_cache(1)
def _given_names() -> frozenset[str]:
    return frozenset(_fold(name) for name in load_words("given_names"))


def means_other_contacts(tokens: tuple[str, ...]) -> bool:
    """Say whether a name is about lenses, sports or glue, and not about reaching anybody."""
    if any(token.startswith(_OTHER_WORDS) for token in tokens):
        return True
    is_contact = any(token.startswith(_STEMS) for token in tokens)
    return is_contact and not OTHER_CONTACTS.isdisjoint(tokens)


_HONORIFICS: Final = frozenset(("dr", "prof", "attorney", "avv", "dott", "mgr", "lek"))
_BESIDE_NAMES: Final = _HONORIFICS | frozenset((
    "mr", "mrs", "ms", "md", "dds", "dmd", "dpm", "phd", "do", "dc", "od", "rn", "np", "jd",
    "esq", "jr", "sr", "ii", "iii", "meet", "about", "bio", "profile", "read", "more", "view",
))  # fmt: skip
_FEWEST_NAMES: Final = 2
_MOST_NAMES: Final = 4
_SHORTEST_NAME: Final = 3
_STEMS: Final = ("contact", "kontakt", "impressum")
_STEM: Final = re.compile("|".join(_STEMS))
_ENDS: Final = ("contact", "contactus", "contacts", "kontakt", "impressum")
# In the languages that glue their words; "esteem" and "steam" are words of their own.
_TEAM_ENDS: Final = (
    *("team", "teamet", "mitarbeiter", "aerzte", "anwaelte", "therapeuten", "berater"),
    *("lehrer", "vorstand", "ansprechpartner", "medewerkers", "artsen", "advocaten"),
    *("terapeuter", "terapeutit", "advokater", "medarbetare", "medarbejdere"),
    *("henkilokunta", "henkilosto", "laakarit", "orvosok", "orvosaink", "terapeutak"),
    *("munkatarsaink", "tannleger", "tandlaeger", "tandlakare", "larare"),
)
_NO_TEAM_ENDS: Final = ("steam", "wirtschaftsberater", "ratgeber")
_OTHER_BEGINNINGS: Final = ("non", "full", "voll", "augen", "blick", "haut", "eye")
# Lenses, devices, sports and adhesives, in the languages that glue their words.
_OTHER_STEMS: Final = (
    *("len", "lin", "less", "los", "or", "sport", "kleb", "grill", "laats", "pers"),
    *("owe", "ni", "ny", "tracing", "allerg", "ekzem", "schleif", "spray", "cleaner"),
    *("olog", "eur", "lijm", "lim", "doo", "doz", "loos", "anzeig", "borse", "boers"),
)
_OTHER_WORDS: Final = (
    *(stem + other for stem in _STEMS for other in ("len", "lin", "sport", "grill")),
    *("lens", "lenz", "linse", "lente", "lenti", "soczew", "cocky"),
)
_GLUED_PARTS: Final = 2
_MAX_TOKENS: Final = 40
_A_FEW: Final = 5
_ENDING: Final = re.compile(
    r"\.(?:html?|php\d?|aspx?|jsp|jsf|cfm|shtml|xhtml|do|cgi|pl)$", re.IGNORECASE
)
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
# "contact2" is one more contact page, "2" alone is a name.
_WORD: Final = re.compile(r"[^\W_]*[^\W\d_]|\d+")
# In Cyrillic an apostrophe stands within a word, elsewhere between two.
_INNER_APOSTROPHE: Final = re.compile(
    "(?<=[\u0400-\u04ff])['\u2019\u02bc](?=[\u0400-\u04ff])"
)
_ACCENT: Final = re.compile("[\u0300-\u036f]")
_LETTERS: Final = str.maketrans(
    {
        "ß": "ss",
        "ø": "o",
        "æ": "ae",
        "œ": "oe",
        "ł": "l",
        "đ": "d",
        "\u0131": "i",
        "ð": "d",
    }
)


def _by_first() -> dict[str, list[tuple[tuple[str, ...], WordMeaning]]]:
    table: dict[str, list[tuple[tuple[str, ...], WordMeaning]]] = {}
    for word, meaning in words():
        tokens = tuple(_WORD.findall(_fold(word)))
        table.setdefault(tokens[0], []).append((tokens, meaning))
        if len(tokens) > 1:
            # People leave the hyphens out too: "aboutus", "nouscontacter".
            joined = "".join(tokens)
            table.setdefault(joined, []).append(((joined,), meaning))
    return table


_BY_FIRST: Final = _by_first()
_OTHER_UNSPACED: Final = tuple(word for word in OTHER_CONTACTS if not word.isascii())
_UNSPACED: Final = tuple(
    sorted(
        (
            ("".join(_WORD.findall(_fold(word))), meaning)
            for word, meaning in words()
            if not word.isascii()
        ),
        key=lambda pair: (-pair[1].likelihood, -len(pair[0])),
    )
)
