"""Phone numbers in the one form that can be compared: E.164."""

import re
from collections.abc import Iterable

import phonenumbers

LONGEST = 200


def e164(text: str | None, region: str | None = None) -> str | None:
    """Return the number as E.164, or None if it is not a possible number."""
    if not text or len(text) > LONGEST:
        return None
    try:
        number = phonenumbers.parse(text, region.upper() if region else None)
    except phonenumbers.NumberParseException:
        return None
    if not phonenumbers.is_valid_number(number):
        return None
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)


def e164_all(texts: Iterable[str | None], region: str | None = None) -> tuple[str, ...]:
    """Return every number of texts that may hold several, `;` between them, once."""
    parts = (part for text in texts if text for part in re.split(r"[;,/]", text))
    found = (e164(part.strip(), region) for part in parts)
    return tuple(dict.fromkeys(number for number in found if number))
