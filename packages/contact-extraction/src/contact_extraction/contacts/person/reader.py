"""Find the people of a page."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, islice
from typing import Final

from contact_extraction import wordlist
from contact_extraction.contacts.address.state import is_state
from contact_extraction.contacts.chance import chance, confidence_of
from contact_extraction.contacts.model import Method, PersonSighting
from contact_extraction.contacts.page_text import PageText
from contact_extraction.contacts.person.inflection import without_inflected
from contact_extraction.contacts.person.name import (
    GLUED_DEGREE,
    RUN,
    SURE_SUFFIX,
    NameSpan,
    calling_degree,
    degrees_after,
    names_in_run,
    person_key,
    title_before,
    without_pronouns,
)
from contact_extraction.contacts.person.role import (
    is_calling,
    role_near,
    stands_alone,
)
from contact_extraction.contacts.person.roster import (
    called,
    couples,
    in_lists,
    inverted,
)
from contact_extraction.contacts.person.support import (
    Context,
    PageWords,
    is_no_name,
    is_place_or_role,
    is_supported,
)
from contact_extraction.contacts.person.title_line import with_titles
from contact_extraction.contacts.person.trait import (
    PersonSurroundings,
    Traits,
    split_url,
    traits_of,
)
from contact_extraction.contacts.person.word import (
    DEGREES,
    HONORIFIC,
    SOFT,
    SURNAMES,
    UPPER,
    is_given,
)
from contact_extraction.contacts.testimonial import customer_lines
from contact_extraction.text import compact, small, small_pattern

MAX_FOUND: Final = 300
MAX_BOXES: Final = 60
WEIGHTS: Final = "person_weights"
MIN_CHANCE: Final = 0.5
"""The chance of being a person of the business from which somebody is given."""
MAX_RUNS: Final = 20_000


@dataclass(frozen=True, slots=True)
class PersonClues:
    """What the other finders know of a page that helps to find its people."""

    url: str = ""
    organisations: tuple[str, ...] = ()
    """Names of firms, the page's own first."""
    addresses: tuple[str, ...] = ()
    reachable: frozenset[int] = frozenset()
    """The lines that hold a telephone number or an e-mail address."""
    streets: tuple[tuple[int, int], ...] = ()
    """Where postal addresses stand in the text: streets are named after people."""


def find_people(sheet: PageText, clues: PersonClues) -> list[PersonSighting]:
    """Find the people of a page, each with how sure it is that it is one."""
    found = []
    for one, described in describe_people(sheet, clues):
        likely = chance(WEIGHTS, described)
        if likely >= MIN_CHANCE:
            sure = round(confidence_of(WEIGHTS, likely), 3)
            found.append(replace(one, confidence=sure))
    return with_titles(sheet, found)


def describe_people(
    sheet: PageText, clues: PersonClues
) -> list[tuple[PersonSighting, Traits]]:
    """Give everybody who may be a person of the business, with their traits."""
    found = _candidates(sheet, clues)
    if not found:
        return []
    customers = customer_lines(sheet)
    around = PersonSurroundings(
        sheet,
        clues.url,
        compact(f"{split_url(clues.url)[0]} {' '.join(clues.organisations[:1])}"),
        "".join(
            f" {compact(one.partition('@')[0])}" for one in clues.addresses[:MAX_BOXES]
        ),
        clues.reachable,
        tuple(found),
    )
    return [
        (replace(one, is_customer=one.line in customers), traits_of(around, one))
        for one in found
    ]


