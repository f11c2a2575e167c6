"""What Brevo's words mean: attributes of contacts, attributes of companies, and their files."""

import csv
import io
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import uuid4

import orjson

from scrapersky.connectors.protocol import (
    OWN_ID,
    CrmField,
    CrmFieldType,
    CrmKind,
    CrmOption,
    CrmRecord,
    CrmValue,
    RecordWrite,
)
from scrapersky.connectors.values import uuid_in

OWN: Final = {CrmKind.COMPANY: OWN_ID, CrmKind.PERSON: OWN_ID.upper()}
"""The names of attributes of contacts are in capitals."""
EMAIL: Final = "EMAIL"
TYPES: Final = {
    "float": CrmFieldType.NUMBER,
    "number": CrmFieldType.NUMBER,
    "boolean": CrmFieldType.BOOLEAN,
    "date": CrmFieldType.DATE,
    "date-time": CrmFieldType.TIME,
    "category": CrmFieldType.CHOICE,
    "single-select": CrmFieldType.CHOICE,
    "multiple-choice": CrmFieldType.CHOICES,
    "multi-choice": CrmFieldType.CHOICES,
}
NAMED: Final = {
    "SMS": CrmFieldType.PHONE,
    "phone_number": CrmFieldType.PHONE,
    "domain": CrmFieldType.URL,
}
MADE_TYPES: Final = {CrmFieldType.NUMBER: "float", CrmFieldType.DATE: "date"}
"""Of the attributes that we make; all others are texts."""
WRITABLE: Final = {"normal", "category"}
NOT_WRITABLE: Final = {"created_at", "last_updated_at", "number_of_contacts", "owner"}
COMPANY_ID: Final = "company_id"
CONTACTS: Final = "associated_contact"
Values = dict[str, Any]


def contact_field(row: Mapping[str, Any]) -> CrmField:
    """Return an attribute of contacts as a field."""
    many = row.get("multiCategoryOptions") or ()
    return CrmField(
        name=row["name"],
        label=row["name"].replace("_", " ").capitalize(),
        type=NAMED.get(row["name"], TYPES.get(row.get("type", ""), CrmFieldType.TEXT)),
        options=(
            *(
                CrmOption(str(o["value"]), o["label"])
                for o in row.get("enumeration") or ()
            ),
            *(CrmOption(one, one) for one in many),
        ),
        is_read_only=row["category"] not in WRITABLE,
    )


def company_field(row: Mapping[str, Any]) -> CrmField:
    """Return an attribute of companies as a field."""
    name, kind = row["internalName"], row["attributeTypeName"]
    return CrmField(
        name=name,
        label=row["label"],
        type=NAMED.get(name, TYPES.get(kind, CrmFieldType.TEXT)),
        options=tuple(
            CrmOption(one["key"], one["value"])
            for one in row.get("attributeOptions") or ()
        ),
        is_read_only=name in NOT_WRITABLE,
        is_required=bool(row.get("isRequired")),
    )


def record_of(kind: CrmKind, row: Mapping[str, Any]) -> CrmRecord:
    """Return a contact or a company as ours."""
    values = dict(row.get("attributes") or {})
    if kind is CrmKind.PERSON:
        values[EMAIL] = row.get("email")
    changed = row.get("modifiedAt") or values.get("last_updated_at")
    return CrmRecord(
        kind=kind,
        id=str(row["id"]),
        our_id=uuid_in(values.get(OWN[kind])),
        values={name: our_value(value) for name, value in values.items()},
        changed_at=datetime.fromisoformat(changed) if changed else None,
        is_unsubscribed=bool(row.get("emailBlacklisted")),
        is_bounced=bool((row.get("statistics") or {}).get("hardBounces")),
    )


def our_value(value: Any) -> CrmValue:  # noqa: ANN401 - whatever they say
    """Return a value of theirs as ours."""
    if isinstance(value, list):
        return tuple(sorted(map(str, value)))
    if value is None or isinstance(value, bool | float | str):
        return value
    return str(value)


def attributes_of(
    record: RecordWrite, fields: Mapping[str, CrmField]
) -> tuple[Values, dict[str, str]]:
    """Return what is sent, and why some of it cannot be: Brevo would drop it without a word."""
    sent: Values = {OWN[record.kind]: str(record.our_id)}
    wrong: dict[str, str] = {}
    for name, value in record.values.items():
        field = fields.get(name)
        if name == EMAIL and record.kind is CrmKind.PERSON:
            sent[name] = value
        elif field is None:
            wrong[name] = "There is no such attribute in Brevo."
        elif fault := coded(value, field, sent):
            wrong[name] = fault
    return sent, wrong


def coded(value: CrmValue, field: CrmField, sent: Values) -> str | None:
    """Add a value as its attribute takes it; return why not, if it does not fit."""
    known = {one.value for one in field.options}
    match field.type:
        case _ if value is None:
            sent[field.name] = ""
        case CrmFieldType.NUMBER:
            try:
                sent[field.name] = float(str(value))
            except ValueError:
                return "It is not a number."
        case CrmFieldType.BOOLEAN if not isinstance(value, bool):
            return "It is not yes or no."
        case CrmFieldType.CHOICE if str(value) not in known:
            return "It is not one of the values there."
        case CrmFieldType.CHOICE:
            text = str(value)
            sent[field.name] = int(text) if text.isdecimal() else text
        case CrmFieldType.CHOICES:
            sent[field.name] = list(value) if isinstance(value, tuple) else [value]
        case _:
            sent[field.name] = value
    return None


def company_file(rows: Sequence[Values], *, is_update: bool) -> tuple[bytes, str]:
    """Return the form in which companies are imported, and its content type."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = io.StringIO(newline="")
    writer = csv.DictWriter(table, names)
    writer.writeheader()
    writer.writerows(rows)
    mapping = {
        "link_entities": True,
        "unlink_entities": False,
        "update_existing_records": is_update,
        "unset_empty_attributes": False,
    }
    edge = uuid4().hex
    parts = (
        ('name="mapping"', "application/json", orjson.dumps(mapping)),
        (
            'name="file"; filename="companies.csv"',
            "text/csv",
            table.getvalue().encode(),
        ),
    )
    body = b"".join(
        f"--{edge}\r\nContent-Disposition: form-data; {said}\r\n"
        f"Content-Type: {kind}\r\n\r\n".encode()
        + content
        + b"\r\n"
        for said, kind, content in parts
    )
    return body + f"--{edge}--\r\n".encode(), f"multipart/form-data; boundary={edge}"


def instant(when: datetime) -> str:
    """Return a time as its lists take it."""
    return f"{when:%Y-%m-%dT%H:%M:%S}.{when.microsecond // 1000:03d}Z"


def without_email(sent: Values) -> Values:
    """Return the attributes without the address, which has a place of its own."""
    return {name: value for name, value in sent.items() if name != EMAIL}
