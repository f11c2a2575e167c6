"""Find the people of a page."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Final

from contact_extraction.contacts.chance import chance, confidence_of
from contact_extraction.contacts.model import FoundPerson, Method
from contact_extraction.contacts.person.name import (
    GLUED_DEGREE,
    RUN,
    SURE_SUFFIX,
    Name,
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
from contact_extraction.contacts.person.roster import couples, in_lists, inverted
from contact_extraction.contacts.person.support import (
    Context,
    PageWords,
    is_no_name,
    is_place_or_role,
    is_supported,
)
from contact_extraction.contacts.person.trait import (
    Surroundings,
    Traits,
    split_url,
    traits_of,
)
from contact_extraction.contacts.person.word import (
    HONORIFIC,
    SOFT,
    SURNAMES,
    given_names,
)
from contact_extraction.contacts.sheet import Sheet
from contact_extraction.contacts.testimonial import customer_lines
from contact_extraction.plain import squeezed

MAX_FOUND: Final = 300
MAX_BOXES: Final = 60
WEIGHTS: Final = "person_weights"
ENOUGH: Final = 0.5
"""The chance of being a person of the business from which somebody is given."""
MAX_RUNS: Final = 20_000


@dataclass(frozen=True, slots=True)
class Clues:
    """What the other finders know of a page that helps to find its people."""

    url: str = ""
    organisations: tuple[str, ...] = ()
    """Names of firms, the page's own first."""
    addresses: tuple[str, ...] = ()
    reachable: frozenset[int] = frozenset()
    """The lines that hold a telephone number or an e-mail address."""


def find_people(sheet: Sheet, clues: Clues) -> list[FoundPerson]:
    """Find the people of a page, each with how sure it is that it is one."""
    found = []
    for one, described in describe_people(sheet, clues):
        likely = chance(WEIGHTS, described)
        if likely >= ENOUGH:
            sure = round(confidence_of(WEIGHTS, likely), 3)
            found.append(replace(one, confidence=sure))
    return found


def describe_people(sheet: Sheet, clues: Clues) -> list[tuple[FoundPerson, Traits]]:
    """Give everybody who may be a person of the business, with their traits."""
    found = _candidates(sheet, clues)
    if not found:
        return []
    customers = customer_lines(sheet)
    around = Surroundings(
        sheet,
        clues.url,
        squeezed(f"{split_url(clues.url)[0]} {' '.join(clues.organisations[:1])}"),
        "".join(
            f" {squeezed(one.partition('@')[0])}" for one in clues.addresses[:MAX_BOXES]
        ),
        clues.reachable,
        tuple(found),
    )
    return [
        (replace(one, is_customer=one.line in customers), traits_of(around, one))
        for one in found
    ]


def _candidates(sheet: Sheet, clues: Clues) -> list[FoundPerson]:
    found: list[FoundPerson] = []
    firms = frozenset(name.casefold() for name in clues.organisations)
    page = PageWords(sheet, firms, clues.reachable)
    given = given_names()
    text = sheet.visible_text
    for count, run in enumerate(RUN.finditer(text)):
        if count > MAX_RUNS or len(found) >= MAX_FOUND:
            break
        start = run.start()
        before = text[start - 2 : start].rstrip(" ")[-1:] if start else "\n"
        title = title_before(text, start)
        # Most runs of capitals are titles and menus: a look at each word rules them out.
        if (
            before not in "\n:-–|•("
            and not title
            and not any(
                word in given or word in HONORIFIC for word in run[0].casefold().split()
            )
        ):
            continue
        number = sheet.line_at(start)
        line = sheet.lines[number]
        if line.tag != "option" and len(line.text) <= 5000:
            found += _in_run(page, number, run, title)
    turned = list(islice(inverted(page), MAX_FOUND))
    lines = {one.line for one in turned}
    found = [*(one for one in found if one.line not in lines), *turned]
    sure = [one for one in found if one.is_supported]
    if sure:
        found += islice(chain(couples(sheet, sure), in_lists(page, sure)), MAX_FOUND)
    return found


