"""Search by words: the same in lists, decisions and exports."""

import contextlib
import re
from collections.abc import Sequence

from sqlalchemy import ColumnElement, and_, any_, func, or_, select, true

from scrapersky.curation.clause import text_of
from scrapersky.errors import InvalidSubject
from scrapersky.kit.canonical import (
    MIN_PHONE_DIGITS,
    canonical_domain,
    canonical_email,
    canonical_phone,
    phone_digits,
    plain_signs,
)
from scrapersky.privacy.subject import spellings_of
from scrapersky.records.base import PHONES_AS_WRITTEN
from scrapersky.records.kind import Kind
from scrapersky.records.link import LinkedWords
from scrapersky.records.work_queue import Attribute

MOST_WORDS = 8
MOST_LINKED = 1_000
"""How many linked records are looked at: words that more have tell nothing apart."""
PARTS = re.compile(r"[^\W_]+")
"""What an index of words knows: letters and digits, three of them at a time."""
SHORTEST_INDEXED = 3
LIKE_A_NUMBER = re.compile(r"\+?[0-9\s()/.~\[\]-]+")
PHONE = "phone"


def matches(kind: Kind, words: str | None) -> ColumnElement[bool]:
    """Match what has every word in one of its texts, in any case, or is linked to such a record."""
    if words is None or not words.strip():
        return true()
    # Without an index for at least one word, all people and contacts would be read.
    links = kind.linked_words if any(map(is_indexed, words.split())) else ()
    linked = (is_linked_to(link, words) for link in links)
    return or_(has_words(kind.words, words), *linked)


def has_words(texts: Sequence[Attribute], words: str) -> ColumnElement[bool]:
    """Match what has every word in one of some texts."""
    if (number := national_number(words)) is not None:
        return or_(*(has_number(text, number) for text in texts))
    wanted = text_of(words).split()[:MOST_WORDS]
    return and_(
        *(
            or_(*(has(text, form) for text in texts for form in forms_of(word)))
            for word in wanted
        )
    )


def is_linked_to(link: LinkedWords, words: str) -> ColumnElement[bool]:
    """Match what is linked to a record that has every word.

    Their keys are read first, as an array: so the index of ours is combined with that of words.
    """
    theirs = select(link.theirs).where(has_words(link.texts, words)).limit(MOST_LINKED)
    return link.ours == any_(func.array(theirs.scalar_subquery()))


def national_number(words: str) -> str | None:
    """Return the digits that a phone number is kept with, however it is written.

    Numbers are kept with their country code, which takes the place of a leading zero.
    """
    plain = plain_signs(words).strip()
    if not LIKE_A_NUMBER.fullmatch(plain):
        return None
    digits = phone_digits(plain.replace("(0)", ""))
    return digits if len(digits) >= MIN_PHONE_DIGITS else None


def has_number(text: Attribute, number: str) -> ColumnElement[bool]:
    """Match what has a number in a text, or was stored with it as it was written."""
    if text.key != PHONE or text.table.name not in PHONES_AS_WRITTEN:
        return has(text, number)
    spelt = {number}
    with contextlib.suppress(InvalidSubject):
        spelt |= spellings_of(canonical_phone(f"+{number}"))
    return or_(has(text, number), func.phone_digits(text).in_(spelt))


def forms_of(word: str) -> set[str]:
    """Return a word and, if it is an address or a domain, the form it is kept in."""
    forms = {word}
    with contextlib.suppress(InvalidSubject):
        if "@" in word:
            forms.add(canonical_email(word))
        elif not word.isascii() and "." in word:
            forms.add(canonical_domain(word))
    return forms


def has(text: Attribute, word: str) -> ColumnElement[bool]:
    """Match what has a word in a text, in any case."""
    whole = text.icontains(word, autoescape=True)
    core = rarest_part(word)
    if not is_indexed(core) or core == word:
        return whole
    # The index is asked for one part alone: to look for `.com` in it as well
    # takes five times as long. An expression is not looked for in the index.
    indexed = text.icontains(core, autoescape=True)
    return and_(indexed, (text + "").icontains(word, autoescape=True))


def is_indexed(word: str) -> bool:
    """Say whether an index of words knows what has this word."""
    return sum(map(len, PARTS.findall(word))) >= SHORTEST_INDEXED


def rarest_part(word: str) -> str:
    """Return the part of a word that the fewest texts have, as far as its look tells.

    What stands around it comes along: an index knows where a part begins and ends.
    """
    parts = [*PARTS.finditer(word)]
    if "." in word and len(parts) > 1 and len(parts[-2][0]) >= SHORTEST_INDEXED:
        # Whole lists share the end of a host or of a file's name.
        parts.pop()
    if not parts:
        return ""
    rarest = max(parts, key=lambda part: (is_mixed(part[0]), len(part[0])))
    return word[max(rarest.start() - 1, 0) : rarest.end() + 1]


def is_mixed(part: str) -> bool:
    """Say whether a part has letters and digits, as a number in an address has."""
    return (
        len(part) >= SHORTEST_INDEXED
        and not part.isdecimal()
        and any(map(str.isdecimal, part))
    )
