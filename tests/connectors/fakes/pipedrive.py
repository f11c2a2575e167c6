"""Pipedrive as far as we use it, its second version with what is only in the first."""

import hashlib
import re
import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar, Literal

from tests.connectors.fakes.clock import StillClock
from tests.connectors.fakes.meter import DayMeter, Meter
from tests.connectors.fakes.server import Call, FakeCrm, Refusal, Reply
from tests.connectors.fakes.store import OTHER_APP, PERSON, PORTAL, US, Record, Store

TOKEN = "0000000000000000000000000000000000000000"
BURST = {"lite": 20, "growth": 40, "premium": 100, "ultimate": 120}
SHARE = {"lite": 1, "growth": 2, "premium": 5, "ultimate": 7}
PAGE = "<!DOCTYPE html><html><title>Attention Required! | Cloudflare</title></html>"
PATIENCE = 5
"""How often a refusal may be ignored before the network in front closes."""
CONTACT_SYNC = {"job_title", "notes", "im", "birthday", "postal_address"}
BODY = {
    "persons": {
        "name",
        "owner_id",
        "org_id",
        "add_time",
        "emails",
        "phones",
        "visible_to",
        "label_ids",
        "marketing_status",
        "custom_fields",
        *CONTACT_SYNC,
    },
    "organizations": {
        "name",
        "owner_id",
        "add_time",
        "visible_to",
        "label_ids",
        "address",
        "website",
        "linkedin",
        "industry",
        "annual_revenue",
        "employee_count",
        "custom_fields",
    },
}
LEAD = {
    "title",
    "owner_id",
    "label_ids",
    "person_id",
    "organization_id",
    "value",
    "expected_close_date",
    "visible_to",
    "was_seen",
    "origin_id",
    "channel",
    "channel_id",
}
LEAD_ROW: dict[str, Any] = {
    "owner_id": 3,
    "creator_id": 3,
    "label_ids": [],
    "source_name": "API",
    "origin": "API",
    "source_deal_id": None,
    "is_archived": False,
    "was_seen": False,
    "next_activity_id": None,
    "visible_to": "3",
    "cc_email": "acme+leads@pipedrivemail.example",
}
ADDRESS = (
    "value",
    "country",
    "admin_area_level_1",
    "admin_area_level_2",
    "locality",
    "sublocality",
    "route",
    "street_number",
    "subpremise",
    "postal_code",
)
EMPTY: dict[str, dict[str, Any]] = {
    "persons": {"name": "", "org_id": None, "emails": [], "phones": [], "owner_id": 3},
    "organizations": {"name": "", "address": None, "website": None, "owner_id": 3},
}
STANDARD = {
    "persons": {
        "name": "varchar",
        "emails": "varchar",
        "phones": "phone",
        "org_id": "org",
        "owner_id": "user",
        "add_time": "date",
        "update_time": "date",
        "job_title": "varchar",
    },
    "organizations": {
        "name": "varchar",
        "address": "address",
        "website": "varchar",
        "linkedin": "varchar",
        "industry": "enum",
        "annual_revenue": "double",
        "employee_count": "int",
        "owner_id": "user",
        "add_time": "date",
        "update_time": "date",
    },
}
MADE_TYPES = {"varchar", "text", "double", "phone", "date", "set", "enum"}
KINDS = {"person": "persons", "organization": "organizations"}
SECONDS = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


