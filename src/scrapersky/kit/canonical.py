"""The one form of every e-mail address, phone number and domain.

What is stored, looked up, compared, suppressed and erased goes through here, so that two
ways of writing the same address are one, and what can be stored can be suppressed.
"""

import re
import unicodedata

import phonenumbers

from scrapersky.errors import InvalidSubject, InvalidUrl
from scrapersky.kit.urls import canonical_host

LONGEST_NAME = 254
LONGEST_NUMBER = 40
SUBADDRESS = "+"
NOT_IN_LOCAL = re.compile(r"[\s@\"(),:;<>\[\]\\]")
APOSTROPHES = str.maketrans("\u2019\u02bc\uff07", "'''")


def canonical_email(text: str) -> str:
    """Return an address in its one form: small letters, an ASCII domain.

    A local part may be in any script; full-width and composed letters are one with the
    plain ones. What stands after a plus is kept: see `mailbox_of`.
    """
    local, at, domain = text.strip().translate(APOSTROPHES).rpartition("@")
    # A leading apostrophe is a quotation mark that was copied along.
    local = folded(local).lstrip("'")
    if not at or not local or NOT_IN_LOCAL.search(local) or not is_printable(local):
        raise InvalidSubject("This is not an e-mail address.")
    return f"{local}@{canonical_domain(domain)}"


def canonical_domain(text: str) -> str:
    """Return a domain in its one form: small ASCII letters, no dot at the end."""
    try:
        name = canonical_host(text.strip().rstrip(".").lower())
    except InvalidUrl as error:
        raise InvalidSubject(f"This is not a domain: {error.why}.") from error
    if "." not in name or len(name) > LONGEST_NAME:
        raise InvalidSubject("This is not a domain.")
    return name


def canonical_phone(text: str, region: str | None = None) -> str:
    """Return a number in E.164: with its country code, or of the region given."""
    try:
        number = phonenumbers.parse(text.strip()[:LONGEST_NUMBER], region)
        # "+49 (0)0..." still has a zero to drop: its form must be its own form.
        for _ in range(LONGEST_NUMBER):
            before, number = number, phonenumbers.parse(e164(number), region)
            if number == before:
                break
    except phonenumbers.NumberParseException as error:
        raise InvalidSubject(
            "This is not a phone number with its country code.",
            hint="Write it as +44 20 7946 0018.",
        ) from error
    return e164(number)


def e164(number: phonenumbers.PhoneNumber) -> str:
    """Write a number with its country code."""
    return str(phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164))


def mailbox_of(address: str) -> str:
    """Return the address without its subaddress: ada+shop@a.example is ada@a.example."""
    local, _, domain = address.rpartition("@")
    mailbox = local.partition(SUBADDRESS)[0]
    return f"{mailbox}@{domain}" if mailbox else address


def folded(text: str) -> str:
    """Return a text in which letters that only look different are the same."""
    text = unicodedata.normalize("NFKC", text).lower()
    return unicodedata.normalize("NFKC", text)


def is_printable(text: str) -> bool:
    """Say whether a text has no control, format or private signs, nor half characters."""
    return not any(unicodedata.category(sign).startswith("C") for sign in text)
