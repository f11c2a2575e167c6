"""Compare values as a CRM means them: what it only writes another way is no difference."""

import re
from math import isfinite
from typing import Final
from uuid import UUID

from scrapersky.connectors.protocol import CrmField, CrmFieldType, CrmValue
from scrapersky.kit.canonical import stored_phone

TRUE_WORDS: Final = frozenset({"true", "1", "yes"})
FALSE_WORDS: Final = frozenset({"false", "0", "no"})
DAY: Final = re.compile(r"\d{4}-\d\d-\d\d(?=$|[T ])")
LONGEST_PHONE: Final = 50


def normalised(value: CrmValue, field: CrmField | None = None) -> CrmValue:
    """Return a value in the one form in which values are compared and kept."""
    kind = field.type if field is not None else CrmFieldType.TEXT
    if value is None or value in ("", ()):
        return None
    if isinstance(value, tuple | list):
        return tuple(sorted({str(one).strip() for one in value})) or None
    if kind is CrmFieldType.BOOLEAN:
        return str(value).strip().lower() in TRUE_WORDS
    if kind is CrmFieldType.NUMBER or isinstance(value, int | float):
        return plain_number(value)
    return normalised_text(str(value).strip(), kind)


def fitted(value: CrmValue, field: CrmField) -> CrmValue:
    """Return a value as a field of this type holds it; None: it does not fit.

    A number in a field of text would come back as a text, and differ from ours for ever.
    """
    text = str(plain_number(value) if isinstance(value, float) else value).strip()
    match field.type:
        case CrmFieldType.NUMBER:
            number = plain_number(text)
            return None if isinstance(number, str) else number
        case CrmFieldType.BOOLEAN:
            is_known = text.lower() in TRUE_WORDS | FALSE_WORDS
            return text.lower() in TRUE_WORDS if is_known else None
        case CrmFieldType.DATE:
            day = DAY.match(text)
            return day[0] if day else None
        case _:
            return text[: field.max_characters].strip() or None


def normalised_text(text: str, kind: CrmFieldType) -> CrmValue:
    """Return a text as it is compared: addresses without capitals, numbers as E.164."""
    match kind:
        case CrmFieldType.EMAIL:
            return text.lower() or None
        case CrmFieldType.PHONE if len(text) <= LONGEST_PHONE:
            return stored_phone(text) or text or None
        case CrmFieldType.URL:
            bare = text.lower().removeprefix("https://").removeprefix("http://")
            return bare.removeprefix("www.").rstrip("/") or None
        case CrmFieldType.CHOICES:
            parts = (one.strip() for one in text.split(";"))
            return tuple(sorted({one for one in parts if one})) or None
        case CrmFieldType.DATE:
            return text[:10] or None
        case _:
            return "\n".join(text.splitlines()) or None


def plain_number(value: CrmValue) -> CrmValue:
    """Return a number without a trailing `.0`; a text that is none stays as it is."""
    try:
        number = float(str(value))
    except ValueError:
        return str(value)
    if not isfinite(number):
        return str(value)
    return int(number) if number.is_integer() else number


def labelled(value: CrmValue, field: CrmField | None) -> CrmValue:
    """Return a value as people see it there: an option by its label."""
    if field is None or not field.options or value is None:
        return value
    labels = {one.value: one.label for one in field.options}
    if isinstance(value, tuple | list):
        return ", ".join(labels.get(str(one), str(one)) for one in value)
    return labels.get(str(value), value)


def uuid_in(value: object) -> UUID | None:
    """Return an id of ours; None where a person typed something else into its field."""
    try:
        return UUID(str(value)) if value else None
    except ValueError:
        return None
