"""Where the name of an organisation may stand, and how far each place is believed."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from contact_extraction.contacts.model import Method
from contact_extraction.contacts.page_text import PageText

MAX_FOUND: Final = 60
MAX_HINTS: Final = 1_000


class NameSource(StrEnum):
    """A place a name was taken from."""

    KNOWN = "known"
    SITE_NAME = "site_name"
    META = "meta"
    TITLE_PART = "title_part"
    TITLE = "title"
    LOGO = "logo"
    OTHER_LOGO = "other_logo"
    HEADING = "heading"
    COPYRIGHT_FORM = "copyright_form"
    COPYRIGHT = "copyright"
    BEFORE_COPYRIGHT = "before_copyright"
    HOME_LINK = "home_link"
    LEGAL_FORM = "legal_form"
    WEAK_FORM = "weak_form"
    SCHOOL = "school"
    TRADE = "trade"
    EMPLOYER = "employer"
    OFFICE = "office"
    ABOVE_ADDRESS = "above_address"
    LETTERHEAD = "letterhead"
    STATED = "stated"
    SPELLED = "spelled"
    DOMAIN = "domain"

    @property
    def method(self) -> Method:
        """Give the method a value from here is shown with."""
        return _SHOWN[self][0]

    @property
    def votes(self) -> float:
        """Give what one sighting adds to a name when a page's names are put in order."""
        return _SHOWN[self][1]


_SHOWN: Final = {
    NameSource.KNOWN: (Method.META, 1.0),
    NameSource.SITE_NAME: (Method.META, 2.5),
    NameSource.META: (Method.META, 1.0),
    NameSource.TITLE_PART: (Method.TITLE, 1.2),
    NameSource.TITLE: (Method.TITLE, 0.6),
    NameSource.LOGO: (Method.LOGO, 1.5),
    NameSource.OTHER_LOGO: (Method.LOGO, 0.5),
    NameSource.HEADING: (Method.HEADING, 0.8),
    NameSource.COPYRIGHT_FORM: (Method.COPYRIGHT, 2.5),
    NameSource.COPYRIGHT: (Method.COPYRIGHT, 2.0),
    NameSource.BEFORE_COPYRIGHT: (Method.COPYRIGHT, 1.5),
    NameSource.HOME_LINK: (Method.LINK, 0.5),
    NameSource.LEGAL_FORM: (Method.LEGAL_FORM, 3.0),
    NameSource.WEAK_FORM: (Method.LEGAL_FORM, 1.5),
    NameSource.SCHOOL: (Method.LEGAL_FORM, 3.0),
    NameSource.TRADE: (Method.LEGAL_FORM, 1.0),
    NameSource.EMPLOYER: (Method.ROLE, 1.0),
    NameSource.OFFICE: (Method.ROLE, 1.0),
    NameSource.ABOVE_ADDRESS: (Method.LETTERHEAD, 1.6),
    NameSource.LETTERHEAD: (Method.LETTERHEAD, 1.2),
    NameSource.STATED: (Method.JSON_LD, 3.5),
    NameSource.SPELLED: (Method.TEXT, 1.4),
    NameSource.DOMAIN: (Method.TEXT, 0.3),
}
Nomination = tuple[str, NameSource]


def lines_with(sheet: PageText, signs: Sequence[str]) -> set[int]:
    """Find the lines that hold one of some strings, by plain search."""
    numbers: set[int] = set()
    for sign in signs:
        place = sheet.text.find(sign)
        while place >= 0 and len(numbers) < MAX_HINTS:
            numbers.add(sheet.line_at(place + len(sign) - 1))
            place = sheet.text.find(sign, place + 1)
    return numbers