class FakePipedrive(FakeCrm):
    """One company account, with one user's token."""

    routes: ClassVar = {
        "GET /api/v1/users/me": "me",
        **{
            route: name
            for kind in ("persons", "organizations")
            for route, name in {
                f"GET /api/v2/(?P<kind>{kind})": "page",
                f"POST /api/v2/(?P<kind>{kind})": "create",
                f"GET /api/v2/(?P<kind>{kind})/{{number}}": "one",
                f"PATCH /api/v2/(?P<kind>{kind})/{{number}}": "update",
                f"DELETE /api/v2/(?P<kind>{kind})/{{number}}": "remove",
                f"GET /api/v2/(?P<kind>{kind[:-1]})Fields": "fields",
                f"POST /api/v2/(?P<kind>{kind[:-1]})Fields": "make_field",
            }.items()
        },
        "GET /api/v1/leads": "list_leads",
        "POST /api/v1/leads": "add_lead",
        "DELETE /api/v1/leads/{lead}": "remove_lead",
        "GET /api/v2/persons/search": "search_persons",
        "GET /api/v2/itemSearch/field": "search_field",
    }

    def __init__(
        self,
        clock: StillClock | None = None,
        *,
        seed: int = 0,
        plan: str = "lite",
        seats: int = 1,
        index_lag: float = 30.0,
    ) -> None:
        super().__init__(clock, seed=seed)
        self.store = Store(self.clock, first=0)
        self.store.lag = lambda: self.random.uniform(0, index_lag)
        self.token = TOKEN
        self.burst = Meter(self.clock, BURST[plan], 2)
        self.searches = Meter(self.clock, 10, 2)
        self.daily = DayMeter(self.clock, 30_000 * SHARE[plan] * seats)
        self.meter_headers: Literal["present", "missing", "wrong"] = "present"
        self.has_contact_sync = False
        self.has_marketing = True
        self.lists_deleted = False
        """Whether lists show what was deleted; nobody says."""
        self.custom: dict[str, dict[str, dict[str, Any]]] = {
            "persons": {},
            "organizations": {},
        }
        self.leads: dict[str, dict[str, Any]] = {}
        self._ignored = 0

    # Credentials and meters.

    def authorize(self, call: Call) -> None:
        if call.headers.get("x-api-token") != self.token:
            raise Refusal(
                401,
                {
                    "success": False,
                    "error": "unauthorized access",
                    "errorCode": 401,
                    "error_info": "Please check developers.pipedrive.com",
                },
            )

    def cost(self, call: Call) -> int:
        is_old = call.path.startswith("/api/v1/")
        if "earch" in call.path:
            cost = 20
        elif call.path.endswith("Fields"):
            cost = 10 if call.method == "GET" else 5
        elif call.method == "GET":
            cost = 1 if re.search(r"/(\d+|me)$", call.path) else 10
        else:
            cost = 3 if call.method == "DELETE" else 5
        return cost * (2 if is_old else 1)

    def measure(self, call: Call) -> Mapping[str, str]:
        call.cost = self.cost(call)
        if self._ignored > PATIENCE:
            raise Refusal(403, PAGE)
        meter = self.searches if "earch" in call.path else self.burst
        is_spent = not self.daily.take(call.cost)
        if is_spent or not meter.take():
            self._ignored += 1
            headers = self.told(meter, is_spent=is_spent)
            body = {"success": False, "error": "Rate limit exceeded", "errorCode": 429}
            refusal = Refusal(429, body)
            refusal.reply = Reply(429, body, headers)
            raise refusal
        self._ignored = 0
        return self.told(meter, is_spent=False)

    def told(self, meter: Meter, *, is_spent: bool) -> Mapping[str, str]:
        if self.meter_headers == "missing":
            return {}
        if self.meter_headers == "wrong":
            most = str(self.daily.most)
            return {"x-daily-ratelimit-token-remaining": most, "x-ratelimit-reset": "?"}
        return {
            "x-ratelimit-limit": str(meter.most),
            "x-ratelimit-remaining": str(meter.left),
            "x-ratelimit-reset": str(max(int(meter.reset + 0.999), 1)),
            "x-daily-ratelimit-token-limit": str(self.daily.most),
            "x-daily-ratelimit-token-remaining": str(
                0 if is_spent else self.daily.left
            ),
        }

    def no_route(self, call: Call) -> Reply:
        is_old = re.match(
            r"/api/v1/(persons|organizations|itemSearch|personFields)", call.path
        )
        return Reply(410 if is_old else 404, self.fault_body(404))

    def fault_body(self, status: int) -> Any:
        return {
            "success": False,
            "error": f"Error {status}",
            "error_info": "",
            "data": None,
            "additional_data": None,
        }

    def refuse(self, text: str, status: int = 400, **more: Any) -> Refusal:
        return Refusal(
            status,
            {
                "success": False,
                "error": text,
                "error_info": "Please check developers.pipedrive.com",
                "data": None,
                "additional_data": None,
                **more,
            },
        )

    # Routes.

    def me(self, call: Call) -> Reply:
        return Reply(
            200,
            {
                "success": True,
                "data": {
                    "id": 3,
                    "name": "Ann Owner",
                    "email": "ann@acme.example",
                    "is_you": True,
                    "active_flag": True,
                    "company_id": 4712,
                    "company_name": "Acme",
                    "company_domain": "acme",
                    "company_country": "EE",
                },
            },
        )

    def fields(self, call: Call, kind: str) -> Reply:
        kind = KINDS[kind]
        rows = [
            self.field_row(
                code, code.replace("_", " ").capitalize(), type_, is_custom=False
            )
            for code, type_ in STANDARD[kind].items()
            if code not in CONTACT_SYNC or self.has_contact_sync
        ]
        rows += self.custom[kind].values()
        return self.paged(call, rows)

    def field_row(
        self, code: str, name: str, type_: str, *, is_custom: bool, options: Any = None
    ) -> dict[str, Any]:
        if code == "industry":
            options = [{"id": 11, "label": "Health"}, {"id": 12, "label": "Retail"}]
        return {
            "field_name": name,
            "field_code": code,
            "field_type": type_,
            "options": options,
            "subfields": None,
            "is_custom_field": is_custom,
            "is_optional_response_field": False,
        }

    def make_field(self, call: Call, kind: str) -> Reply:
        kind, body = KINDS[kind], self.body(call)
        if (
            not isinstance(body.get("field_name"), str)
            or body.get("field_type") not in MADE_TYPES
        ):
            raise self.refuse("Validation failed: field_name, field_type")
        count = sum(map(len, self.custom.values()))
        digest = hashlib.sha1(f"{self.random.random()}{count}".encode())
        options = [
            {"id": 100 + 10 * count + at, "label": one["label"]}
            for at, one in enumerate(body.get("options", []))
        ]
        made = self.field_row(
            digest.hexdigest(),
            body["field_name"],
            body["field_type"],
            is_custom=True,
            options=options or None,
        )
        self.custom[kind][made["field_code"]] = made
        return Reply(201, {"success": True, "data": made})

    def page(self, call: Call, kind: str) -> Reply:
        for name in ("updated_since", "updated_until"):
            if name in call.query and not SECONDS.fullmatch(call.query[name]):
                raise self.refuse(f"Invalid value for {name}")
        wanted = [one for one in call.query.get("ids", "").split(",") if one]
        if (
            len(wanted) > 100
            or len(call.query.get("custom_fields", "").split(",")) > 15
        ):
            raise self.refuse("Too many values")
        since = when(call.query.get("updated_since", "1970-01-01T00:00:00Z"))
        rows = [
            record
            for record in self.store.records.values()
            if record.kind == kind
            and (record.is_live or (self.lists_deleted and self.is_in_bin(record)))
            and (not wanted or str(record.id) in wanted)
            and record.updated.replace(microsecond=0) >= since
        ]
        key = call.query.get("sort_by", "id")
        rows.sort(key=lambda r: (r.updated if key == "update_time" else r.id, r.id))
        return self.paged(call, [self.row(record, call) for record in rows])

    def paged(self, call: Call, rows: list[Any]) -> Reply:
        limit = int(call.query.get("limit", 100))
        if limit > 500:
            raise self.refuse("limit must be at most 500")
        at = int(call.query.get("cursor") or 0)
        more = {"next_cursor": str(at + limit) if at + limit < len(rows) else None}
        return Reply(
            200,
            {"success": True, "data": rows[at : at + limit], "additional_data": more},
        )

    def one(self, call: Call, kind: str, number: str) -> Reply:
        record = self.store.get(kind, number)
        if record is None or not (record.is_live or self.is_in_bin(record)):
            raise self.not_found(kind)
        return Reply(200, {"success": True, "data": self.row(record, call)})

    def create(self, call: Call, kind: str) -> Reply:
        body = self.checked(call, kind)
        if not body.get("name"):
            raise self.refuse("Validation failed: name: Required", field_code="name")
        record = self.put(kind, None, body, US)
        return Reply(201, {"success": True, "data": self.row(record, call)})

    def update(self, call: Call, kind: str, number: str) -> Reply:
        body = self.checked(call, kind)
        record = self.store.get(kind, number)
        if record is None or not record.is_live:
            raise self.not_found(kind)
        self.put(kind, record, body, US)
        return Reply(200, {"success": True, "data": self.row(record, call)})

    def remove(self, call: Call, kind: str, number: str) -> Reply:
        record = self.store.get(kind, number)
        if record is None or not record.is_live:
            raise self.not_found(kind)
        record.deleted = self.clock()
        self.store.touch(record)
        return Reply(200, {"success": True, "data": {"id": record.id}})

    def search_persons(self, call: Call) -> Reply:
        term = call.query.get("term", "").lower()
        if (
            call.query.get("fields") != "email"
            or call.query.get("exact_match") != "true"
        ):
            raise self.refuse("only what we use is here")
        items = [
            {
                "result_score": 1.0,
                "item": {
                    "id": record.id,
                    "type": "person",
                    "name": seen["name"],
                    "emails": [one["value"] for one in seen["emails"]],
                    "phones": [],
                    "custom_fields": [],
                    "notes": [],
                },
            }
            for record in self.store.live("persons")
            if (seen := record.seen_by_search(self.clock()))
            and any(one["value"].lower() == term for one in seen["emails"])
        ]
        return Reply(
            200,
            {
                "success": True,
                "data": {"items": items},
                "additional_data": {"next_cursor": None},
            },
        )

    def search_field(self, call: Call) -> Reply:
        kind, code = KINDS[call.query["entity_type"]], call.query["field"]
        term, match = call.query["term"], call.query.get("match", "exact")
        if code not in STANDARD[kind] and code not in self.custom[kind]:
            raise self.refuse("unknown field", field_code=code)
        rows = []
        for record in self.store.live(kind):
            seen = record.seen_by_search(self.clock()) or {}
            value = str({**seen, **seen.get("custom_fields", {})}.get(code) or "")
            # Case matters.
            if value == term or (match == "middle" and term in value):
                rows.append({"id": record.id, code: value})
        return Reply(
            200,
            {"success": True, "data": rows, "additional_data": {"next_cursor": None}},
        )

    def list_leads(self, call: Call) -> Reply:
        wanted = call.query.get("person_id")
        rows = [
            row
            for row in self.leads.values()
            if wanted in (None, str(row["person_id"]))
        ]
        pages = {"start": 0, "limit": 100, "more_items_in_collection": False}
        more = {"pagination": pages}
        return Reply(200, {"success": True, "data": rows, "additional_data": more})

    def add_lead(self, call: Call) -> Reply:
        body = self.body(call)
        if body.keys() - LEAD or not isinstance(body.get("title"), str):
            raise self.refuse("Validation failed: title")
        for name, kind in (
            ("person_id", "persons"),
            ("organization_id", "organizations"),
        ):
            record = self.store.get(kind, body[name]) if body.get(name) else None
            if body.get(name) and not (record and record.is_live):
                raise self.refuse(f"Validation failed: {name}: not found")
        if not (body.get("person_id") or body.get("organization_id")):
            raise self.refuse("A lead needs a person or an organization.")
        made = {**dict.fromkeys(LEAD), **LEAD_ROW, **body}
        made["id"] = str(uuid.UUID(int=self.random.getrandbits(128), version=4))
        made["add_time"] = made["update_time"] = self.clock().isoformat()
        self.leads[made["id"]] = made
        return Reply(201, {"success": True, "data": made})

    def remove_lead(self, call: Call, lead: str) -> Reply:
        if self.leads.pop(lead, None) is None:
            raise self.refuse("Lead not found", 404)
        return Reply(200, {"success": True, "data": {"id": lead}})

    # What the routes share.

    def body(self, call: Call) -> dict[str, Any]:
        if not isinstance(call.json, dict):
            raise self.refuse("Invalid JSON")
        return call.json

    def not_found(self, kind: str) -> Refusal:
        return self.refuse(f"{kind[:-1].capitalize()} not found", 404)

    def checked(self, call: Call, kind: str) -> dict[str, Any]:
        body = self.body(call)
        for name, value in body.items():
            if name not in BODY[kind]:
                raise self.refuse(
                    f"Validation failed: {name}: unknown", field_code=name
                )
            if name in CONTACT_SYNC and not self.has_contact_sync:
                raise self.refuse("Forbidden", 403, code="feature_capping_contact_sync")
            if fault := fault_of(name, value):
                raise self.refuse(
                    f"Validation failed: {name}: {fault}", field_code=name
                )
        for code, value in (body.get("custom_fields") or {}).items():
            field = self.custom[kind].get(code)
            if field is None or (fault := custom_fault(field, value)):
                text = fault if field else "unknown"
                raise self.refuse(f"Validation failed: {code}: {text}", field_code=code)
        org = body.get("org_id")
        if org is not None and not (
            (found := self.store.get("organizations", org)) and found.is_live
        ):
            raise self.refuse(
                "Validation failed: org_id: not found", field_code="org_id"
            )
        return body

    def put(
        self, kind: str, record: Record | None, values: Mapping[str, Any], by: str
    ) -> Record:
        before = record.values if record else {**EMPTY[kind], "custom_fields": {}}
        values = {**before, **values}
        values["custom_fields"] = {**before["custom_fields"], **values["custom_fields"]}
        if (address := values.get("address")) is not None:
            values["address"] = {name: address.get(name) for name in ADDRESS}
        changed = {
            k: v for k, v in values.items() if record is None or before.get(k) != v
        }
        if record is None:
            return self.store.make(kind, values, by)
        self.store.write(record, changed, by)
        return record

    def row(self, record: Record, call: Call) -> dict[str, Any]:
        values = {**record.values}
        marketing = values.pop("marketing_status", "no_consent")
        asked = call.query.get("include_fields", "").split(",")
        if self.has_marketing and "marketing_status" in asked:
            values["marketing_status"] = marketing
        if selected := call.query.get("custom_fields"):
            custom = values["custom_fields"]
            values["custom_fields"] = {c: custom.get(c) for c in selected.split(",")}
        return {
            "id": record.id,
            **values,
            "add_time": seconds(record.created),
            "update_time": seconds(record.updated),
            "is_deleted": record.deleted is not None,
            "visible_to": 3,
            "label_ids": [],
        }

    def is_in_bin(self, record: Record) -> bool:
        return record.deleted is not None and (self.clock() - record.deleted).days < 30

    # Other hands.

    def enters(self, kind: str, **values: Any) -> Record:
        return self.put(kind, None, values, PERSON)

    def types(self, record: Record, **values: Any) -> None:
        self.put(record.kind, record, values, PERSON)

    def syncs(self, record: Record, **values: Any) -> None:
        self.put(record.kind, record, values, OTHER_APP)

    def deletes(self, record: Record) -> None:
        record.deleted = self.clock()
        self.store.touch(record)

    def unsubscribes(self, record: Record) -> None:
        self.put(record.kind, record, {"marketing_status": "unsubscribed"}, PORTAL)

    def merges(self, kept: Record, other: Record) -> Record:
        """Let a person merge two: the second is gone, and the first keeps what it had."""
        merged = {k: v for k, v in other.values.items() if not kept.values.get(k)}
        custom = {
            **other.values["custom_fields"],
            **{k: v for k, v in kept.values["custom_fields"].items() if v},
        }
        seen = {one["value"] for one in kept.values.get("emails", [])}
        if more := [
            one for one in other.values.get("emails", []) if one["value"] not in seen
        ]:
            merged["emails"] = [
                *kept.values["emails"],
                *({**one, "primary": False} for one in more),
            ]
        other.merged_into = kept.id
        self.put(kept.kind, kept, {**merged, "custom_fields": custom}, PORTAL)
        return kept

    # What a test asks: the values of our field, whatever its code is.

    def own(self, kind: str, code: str) -> list[str]:
        """Return the values of a custom field of all live records."""
        found = (r.values["custom_fields"].get(code) for r in self.store.live(kind))
        return [value for value in found if value]


