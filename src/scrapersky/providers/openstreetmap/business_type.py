"""What people call a business, as OpenStreetMap tags it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TypeAlias

from contact_extraction.text import fold

MAIN_KEYS = (
    "amenity",
    "shop",
    "craft",
    "office",
    "healthcare",
    "tourism",
    "leisure",
)
"""The keys whose values say what kind of place it is."""
EXACT = re.compile(r"^[a-z][a-z0-9_:]{0,60}=[a-z0-9_:;\-]{1,80}$")
ANY_TYPE_WORDS = frozenset(
    {"business", "any business", "all", "everything", "anything"}
)
WHOLE_PHRASES = frozenset(
    ("bank", "bar", "club", "company", "firm", "garage", "therapist")
)
"""Words that mean a kind of place by themselves and another at the end of a phrase."""
PLURAL_ENDINGS = ("s", "es", "e", "en", "n", "i", "x")


@dataclass(frozen=True, slots=True)
class TagCondition:
    """A key and the value it has, or a part of it."""

    key: str
    value: str
    is_part: bool = False


Selector: TypeAlias = tuple[TagCondition, ...]
"""Conditions that must all hold."""


@dataclass(frozen=True, slots=True)
class BusinessTypeTags:
    """What a business type means: selectors, or, if nobody knows, its words."""

    selectors: tuple[Selector, ...] = ()
    words: tuple[str, ...] = ()
    is_anything: bool = False


def tags_for(business_type: str) -> BusinessTypeTags:
    """Return the tags a business type stands for, or the words to look for in names."""
    wanted = business_type.strip()
    if EXACT.match(wanted):
        key, _, value = wanted.partition("=")
        return BusinessTypeTags((((TagCondition(key, value)),),))
    plain = plain_words(wanted)
    if plain in ANY_TYPE_WORDS or singulars(plain) & ANY_TYPE_WORDS:
        return BusinessTypeTags(is_anything=True)
    table = business_types()
    for phrase in phrases(plain):
        for form in (phrase, *sorted(singulars(phrase))):
            if selectors := table.get(form):
                return BusinessTypeTags(selectors)
    return BusinessTypeTags(words=(wanted,))


@cache
def business_types() -> Mapping[str, tuple[Selector, ...]]:
    """Return the table of known business types."""
    package = resources.files("scrapersky.providers.openstreetmap")
    text = (package / "business_types.txt").read_text("utf-8")
    return {
        word: selectors
        for line in text.splitlines()
        if line and not line.startswith("#")
        for word, selectors in entries(line)
    }


def entries(line: str) -> Iterator[tuple[str, tuple[Selector, ...]]]:
    """Read one line of the table."""
    tags, _, words = line.partition(": ")
    selectors = tuple(
        tuple(read_condition(part) for part in selector.split("&"))
        for selector in tags.split()
    )
    for word in words.split(","):
        yield plain_words(word), selectors


def read_condition(text: str) -> TagCondition:
    """Read `key=value` or `key=~part`."""
    key, _, value = text.partition("=")
    return TagCondition(key, value.removeprefix("~"), is_part=value.startswith("~"))


def plain_words(text: str) -> str:
    """Return words without case, accents and punctuation."""
    return " ".join(re.sub(r"[^\w&]+", " ", fold(text)).split())


def phrases(plain: str) -> Iterator[str]:
    """Give the whole, then its ends, then its beginnings: `emergency dentist`."""
    words = plain.split()
    yield plain
    for start in range(1, len(words)):
        rest = " ".join(words[start:])
        if WHOLE_PHRASES.isdisjoint((rest, *singulars(rest))):
            yield rest
    for end in range(len(words) - 1, 0, -1):
        yield " ".join(words[:end])


def singulars(phrase: str) -> set[str]:
    """Return what a phrase could be the plural of."""
    forms = {phrase.removesuffix(ending) for ending in PLURAL_ENDINGS}
    if phrase.endswith("ies"):
        forms.add(f"{phrase[:-3]}y")
    if phrase.endswith("i"):
        forms |= {f"{phrase[:-1]}o", f"{phrase[:-1]}e", f"{phrase[:-1]}a"}
    first, space, rest = phrase.partition(" ")
    if space:
        forms.add(f"{first.removesuffix('s')} {rest}")
    return forms - {phrase, ""}