def _candidates(sheet: PageText, clues: PersonClues) -> list[PersonSighting]:
    found: list[PersonSighting] = []
    firms = frozenset(name.casefold() for name in clues.organisations)
    page = PageWords(sheet, firms, clues.reachable)
    text = sheet.visible_text
    for count, run in enumerate(RUN.finditer(text)):
        if count > MAX_RUNS or len(found) >= MAX_FOUND:
            break
        start = run.start()
        before = text[start - 2 : start].rstrip(" ")[-1:] if start else "\n"
        title = title_before(text, start)
        # Most runs of capitals are titles and menus: a look at each word rules them out.
        if before not in "\n:-–|•(" and not title and not _may_name(run[0]):
            continue
        number = sheet.line_at(start)
        line = sheet.lines[number]
        if line.tag != "option" and len(line.text) <= 5000:
            shown = _within_mark(run, line.marks) if line.marks else run
            found += _in_run(page, number, shown, title)
    turned = list(islice(inverted(page), MAX_FOUND))
    lines = {one.line for one in turned}
    found = [*(one for one in found if one.line not in lines), *turned]
    if ".(" in text or ". (" in text:
        found += islice(called(page), MAX_FOUND)
    sure = [one for one in found if one.is_supported]
    if sure:
        found += islice(chain(couples(sheet, sure), in_lists(page, sure)), MAX_FOUND)
    found = [one for one in found if not _is_in_street(one, clues.streets)]
    found = _without_demo_team(found)
    return without_inflected(found, sheet.page.language)


@lru_cache(8_192)
def _may_name(run: str) -> bool:
    """Say whether a word of a run of capitalised words is a given name or a title."""
    return any(word in HONORIFIC or is_given(word) for word in run.casefold().split())


def _without_demo_team(found: list[PersonSighting]) -> list[PersonSighting]:
    """Drop the people of a template: one of them may be real, two on a page are not."""
    demo = wordlist.load("template_people")
    keys = {one.key for one in found} & demo
    if len(keys) < MANY_OF_TEMPLATE:
        return found
    return [one for one in found if one.key not in keys]


MANY_OF_TEMPLATE: Final = 2


def _is_in_street(one: PersonSighting, streets: Sequence[tuple[int, int]]) -> bool:
    return not one.role and any(
        start <= one.start and one.end <= end for start, end in streets
    )


def _in_run(
    page: PageWords, number: int, run: re.Match[str], title: int
) -> Iterator[PersonSighting]:
    two = (page.sheet.page.language or "")[:2].lower() in _TWO_SURNAMES
    start = page.sheet.starts[number]
    is_read = False
    if _is_nordic(page) and len(run[0].split()) in _WITH_TWO:
        whole = [*_with_mothers_name(page, number, run, title)]
        if whole:
            yield from whole
            return
    names = tuple(names_in_run(run, start, title, two_surnames=two))
    for name in names:
        if found := _read_name(page, number, name):
            is_read = True
            yield found
    if two or is_read or len(run[0].split()) not in _WITH_TWO:
        return
    yield from _with_mothers_name(page, number, run, title, refused=names)


def _with_mothers_name(
    page: PageWords,
    number: int,
    run: re.Match[str],
    title: int,
    refused: tuple[NameSpan, ...] = (),
) -> Iterator[PersonSighting]:
    """Read two surnames outside of the languages in which everybody has two.

    "Anna Berg Holm" is somebody, "Anna Berg House" a place: a role beside it makes the
    difference, or what reaches her where most have two.
    """
    start = page.sheet.starts[number]
    for name in names_in_run(run, start, title, two_surnames=True):
        found = None if name in refused else _read_name(page, number, name)
        if found and found.is_alone and not _ends_in_legal_form(found.value):
            is_reached = bool({number + 1, number + 2, number + 3} & page.reachable)
            if is_calling(found.role) or (is_reached and _is_nordic(page)):
                yield found


def _ends_in_legal_form(name: str) -> bool:
    """Tell `Søren Kjær ApS`, the firm, from who bears its name."""
    last = name.rpartition(" ")[2].casefold().strip(".")
    return last in wordlist.load("company_legal_forms")


def _is_nordic(page: PageWords) -> bool:
    return (page.sheet.page.language or "")[:2].lower() in _NORDIC


_NORDIC: Final = ("da", "no", "nb", "nn", "sv", "is", "fo")


_TWO_SURNAMES: Final = ("es", "pt", "ca", "gl", "eu")
_WITH_TWO: Final = (3, 4)
"""How many words a name with two surnames has."""


