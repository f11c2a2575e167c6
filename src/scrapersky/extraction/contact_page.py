"""Everything WF7 wants to know of one page, read in one go."""

from dataclasses import dataclass

from scrapersky.extraction.contacts import Contacts, Hints, contacts_of
from scrapersky.extraction.html import Form, Item, Page, parse_page

LONGEST = 1_000
MOST_TYPES = 20
MESSAGE_FIELDS = ("textarea",)


@dataclass(frozen=True, slots=True)
class ContactPage:
    """A page's own facts and the contacts on it."""

    title: str | None
    description: str | None
    h1: str | None
    language: str | None
    canonical: str | None
    structured_types: list[str]
    has_contact_form: bool
    word_count: int
    contacts: Contacts


def read_contact_page(
    body: bytes,
    url: str,
    encoding: str | None,
    country: str | None,
    organisation: str | None,
) -> ContactPage:
    """Parse a page once and read its facts and its contacts."""
    page = parse_page(body, encoding=encoding)
    hints = Hints(country=country, organisation=organisation, encoding=encoding)
    return ContactPage(
        title=short(page.title),
        description=short(page.meta("description")),
        h1=short(next((line.text for line in page.lines if line.tag == "h1"), "")),
        language=short(page.language),
        canonical=short(
            next((link.href for link in page.head_links if link.rel == "canonical"), "")
        ),
        structured_types=structured_types(page),
        has_contact_form=any(asks_for_a_message(form) for form in page.forms),
        word_count=len(page.visible_text.split()),
        contacts=contacts_of(page, url, hints=hints),
    )


def short(text: str) -> str | None:
    """Return a text of bounded length; an empty one is unknown."""
    return text.strip()[:LONGEST] or None


def structured_types(page: Page) -> list[str]:
    """Name the kinds of things the page's structured data describes, each once."""
    named = [thing.get("@type") for thing in page.json_ld]
    flat = [
        one for each in named for one in (each if isinstance(each, list) else [each])
    ]
    items: tuple[Item, ...] = (*page.microdata, *page.rdfa)
    flat += [one for item in items for one in item.types]
    texts = (str(one).rpartition("/")[2][:100] for one in flat if isinstance(one, str))
    return list(dict.fromkeys(text for text in texts if text))[:MOST_TYPES]


def asks_for_a_message(form: Form) -> bool:
    """Say whether a form looks like one to write to the business."""
    kinds = {kind for _, kind in form.fields}
    names = " ".join(name.lower() for name, _ in form.fields)
    is_mail = "email" in kinds or "mail" in names
    return is_mail and (
        "textarea" in kinds or "message" in names or "nachricht" in names
    )
