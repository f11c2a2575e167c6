"""Text in forms that can be compared: small letters, no accents, nothing between."""

import re
import unicodedata
from functools import lru_cache
from typing import Final

_LETTERS: Final = str.maketrans(
    {"ł": "l", "ø": "o", "æ": "ae", "œ": "oe", "đ": "d", "\u0131": "i"}
)
_UMLAUTS: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa"})


def small(text: str) -> str:
    """Write a text in small letters, of the same length, for a `small_pattern`."""
    if text.isascii() or not _DOTTED.search(text):
        return text.lower()
    return text.translate(_DOTS).lower()


def small_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a pattern for texts in small letters.

    Of many words it takes a fifth of the time that it takes to ignore case: only letters
    that are compared as they are let the matcher pass over a word by its first one.
    """
    if re.search(r"(?<![\\?])[A-Z]", pattern):
        raise ValueError(f"capitals in a pattern for small letters: {pattern!r}")
    return re.compile(pattern.translate(_DOTS))


# What else is the same letter where case is ignored.
_DOTTED: Final = re.compile("[\u0130\u0131\u017f]")
_DOTS: Final = str.maketrans(
    {
        "İ": "i",
        "\N{LATIN SMALL LETTER DOTLESS I}": "i",
        "\N{LATIN SMALL LETTER LONG S}": "s",
    }
)


def fold(text: str) -> str:
    """Write letters without accents, small; ß as ss."""
    if text.isascii():
        return text.lower()
    return strip_accents(text.casefold().translate(_LETTERS))


def strip_accents(text: str) -> str:
    """Write letters without accents, in the case that they have."""
    apart = unicodedata.normalize("NFKD", text)
    return "".join(sign for sign in apart if not unicodedata.combining(sign))


def compact(text: str) -> str:
    """Write a text as hosts do: plain letters and digits without anything between."""
    return _NOT_PLAIN.sub("", fold(text))


_NOT_PLAIN: Final = re.compile("[^a-z0-9]+")


@lru_cache(maxsize=4096)
def spellings(word: str) -> tuple[str, ...]:
    """Write a name in the ways addresses spell it: Müller is muller and mueller."""
    return tuple({compact(word), compact(word.casefold().translate(_UMLAUTS))})


@lru_cache(maxsize=4096)
def name_key(name: str | None) -> str:
    """Give what the spellings of one person's name share: no degrees, no initials."""
    bare = _DEGREES.sub("", re.sub(r",.*$", "", name or ""))
    words = re.findall(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*", fold(bare))
    kept = [word for word in words if len(word) > 1]
    return " ".join(kept if len(kept) > 1 else words)


def without_degrees(name: str) -> str:
    """Cut the degrees behind a name; what tells a son from his father stays."""
    bare, comma, rest = name.partition(",")
    if comma and _GENERATION.match(rest):
        return name
    return _DEGREES.sub("", bare).strip() or name


_GENERATION: Final = re.compile(r"\s?(?:Jr|Sr|II|III|IV)\b")
# Two letters are a degree only after small ones: "Jane Roe DO", but "ANH DO".
_DEGREES: Final = re.compile(
    r"(?:\s(?:M\.?D|D\.?D\.?S|D\.?M\.?D|D\.?V\.?M|D\.?P\.?M|D\.?P\.?T|R\.?D\.?H|Ph\.?D|PHD|C\.?P\.?A|MBA|"
    r"MSc|BSc|BDS|BVSc|BVetMed|LLB|MCSP|HCPC|MRCVS|MRICS|MChiro|\(?Hons?\.?\)?|LCSW|LMFT|LMT|FACP|FACS|MPSI|"
    r"Esq|Jr|Sr|(?<=[a-z]\s)(?:DO|DC|OD|RN|PT|PA|NP|EA|MS|MA|"
    r"BA|JD|PE|II|III|IV))\.?)+$"
)