def _read_name(page: PageWords, number: int, name: NameSpan) -> PersonSighting | None:
    sheet = page.sheet
    text = sheet.lines[number].text
    glued = GLUED_DEGREE.search(text[name.start : name.stop])
    end = name.stop + degrees_after(text[name.stop :])
    written = without_pronouns(text[name.start : end])
    if glued:
        written = written[: glued.start()]
    # What needs no look around comes first: most runs of capitals are no names.
    if _is_no_person(written, has_given=name.has_given):
        return None
    if _is_place(text, name.stop) or _names_street(text, name.lead):
        return None
    if not (name.has_given or name.has_title or _may_stand_alone(text, name, end)):
        return None
    context = _context(sheet, number, name, end)
    if _is_refused(page, written, name, context):
        return None
    if _is_glued(sheet.lines[number].marks, written):
        return None
    supported = is_supported(page, number, written, context)
    if not supported and not _is_worth_a_look(context):
        return None
    start = sheet.starts[number] + name.start
    stop = sheet.starts[number] + end
    return PersonSighting(
        key=person_key(written),
        value=written.strip(" ,"),
        method=_method(name, context),
        line=number,
        start=start,
        end=stop,
        snippet=sheet.snippet(start, stop),
        role=context.role,
        is_alone=context.is_alone,
        is_supported=supported,
        has_title=context.has_title,
        degree=calling_degree(text[name.lead : name.start], text[name.stop : end]),
        is_inner=name.is_inner,
        is_plain=page.is_plain(written),
    )


def _may_stand_alone(text: str, name: NameSpan, end: int) -> bool:
    """Rule out words of a sentence: without a given name or a title they name nobody."""
    before = text[: name.head]
    return (
        end > name.stop
        or stands_alone(text, name.head, end)
        or text.startswith(f"{before} ", end)
        or _PAIR.search(before[-MAX_PARTNER:]) is not None
    )


def _is_worth_a_look(context: Context) -> bool:
    """Say whether the traits may speak for a name that no rule supports."""
    return context.is_alone and (
        context.has_given or context.has_title or is_calling(context.role)
    )


def _context(sheet: PageText, number: int, name: NameSpan, end: int) -> Context:
    text = sheet.lines[number].text
    if pair := _PAIR.search(text[max(0, name.head - MAX_PARTNER) : name.head]):
        name = _with_partner(name, pair)
    role = role_near(sheet, number, name.start, end) or (
        role_near(sheet, number, name.lead, end) if name.lead < name.start else None
    )
    is_before_role = role is not None and f"{text[: name.head]} {role}" == text[end:]
    return Context(
        role=role,
        is_alone=is_before_role or stands_alone(text, name.head, end),
        has_given=name.has_given,
        has_title=name.has_title or bool(SURE_SUFFIX.match(text[name.stop : end])),
        goes_on=text[end : end + 2].strip(" ,.")[:1].islower(),
    )


def _with_partner(name: NameSpan, pair: re.Match[str]) -> NameSpan:
    """Let a name begin with who shares its surname: what they are is said of both."""
    if not is_given(pair[1]):
        return name
    first = name.head - (len(pair[0]) - pair.start(1) + pair.start())
    return replace(name, head=first, lead=first, start=first)


MAX_PARTNER: Final = 30
# The "Karen & " of "Owners Karen & Dave Millbrook".
_PAIR: Final = re.compile(
    rf"(?<![\w'’-])([{UPPER}][\w'’-]{{1,20}})\s(?:&|\+|and|und|et|y|e|og|och|en|i|a|ja|és)\s$"
)


def _is_refused(
    page: PageWords, written: str, name: NameSpan, context: Context
) -> bool:
    if not is_calling(context.role):
        if not context.has_title and written.rpartition(" ")[2].casefold() in SURNAMES:
            return True
        if name.is_inner and not context.is_alone:
            return True
        if written.rpartition(" ")[2].casefold() in SOFT:
            return True
        if written.casefold() in page.organisations:
            return True
    return False


def _within_mark(run: re.Match[str], marks: Sequence[str]) -> re.Match[str]:
    """End a name where its bold letters do: **Ellen Marsh** Maths Tutor."""
    for mark in marks:
        if " " in mark and run[0].startswith(f"{mark} "):
            return RUN.match(run.string, run.start(), run.start() + len(mark)) or run
    return run


