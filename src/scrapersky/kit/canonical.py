"""The one form of every e-mail address, phone number and domain.

What is stored, looked up, compared, suppressed and erased goes through here, so that two
ways of writing the same address are one, and what can be stored can be suppressed.
"""

import contextlib
import re
import unicodedata
from collections.abc import Iterable, Iterator

import phonenumbers

from contact_extraction.errors import InvalidUrl
from contact_extraction.urls import canonical_host
from scrapersky.errors import InvalidSubject

MAX_DOMAIN_CHARACTERS = 254
MAX_PHONE_CHARACTERS = 40
MAX_TEXT_CHARACTERS = 200
MIN_PHONE_DIGITS = 6
MAX_PHONE_DIGITS = 15
SUBADDRESS = "+"
NOT_IN_LOCAL = re.compile(r"[\s@\"(),:;<>\[\]\\]")
APOSTROPHES = str.maketrans("\u2019\u02bc\uff07", "'''")
SEPARATORS = (
    "\u00a0\u00ad\u00b7\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"
    "\u200a\u200b\u2010\u2011\u2012\u2013\u2014\u2015\u2022\u202f\u2053\u205f\u2060"
    "\u2212\u223c\u3000\u30fc\uff08\uff09\uff0d\uff0e\uff0f\uff3b\uff3d\uff5e"
)
"""What people write between the digits of a number beside the signs of ASCII."""
ZEROS = "\u0660\u06f0\u0966\u09e6\u0e50\uff10"
"""The zeros of other scripts; the digits from one to nine follow each of them."""
PLAIN_SIGNS = {
    **{ord(zero) + digit: str(digit) for zero in ZEROS for digit in range(10)},
    **dict.fromkeys(map(ord, SEPARATORS), "-"),
    ord("\uff0b"): "+",
}
NUMBER = re.compile(r"\+?[(\s]{0,3}[0-9][0-9\s()./~_*\[\]-]*")


def canonical_email(text: str) -> str:
    """Return an address in its one form: small letters, an ASCII domain.

    A local part may be in any script; full-width and composed letters are one with the
    plain ones. What stands after a plus is kept: see `mailbox_of`.
    """
    local, at, domain = text.strip().translate(APOSTROPHES).rpartition("@")
    # A leading apostrophe is a quotation mark that was copied along.
    local = fold_lookalikes(local).lstrip("'")
    if not at or not local or NOT_IN_LOCAL.search(local) or not is_printable(local):
        raise InvalidSubject("This is not an e-mail address.")
    return f"{local}@{canonical_domain(domain)}"


def canonical_domain(text: str) -> str:
    """Return a domain in its one form: small ASCII letters, no dot at the end."""
    try:
        name = canonical_host(text.strip().rstrip(".").lower())
    except InvalidUrl as error:
        raise InvalidSubject(f"This is not a domain: {error.why}.") from error
    if "." not in name or len(name) > MAX_DOMAIN_CHARACTERS:
        raise InvalidSubject("This is not a domain.")
    return name


def canonical_phone(text: str, region: str | None = None) -> str:
    """Return a number in E.164: with its country code, or of the region given.

    An extension is not part of it. Raises InvalidSubject where no country is known.
    """
    found = [*readings(text, region)]
    if not found:
        raise InvalidSubject(
            "This is not a phone number with its country code.",
            hint="Write it as +44 20 7946 0018.",
        )
    return stable_e164(next(filter(phonenumbers.is_valid_number, found), found[0]))


def stored_phone(text: str | None, region: str | None = None) -> str | None:
    """Return a number as it is stored: E.164, or as written if its country is not known.

    Without a country code it is read as one of the region only if it is valid there. What
    is stored as written has no plus. None is what is not a number by any reading.
    """
    if not text or (written := number_in(text)) is None:
        return None
    if not written.startswith("+"):
        valid = filter(phonenumbers.is_valid_number, readings(text, region))
        return next(map(stable_e164, valid), written if has_a_length(written) else None)
    try:
        number = canonical_phone(text)
    except InvalidSubject:
        return None
    return number if has_a_length(number) else None


