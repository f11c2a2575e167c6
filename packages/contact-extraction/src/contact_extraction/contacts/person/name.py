"""Names in runs of capitalised words: where they begin and end."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from contact_extraction import wordlist
from contact_extraction.contacts.person.word import (
    AMBIGUOUS,
    DEGREES,
    HARD,
    HONORIFIC,
    PARTICLE,
    SOFT,
    SURNAMES,
    UPPER,
    WORD,
    given_names,
    is_given,
)
from contact_extraction.html import words

RUN: Final = re.compile(
    # The set comes first so that the matcher can skip; what stands before is checked next.
    rf"[{UPPER}](?<![\w@/.].)(?<!\w-.)(?:[\w'’-]{{1,20}}|\.(?:[{UPPER}]\.){{0,3}}(?= ?[{UPPER}]| {PARTICLE} ))(?: (?:{WORD}|{PARTICLE}(?= )|\([{UPPER}][a-z]{{1,12}}\)|[“\"][{UPPER}][a-z]{{1,12}}[”\"])){{1,7}}"
)
SUFFIX: Final = re.compile(
    r"^(?:,\s?|\s)(?:Jr|Sr|II|III|IV|M\.?D|Ph\.?D|D\.?D\.?S|D\.?M\.?D|D\.?V\.?M|D\.?O|D\.?C|"
    r"R\.?N|R\.?D\.?H|D\.?P\.?M|D\.?P\.?T|C\.?P\.?A|Esq(?:uire)?|MBA|CFP|CKD|AIA|LL\.?M|J\.?D|"
    r"MBChB|FRCS|BDS|MSc|BSc|BA|MA|LCSW|LMFT|LMT|PE|EA|RPh|O\.?D|MP|MEP|QC|KC|OBE|CBE|MBE|FRICS|"
    r"RIBA)\b\.?(?![\w-])"
)
SURE_SUFFIX: Final = re.compile(
    r"(?:,\s?|\s)(?:M\.?D|Ph\.?D|D\.?D\.?S|D\.?M\.?D|D\.?V\.?M|C\.?P\.?A|Esq(?:uire)?|J\.?D)\b"
)
# Degrees of any kind up to the end of a line: ", MS, FACP" has two capitals in each. Two
# letters may be a state, and firms end in capitals too.
_MORE_DEGREES: Final = re.compile(
    r"(?:[\s,/&]{1,3}(?!(?:ApS|GmbH|mbH|OHG|GbR|LLC|LLP|PLLC|PLC|INC|LTD|SRL|SARL|SAS|SASU|EURL|EIRL|"
    r"SpA|BVBA|VOF|ASA|OYJ|IVS|ENK|CIC|USA)\b)"
    r"(?:(?=[^\s,]{0,8}[A-Z][^\s,]{0,8}[A-Z])[A-Z][A-Za-z.]{2,8}|MS|MA|BA|BS|EA|PT|RN|PE|NP|DC|OD|DO)|"
    r"[\s,]{1,3}(?:(?:Esq|Jr|Sr)\.?|\(?Hons?\.?\)?)){1,6}(?=\s*$)"
)
# A degree or a button that sticks to a surname: "PetrovaMD".
GLUED_DEGREE: Final = re.compile(
    r"(?<=[a-z\u00df-\u00ff]{2})(?:MD|DDS|DMD|DVM|DPM|PhD|CPA|JD|Esq|BSc|MSc|BDS|BVSc|BVetMed|MChiro|"
    r"MCSP|MRCVS|LLB|MBA|RDH|DPT|"
    # Or a button: "PetrovaView Profile".
    r"View|Read|Learn|Book|More|Mehr|Meet|Contact|Call|Email|Profile?|Bio|Details?|Lire|Voir|Leggi|Lees|"
    r"Läs|Læs|Více|Więcej|Zobacz|Zobrazit)$"
)
_TITLE_BEFORE: Final = re.compile(
    r"(?<!\w)(?:(?:dra?|fr|pfr|ks|cllr|revd|capt|dña|sig|prof|m[rs]|mrs|mag|ing|dipl|dott|avv|sra?|srta|rev|hon|lic|arq|arch|geom|"
    r"rag|mgr|bc|mudr|mddr|judr|mvdr|phdr|rndr|paeddr|ir|drs|dhr|mevr|lek|adw|inż|not|apl|av|dt|uzm|tech|r\.\s?pr)\.|"
    r"dott\.?\s?ssa\.?|prof\.?\s?ssa\.?)"
    r"(?:[\s-]?(?:\w{2,5}|h\.\s?c)\.|\s?\((?:fh|tu|th|ba|htl|univ\.?)\)){0,4}\s?$",
    re.IGNORECASE,
)
_ENDS_TITLE: Final = (".", ")", "ssa")
MAX_NAME_WORDS: Final = 8
MAX_WHOLE_WORDS: Final = 4
"""Words after the first that a name has at most, its particles apart."""
MAX_UNKNOWN_WORDS: Final = 3


def title_before(text: str, start: int) -> int:
    """Give the length of `Dr. ` or `Dr. med. ` before a name: the full stop ends a run."""
    if text[start - 1 : start] == "\n":
        return 0  # as most names do, it begins a line
    before = text[max(0, start - 30) : start].rpartition("\n")[2]
    if not before.rstrip(" ").endswith(_ENDS_TITLE):
        return 0
    title = _TITLE_BEFORE.search(before)
    return len(title[0]) if title else 0


@dataclass(frozen=True, slots=True)
class NameSpan:
    """A name in a run of capitalised words, by its place in the line."""

    head: int
    """Where the title or the roles right before the name begin, or the name itself."""
    lead: int
    """Where the titles right before the name begin, or the name itself."""
    start: int
    stop: int
    has_given: bool
    has_title: bool
    is_inner: bool
    """Capitalised words that are not a name stand right before or after it."""


def names_in_run(
    run: re.Match[str], base: int, title: int, *, two_surnames: bool = False
) -> Iterator[NameSpan]:
    """Yield the names a run of capitalised words may hold; a title stands before it.

    `two_surnames` is for the languages in which people bear their mother's too.
    """
    offset = run.start() - base
    for span in _names_in(run[0], title, two_surnames=two_surnames):
        yield NameSpan(
            span.head + offset,
            span.lead + offset,
            span.start + offset,
            span.stop + offset,
            span.has_given,
            span.has_title,
            span.is_inner,
        )


# Menus and headings are runs of capitalised words, the same on every page of a site.
@lru_cache(4_096)
def _names_in(run: str, title: int, *, two_surnames: bool) -> tuple[NameSpan, ...]:
    return tuple(_each_name(run, title, two_surnames=two_surnames))


def _each_name(run: str, title: int, *, two_surnames: bool) -> Iterator[NameSpan]:
    tokens = [(word.start(), word.end(), word[0]) for word in _WORD.finditer(run)]
    place = 0
    while place < len(tokens):
        word = tokens[place][2].casefold()
        first = place
        has_title = title > 0 and place == 0
        while place + 1 < len(tokens) and (
            word in HONORIFIC or (two_surnames and word in _DON)
        ):
            has_title = True
            place += 1
            word = tokens[place][2].casefold()
        has_given = is_given(word.strip(".,")) or (
            _is_initial(tokens[place][2])
            and place + 1 < len(tokens)
            and is_given(tokens[place + 1][2])
        )
        is_name = has_given or has_title
        if (
            (is_name or (_has_few(tokens[place:]) and _are_roles(tokens[:place])))
            and word not in SOFT
            and word not in HARD
            and tokens[place][2] not in DEGREES
            and (has_given or word not in wordlist.load("roles"))
            # The "y" of "Galindo y Duarte" is not an initial.
            and not tokens[place][2][0].islower()
        ):
            stop = _name_stop(tokens, place, two_surnames=two_surnames and has_given)
            if stop:
                lead = tokens[first][0] - (title if first == 0 else 0)
                yield NameSpan(
                    tokens[0][0] - title if _are_roles(tokens[:first]) else lead,
                    lead,
                    tokens[place][0],
                    tokens[stop][1],
                    has_given,
                    has_title,
                    not has_title and _is_inner(tokens, place, stop),
                )
                place = stop + 1
                continue
        place += 1


_WORD: Final = re.compile(r"\S+")


def _is_inner(tokens: list[tuple[int, int, str]], place: int, stop: int) -> bool:
    """Distinguish the name in `Riverside Oskar Maple Falls` from one by itself."""
    before = tokens[place - 1][2] if place else ""
    before = "" if before in DEGREES else before.casefold()
    after = tokens[stop + 1][2] if stop + 1 < len(tokens) else ""
    return _is_other_word(before) or (
        after not in DEGREES
        and _is_other_word(after.casefold())
        and not _is_role(tokens[stop + 1 :])
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
    return all(text.casefold() in roles or text in DEGREES for _, _, text in tokens)


def _is_role(tokens: list[tuple[int, int, str]]) -> bool:
    """Say whether words are a role and nothing else: the end of `Ann Lind Dental Hygienist`."""
    return " ".join(t[2] for t in tokens).casefold() in wordlist.load("roles")


def _name_stop(
    tokens: list[tuple[int, int, str]], place: int, *, two_surnames: bool
) -> int | None:
    """Give the number of the last word of a name that starts at `place`, or None."""
    last = place
    for number in range(place + 1, min(len(tokens), place + MAX_NAME_WORDS)):
        word = tokens[number][2]
        if number - place > MAX_WHOLE_WORDS + _count_small(tokens[place:number]):
            break
        folded = word.casefold().strip(",")
        is_whole = number == place + 1 == len(tokens) - 1
        is_hard = folded in HARD or (folded.endswith("s") and folded[:-1] in HARD)
        if is_hard and last > place and _is_role(tokens[number:]):
            break
        if is_hard:
            is_person = is_whole and _is_sure_given(tokens[place][2])
            return number if is_person and folded in SURNAMES else None
        # The "von" and "der" of a name are small words that another one follows.
        is_particle = _is_small(word) and number + 1 < len(tokens)
        is_soft = folded in SOFT and not _is_initial(word) and not is_particle
        # The last word of "Monika Head" may be any; what is around it decides.
        is_surname = number == len(tokens) - 1 == 1 and _is_sure_given(tokens[0][2])
        if (is_soft and not is_surname) or word in DEGREES or folded in _NEXT:
            break
        is_given = folded in given_names() and folded not in AMBIGUOUS
        # "Jan Kral Petr Novak" are two people, "John Leo Hayden" is one.
        is_open = _is_initial(tokens[last][2]) or tokens[last][2][0] in _NICKNAME
        is_turned = is_given and _ends_shouted(tokens[place:])
        if last > place and not (is_open or is_turned or _is_small(word)):
            follows_given = tokens[last][2].casefold() in given_names()
            follows_particle = _is_particle(tokens[last][2])
            # The second name of "Paolo Di Pietro" is no one else's first.
            if is_given and not follows_particle:
                break
            is_second = number == len(tokens) - 1 and (
                last == place + 1
                or tokens[last - 1][2].casefold() in given_names()
                # "José de la Fuente Gil": the first surname has particles.
                or _is_small(tokens[last - 1][2])
            )
            if not (
                follows_given
                or _is_small(tokens[last][2])
                or follows_particle
                or (two_surnames and is_second)
            ):
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
            and not (is_whole and word.isalpha())
            and not _ends_shouted(tokens[place:])
        ):
            break
        last = number
    while last > place and (
        _is_initial(tokens[last][2])
        or _is_small(tokens[last][2])
        or tokens[last][2][0] in _NICKNAME
    ):
        last -= 1
    return last if last > place else None


_NEXT: Final = words("avv dott dott.ssa dr prof ing arch geom mme herr frau")
"""Titles that begin the next name: the Avv. of `Marta Zorzi e Avv. Piero Neri`."""
_NICKNAME: Final = '(“"'
"""How the Bob of Robert (Bob) Keller begins."""
_DON: Final = words("d. dña. dª d.ª don doña")
_CAPITAL_PARTICLES: Final = words(
    "ní nic uí mac mc van von de di da del della der den le la du dos das st. al el ben bin dal dalla "
    "lo ter ten vanden vander"
)


def _is_particle(word: str) -> bool:
    """Say whether a capital word of a name asks for another: Di Pietro, Jansen-de Boer."""
    folded = word.casefold()
    return folded in _CAPITAL_PARTICLES or bool(_ENDS_SMALL.search(word))


_ENDS_SMALL: Final = re.compile(rf"-{PARTICLE}$")


def _has_few(tokens: list[tuple[int, int, str]]) -> bool:
    """Say whether words may be a name though none of them is a known given name."""
    # "J. van der Wit" has many, "Notaría de A Coruña" is none.
    small = _count_small(tokens) if _is_initial(tokens[0][2]) else 0
    return len(tokens) - small <= MAX_UNKNOWN_WORDS


def _count_small(tokens: list[tuple[int, int, str]]) -> int:
    return sum(_is_small(text) for _, _, text in tokens)


def _ends_shouted(tokens: list[tuple[int, int, str]]) -> bool:
    """Say whether only the surname is written in capitals: `Yann LE GOFF`, `LE GOFF Yann`."""
    words = [text for _, _, text in tokens]
    if not MIN_SHOUTED < len(words) <= MAX_WHOLE_WORDS:
        return False
    shouted = [word.isupper() and len(word) > 1 for word in words]
    surname = [word for word, is_loud in zip(words, shouted, strict=True) if is_loud]
    given = [word for word, is_loud in zip(words, shouted, strict=True) if not is_loud]
    is_apart = shouted in (sorted(shouted), sorted(shouted, reverse=True))
    return (
        is_apart
        and bool(given and surname)
        and all(_is_sure_given(word.partition("-")[0]) for word in given)
        and all(re.fullmatch(r"[^\W\d_]+(?:['’-][^\W\d_]+)*", word) for word in surname)
    )


MIN_SHOUTED: Final = 2
"""Words of a name that need no look at how each is written."""


def _is_small(word: str) -> bool:
    """Say whether a word of a name is a particle: the van and the 't of van 't Hof."""
    return word.lstrip("'’")[:1].islower() and word[1:2] not in ("'", "’")


def _is_sure_given(word: str) -> bool:
    return word.casefold() in given_names() and word.casefold() not in AMBIGUOUS


def _is_initial(word: str) -> bool:
    return len(word.strip(".")) == 1 or bool(_INITIALS.fullmatch(word))


_INITIALS: Final = re.compile(rf"(?:[{UPPER}]\.){{2,4}}")


def degrees_after(text: str) -> int:
    """Give how many characters of degrees a text begins with, after a name."""
    if text[:1] not in _BEFORE_DEGREE:
        return 0
    suffix = SUFFIX.match(text)
    end = suffix.end() if suffix else 0
    more = _MORE_DEGREES.match(text, end)
    end = more.end() if more else end
    pronouns = _PRONOUNS.match(text, end)
    return pronouns.end() if pronouns else end


def calling_degree(before: str, after: str) -> str | None:
    """Give what somebody was called to, by the title before the name or what follows it."""
    match = _CALLING_TITLE.search(before) or _CALLING_DEGREE.search(after)
    return match[1] if match else None


_CALLING_TITLE: Final = re.compile(
    r"(?:^|\s)((?:Dr|MUDr|MDDr|MVDr|JUDr|Avv|adw|lek|Dott|Dra|Mtre|Maître)\.?(?:ssa)?)(?=[\s.]|$)",
    re.IGNORECASE,
)
_CALLING_DEGREE: Final = re.compile(
    r"[,\s](M\.?D|D\.?D\.?S|D\.?M\.?D|D\.?V\.?M|D\.?P\.?M|O\.?D|D\.?C|D\.?O|Psy\.?D|J\.?D|Esq|C\.?P\.?A|BDS|BVSc|"
    r"BVetMed|MRCVS|MChiro|FNP|LL\.?M)\b\.?"
)
_BEFORE_DEGREE: Final = frozenset(" ,/&(")


def without_pronouns(name: str) -> str:
    """Cut what is not part of a name: the (she/her) after it."""
    return _PRONOUNS.sub("", name) if "/" in name else name


def are_degrees(text: str) -> bool:
    """Say whether a line has nothing but degrees: `BSc Hons, MCSP`."""
    return bool(text) and degrees_after(f", {text}") == len(text) + 2


_PRONOUNS: Final = re.compile(
    r"\s?\((?:she|he|they|ze)\s?/\s?(?:her|him|them|they|hers|his)(?:\s?/\s?\w{2,6})?\)",
    re.IGNORECASE,
)


def person_key(name: str) -> str:
    """Give what two spellings of one name share."""
    bare = _SUFFIX_ANY.sub("", name)
    return re.sub(r"[\W_]+", " ", bare.casefold()).strip()


_SUFFIX_ANY: Final = re.compile(
    r",.*$|\s(?:M\.?D|Ph\.?D|D\.?D\.?S|D\.?M\.?D|D\.?V\.?M|D\.?P\.?M|C\.?P\.?A|J\.?D|Jr|Sr|Esq)\.?"
    r"(?:\s[A-Z]{2,6})*$"
)


def looks_like_person(name: str) -> bool:
    """Say whether a name given by structured data begins as people's names do."""
    tokens = [
        t for t in name.split() if t not in ("Dr.", "Prof.", "Mr.", "Mrs.", "Ms.")
    ]
    return 2 <= len(tokens) <= 4 and tokens[0].casefold() in given_names()
