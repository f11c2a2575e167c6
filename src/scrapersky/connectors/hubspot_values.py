"""What HubSpot's words mean: its properties, its values, its records."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from scrapersky.connectors.protocol import (
    OWN_ID,
    CrmField,
    CrmFieldType,
    CrmKind,
    CrmOption,
    CrmRecord,
    CrmValue,
)
from scrapersky.connectors.values import uuid_in

PROPERTY_TYPES: Final[Mapping[CrmFieldType, tuple[str, str]]] = {
    CrmFieldType.TEXT: ("string", "text"),
    CrmFieldType.EMAIL: ("string", "text"),
    CrmFieldType.URL: ("string", "text"),
    CrmFieldType.PHONE: ("string", "phonenumber"),
    CrmFieldType.NUMBER: ("number", "number"),
    CrmFieldType.BOOLEAN: ("bool", "booleancheckbox"),
    CrmFieldType.DATE: ("date", "date"),
    CrmFieldType.TIME: ("datetime", "date"),
    CrmFieldType.CHOICE: ("enumeration", "select"),
    CrmFieldType.CHOICES: ("enumeration", "checkbox"),
}
"""The type and the type of the input field of a property that we make."""
TYPES: Final = {
    "number": CrmFieldType.NUMBER,
    "bool": CrmFieldType.BOOLEAN,
    "date": CrmFieldType.DATE,
    "datetime": CrmFieldType.TIME,
    "phone_number": CrmFieldType.PHONE,
}
NAMED: Final = {
    "email": CrmFieldType.EMAIL,
    "domain": CrmFieldType.URL,
    "website": CrmFieldType.URL,
}
CHANGED: Final = {
    CrmKind.COMPANY: "hs_lastmodifieddate",
    CrmKind.PERSON: "lastmodifieddate",
}
STANDING: Final = {
    CrmKind.COMPANY: (OWN_ID, "hs_merged_object_ids"),
    CrmKind.PERSON: (
        OWN_ID,
        "hs_merged_object_ids",
        "hs_additional_emails",
        "hs_email_optout",
        "hs_email_hard_bounce_reason_enum",
        "hs_email_bad_address",
    ),
}
"""Properties that are read of every record, for what they say of the record itself."""


def field_of(row: Mapping[str, Any]) -> CrmField:
    """Return a property as a field."""
    type_ = TYPES.get(row["type"], CrmFieldType.TEXT)
    if row["type"] == "enumeration":
        is_many = row["fieldType"] == "checkbox"
        type_ = CrmFieldType.CHOICES if is_many else CrmFieldType.CHOICE
    elif row["fieldType"] == "phonenumber":
        type_ = CrmFieldType.PHONE
    rules = row.get("modificationMetadata") or {}
    return CrmField(
        name=row["name"],
        label=row["label"],
        type=NAMED.get(row["name"], type_),
        options=tuple(
            CrmOption(one["value"], one["label"])
            for one in row.get("options") or ()
            if not one.get("hidden")
        ),
        is_read_only=bool(rules.get("readOnlyValue") or row.get("calculated")),
        is_custom=not row.get("hubspotDefined"),
    )


def record_of(kind: CrmKind, row: Mapping[str, Any]) -> CrmRecord:
    """Return a record of theirs as ours."""
    values: Mapping[str, str | None] = row["properties"]
    merged = values.get("hs_merged_object_ids") or ""
    changed = values.get(CHANGED[kind]) or row.get("updatedAt")
    return CrmRecord(
        kind=kind,
        id=str(row["id"]),
        our_id=uuid_in(values.get(OWN_ID)),
        values=values,
        old_ids=tuple(filter(None, merged.split(";"))),
        changed_at=datetime.fromisoformat(changed) if changed else None,
        is_deleted=bool(row.get("archived")),
        is_unsubscribed=values.get("hs_email_optout") == "true",
        is_bounced=bool(values.get("hs_email_hard_bounce_reason_enum"))
        or values.get("hs_email_bad_address") == "true",
        more_emails=tuple(
            filter(None, (values.get("hs_additional_emails") or "").split(";"))
        ),
    )


def sent(value: CrmValue) -> str:
    """Return a value as HubSpot takes it: a text, empty to clear."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case float() if value.is_integer():
            return str(int(value))
        case str() | int() | float():
            return str(value)
        case _:
            return ";".join(value)


def moment(when: datetime) -> str:
    """Return a time as searches take it: milliseconds since 1970."""
    return str(int(when.timestamp() * 1000))
