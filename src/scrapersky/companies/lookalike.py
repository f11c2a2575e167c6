"""Letters of other alphabets that look like Latin ones, as names that imitate others use them.

A compact part of Unicode's table of confusables (UTS 39) for the alphabets in which
companies here are named: Cyrillic and Greek. An ordinary name in one of these is left as
it is; only a word that mixes alphabets is written in one.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from typing import Final

from contact_extraction.text import strip_accents

LATIN: Final = "LATIN"
LOOKALIKES: Final[Mapping[str, tuple[str, str]]] = {
    "CYRILLIC": (
        "АВЕЅІЈКМНОРСТУХԌԚԜҮӀаегѕіјкорсухһԁԛԝүӏѵ",
        "ABESIJKMHOPCTYXGQWYIaersijkopcyxhdqwylv",
    ),
    "GREEK": (
        "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹαγηικνορστυχϲϳ",
        "ABEZHIKMNOPTYXCaynikvopotuxcj",
    ),
}
FOREIGN: Final = re.compile(r"[\u0370-\u03ff\u0400-\u052f\u1f00-\u1fff]")
WORDS: Final = re.compile(r"[^\W\d_]+")
TO_LATIN: Final = str.maketrans(*map("".join, zip(*LOOKALIKES.values(), strict=True)))
INTO: Final = {
    LATIN: TO_LATIN,
    **{
        name: str.maketrans(latin[::-1], foreign[::-1])
        for name, (foreign, latin) in LOOKALIKES.items()
    },
}


def skeleton(text: str) -> str:
    """Write a name as it looks, in Latin letters wherever there are such."""
    return strip_accents(text).translate(TO_LATIN) if FOREIGN.search(text) else text


def in_one_alphabet(text: str) -> str:
    """Write every word that mixes alphabets in the one that has most of its letters."""
    return (
        WORDS.sub(word_in_one_alphabet, strip_accents(text))
        if FOREIGN.search(text)
        else text
    )


def mixes_alphabets(text: str | None) -> bool:
    """Say whether a word of a name has letters of two alphabets."""
    if not text or not FOREIGN.search(text):
        return False
    return any(len(alphabets(word)) > 1 for word in WORDS.findall(strip_accents(text)))


def word_in_one_alphabet(found: re.Match[str]) -> str:
    """Write one word in one alphabet; as it is, where some letter has no counterpart."""
    word = found[0]
    ways = (word.translate(INTO[name]) for name, _ in alphabets(word).most_common())
    return next((way for way in ways if len(alphabets(way)) == 1), word)


def alphabets(word: str) -> Counter[str]:
    """Count the letters of a word by alphabet, of those that look alike."""
    names = (unicodedata.name(sign, "").partition(" ")[0] for sign in word)
    return Counter(name for name in names if name in INTO)
