"""Who is meant: an e-mail address, a phone number, a domain or a name, in one form each."""

import contextlib
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import unquote

import idna
import phonenumbers

from contact_extraction.text import name_key
from scrapersky.errors import InvalidSubject
from scrapersky.kit.canonical import (
    MAX_PHONE_DIGITS,
    MIN_PHONE_DIGITS,
    SEPARATORS,
    SUBADDRESS,
    ZEROS,
    canonical_domain,
    canonical_email,
    canonical_phone,
    has_a_length,
    number_in,
    phone_digits,
    plain_signs,
)

TAIL_DIGITS = 8
"""Digits by which a number is known however it is written."""
MAX_RUN_DIGITS = 40
"""Digits looked at together: several numbers may stand beside each other."""
SHORT_NUMBER_DIGITS = TAIL_DIGITS + 2
"""Digits of a shorter number with a country code of three."""
MIN_LABELS = 2

AT = r"(?:@|%40|&#64;|\s*[\[({]\s*(?:at|@)\s*[\])}]\s*|\s+at\s+)"
DOT = r"(?:\.|\s*[\[({]\s*(?:dot|\.)\s*[\])}]\s*|\s+dot\s+)"
GAP = rf"[\s().\-/~_*\[\]{SEPARATORS}]{{0,6}}"
DIGITS = {
    str(digit): f"[{digit}{''.join(chr(ord(zero) + digit) for zero in ZEROS)}]"
    for digit in range(10)
}
"""How each digit may be written, in any script."""
LOCAL_SIGN = r"[^\s@<>()\[\]\",;:\\]"
LABEL_END = r"(?:[^\W_]|%[89a-f][0-9a-f])"
LABEL = rf"{LABEL_END}(?:(?:[\w-]|%[89a-f][0-9a-f]){{0,61}}{LABEL_END})?"

ADDRESSES = re.compile(
    rf"({LOCAL_SIGN}{{1,64}}){AT}({LABEL}(?:{DOT}{LABEL}){{1,9}})", re.IGNORECASE
)
NUMBERS = re.compile(
    rf"[0-9](?:{GAP}[0-9]){{{MIN_PHONE_DIGITS - 1},{MAX_RUN_DIGITS - 1}}}"
)
INTERNATIONAL = re.compile(r"\+[0-9\s().\-/~_*\[\]]{3,39}")
ABROAD = ("00", "011", "0011", "010", "810")
"""What is dialled before a country code, from here and there."""
HOST_END = re.compile(r"\.[^\W\d_]")
AT_SIGNS = re.compile(
    r"@|%40|&#64;|[\[({]\s*(?:at|@)\s*[\])}]|(?<=\s)at(?=\s)", re.IGNORECASE
)
"""What every address has; to look for whole ones alone reads a text sixty times."""
MAX_LOCAL_CHARACTERS = 64
DOTS = re.compile(DOT, re.IGNORECASE)
NOT_DIGIT = re.compile(r"\D")
PLAIN = re.compile(r"[A-Za-z0-9]+")
MAY_PRECEDE = re.compile(r"(?<!\w)'|%[0-9a-f]{2}|[*/=?&%{|}!#$^`~]", re.IGNORECASE)
"""Signs that an address may have, and that may as well stand between it and a word."""
SURROUNDINGS = "'.-"
MIN_SIGN_CHARACTERS = 3
"""Letters that are seldom enough to be looked for first."""


class SubjectKind(StrEnum):
    """What a person or a business may ask to be left alone by."""

    EMAIL = "email"
    PHONE = "phone"
    DOMAIN = "domain"
    PERSON = "person"
    """A name at one domain: elsewhere it is somebody else's."""


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
                before = r"(?:(?<![\w.+-])(?<!\w')|(?<=%[0-9a-fA-F][0-9a-fA-F]))"
                tag = "" if SUBADDRESS in local else r"(?:(?:\+|%2b)[\w.+-]{1,60})?"
                name = written_name(domain, DOT)
                return rf"{before}{written_as(local)}{tag}{AT}{name}(?![\w-])"
            case SubjectKind.PHONE:
                return number_pattern(self.value)
            case SubjectKind.DOMAIN:
                return rf"(?<![\w-]){written_name(self.value, re.escape('.'))}(?![\w-])"
            case SubjectKind.PERSON:
                return name_pattern(self.value.rpartition("@")[0])


def sign_of(written: str) -> str | None:
    """Return letters that stand in every way of writing an address or a name.

    Plain ones in lower case, which no encoding changes; None if there are too few.
    """
    words = PLAIN.findall(written.rpartition("@")[0] or written)
    longest = max(words, key=len, default="")
    return longest.lower() if len(longest) >= MIN_SIGN_CHARACTERS else None


def written_as(text: str) -> str:
    """Write how letters may stand in a text: composed or not, escaped as in a URL."""
    return "".join(map(written_sign, text))


