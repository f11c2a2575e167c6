"""Names in runs of capitalised words: where they begin and end."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from scrapersky.extraction import wordlist
from scrapersky.extraction.contacts.person.word import (
    AMBIGUOUS,
    DEGREES,
    HARD,
    HONORIFIC,
    PARTICLE,
    SOFT,
    UPPER,
    WORD,
    given_names,
)

RUN: Final = re.compile(
    # The set comes first so that the matcher can skip; what stands before is checked next.
    rf"[{UPPER}](?<![\w@/.].)(?<!\w-.)(?:[\w'’-]{{1,20}}|\.(?= ?[{UPPER}]))(?: (?:{WORD}|{PARTICLE}(?= )|\([{UPPER}][a-z]{{1,12}}\)|[“\"][{UPPER}][a-z]{{1,12}}[”\"])){{1,7}}"
)
SUFFIX: Final = re.compile(
    r"^,?\s(?:Jr|Sr|II|III|IV|M\.?D|Ph\.?D|D\.?D\.?S|D\.?M\.?D|D\.?V\.?M|D\.?O|D\.?C|R\.?N|"
    r"C\.?P\.?A|Esq(?:uire)?|MBA|CFP|CKD|AIA|LL\.?M|J\.?D|MBChB|FRCS|BDS|MSc|BSc|BA|MA|LCSW|"
    r"PE|RPh|O\.?D|MP|MEP|QC|KC|OBE|CBE|MBE|FRICS|RIBA)\b\.?(?![\w-])"
)
SURE_SUFFIX: Final = re.compile(
    r",?\s(?:M\.?D|Ph\.?D|D\.?D\.?S|D\.?M\.?D|D\.?V\.?M|C\.?P\.?A|Esq(?:uire)?|J\.?D)\b"
)
_TITLE_BEFORE: Final = re.compile(
    r"(?<!\w)(?:dra?|prof|m[rs]|mrs|mag|ing|dipl|dott|dott\.ssa|avv|sra?|srta|rev|hon|lic|arq|"
    r"mgr|mudr|judr|mvdr|drs|dhr|mevr|lek)\.(?:\s?(?:\w{2,5}|h\.\s?c)\.){0,3}\s?$",
    re.IGNORECASE,
)


def title_before(text: str, start: int) -> int:
    """Give the length of `Dr. ` or `Dr. med. ` before a name: the full stop ends a run."""
    before = text[max(0, start - 30) : start].rpartition("\n")[2]
    title = _TITLE_BEFORE.search(before)
    return len(title[0]) if title else 0


@dataclass(frozen=True, slots=True)
class Name:
    """A name in a run of capitalised words, by its place in the line."""

    head: int
    """Where the title or the roles right before the name begin, or the name itself."""
    start: int
    stop: int
    has_given: bool
    has_title: bool
    is_inner: bool
    """Capitalised words that are not a name stand right before or after it."""


def names_in_run(run: re.Match[str], base: int, title: int) -> Iterator[Name]:
    """Yield the names a run of capitalised words may hold; a title stands before it."""
    offset = run.start() - base
    tokens = [
        (m.start() + offset, m.end() + offset, m[0])
        for m in re.finditer(r"\S+", run[0])
    ]
    place = 0
    while place < len(tokens):
        word = tokens[place][2].casefold()
        has_title = title > 0 and place == 0
        while word in HONORIFIC and place + 1 < len(tokens):
            has_title = True
            place += 1
            word = tokens[place][2].casefold()
        has_given = word.strip(".,") in given_names() or (
            _is_initial(tokens[place][2])
            and place + 1 < len(tokens)
            and tokens[place + 1][2].casefold() in given_names()
        )
        is_name = has_given or has_title
        if (
            (is_name or (len(tokens) - place <= 3 and _are_roles(tokens[:place])))
            and word not in SOFT
            and word not in HARD
            # The "y" of "Galindo y Duarte" is not an initial.
            and not tokens[place][2][0].islower()
        ):
            stop = _name_stop(tokens, place)
            if stop:
                yield Name(
                    tokens[0][0] - title
                    if _are_roles(tokens[:place])
                    else tokens[place][0],
                    tokens[place][0],
                    tokens[stop][1],
                    has_given,
                    has_title,
                    not has_title and _is_inner(tokens, place, stop),
                )
                place = stop + 1
                continue
        place += 1


def _is_inner(tokens: list[tuple[int, int, str]], place: int, stop: int) -> bool:
    """Tell the name in `Riverside Oskar Maple Falls` from one by itself."""
    before = tokens[place - 1][2].casefold() if place else ""
    after = tokens[stop + 1][2] if stop + 1 < len(tokens) else ""
    return _is_other_word(before) or (
        after not in DEGREES and _is_other_word(after.casefold())
    )


def _is_other_word(word: str) -> bool:
    """Say whether a word beside a name neither announces nor follows people."""
    return bool(word) and not (
        len(word) < 3
        or word in SOFT
        or word in given_names()
        or word in wordlist.load("roles")
    )


def _are_roles(tokens: list[tuple[int, int, str]]) -> bool:
    """Say whether only roles stand before a name: `Inhaber Tavrin Okelo`."""
    roles = wordlist.load("roles")
    return all(text.casefold() in roles for _, _, text in tokens)


def _name_stop(tokens: list[tuple[int, int, str]], place: int) -> int | None:
    """Give the number of the last word of a name that starts at `place`, or None."""
    last = place
    for number in range(place + 1, min(len(tokens), place + 5)):
        word = tokens[number][2]
        folded = word.casefold().strip(",")
        if folded in HARD or (folded.endswith("s") and folded[:-1] in HARD):
            return None
        is_soft = folded in SOFT and not _is_initial(word)
        # The last word of "Monika Head" may be any; what is around it decides.
        is_surname = number == len(tokens) - 1 == 1 and _is_sure_given(tokens[0][2])
        if (is_soft and not is_surname) or word in DEGREES:
            break
        is_given = folded in given_names() and folded not in AMBIGUOUS
        # "Jan Kral Petr Novak" are two people, "John Leo Hayden" is one.
        if last > place and not _is_initial(tokens[last][2]) and not word[0].islower():
            follows_given = tokens[last][2].casefold() in given_names()
            if is_given:
                break
            if not (follows_given or tokens[last][2][0].islower()):
                # "Joan Marsh Community Center" is a place.
                ahead = [
                    t[2].casefold().strip(",") for t in tokens[number : number + 3]
                ]
                if any(word in HARD for word in ahead):
                    return None
                break
        if (
            word.isupper() != tokens[place][2].isupper()
            and len(word) > 2
            and not (_is_initial(tokens[place][2]))
            # "Kadir OZDEMIR", as surnames are written in French.
            and not (number == place + 1 == len(tokens) - 1 and word.isalpha())
        ):
            break
        last = number
    while last > place and (
        _is_initial(tokens[last][2])
        or tokens[last][2][0].islower()
        or "(" in tokens[last][2]
    ):
        last -= 1
    return last if last > place else None


def _is_sure_given(word: str) -> bool:
    return word.casefold() in given_names() and word.casefold() not in AMBIGUOUS


def _is_initial(word: str) -> bool:
    return len(word.strip(".")) == 1


def person_key(name: str) -> str:
    """Give what two spellings of one name share."""
    bare = _SUFFIX_ANY.sub("", name)
    return re.sub(r"[\W_]+", " ", bare.casefold()).strip()


_SUFFIX_ANY: Final = re.compile(r",.*$|\s(?:M\.?D|Ph\.?D|Jr|Sr|Esq)\.?$")


def looks_like_person(name: str) -> bool:
    """Say whether a name given by structured data begins as people's names do."""
    tokens = [
        t for t in name.split() if t not in ("Dr.", "Prof.", "Mr.", "Mrs.", "Ms.")
    ]
    return 2 <= len(tokens) <= 4 and tokens[0].casefold() in given_names()
