"""Who is meant: an e-mail address, a phone number or a domain, in one spelling each."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import phonenumbers

from scrapersky.errors import InvalidSubject, InvalidUrl
from scrapersky.kit.urls import canonical_host

TAIL = 8
"""Digits by which a number is known however it is written."""
SHORTEST_NUMBER = 6
LONGEST_ADDRESS = 254
LEAST_LABELS = 2
MOST_LABELS = 6

AT = r"(?:@|%40|&#64;|\s*[\[({]\s*(?:at|@)\s*[\])}]\s*|\s+at\s+)"
DOT = r"(?:\.|\s*[\[({]\s*(?:dot|\.)\s*[\])}]\s*|\s+dot\s+)"
GAP = r"[\s().\-/\u00a0\u2009\u2010-\u2015]{0,3}"
LOCAL_SIGN = r"[^\s@<>()\[\]{}\"',;:|\\/=&?*%]"
LABEL = r"[^\W_](?:[\w-]{0,61}[^\W_])?"

ADDRESSES = re.compile(
    rf"({LOCAL_SIGN}{{1,64}}){AT}({LABEL}(?:{DOT}{LABEL}){{1,5}})", re.IGNORECASE
)
NUMBERS = re.compile(rf"\d(?:{GAP}\d){{{SHORTEST_NUMBER - 1},17}}")
DOTS = re.compile(DOT, re.IGNORECASE)
NOT_DIGIT = re.compile(r"\D")
PLAIN = re.compile(r"[A-Za-z0-9]+")
SHORTEST_SIGN = 3
"""Letters that are seldom enough to be looked for first."""


class SubjectKind(StrEnum):
    """What a person or a business may ask to be left alone by."""

    EMAIL = "email"
    PHONE = "phone"
    DOMAIN = "domain"


@dataclass(frozen=True, slots=True)
class Subject:
    """One address, number or domain, spelt so that equal ones are equal."""

    kind: SubjectKind
    value: str

    @property
    def sign(self) -> str | None:
        """Letters that a text about it holds; a number may be written in any groups."""
        return sign_of(self.value) if self.kind is SubjectKind.EMAIL else None

    @property
    def pattern(self) -> str:
        """How it may be written, for PostgreSQL and Python alike (ignoring case)."""
        match self.kind:
            case SubjectKind.EMAIL:
                local, _, domain = self.value.rpartition("@")
                dotted = DOT.join(re.escape(label) for label in domain.split("."))
                return rf"(?<![\w.+-]){re.escape(local)}{AT}{dotted}(?![\w-])"
            case SubjectKind.PHONE:
                return number_pattern(self.value)
            case SubjectKind.DOMAIN:
                return rf"(?<![\w-]){re.escape(self.value)}(?![\w-])"


def sign_of(written: str) -> str | None:
    """Return letters that stand in every way of writing an address or a name.

    Plain ones in lower case, which no encoding changes; None if there are too few.
    """
    words = PLAIN.findall(written.rpartition("@")[0] or written)
    longest = max(words, key=len, default="")
    return longest.lower() if len(longest) >= SHORTEST_SIGN else None


def email_subject(text: str) -> Subject:
    """Read an e-mail address."""
    local, at, domain = text.strip().rpartition("@")
    if not at or not local or any(sign.isspace() for sign in local):
        raise InvalidSubject("This is not an e-mail address.")
    return Subject(SubjectKind.EMAIL, f"{local.lower()}@{spelt_domain(domain)}")


def phone_subject(text: str, region: str | None = None) -> Subject:
    """Read a phone number: with its country code, or of the region that is given."""
    try:
        number = phonenumbers.parse(text.strip()[:40], region)
    except phonenumbers.NumberParseException as error:
        raise InvalidSubject(
            "This is not a phone number with its country code.",
            hint="Write it as +44 20 7946 0018.",
        ) from error
    written = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
    return Subject(SubjectKind.PHONE, str(written))


def domain_subject(text: str) -> Subject:
    """Read a domain, with or without what stands around it in a URL."""
    bare = re.sub(r"^[a-z]+://", "", text.strip(), flags=re.IGNORECASE)
    host = re.split(r"[/:?#]", bare, maxsplit=1)[0]
    name = spelt_domain(host)
    return Subject(SubjectKind.DOMAIN, name.removeprefix("www."))


def any_subject(text: str, region: str | None = None) -> Subject:
    """Read whichever of the three a line of a list is."""
    if "@" in text:
        return email_subject(text)
    digits = NOT_DIGIT.sub("", text)
    if len(digits) >= SHORTEST_NUMBER and not re.search(r"[^\W\d_]", text):
        return phone_subject(text, region)
    return domain_subject(text)


def spelt_domain(text: str) -> str:
    """Spell a domain in its one form, or refuse it."""
    try:
        name = canonical_host(text.strip().rstrip(".").lower())
    except InvalidUrl as error:
        raise InvalidSubject(f"This is not a domain: {error.why}.") from error
    if "." not in name or len(name) > LONGEST_ADDRESS:
        raise InvalidSubject("This is not a domain.")
    return name


def number_pattern(e164: str) -> str:
    """Write how a number may stand in a text: in any grouping, with and without prefix."""
    number = phonenumbers.parse(e164)
    code = GAP.join(str(number.country_code))
    national = GAP.join(phonenumbers.national_significant_number(number))
    prefix = rf"(?:(?:\+|00)?{code}{GAP}(?:\(0\){GAP})?|\(?0)?"
    return rf"(?<![0-9]){prefix}{national}(?![0-9])"


def tail_of(e164: str) -> str:
    """Return the digits that a number has in every way of writing it."""
    national = phonenumbers.national_significant_number(phonenumbers.parse(e164))
    return str(national)[-TAIL:]


def names_above(host: str) -> Iterator[str]:
    """Yield a host and the domains it is in: mail.a.example, a.example."""
    labels = host.lower().rstrip(".").split(".")[-MOST_LABELS:]
    for start in range(len(labels) - LEAST_LABELS + 1):
        yield ".".join(labels[start:])


def addresses_in(text: str) -> Iterator[tuple[re.Match[str], list[str]]]:
    """Find what may be e-mail addresses, each with the spellings it may mean.

    A sentence that ends without a space after it makes the domain look longer, so
    every beginning of the domain counts.
    """
    for found in ADDRESSES.finditer(text):
        local = found[1].lower().strip(".'-")
        labels = DOTS.sub(".", found[2].lower()).split(".")
        yield (
            found,
            [
                f"{local}@{'.'.join(labels[:end])}"
                for end in range(LEAST_LABELS, len(labels) + 1)
            ],
        )


def numbers_in(text: str) -> Iterator[tuple[re.Match[str], set[str]]]:
    """Find what may be phone numbers, each with the tails it may have."""
    for found in NUMBERS.finditer(text):
        digits = NOT_DIGIT.sub("", found[0])
        if len(digits) < TAIL:
            yield found, {digits, digits.removeprefix("0")}
            continue
        ends = range(TAIL, len(digits) + 1)
        yield found, {digits[end - TAIL : end] for end in ends}