def written_sign(sign: str) -> str:
    """Write how one letter may stand in a text."""
    if sign.isascii() and sign.isalnum():
        return sign
    apart = unicodedata.normalize("NFD", sign)
    # PostgreSQL knows small and capital letters of other scripts not in every locale.
    forms = {sign, apart, sign.upper(), apart.upper(), *APOSTROPHES.get(sign, ())}
    escaped = {"".join(f"%{byte:02x}" for byte in form.encode()) for form in forms}
    return f"(?:{'|'.join(re.escape(form) for form in sorted(forms | escaped))})"


APOSTROPHES = {"'": ("\u2019", "&#39;")}


def written_name(domain: str, dot: str) -> str:
    """Write how a domain may stand in a text: each label in ASCII, or as people read it."""
    return dot.join(map(written_label, domain.split(".")))


def written_label(label: str) -> str:
    """Write how one label of a domain may stand in a text."""
    if label.startswith("xn--"):
        with contextlib.suppress(idna.IDNAError, UnicodeError):
            return rf"(?:{re.escape(label)}|{written_as(idna.decode(label))})"
    return re.escape(label)


def email_subject(text: str) -> Subject:
    """Read an e-mail address."""
    return Subject(SubjectKind.EMAIL, canonical_email(text))


def phone_subject(text: str, region: str | None = None) -> Subject:
    """Read a phone number: with its country code, or of the region that is given."""
    return Subject(SubjectKind.PHONE, canonical_phone(text, region))


def domain_subject(text: str) -> Subject:
    """Read a domain, with or without what stands around it in a URL."""
    bare = re.sub(r"^[a-z]+://", "", text.strip(), flags=re.IGNORECASE)
    host = re.split(r"[/:?#]", bare, maxsplit=1)[0]
    name = canonical_domain(host)
    # Browsers read 12345 as an address of the network, 0.0.48.57: nobody's domain.
    if name.rpartition(".")[2].isdigit():
        raise InvalidSubject("This is not a domain.")
    return Subject(SubjectKind.DOMAIN, name.removeprefix("www."))


def person_subject(name: str, domain: str) -> Subject:
    """Mean somebody by name, as the website at a domain calls them."""
    return Subject(SubjectKind.PERSON, f"{name_key(name)}@{domain}")


def name_pattern(name: str) -> str:
    """Write how a name may stand in a text or in an address."""
    words = r"[\s._+-]+".join(re.escape(word) for word in name.split())
    return rf"(?<!\w){words}(?!\w)"


def any_subject(text: str, region: str | None = None) -> Subject:
    """Read whichever of the three a line of a list is."""
    if "@" in text:
        return email_subject(text.strip().removeprefix("mailto:"))
    if is_like_a_number(plain_signs(text.strip())):
        return phone_subject(text, region)
    return domain_subject(text)


def is_like_a_number(text: str) -> bool:
    """Say whether a text is a number and no domain; it may have an extension."""
    if text.startswith(("+", "tel:")):
        return True
    is_host = HOST_END.search(text) is not None
    begins = text.lstrip("(- ")[:1].isdecimal()
    return begins and not is_host and has_a_length(number_in(text))


def whole_subject(text: str) -> Subject | None:
    """Return the address or number that a text is, if it is nothing else."""
    with contextlib.suppress(InvalidSubject):
        if "@" in text:
            return email_subject(text.strip().removeprefix("mailto:"))
        if INTERNATIONAL.fullmatch(plain_signs(text.strip())):
            return phone_subject(text)
    return None


def is_clear(subject: Subject) -> bool:
    """Say whether a text that is this subject cannot hold another one.

    `/team/ada@a.example` is an address by the standard, and more likely a path.
    """
    return subject.kind is SubjectKind.PHONE or not MAY_PRECEDE.search(subject.value)


def number_pattern(e164: str) -> str:
    """Write how a number may stand in a text: in any grouping, with and without prefix."""
    number = phonenumbers.parse(e164)
    code = written_digits(str(number.country_code))
    abroad = "|".join(("[+\uff0b]", *map(written_digits, ABROAD)))
    trunk = "|".join(map(written_digits, sorted(trunk_prefixes(number))))
    national = "|".join(map(written_digits, sorted(national_digits(e164))))
    prefix = (
        rf"(?:(?:(?:{abroad}){GAP})?{code}{GAP}(?:(?:{trunk}){GAP})?|(?:{trunk}){GAP})?"
    )
    return rf"(?<![0-9])\(?{prefix}(?:{national})(?![0-9])"


def written_digits(digits: str) -> str:
    """Write how digits may stand in a text: in any grouping and script."""
    return GAP.join(DIGITS[digit] for digit in digits)


def national_digits(e164: str) -> set[str]:
    """Return the digits of a number at home, without a zero before them."""
    number = phonenumbers.parse(e164)
    at_home = phonenumbers.PhoneNumberFormat.NATIONAL
    return {
        phone_digits(phonenumbers.national_significant_number(number)),
        phone_digits(phonenumbers.format_number(number, at_home)),
    }