def fault_of(name: str, value: Any) -> str | None:
    if name in {"emails", "phones"}:
        is_good = isinstance(value, list) and all(
            isinstance(one, dict)
            and one.keys() <= {"value", "primary", "label"}
            and isinstance(one.get("value"), str)
            and isinstance(one.get("primary", False), bool)
            for one in value
        )
        if (
            is_good
            and name == "emails"
            and not all("@" in one["value"] for one in value)
        ):
            return "not an e-mail address"
        return None if is_good else "must be a list of objects"
    if name in {"org_id", "owner_id", "industry", "employee_count"}:
        return None if value is None or type(value) is int else "must be an integer"
    if name == "address":
        is_good = value is None or (
            isinstance(value, dict)
            and isinstance(value.get("value"), str)
            and value.keys() <= set(ADDRESS)
        )
        return None if is_good else "must be an object with value"
    if name == "annual_revenue":
        return (
            None
            if value is None or isinstance(value, int | float)
            else "must be a number"
        )
    if name == "custom_fields":
        return None if isinstance(value, dict) else "must be an object"
    if name in {"name", "website", "linkedin"}:
        return None if value is None or isinstance(value, str) else "must be a string"
    return None


def custom_fault(field: Mapping[str, Any], value: Any) -> str | None:
    if value is None:
        return None
    ids = {one["id"] for one in field["options"] or ()}
    match field["field_type"]:
        case "varchar":
            return (
                None
                if isinstance(value, str) and len(value) <= 255
                else "must be a string of at most 255"
            )
        case "double":
            return None if type(value) in (int, float) else "must be a number"
        case "enum":
            return None if type(value) is int and value in ids else "must be an option"
        case "set":
            is_good = isinstance(value, list) and bool(value) and set(value) <= ids
            return None if is_good else "must be a list of options"
        case "date":
            day = r"\d{4}-\d\d-\d\d"
            is_good = isinstance(value, str) and bool(re.fullmatch(day, value))
            return None if is_good else "must be a date"
    return None if isinstance(value, str) else "must be a string"


def when(text: str) -> datetime:
    return datetime.fromisoformat(text)


def seconds(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"
