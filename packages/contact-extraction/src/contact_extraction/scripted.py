"""Whether what a visitor would read on a page is made by its scripts."""

import re
from typing import Final

from contact_extraction.contacts.model import Contacts
from contact_extraction.html import HtmlPage

FEW_WORDS: Final = 25
"""A page with fewer has nothing to say, or has scripts that say it."""
SOME_WORDS: Final = 120
MAX_SOURCE: Final = 500_000


def needs_script(page: HtmlPage, contacts: Contacts) -> str | None:
    """Say why a page has to be rendered to be read; None if it has not."""
    if not any(script.src or "json" not in script.type for script in page.scripts):
        return None
    words = page.word_count
    if words < FEW_WORDS:
        return f"without its scripts the page has {words} words"
    source = page.source[:MAX_SOURCE]
    if words < SOME_WORDS and _EMPTY_ROOT.search(source):
        return "its scripts fill the element that holds the page"
    if contacts.emails and contacts.phones:
        return None
    low = page.lower_source[:MAX_SOURCE]
    empty = {found[1][:1] for found in _EMPTY_VALUE.finditer(low)}
    # The first letter distinguishes them: e-mail and mail, phone and telefon.
    if not contacts.emails and empty & {b"e", b"m"}:
        return "its scripts fill in the e-mail address"
    if not contacts.phones and empty & {b"p", b"t"}:
        return "its scripts fill in the telephone number"
    return None


# What the makers of single-page applications call the element they fill.
_EMPTY_ROOT: Final = re.compile(
    r"""<(?:div|main|body|app-root)\b[^>]{0,200}\bid=["']?(?:root|app|__next|__nuxt|___gatsby|svelte|"""
    r"""q-app|app-root|application|react-root|main-app)["']?[^>]{0,200}>\s{0,50}(?:<!--[^<]{0,200}-->)?"""
    r"""\s{0,50}</|<app-root\b[^>]{0,200}>\s{0,50}</""",
    re.IGNORECASE,
)
_EMPTY_VALUE: Final = re.compile(
    rb"""<(?:a|span|p|div|td|dd|li|strong|b)\b[^<>]{0,100}\b(?:id|class)=["']?(?:[\w-]{0,20}[-_])?"""
    rb"""(e-?mail|mail|phone|telephone|telefon|tel)(?:[-_](?:address|number|link|text|\d))?["']?"""
    rb"""[^<>]{0,100}>\s{0,20}</"""
)
