"""One account of HubSpot: its records, their rules, and the hands of others."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from tests.connectors.fakes.hubspot_errors import Fault, invalid, refuse
from tests.connectors.fakes.hubspot_properties import (
    COMPANY,
    CONTACT,
    STAGES,
    Property,
    standard,
)
from tests.connectors.fakes.store import OTHER_APP, PERSON, PORTAL, Record, Store

CHANGED = {"contacts": "lastmodifieddate", "companies": "hs_lastmodifieddate"}
FREE_MAIL = {"gmail.com", "outlook.com", "yahoo.com"}
GROUPS = {"contacts": "contactinformation", "companies": "companyinformation"}
BIN = timedelta(days=90)


class Portal:
    """What an account holds."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.schema: dict[str, dict[str, Property]] = {
            "contacts": standard(CONTACT, GROUPS["contacts"]),
            "companies": standard(COMPANY, GROUPS["companies"]),
        }
        self.makes_companies = False
        """Whether it makes a company of a new contact's e-mail domain by itself."""
        self.links: set[tuple[int, int]] = set()
        """Pairs of a contact and a company."""
        self.blocklist: set[str] = set()
        self._holders: dict[tuple[str, str, str], Record] = {}

    def unique(self, kind: str, key: str) -> bool:
        return key in self.schema[kind] and self.schema[kind][key].is_unique

    def check(self, kind: str, row: dict[str, Any], *, by_key: bool) -> None:
        schema, given = self.schema[kind], row["properties"]
        faults: list[Fault] = []
        for name, value in given.items():
            if name not in schema:
                faults.append(
                    ("PROPERTY_DOESNT_EXIST", f'Property "{name}" does not exist', name)
                )
            elif not isinstance(value, str):
                raise refuse(
                    f"Invalid input JSON: cannot deserialize the value of {name}"
                )
            elif fault := schema[name].fault(value):
                faults.append((*fault, name))
        record = self.find(kind, row.get("idProperty"), row["id"])
        whole = {**(record.values if record else {}), **given}
        for name, prop in schema.items():
            if (
                prop.required_if
                and not whole.get(name)
                and prop.required_if.items() <= whole.items()
            ):
                faults.append(
                    ("REQUIRED_FIELD", f'Property "{name}" is required', name)
                )
        if faults:
            raise invalid(faults)
        if by_key:
            given = given | {row["idProperty"]: row["id"]}
        self.check_unique(kind, record, self.stored(kind, given))

    def check_unique(
        self, kind: str, record: Record | None, values: Mapping[str, str]
    ) -> None:
        if values.get("email") in self.blocklist:
            raise refuse(f"Contact with email {values['email']} cannot be created")
        for name, value in values.items():
            if value and self.schema[kind][name].is_unique:
                holder = self.find(kind, name, value)
                if holder is not None and holder is not record:
                    what = (
                        "Contact already exists"
                        if name == "email"
                        else f"Cannot set {name}, the value is taken"
                    )
                    raise refuse(f"{what}. Existing ID: {holder.id}", 409, "CONFLICT")

    def check_twins(self, kind: str, rows: Sequence[dict[str, Any]]) -> None:
        """Refuse a batch in which two rows want the same value that only one may have."""
        seen: set[tuple[str, str]] = set()
        for row in rows:
            for name, value in self.stored(kind, row["properties"]).items():
                if value and self.schema[kind][name].is_unique:
                    if (name, value) in seen:
                        raise refuse("Contact already exists", 409, "CONFLICT")
                    seen.add((name, value))

    def stored(self, kind: str, values: Mapping[str, str]) -> dict[str, str]:
        return {
            name: self.schema[kind][name].stored(value)
            for name, value in values.items()
        }

    def find(self, kind: str, key: str | None, given: Any) -> Record | None:
        """Return the live record of a number, or of a value that only one may have."""
        if key is None:
            record = self.store.get(kind, str(given))
            return record if record is not None and record.is_live else None
        wanted = self.schema[kind][key].stored(str(given))
        record = self._holders.get((kind, key, wanted))
        if record is None or not record.is_live:
            return None
        second = record.values.get("hs_additional_emails", "") if key == "email" else ""
        is_held = record.values.get(key) == wanted or wanted in second.split(";")
        return record if is_held else None

    def put(
        self, kind: str, record: Record | None, values: Mapping[str, str], by: str
    ) -> Record:
        values = dict(values)
        stage = values.get("lifecyclestage")
        if record and stage and (before := record.values.get("lifecyclestage")):
            # Only forward, unless it was emptied first.
            values["lifecyclestage"] = max(before, stage, key=STAGES.index)
        stamp = {CHANGED[kind]: iso(self.store.now())}
        if record is None:
            record = self.store.make(kind, values, by)
            own = {"hs_object_id": str(record.id), "createdate": iso(record.created)}
            self.store.write(record, stamp | own, PORTAL)
            if kind == "contacts" and self.makes_companies:
                self.make_company(record)
        else:
            self.store.write(record, values, by)
            self.store.write(record, stamp, PORTAL)
        self.note(record)
        return record

    def note(self, record: Record) -> None:
        """Keep who holds the values that only one may have."""
        for name, prop in self.schema[record.kind].items():
            if prop.is_unique and (value := record.values.get(name)):
                self._holders[record.kind, name, value] = record
        if value := record.values.get("hs_additional_emails"):
            self._holders[record.kind, "email", value] = record

    def make_company(self, contact: Record) -> None:
        domain = contact.values.get("email", "").partition("@")[2]
        if not domain or domain in FREE_MAIL:
            return
        same = [
            r for r in self.store.live("companies") if r.values.get("domain") == domain
        ]
        company = (
            same[0]
            if same
            else self.put("companies", None, {"domain": domain, "name": domain}, PORTAL)
        )
        self.links.add((contact.id, company.id))

    def is_in_bin(self, record: Record) -> bool:
        return (
            record.deleted is not None
            and not record.purged
            and self.store.now() - record.deleted < BIN
        )

    def row(
        self,
        record: Record,
        names: Sequence[str],
        values: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        values = record.values if values is None else values
        always = ("hs_object_id", "createdate", CHANGED[record.kind])
        known = [
            name
            for name in dict.fromkeys((*names, *always))
            if name in self.schema[record.kind]
        ]
        row = {
            "id": str(record.id),
            "properties": {name: values.get(name) or None for name in known},
            "createdAt": iso(record.created),
            "updatedAt": iso(record.updated),
            "archived": record.deleted is not None,
        }
        return row | ({"archivedAt": iso(record.deleted)} if record.deleted else {})

    # Other hands.

    def types(self, record: Record, **values: str) -> None:
        """Let a person type into a record, in the browser."""
        self.put(record.kind, record, self.stored(record.kind, values), PERSON)

    def enters(self, kind: str, **values: str) -> Record:
        """Let a person make a record."""
        return self.put(kind, None, self.stored(kind, values), PERSON)

    def syncs(self, record: Record, **values: str) -> None:
        """Let another application write by the same API."""
        self.put(record.kind, record, self.stored(record.kind, values), OTHER_APP)

    def deletes(self, record: Record) -> None:
        record.deleted = self.store.now()

    def unsubscribes(self, record: Record) -> None:
        self.put(record.kind, record, {"hs_email_optout": "true"}, PORTAL)

    def bounces(self, record: Record, reason: str = "UNKNOWN_USER") -> None:
        self.put(
            record.kind, record, {"hs_email_hard_bounce_reason_enum": reason}, PORTAL
        )

    def merges(self, kept: Record, other: Record) -> Record:
        """Let a person merge two records, which gives a third."""
        values = other.values | {k: v for k, v in kept.values.items() if v}
        gone = [*kept.was, kept.id, *other.was, other.id]
        values["hs_merged_object_ids"] = ";".join(map(str, gone))
        second = other.values.get("email")
        if second and second != kept.values.get("email"):
            values["hs_additional_emails"] = second
        typed = other.typed | kept.typed
        kept.merged_into = other.merged_into = 0
        record = self.put(kept.kind, None, values, PORTAL)
        record.typed = {k: v for k, v in typed.items() if record.values.get(k) == v}
        record.was = gone
        kept.merged_into = other.merged_into = record.id
        at = 0 if kept.kind == "contacts" else 1
        for pair in [p for p in self.links if p[at] in (kept.id, other.id)]:
            self.links.remove(pair)
            self.links.add((record.id, pair[1]) if at == 0 else (pair[0], record.id))
        return record


def iso(when: datetime) -> str:
    return f"{when:%Y-%m-%dT%H:%M:%S}.{when.microsecond // 1000:03d}Z"


@lru_cache(maxsize=1 << 20)
def comparable(value: Any) -> Any:
    """Order times written either way, and texts."""
    text = str(value or "")
    if text.isdecimal():
        return (0, int(text), "")
    try:
        return (0, int(datetime.fromisoformat(text).timestamp() * 1000), "")
    except ValueError:
        return (1, 0, text.lower())


def holds(seen: Mapping[str, Any], one: Mapping[str, Any]) -> bool:
    """Say whether a record agrees with one filter of a search."""
    have = seen.get(one["propertyName"])
    if one["operator"] == "HAS_PROPERTY":
        return bool(have)
    if one["operator"] == "NOT_HAS_PROPERTY":
        return not have
    if not have:
        return False
    left, right = comparable(have), comparable(one.get("value"))
    match one["operator"]:
        case "EQ":
            return bool(left == right)
        case "IN":
            return left in [comparable(value) for value in one["values"]]
        case "GTE":
            return bool(left >= right)
        case "GT":
            return bool(left > right)
        case "LTE":
            return bool(left <= right)
        case "LT":
            return bool(left < right)
        case "BETWEEN":
            return bool(right <= left <= comparable(one["highValue"]))
    raise refuse(f"unknown operator {one['operator']}")