# Menus and headings are runs of capitalised words, the same on every page of a site.
@lru_cache(4_096)
def _is_no_person(written: str, *, has_given: bool) -> bool:
    # "Raymond Jr" is a first name alone; "Formal Admissions" is nobody's.
    if _YOUNGER.fullmatch(written) or (
        not has_given and _ABSTRACT.search(small(written))
    ):
        return True
    return is_place_or_role(written, has_given=has_given) or is_no_name(written)


_YOUNGER: Final = re.compile(r"\S+ (?:Jr|Sr|II|III)\.?")
# What nouns end in that surnames hardly ever do, in the languages that have such endings.
_ABSTRACT: Final = small_pattern(
    r"(?:tions?|ments?|ness|sions?|bility|[ai]nces?|iant|keit|heit(?:en)?|schaft(?:en)?|lich(?:e[srn]?)|"
    r"ierung(?:en)?|ungen|ität(?:en)?|ismus|zion[ei]|ción|ciones|ção|ções|acje|ací)(?!\w)"
)


def _names_street(text: str, start: int) -> bool:
    """Distinguish who a street is named after from who lives in it: `12 rue Paul Bert`."""
    return bool(_STREET_BEFORE.search(text[max(0, start - 30) : start]))


def _is_place(text: str, end: int) -> bool:
    """Tell a street or a town by what follows: `José Eguino, 2`, `Ann Arbor MI`."""
    after = _PLACE_AFTER.match(text, end)
    if after is None or _NUMBER_AFTER.match(text, end):
        return False
    return after[1] is not None or (after[2] not in DEGREES and is_state(after[2]))


# "Knut Hauge, 912 34 876" is somebody with a number to call.
_NUMBER_AFTER: Final = re.compile(r",?\s(?:\d\s?){8,12}(?!\s?[\d-])")
_PLACE_AFTER: Final = re.compile(
    r"(?:,?\s(\d{1,3}[a-zA-Z]?)(?=\s?[,;.-]?(?:\s[-–]?\s?\d|$|,))|,?\s([A-Z]{2})(?=[,;.\s]|$)(?!\s[A-Z]{2}))"
)


def _is_glued(marks: Sequence[str], name: str) -> bool:
    """Tell two buttons side by side: the end of one and the beginning of the next."""
    if not marks or any(name in mark for mark in marks):
        return False
    words = name.split()
    return any(
        mark.endswith(f" {' '.join(words[:cut])}")
        or mark.startswith(f"{' '.join(words[cut:])} ")
        for cut in range(1, len(words))
        for mark in marks
    )


_STREET_BEFORE: Final = re.compile(
    r"(?<!\w)(?:rue|avenue|av\.|ave\.|boulevard|bd\.?|place|allée|chemin|quai|impasse|square|via|viale|v\.le|"
    r"piazza|p\.za|corso|largo|vicolo|calle|c/|avenida|avda\.?|plaza|paseo|glorieta|carrer|plaça|rua|praça|travessa|"
    r"alameda|ul\.|ulica|ulice|al\.|aleja|plac|pl\.|os\.|náměstí|nám\.|tř\.|str\.|strada|bulevardul|calea|"
    r"ulitsa|trg|przystanek|rondo|park|szkoła|szkoły|zastávka|škola|školy|haltestelle|fermata|scuola|lycée|collège|"
    r"école|arrêt|métro|colegio|parada|metro|station|(?:bus|tram) stop|hållplats(?:en)?|halte|pysäkki|megálló)\s(?:(?:du|de|des|de la|del|della|dei|don|dr\.?|doctor|général|maréchal|president|président|"
    r"docteur|generał\w*|gen\.|ks\.|św\.|saint|st\.|san|santa|\w\.)\s?){0,2}$",
    re.IGNORECASE,
)


def _method(name: NameSpan, context: Context) -> Method:
    if context.role:
        return Method.ROLE
    return Method.TITLE_OF_ADDRESS if name.has_title else Method.NAME_LIST