def stored_phones(
    texts: Iterable[str | None], region: str | None = None
) -> tuple[str, ...]:
    """Return every number of texts that may hold several, each once, as it is stored."""
    parts = (part for text in texts if text for part in re.split(r"[;|\n]+", text))
    found = (
        stored_phone(each, region)
        for part in parts
        for each in split_numbers(part, region)
    )
    return tuple(dict.fromkeys(number for number in found if number))


def split_numbers(text: str, region: str | None) -> list[str]:
    """Split what may be several numbers: a slash stands inside of one as well."""
    if has_a_length(text) and any(
        map(phonenumbers.is_valid_number, readings(text, region))
    ):
        return [text]
    splits = (re.split(between, text) for between in (r",|\s/\s", r"[,/]"))
    return next((parts for parts in splits if all(map(has_a_length, parts))), [text])


def phone_digits(written: str) -> str:
    """Return the digits by which numbers without a country code are compared."""
    return re.sub(r"\D", "", plain_signs(written)).lstrip("0")


def has_a_length(written: str | None) -> bool:
    """Say whether a text has as many digits as a phone number has."""
    return MIN_PHONE_DIGITS <= len(phone_digits(written or "")) <= MAX_PHONE_DIGITS


def number_in(text: str) -> str | None:
    """Return the number in a text, without what stands before it or an extension."""
    found = NUMBER.findall(plain_signs(text[:MAX_TEXT_CHARACTERS]))
    number = next(filter(has_a_length, found), found[0] if found else None)
    return " ".join(number.split()).rstrip(" (-/.") if number else None


def readings(text: str, region: str | None) -> Iterator[phonenumbers.PhoneNumber]:
    """Yield what a text may mean as a number, the likeliest first."""
    whole = plain_signs(text.strip()[:MAX_TEXT_CHARACTERS])
    # What is parsed are digits alone: the library takes `~12` for an extension.
    number = re.sub(r"[^0-9+]", "", number_in(text) or "")
    spelt = [number, whole]  # Letters are an extension, or digits: 800 FLOWERS.
    if number.startswith("00"):
        spelt.insert(1, f"+{number[2:]}")
    for each in dict.fromkeys(one[:MAX_PHONE_CHARACTERS] for one in spelt):
        with contextlib.suppress(phonenumbers.NumberParseException):
            yield phonenumbers.parse(each, region.upper() if region else None)


def stable_e164(number: phonenumbers.PhoneNumber) -> str:
    """Return E.164 that is its own form: "+49 (0)0..." still has a zero to drop."""
    for _ in range(MAX_PHONE_CHARACTERS):
        before, number = number, phonenumbers.parse(e164(number))
        if number == before:
            break
    return e164(number)


def e164(number: phonenumbers.PhoneNumber) -> str:
    """Write a number with its country code."""
    return str(phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164))


def plain_signs(text: str) -> str:
    """Return a text with the digits and signs of other scripts as plain ones, one for one."""
    return text if text.isascii() else text.translate(PLAIN_SIGNS)


def mailbox_of(address: str) -> str:
    """Return the address without its subaddress: ada+shop@a.example is ada@a.example."""
    local, _, domain = address.rpartition("@")
    mailbox = local.partition(SUBADDRESS)[0]
    return f"{mailbox}@{domain}" if mailbox else address


def fold_lookalikes(text: str) -> str:
    """Return a text in which letters that only look different are the same."""
    text = unicodedata.normalize("NFKC", text).lower()
    return unicodedata.normalize("NFKC", text)


def is_printable(text: str) -> bool:
    """Say whether a text has no control, format or private signs, nor half characters."""
    return not any(unicodedata.category(sign).startswith("C") for sign in text)
