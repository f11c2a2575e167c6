"""Comparing names costs little however long they are, and ordinary ones compare as before."""

from itertools import combinations
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from bench.companies import Country
from contact_extraction.text import fold
from scrapersky.companies.evidence import (
    COMMON,
    LEGAL,
    LINKING,
    MAX_NAME_CHARACTERS,
    MAX_NAME_WORDS,
    WORDS,
    CompanyName,
    Facts,
    name_of,
    without_digraphs,
)
from scrapersky.companies.reading import truncate
from scrapersky.companies.score import (
    SHORTEST_TYPO,
    NameLevel,
    level_of_names,
    without_typos,
)

SPELLINGS = 400
ORDINARY = sorted({str(row["name"]) for row in Country(SPELLINGS, seed=11).places()})
PARTS = sorted({word for name in ORDINARY for word in name.split()})
SLIP = st.tuples(st.integers(0, 12), st.sampled_from(["", "a", "xy", "7"]))


def name_in_full(text: str) -> CompanyName:
    """Read a name with all its words, however many there are."""
    bare = fold(text).replace("'", "").replace("\u2019", "")
    every = WORDS.findall(bare)
    kept = [word for word in every if word not in LEGAL and word not in LINKING]
    listed = [without_digraphs(word) for word in kept or every]
    words = frozenset(listed)
    return CompanyName(words, frozenset(words - COMMON) or words, "".join(listed))


def without_typos_one_by_one(
    one: frozenset[str], other: frozenset[str]
) -> tuple[frozenset[str], frozenset[str]]:
    """Take away words that are one slip apart, by comparing each with each."""
    left, right = set(one), set(other)
    for word in sorted(one):
        for each in sorted(right):
            is_long = min(len(word), len(each)) >= SHORTEST_TYPO
            is_near = OSA.distance(word, each, score_cutoff=1) <= 1
            if is_long and not word.isdecimal() and is_near:
                left.discard(word)
                right.discard(each)
                break
    return frozenset(left), frozenset(right)


def respelt(name: str, slip: tuple[int, str]) -> str:
    """Replace a letter of a name by others, or by none."""
    at, letters = slip
    return name[:at] + letters + name[at + 1 :]


@given(
    st.lists(st.sampled_from(PARTS), max_size=MAX_NAME_WORDS),
    st.lists(st.sampled_from(PARTS), max_size=MAX_NAME_WORDS),
    SLIP,
)
def test_names_of_ordinary_length_are_read_and_compared_as_before(
    one: list[str], other: list[str], slip: tuple[int, str]
) -> None:
    left, right = " ".join(one), respelt(" ".join(other), slip)

    assert name_of(left) == name_in_full(left)
    pair = name_in_full(left).core, name_in_full(right).core
    assert without_typos(*pair) == without_typos_one_by_one(*pair)


def test_every_pair_of_names_of_a_country_compares_as_before() -> None:
    for one, other in combinations(ORDINARY, 2):
        pair = name_of(one).core, name_of(other).core
        assert without_typos(*pair) == without_typos_one_by_one(*pair)


def test_a_name_of_a_thousand_words_was_compared_word_by_word() -> None:
    long = " ".join(f"wort{number}" for number in range(1_000))
    one = Facts(id=UUID(int=1), name=long)
    other = Facts(id=UUID(int=2), name=f"anders {long}")

    assert len(one.read_name.words) == MAX_NAME_WORDS
    assert len(one.read_name.together) <= MAX_NAME_CHARACTERS
    assert level_of_names(one, other) is NameLevel.PARTIAL
    assert len(truncate(long, MAX_NAME_CHARACTERS) or "") == MAX_NAME_CHARACTERS
