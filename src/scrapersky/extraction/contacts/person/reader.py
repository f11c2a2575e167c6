"""Find the people of a page."""

import re
from collections.abc import Iterator
from typing import Final

from scrapersky.extraction.contacts.model import Found, Method
from scrapersky.extraction.contacts.person.name import (
    RUN,
    SUFFIX,
    SURE_SUFFIX,
    Name,
    names_in_run,
    person_key,
    title_before,
)
from scrapersky.extraction.contacts.person.role import role_near, stands_alone
from scrapersky.extraction.contacts.person.roster import couples, in_lists
from scrapersky.extraction.contacts.person.support import (
    Context,
    PageWords,
    is_no_name,
    is_place_or_role,
    is_supported,
)
from scrapersky.extraction.contacts.person.word import HONORIFIC, SOFT, given_names
from scrapersky.extraction.contacts.sheet import Sheet
from scrapersky.extraction.contacts.testimonial import customer_lines

MAX_FOUND: Final = 300
MAX_RUNS: Final = 20_000


def find_people(
    sheet: Sheet,
    organisations: frozenset[str] = frozenset(),
    reachable: frozenset[int] = frozenset(),
) -> list[Found]:
    """Find people of a page.

    `organisations` are folded names that are firms, `reachable` the lines that hold a
    telephone number or an e-mail address.
    """
    found: list[Found] = []
    page = PageWords(sheet, organisations, reachable)
    given = given_names()
    text = sheet.visible_text
    for count, run in enumerate(RUN.finditer(text)):
        if count > MAX_RUNS or len(found) >= MAX_FOUND:
            break
        start = run.start()
        before = text[start - 2 : start].rstrip(" ")[-1:] if start else "\n"
        title = title_before(text, start) if before == "." else 0
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
    if found:
        found += [*couples(sheet, found), *in_lists(page, found)]
        _mark_customers(sheet, found)
    return found


def _mark_customers(sheet: Sheet, found: list[Found]) -> None:
    customers = customer_lines(sheet)
    for one in found:
        if one.line in customers:
            one.details["customer"] = "yes"


def _in_run(
    page: PageWords, number: int, run: re.Match[str], title: int
) -> Iterator[Found]:
    for name in names_in_run(run, page.sheet.starts[number], title):
        if found := _read_name(page, number, name):
            yield found


def _read_name(page: PageWords, number: int, name: Name) -> Found | None:
    sheet = page.sheet
    text = sheet.lines[number].text
    suffix = SUFFIX.match(text[name.stop :])
    end = name.stop + (suffix.end() if suffix else 0)
    written = text[name.start : end]
    context = _context(sheet, number, name, end)
    if _is_refused(page, written, name, context):
        return None
    if not is_supported(page, number, written, context):
        return None
    start = sheet.starts[number] + name.start
    stop = sheet.starts[number] + end
    return Found(
        key=person_key(written),
        value=written.strip(" ,"),
        method=_method(name, context),
        line=number,
        start=start,
        end=stop,
        snippet=sheet.snippet(start, stop),
        details={"role": context.role, "alone": "yes" if context.is_alone else None},
    )


def _context(sheet: Sheet, number: int, name: Name, end: int) -> Context:
    text = sheet.lines[number].text
    return Context(
        role=role_near(sheet, number, name.start, end),
        is_alone=stands_alone(text, name.head, end),
        has_given=name.has_given,
        has_title=name.has_title or bool(SURE_SUFFIX.match(text[name.stop : end])),
        goes_on=text[end : end + 2].strip(" ,.")[:1].islower(),
    )


def _is_refused(page: PageWords, written: str, name: Name, context: Context) -> bool:
    if context.role is None:
        if name.is_inner and not context.is_alone:
            return True
        if written.rpartition(" ")[2].casefold() in SOFT:
            return True
        if written.casefold() in page.organisations:
            return True
    return is_place_or_role(written, has_given=name.has_given) or is_no_name(written)


def _method(name: Name, context: Context) -> Method:
    if context.role:
        return Method.ROLE
    return Method.TITLE_OF_ADDRESS if name.has_title else Method.NAME_LIST
