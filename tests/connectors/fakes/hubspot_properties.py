"""The properties of HubSpot's objects, and what it says of values that do not fit."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

STRING = ("string", "text")
CONTACT = {
    "email": STRING,
    "firstname": STRING,
    "lastname": STRING,
    "jobtitle": STRING,
    "phone": ("phone_number", "phonenumber"),
    "website": STRING,
    "city": STRING,
    "company": STRING,
    "lifecyclestage": ("enumeration", "radio"),
    "hs_lead_status": ("enumeration", "radio"),
    "hubspot_owner_id": ("enumeration", "select"),
    "hs_object_id": ("number", "number"),
    "createdate": ("datetime", "date"),
    "lastmodifieddate": ("datetime", "date"),
    "hs_email_optout": ("bool", "booleancheckbox"),
    "hs_email_hard_bounce_reason_enum": ("enumeration", "select"),
    "hs_email_bad_address": ("bool", "booleancheckbox"),
    "hs_additional_emails": ("enumeration", "checkbox"),
    "hs_merged_object_ids": ("enumeration", "checkbox"),
}
COMPANY = {
    "name": STRING,
    "domain": STRING,
    "phone": ("phone_number", "phonenumber"),
    "website": STRING,
    "address": STRING,
    "city": STRING,
    "state": STRING,
    "zip": STRING,
    "country": STRING,
    "description": ("string", "textarea"),
    "industry": ("enumeration", "select"),
    "numberofemployees": ("number", "number"),
    "hubspot_owner_id": ("enumeration", "select"),
    "hs_object_id": ("number", "number"),
    "createdate": ("datetime", "date"),
    "hs_lastmodifieddate": ("datetime", "date"),
    "hs_merged_object_ids": ("enumeration", "checkbox"),
}
READ_ONLY = {
    "hs_object_id",
    "createdate",
    "lastmodifieddate",
    "hs_lastmodifieddate",
    "hs_email_optout",
    "hs_email_hard_bounce_reason_enum",
    "hs_email_bad_address",
    "hs_additional_emails",
    "hs_merged_object_ids",
}
OPTIONS = {
    "lifecyclestage": ("subscriber", "lead", "opportunity", "customer"),
    "hs_lead_status": ("NEW", "OPEN", "IN_PROGRESS"),
    "hubspot_owner_id": ("71", "72"),
    "industry": ("HOSPITAL_HEALTH_CARE", "RESTAURANTS", "RETAIL"),
    "hs_email_hard_bounce_reason_enum": ("UNKNOWN_USER", "MAILBOX_FULL"),
}
TYPES = {"string", "number", "date", "datetime", "enumeration", "bool", "phone_number"}
FIELD_TYPES = {
    "textarea", "text", "date", "file", "number", "select", "radio", "checkbox",
    "booleancheckbox", "calculation_equation", "phonenumber", "html",
}  # fmt: skip
EMAIL = re.compile(r"[^@\s]+@[^@\s.]+(\.[^@\s.]+)+")
STAGES = OPTIONS["lifecyclestage"]


@dataclass(slots=True)
class Property:
    """One property of an object type."""

    name: str
    type: str
    field_type: str
    label: str
    group: str
    options: tuple[str, ...] = ()
    is_unique: bool = False
    is_read_only: bool = False
    is_ours: bool = False
    required_if: Mapping[str, str] = field(default_factory=dict)
    """A rule of the account's administrator, which no reading of the schema shows."""

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "label": self.label,
            "type": self.type,
            "fieldType": self.field_type,
            "description": "",
            "groupName": self.group,
            "options": [
                {
                    "label": value.replace("_", " ").capitalize(),
                    "value": value,
                    "displayOrder": at,
                    "hidden": False,
                }
                for at, value in enumerate(self.options)
            ],
            "displayOrder": -1,
            "calculated": self.is_read_only and self.name.startswith("hs_"),
            "externalOptions": self.name == "hubspot_owner_id",
            "archived": False,
            "hasUniqueValue": self.is_unique,
            "hidden": False,
            "hubspotDefined": not self.is_ours,
            "formField": not self.is_read_only,
            "modificationMetadata": {
                "archivable": self.is_ours,
                "readOnlyDefinition": not self.is_ours,
                "readOnlyValue": self.is_read_only,
            },
        }

    def fault(self, value: str) -> tuple[str, str] | None:
        """Return what is wrong with a value: the code and the text, or None."""
        if self.is_read_only:
            return "READ_ONLY_VALUE", f'"{self.name}" is a read only property'
        if value == "":
            return None
        quoted = f'Property "{self.name}" value "{value}"'
        match self.type:
            case "number" if not re.fullmatch(r"-?\d+(\.\d+)?", value):
                return "INVALID_LONG", f"{value} was not a valid number."
            case "bool" if value not in {"true", "false"}:
                return "INVALID_OPTION", f"{quoted} was not a valid boolean."
            case "enumeration":
                allowed = set(self.options)
                if set(value.split(";")) - allowed:
                    return "INVALID_OPTION", (
                        f"{value} was not one of the allowed options: {sorted(allowed)}"
                    )
            case "date" | "datetime" if not is_time(value):
                return "INVALID_DATE", f"{value} was not a valid date."
            case "string" if self.name == "email" and not EMAIL.fullmatch(value):
                return "INVALID_EMAIL", f"Email address {value} is invalid"
        return None

    def stored(self, value: str) -> str:
        """Return a value as HubSpot keeps it, which is not always as it came."""
        if self.name == "email":
            return value.strip().lower()
        if self.name == "domain":
            return re.sub(r"^(https?://)?(www\.)?|/.*$", "", value.lower())
        if self.type == "phone_number" and (
            found := re.fullmatch(r"\+1(\d{3})(\d{3})(\d{4})", value)
        ):
            return f"+1 {found[1]}-{found[2]}-{found[3]}"
        return value


def is_time(value: str) -> bool:
    if value.isdecimal():
        return True
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def standard(names: Mapping[str, tuple[str, str]], group: str) -> dict[str, Property]:
    return {
        name: Property(
            name,
            kind,
            field_type,
            name.replace("_", " ").capitalize(),
            group,
            OPTIONS.get(name, ()),
            is_unique=name == "email",
            is_read_only=name in READ_ONLY,
        )
        for name, (kind, field_type) in names.items()
    }
