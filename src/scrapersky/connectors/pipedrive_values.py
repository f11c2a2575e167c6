"""What Pipedrive's words mean: fields by codes, lists of addresses, options by number."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final, TypeAlias

from scrapersky.connectors.protocol import (
    CrmField,
    CrmFieldType,
    CrmKind,
    CrmOption,
    CrmRecord,
    CrmValue,
    CrmValues,
)
from scrapersky.connectors.values import uuid_in

Values: TypeAlias = dict[str, Any]
FIELD_TYPES: Final[Mapping[CrmFieldType, str]] = {
    CrmFieldType.NUMBER: "double",
    CrmFieldType.DATE: "date",
}
"""Of the fields that we make; all others are texts."""
TYPES: Final = {
    "int": CrmFieldType.NUMBER,
    "double": CrmFieldType.NUMBER,
    "boolean": CrmFieldType.BOOLEAN,
    "date": CrmFieldType.DATE,
    "phone": CrmFieldType.PHONE,
    "enum": CrmFieldType.CHOICE,
    "set": CrmFieldType.CHOICES,
}
NAMED: Final = {"emails": CrmFieldType.EMAIL, "website": CrmFieldType.URL}
LISTS: Final = {"email": "emails", "phone": "phones"}
"""Fields that are called otherwise in a record."""
ADDRESS: Final = {
    "route": "street",
    "locality": "city",
    "admin_area_level_1": "region",
    "postal_code": "postal code",
    "country": "country",
}
WRITABLE: Final = {
    "int", "double", "boolean", "date", "phone", "enum", "set", "varchar", "text",
    "varchar_auto", "address",
}  # fmt: skip
NOT_WRITABLE: Final = {"id", "add_time", "update_time", "owner_id", "org_id"}
VARCHAR_CHARACTERS: Final = 255


def field_of(row: Mapping[str, Any]) -> Iterator[CrmField]:
    """Yield a field; an address as its parts, for each is a field of ours."""
    code = row["field_code"]
    is_custom = bool(row.get("is_custom_field"))
    name = code if is_custom else LISTS.get(code, code)
    kind = row["field_type"]
    if name == "address" and not is_custom:
        for part, label in ADDRESS.items():
            yield CrmField(
                name=f"address.{part}", label=f"{row['field_name']}: {label}"
            )
        return
    yield CrmField(
        name=name,
        label=row["field_name"],
        type=NAMED.get(name, TYPES.get(kind, CrmFieldType.TEXT)),
        options=tuple(
            CrmOption(str(one["id"]), one["label"]) for one in row.get("options") or ()
        ),
        is_read_only=kind not in WRITABLE or name in NOT_WRITABLE,
        is_required=name == "name",
        is_custom=is_custom,
        max_characters=VARCHAR_CHARACTERS if kind == "varchar" else None,
    )


def record_of(kind: CrmKind, row: Mapping[str, Any], own: str) -> CrmRecord:
    """Return a record with its fields flat: lists by their first, an address by its parts."""
    custom = row.get("custom_fields") or {}
    values: dict[str, CrmValue] = {}
    for name, value in {**row, **custom}.items():
        if name == "address":
            for part in ADDRESS:
                values[f"address.{part}"] = (value or {}).get(part)
        elif name in LISTS.values():
            values[name] = next((one["value"] for one in in_order(value)), None)
        elif name != "custom_fields":
            values[name] = our_value(value)
    changed = row.get("update_time")
    company = row.get("org_id")
    return CrmRecord(
        kind=kind,
        id=str(row["id"]),
        our_id=uuid_in(custom.get(own)),
        values=values,
        company_id=str(company) if company else None,
        changed_at=datetime.fromisoformat(changed) if changed else None,
        is_deleted=bool(row.get("is_deleted")),
        is_unsubscribed=row.get("marketing_status") == "unsubscribed",
        more_emails=tuple(one["value"] for one in in_order(row.get("emails"))[1:]),
    )


def sent(
    values: CrmValues, fields: Mapping[str, CrmField], current: Mapping[str, Any]
) -> Values:
    """Return the body of a write. What is sent as a whole keeps what a person put there."""
    body: Values = {}
    address = dict(current.get("address") or {})
    before = one_line(address)
    for name, value in values.items():
        field = fields.get(name)
        if name in LISTS.values():
            body[name] = with_first(in_order(current.get(name)), value)
        elif name.startswith("address."):
            address[name.partition(".")[2]] = value
            body["address"] = address
        elif field is not None and not field.is_custom:
            body[name] = coded(value, field)
        else:
            custom = body.setdefault("custom_fields", {})
            custom[name] = coded(value, field) if field else value
    if "address" in body and address.get("value") in (None, "", before):
        address["value"] = one_line(address)
    return body


def with_first(there: list[dict[str, Any]], value: CrmValue) -> list[dict[str, Any]]:
    """Return a list of addresses in which the first is ours; the others stay."""
    rest = [{**one, "primary": False} for one in there[1:]]
    if value is None:
        return [{**one, "primary": at == 0} for at, one in enumerate(rest)]
    label = there[0].get("label", "work") if there else "work"
    others = [one for one in rest if one["value"].lower() != str(value).lower()]
    return [{"value": str(value), "primary": True, "label": label}, *others]


def in_order(entries: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - whatever they say
    """Return a list of addresses with the first one first."""
    return sorted(entries or (), key=lambda one: not one.get("primary"))


def one_line(address: Mapping[str, Any]) -> str:
    """Return an address in one line, which its whole value is."""
    town = " ".join(filter(None, (address.get("postal_code"), address.get("locality"))))
    parts = (
        address.get("route"),
        town,
        address.get("admin_area_level_1"),
        address.get("country"),
    )
    return ", ".join(filter(None, parts))


def coded(value: CrmValue, field: CrmField) -> Any:  # noqa: ANN401 - as its JSON wants it
    """Return a value as its field takes it: options by their numbers."""
    if value is None or value == ():
        return None
    match field.type:
        case CrmFieldType.CHOICE:
            return int(str(value)) if str(value).isdecimal() else value
        case CrmFieldType.CHOICES:
            chosen = value if isinstance(value, tuple) else (str(value),)
            return [int(one) if one.isdecimal() else one for one in chosen]
        case CrmFieldType.NUMBER if isinstance(value, float) and value.is_integer():
            return int(value)
        case CrmFieldType.NUMBER | CrmFieldType.BOOLEAN:
            return value
        case _:
            return str(value)


def our_value(value: Any) -> CrmValue:  # noqa: ANN401 - whatever they say
    """Return a value of theirs as ours."""
    if isinstance(value, list):
        return tuple(sorted(map(str, value)))
    if isinstance(value, dict):
        return str(value.get("value") or "") or None
    if isinstance(value, bool) or value is None or isinstance(value, str | float):
        return value
    return str(value)