def _in_run(
    page: PageWords, number: int, run: re.Match[str], title: int
) -> Iterator[FoundPerson]:
    two = (page.sheet.page.language or "")[:2].lower() in _TWO_SURNAMES
    start = page.sheet.starts[number]
    is_read = False
    for name in names_in_run(run, start, title, two_surnames=two):
        if found := _read_name(page, number, name):
            is_read = True
            yield found
    if two or is_read or len(run[0].split()) not in _WITH_TWO:
        return
    # Elsewhere "Anna Berg Holm" bears two surnames too, but "Anna Berg House" is a place:
    # a role beside it makes the difference.
    for name in names_in_run(run, start, title, two_surnames=True):
        found = _read_name(page, number, name)
        if found and found.is_alone and is_calling(found.role):
            yield found


_TWO_SURNAMES: Final = ("es", "pt", "ca", "gl", "eu")
_WITH_TWO: Final = (3, 4)
"""How many words a name with two surnames has."""


def _read_name(page: PageWords, number: int, name: Name) -> FoundPerson | None:
    sheet = page.sheet
    text = sheet.lines[number].text
    glued = GLUED_DEGREE.search(text[name.start : name.stop])
    end = name.stop + degrees_after(text[name.stop :])
    written = without_pronouns(text[name.start : end])
    context = _context(sheet, number, name, end)
    if glued:
        written = written[: glued.start()]
    if _is_refused(page, written, name, context) or _names_street(text, name.lead):
        return None
    supported = is_supported(page, number, written, context)
    if not supported and not _is_worth_a_look(context):
        return None
    start = sheet.starts[number] + name.start
    stop = sheet.starts[number] + end
    return FoundPerson(
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
        is_inner=name.is_inner,
        is_plain=page.is_plain(written),
    )


def _is_worth_a_look(context: Context) -> bool:
    """Say whether the traits may speak for a name that no rule supports."""
    return context.is_alone and (
        context.has_given or context.has_title or is_calling(context.role)
    )


def _context(sheet: Sheet, number: int, name: Name, end: int) -> Context:
    text = sheet.lines[number].text
    return Context(
        role=role_near(sheet, number, name.start, end)
        or (
            role_near(sheet, number, name.lead, end) if name.lead < name.start else None
        ),
        is_alone=stands_alone(text, name.head, end),
        has_given=name.has_given,
        has_title=name.has_title or bool(SURE_SUFFIX.match(text[name.stop : end])),
        goes_on=text[end : end + 2].strip(" ,.")[:1].islower(),
    )


def _is_refused(page: PageWords, written: str, name: Name, context: Context) -> bool:
    if not is_calling(context.role):
        if not context.has_title and written.rpartition(" ")[2].casefold() in SURNAMES:
            return True
        if name.is_inner and not context.is_alone:
            return True
        if written.rpartition(" ")[2].casefold() in SOFT:
            return True
        if written.casefold() in page.organisations:
            return True
    return is_place_or_role(written, has_given=name.has_given) or is_no_name(written)


def _names_street(text: str, start: int) -> bool:
    """Distinguish who a street is named after from who lives in it: `12 rue Paul Bert`."""
    return bool(_STREET_BEFORE.search(text[max(0, start - 30) : start]))


_STREET_BEFORE: Final = re.compile(
    r"(?<!\w)(?:rue|avenue|av\.|ave\.|boulevard|bd\.?|place|allée|chemin|quai|impasse|square|via|viale|v\.le|"
    r"piazza|p\.za|corso|largo|vicolo|calle|c/|avenida|avda\.?|plaza|paseo|glorieta|carrer|plaça|rua|praça|travessa|"
    r"alameda|ul\.|ulica|ulice|al\.|aleja|plac|pl\.|os\.|náměstí|nám\.|tř\.|str\.|strada|bulevardul|calea|"
    r"ulitsa|trg)\s(?:(?:du|de|des|de la|del|della|dei|don|dr\.?|doctor|général|maréchal|president|président|"
    r"docteur|generał\w*|gen\.|ks\.|św\.|saint|st\.|san|santa|\w\.)\s?){0,2}$",
    re.IGNORECASE,
)


def _method(name: Name, context: Context) -> Method:
    if context.role:
        return Method.ROLE
    return Method.TITLE_OF_ADDRESS if name.has_title else Method.NAME_LIST