def spellings_of(e164: str) -> set[str]:
    """Return the digits of a number however it is written without its plus."""
    number = phonenumbers.parse(e164)
    national = phonenumbers.national_significant_number(number)
    trunks = trunk_prefixes(number)
    return {
        *national_digits(e164),
        e164.removeprefix("+"),
        *(phone_digits(f"{trunk}{national}") for trunk in trunks),
        *(phone_digits(f"{number.country_code}{trunk}{national}") for trunk in trunks),
    }


def trunk_prefixes(number: phonenumbers.PhoneNumber) -> set[str]:
    """Return what is dialled before a number inside of its country."""
    code = number.country_code or 0
    regions = phonenumbers.COUNTRY_CODE_TO_REGION_CODE.get(code, ())
    plans = (phonenumbers.PhoneMetadata.metadata_for_region(one) for one in regions)
    found = (plan.national_prefix for plan in plans if plan)
    return {"0", *(prefix for prefix in found if prefix)}


def tail_of(e164: str) -> str:
    """Return the digits that a number has in every way of writing it."""
    national = phonenumbers.national_significant_number(phonenumbers.parse(e164))
    return str(national)[-TAIL_DIGITS:]


def names_above(host: str) -> Iterator[str]:
    """Yield a host and the domains it is in: mail.a.example, a.example."""
    labels = host.split(".")
    for start in range(len(labels) - MIN_LABELS + 1):
        yield ".".join(labels[start:])


def addresses_in(text: str) -> Iterator[tuple[tuple[int, int], list[str]]]:
    """Find what may be e-mail addresses: where each stands, and what it may mean.

    A sentence that ends without a space after it makes the domain look longer, so
    every beginning of the domain counts; a URL or a quotation before it makes the local
    part look longer, so every end of that counts.
    """
    for found in written_addresses(text):
        labels = DOTS.sub(".", found[2]).split(".")
        domains = [
            unquote(".".join(labels[:end]))
            for end in range(MIN_LABELS, len(labels) + 1)
        ]
        for start in sorted(starts_in(found[1])):
            written = found[1][start:]
            locals_ = {written, written.rstrip(SURROUNDINGS), unquote(written)} - {""}
            spellings = [f"{each}@{domain}" for each in locals_ for domain in domains]
            yield (found.start() + start, found.end()), spellings


def written_addresses(text: str) -> Iterator[re.Match[str]]:
    """Find the same as `ADDRESSES.finditer`, beside the signs that addresses have."""
    tried = 0
    for sign in AT_SIGNS.finditer(text):
        local_end = len(text[tried : sign.start()].rstrip()) + tried
        for start in range(max(tried, local_end - MAX_LOCAL_CHARACTERS), sign.start()):
            tried = start + 1
            if (found := ADDRESSES.match(text, start)) is not None:
                yield found
                tried = found.end()
                break


def starts_in(local: str) -> set[int]:
    """Return where a local part may begin in what stands before an @."""
    bare = len(local) - len(local.lstrip(SURROUNDINGS))
    after = {found.end() for found in MAY_PRECEDE.finditer(local)}
    return {start for start in {0, bare, *after} if start < len(local)}


def numbers_in(text: str) -> Iterator[tuple[tuple[int, int], set[str]]]:
    """Find what may be phone numbers, each with the tails it may have."""
    plain, start = plain_signs(text), 0
    while found := NUMBERS.search(plain, start):
        digits = NOT_DIGIT.sub("", found[0])
        tails = {
            digits[end - TAIL_DIGITS : end]
            for end in range(TAIL_DIGITS, len(digits) + 1)
        }
        if len(whole := digits.lstrip("0")) < TAIL_DIGITS:
            tails |= {digits, whole}
        is_abroad = plain.endswith(("+", "%2B", "%2b"), 0, found.start())
        yield found.span(), tails | short_tails(digits, is_abroad=is_abroad)
        start = found.end()
        if len(digits) == MAX_RUN_DIGITS:  # It may end inside of a number.
            start = found.start() + last_number(found[0])


def last_number(run: str) -> int:
    """Return where the last digits stand that may be the beginning of a number."""
    places = [place for place, sign in enumerate(run) if sign.isdecimal()]
    return places[-MAX_PHONE_DIGITS]


def short_tails(digits: str, *, is_abroad: bool) -> set[str]:
    """Return the whole of a number that is shorter than what others are known by.

    It is seen only with its country code: others end in the same digits.
    """
    number = digits if is_abroad else digits.removeprefix("00")
    if not is_abroad and not TAIL_DIGITS <= len(number) <= SHORT_NUMBER_DIGITS:
        return set()
    try:
        spelt = canonical_phone(f"+{number}")
    except InvalidSubject:
        return set()
    is_one = is_abroad or phonenumbers.is_valid_number(phonenumbers.parse(spelt))
    return {tail_of(spelt)} if is_one else set()
