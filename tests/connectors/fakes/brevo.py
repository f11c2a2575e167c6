"""Brevo as far as we use it: contacts, companies, their imports, and two very unlike meters."""

import csv
import io
import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any, ClassVar, Literal
from urllib.parse import parse_qs, unquote

from tests.connectors.fakes.clock import StillClock
from tests.connectors.fakes.meter import Meter
from tests.connectors.fakes.server import Call, FakeCrm, Refusal, Reply
from tests.connectors.fakes.store import OTHER_APP, PERSON, PORTAL, US, Record, Store

KEY = "xkeysib-0000000000000000"
EMAIL = re.compile(r"[^@\s]+@[^@\s.]+(\.[^@\s.]+)+")
ATTRIBUTES = {
    "FIRSTNAME": "text",
    "LASTNAME": "text",
    "JOB_TITLE": "text",
    "SMS": "text",
    "AGE": "float",
    "VIP": "boolean",
    "SINCE": "date",
    "GENDER": "category",
}
COMPANY_ATTRIBUTES = {
    "name": "text",
    "domain": "text",
    "phone_number": "number",
    "revenue": "number",
    "industry": "single-select",
    "owner": "user",
    "created_at": "date-time",
    "last_updated_at": "date-time",
}
GENDERS = {1: "Women", 2: "Men"}
BODY = {
    "email",
    "ext_id",
    "attributes",
    "emailBlacklisted",
    "smsBlacklisted",
    "listIds",
    "unlinkListIds",
    "updateEnabled",
    "smtpBlacklistSender",
    "getId",
    "forceMerge",
}


class FakeBrevo(FakeCrm):
    """One account, with one key."""

    routes: ClassVar = {
        "GET /v3/account": "account",
        "GET /v3/contacts/attributes": "attributes",
        "POST /v3/contacts/attributes/normal/{name}": "make_attribute",
        "POST /v3/contacts/import": "import_contacts",
        "GET /v3/contacts": "contacts",
        "POST /v3/contacts": "create",
        "GET /v3/contacts/{identifier}": "one",
        "PUT /v3/contacts/{identifier}": "update",
        "DELETE /v3/contacts/{identifier}": "remove",
        "GET /v3/crm/attributes/companies": "company_attributes",
        "POST /v3/crm/attributes": "make_company_attribute",
        "POST /v3/companies/import": "import_companies",
        "GET /v3/companies": "companies",
        "POST /v3/companies": "create_company",
        "GET /v3/companies/{identifier}": "company",
        "PATCH /v3/companies/link-unlink/{identifier}": "link",
        "PATCH /v3/companies/{identifier}": "update_company",
        "DELETE /v3/companies/{identifier}": "remove_company",
        "GET /v3/processes": "processes",
        "GET /v3/processes/{number}": "process",
    }

    def __init__(
        self,
        clock: StillClock | None = None,
        *,
        seed: int = 0,
        import_time: float = 20.0,
    ) -> None:
        super().__init__(clock, seed=seed)
        self.store = Store(self.clock, first=20)
        self.key = KEY
        self.fast = Meter(self.clock, 10, 1)
        self.hourly = Meter(self.clock, 36_000, 3600)
        self.slow = Meter(self.clock, 100, 3600)
        self.meter_headers: Literal["present", "missing", "wrong"] = "present"
        self.contact_schema = dict(ATTRIBUTES)
        self.company_schema = dict(COMPANY_ATTRIBUTES)
        self.lists = {7}
        self.jobs: list[dict[str, Any]] = []
        self._work: list[tuple[float, Callable[[], None]]] = []
        self._import_time = import_time

    # Credentials and meters.

    def authorize(self, call: Call) -> None:
        self.work()
        if call.headers.get("api-key") != self.key:
            raise self.refuse("unauthorized", "Key not found", 401)

    def measure(self, call: Call) -> Mapping[str, str]:
        is_fast = call.path.startswith("/v3/contacts")
        meters = (self.hourly, self.fast) if is_fast else (self.slow,)
        is_full = not all(meter.take() for meter in meters)
        meter = min(meters, key=lambda one: one.left)
        headers = {
            "x-sib-ratelimit-limit": str(meter.most),
            "x-sib-ratelimit-remaining": str(meter.left),
            "x-sib-ratelimit-reset": str(int(meter.reset) + 1),
        }
        if self.meter_headers == "wrong":
            headers = dict.fromkeys(headers, "-1")
        told = {} if self.meter_headers == "missing" else headers
        if is_full:
            refusal = self.refuse("too_many_requests", "Too many requests", 429)
            refusal.reply = Reply(429, refusal.reply.body, told)
            raise refusal
        return told

    def no_route(self, call: Call) -> Reply:
        is_gone = call.path == "/v3/contacts/batch"
        body = {"code": "document_not_found", "message": "no such route"}
        return Reply(410 if is_gone else 404, body)

    def fault_body(self, status: int) -> Any:
        code = "account_in_process" if status == 425 else "internal_error"
        return {"code": code, "message": f"error {status}"}

    def refuse(
        self, code: str, message: str, status: int = 400, **more: Any
    ) -> Refusal:
        return Refusal(status, {"code": code, "message": message, **more})

    def work(self) -> None:
        """Do the imports whose time has come."""
        due = [job for at, job in self._work if at <= self.clock.seconds]
        self._work = [pair for pair in self._work if pair[0] > self.clock.seconds]
        for job in due:
            job()

    # Routes: the account, and what there are of fields.

    def account(self, call: Call) -> Reply:
        return Reply(
            200,
            {
                "organization_id": "5fa2b8c1",
                "user_id": 5,
                "companyName": "Acme",
                "email": "ann@acme.example",
                "firstName": "Ann",
                "lastName": "O",
                "address": {},
                "plan": [],
            },
        )

    def attributes(self, call: Call) -> Reply:
        rows = []
        for name, kind in self.contact_schema.items():
            row: dict[str, Any] = {"name": name, "category": "normal", "type": kind}
            if kind == "category":
                row |= {"category": "category", "type": "category"}
                row["enumeration"] = [
                    {"value": v, "label": t} for v, t in GENDERS.items()
                ]
            rows.append(row)
        rows.append(
            {
                "name": "BLACKLIST",
                "category": "global",
                "calculatedValue": "COUNT[BLACKLISTED]",
            }
        )
        return Reply(200, {"attributes": rows})

    def make_attribute(self, call: Call, name: str) -> Reply:
        if name in self.contact_schema:
            raise self.refuse("invalid_parameter", "Attribute name must be unique")
        if name != name.upper() or self.body(call).get("type") not in {
            "text",
            "date",
            "float",
            "boolean",
        }:
            raise self.refuse("invalid_parameter", "Attribute is not valid")
        self.contact_schema[name] = call.json["type"]
        return Reply(201)

    def company_attributes(self, call: Call) -> Reply:
        options = [
            {"key": "health", "value": "Health"},
            {"key": "retail", "value": "Retail"},
        ]
        return Reply(
            200,
            [
                {
                    "internalName": name,
                    "label": name.replace("_", " ").capitalize(),
                    "attributeTypeName": kind,
                    "attributeOptions": options if kind == "single-select" else [],
                    "isRequired": name == "name",
                }
                for name, kind in self.company_schema.items()
            ],
        )

    def make_company_attribute(self, call: Call) -> Reply:
        body = self.body(call)
        if (
            body.get("objectType") != "companies"
            or not body.get("attributeType")
            or len(body.get("label", "")) > 50
        ):
            raise self.refuse("bad_request", "attributeType, label and objectType")
        name = re.sub(r"\W+", "_", body["label"].lower())
        if name in self.company_schema:
            raise self.refuse("duplicate_request", "label must be unique")
        self.company_schema[name] = body["attributeType"]
        return Reply(200, {"id": f"61a5{len(self.company_schema):04x}"})

    # Routes: contacts.

    def contacts(self, call: Call) -> Reply:
        query = parse_qs(call.raw_query)
        limit, offset = (
            int(call.query.get("limit", 50)),
            int(call.query.get("offset", 0)),
        )
        wanted = {
            int(one) for given in query.get("ids", []) for one in given.split(",")
        }
        if limit > 1000 or len(wanted) > 20:
            raise self.refuse("out_of_range", "limit or ids")
        since = call.query.get("modifiedSince")
        after = datetime.fromisoformat(since) if since else None
        equals = re.fullmatch(r'equals\((\w+),"(.*)"\)', call.query.get("filter", ""))
        rows = [
            record
            for record in self.store.live("contacts")
            if (not wanted or record.id in wanted)
            and (after is None or record.updated > after)
            and (not equals or str(record.values.get(equals[1])) == equals[2])
        ]
        rows.sort(key=lambda r: r.id, reverse=call.query.get("sort", "desc") == "desc")
        page = [self.row(record) for record in rows[offset : offset + limit]]
        return Reply(200, {"contacts": page, "count": len(rows)})

    def one(self, call: Call, identifier: str) -> Reply:
        record = self.found(call, identifier)
        statistics = (
            {"hardBounces": [{"campaignId": 1}]}
            if record.values.get("_bounced")
            else {}
        )
        return Reply(200, self.row(record) | {"statistics": statistics})

    def create(self, call: Call) -> Reply:
        body = self.checked(call)
        email = str(body.get("email") or "").lower()
        if not email and not body.get("ext_id"):
            raise self.refuse("missing_parameter", "email, ext_id or SMS is missing")
        if email and not EMAIL.fullmatch(email):
            raise self.refuse("invalid_parameter", "Invalid email address")
        record = self.by_email(email)
        if record is not None and not body.get("updateEnabled"):
            raise self.duplicate("email")
        is_new = record is None
        record = self.put(
            record, {**self.kept(body.get("attributes")), "EMAIL": email}, US
        )
        self.flags(record, body)
        return Reply(201, {"id": record.id}) if is_new else Reply(204)

    def update(self, call: Call, identifier: str) -> Reply:
        record, body = self.found(call, identifier), self.checked(call)
        values = self.kept(body.get("attributes"))
        email = values.get("EMAIL")
        if email is not None:
            values["EMAIL"] = email = email.lower()
            if not EMAIL.fullmatch(email):
                raise self.refuse("invalid_parameter", "Invalid email address")
            if (other := self.by_email(email)) is not None and other is not record:
                raise self.duplicate("email")
            if email != record.values["EMAIL"] and record.values["_blocked"]:
                # As the vendor does: a new address is somebody who never objected.
                values["_blocked"] = False
        self.put(record, values, US)
        self.flags(record, body)
        return Reply(204)

    def remove(self, call: Call, identifier: str) -> Reply:
        record = self.found(call, identifier)
        record.purged, record.values = True, {}
        return Reply(204)

    def import_contacts(self, call: Call) -> Reply:
        body = self.body(call)
        rows = body.get("jsonBody")
        if not isinstance(rows, list) or not (
            body.get("listIds") or body.get("newList")
        ):
            raise self.refuse("missing_parameter", "jsonBody, and listIds or newList")
        if len(call.raw) > 10_485_760:
            raise self.refuse("invalid_parameter", "File is too large")
        if set(body.get("listIds", [])) - self.lists:
            raise self.refuse("invalid_parameter", "List does not exist")
        counts = {"invalid_emails": 0, "duplicate_email_id": 0}

        def run() -> None:
            for row in self.rows(rows):
                self.take_row(row, body, counts)

        return Reply(202, {"processId": self.begin(run, {"import": counts})})

    def take_row(
        self, row: Mapping[str, Any], body: Mapping[str, Any], counts: dict[str, int]
    ) -> None:
        email = str(row.get("email") or "").lower()
        if not EMAIL.fullmatch(email):
            counts["invalid_emails"] += 1
            return
        record = self.by_email(email)
        if record is None:
            record = self.put(
                None, {**self.kept(row.get("attributes")), "EMAIL": email}, US
            )
        elif body.get("updateExistingContacts", True):
            self.put(record, self.kept(row.get("attributes")), US)
        else:
            counts["duplicate_email_id"] += 1
        self.flags(record, {"listIds": body.get("listIds", [])})

    # Routes: companies.

    def companies(self, call: Call) -> Reply:
        since = call.query.get("modifiedSince")
        after = datetime.fromisoformat(since) if since else None
        limit, page = int(call.query.get("limit", 50)), int(call.query.get("page", 1))
        rows = [
            record
            for record in self.store.live("companies")
            if after is None or record.updated > after
        ]
        rows.sort(key=lambda r: r.id, reverse=call.query.get("sort", "desc") == "desc")
        at = (page - 1) * limit
        return Reply(
            200, {"items": [self.company_row(one) for one in rows[at : at + limit]]}
        )

    def company(self, call: Call, identifier: str) -> Reply:
        return Reply(200, self.company_row(self.found_company(identifier)))

    def create_company(self, call: Call) -> Reply:
        body = self.body(call)
        if not body.get("name"):
            raise self.refuse("missing_parameter", "name is missing")
        values = {**self.company_values(body.get("attributes")), "name": body["name"]}
        record = self.put_company(None, values, US)
        return Reply(200, {"id": company_id(record)})

    def update_company(self, call: Call, identifier: str) -> Reply:
        record, body = self.found_company(identifier), self.body(call)
        values = self.company_values(body.get("attributes"))
        values |= {"name": body["name"]} if body.get("name") else {}
        if "linkedContactsIds" in body:
            record.values["_links"] = body["linkedContactsIds"]
        self.put_company(record, values, US)
        return Reply(200, self.company_row(record))

    def remove_company(self, call: Call, identifier: str) -> Reply:
        self.found_company(identifier).purged = True
        return Reply(204)

    def link(self, call: Call, identifier: str) -> Reply:
        record, body = self.found_company(identifier), self.body(call)
        added = body.get("linkContactIds", [])
        if any(
            (one := self.store.get("contacts", n)) is None or not one.is_live
            for n in added
        ):
            raise self.refuse("invalid_parameter", "contact does not exist")
        record.values["_links"] = sorted(
            {*record.values["_links"], *added} - {*body.get("unlinkContactIds", [])}
        )
        return Reply(204)

    def import_companies(self, call: Call) -> Reply:
        kind = call.headers.get("content-type", "")
        message = BytesParser(policy=HTTP).parsebytes(
            f"Content-Type: {kind}\r\n\r\n".encode() + call.raw
        )
        parts = {
            str(part.get_param("name", header="content-disposition")): bytes(
                part.get_payload(decode=True) or b""
            )
            for part in message.iter_parts()
        }
        if not parts.get("file"):
            raise self.refuse("missing_parameter", "file is missing")
        mapping = json.loads(parts.get("mapping") or b"{}")
        rows = [*csv.DictReader(io.StringIO(parts["file"].decode()))]

        def run() -> None:
            for row in self.rows(rows):
                self.take_company(row, mapping)

        return Reply(200, {"processId": self.begin(run, {})})

    def take_company(self, row: dict[str, str], mapping: Mapping[str, Any]) -> None:
        given, links = row.pop("company_id", ""), row.pop("associated_contact", "")
        record = None
        if mapping.get("update_existing_records") and given:
            record = self.store.get("companies", str(int(given, 16)))
            if record is None or not record.is_live:
                return
        keeps_empty = not mapping.get("unset_empty_attributes")
        values = {k: v for k, v in row.items() if v or not keeps_empty}
        if record is None and not values.get("name"):
            return
        record = self.put_company(record, self.company_values(values), US)
        if mapping.get("link_entities") and links:
            record.values["_links"] = sorted(
                {*record.values["_links"], *map(int, links.split(","))}
            )

    # Routes: processes.

    def begin(self, run: Callable[[], None], info: Any) -> int:
        number = len(self.jobs) + 77
        job: dict[str, Any] = {
            "id": number,
            "name": "IMPORTUSER",
            "status": "queued",
            "info": info,
            "created_at": iso(self.clock()),
        }
        self.jobs.append(job)

        def finish() -> None:
            run()
            job.update(status="completed", completed_at=iso(self.clock()))

        takes = self.random.uniform(1, self._import_time)
        self._work.append((self.clock.seconds + takes, finish))
        return number

    def processes(self, call: Call) -> Reply:
        jobs = self.jobs[::-1][: int(call.query.get("limit", 10))]
        return Reply(200, {"count": len(self.jobs), "processes": jobs})

    def process(self, call: Call, number: str) -> Reply:
        for job in self.jobs:
            if str(job["id"]) == number:
                return Reply(200, job)
        raise self.refuse("document_not_found", "Process not found", 404)

    # What the routes share.

    def body(self, call: Call) -> dict[str, Any]:
        if not isinstance(call.json, dict):
            raise self.refuse("bad_request", "Invalid JSON")
        return call.json

    def checked(self, call: Call) -> dict[str, Any]:
        body = self.body(call)
        if unknown := body.keys() - BODY:
            raise self.refuse("invalid_parameter", f"{min(unknown)} is not allowed")
        if "attributes" in body and not isinstance(body["attributes"], dict):
            raise self.refuse("invalid_parameter", "attributes should be an object")
        return body

    def duplicate(self, name: str) -> Refusal:
        return self.refuse(
            "duplicate_parameter",
            f"Unable to create contact, {name} is already associated with another Contact",
            metadata={"duplicate_identifiers": [name]},
        )

    def kept(self, given: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return what of these attributes is taken: the rest is dropped without a word."""
        taken: dict[str, Any] = {}
        for name, value in (given or {}).items():
            upper = name.upper()
            kind = "text" if upper == "EMAIL" else self.contact_schema.get(upper)
            if kind is None or not fits(kind, value):
                continue
            taken[upper] = GENDERS.get(value, value) if kind == "category" else value
        return taken

    def company_values(self, given: Mapping[str, Any] | None) -> dict[str, Any]:
        return {k: v for k, v in (given or {}).items() if k in self.company_schema}

    def flags(self, record: Record, body: Mapping[str, Any]) -> None:
        if "emailBlacklisted" in body:
            record.values["_blocked"] = body["emailBlacklisted"]
        if unknown := set(body.get("listIds", [])) - self.lists:
            raise self.refuse("invalid_parameter", f"List {unknown} does not exist")
        left = set(record.values["_left"]) - set(body.get("listIds", []))
        record.values["_left"] = sorted(left)
        record.values["_lists"] = sorted(
            {*record.values["_lists"], *body.get("listIds", [])}
        )

    def put(self, record: Record | None, values: Mapping[str, Any], by: str) -> Record:
        if record is None:
            plain = {"_blocked": False, "_lists": [], "_left": []}
            return self.store.make("contacts", {**plain, **values}, by)
        self.store.write(record, values, by)
        return record

    def put_company(
        self, record: Record | None, values: Mapping[str, Any], by: str
    ) -> Record:
        if record is None:
            return self.store.make("companies", {"_links": [], **values}, by)
        self.store.write(record, values, by)
        return record

    def by_email(self, email: str) -> Record | None:
        found = (r for r in self.store.live("contacts") if r.values["EMAIL"] == email)
        return next(found, None) if email else None

    def found(self, call: Call, identifier: str) -> Record:
        text = unquote(identifier)
        kind = call.query.get("identifierType") or (
            "email_id" if "@" in text else "contact_id"
        )
        record = (
            self.by_email(text.lower())
            if kind == "email_id"
            else self.store.get("contacts", text)
        )
        if record is None or not record.is_live:
            raise self.refuse("document_not_found", "Contact does not exist", 404)
        return record

    def found_company(self, identifier: str) -> Record:
        is_hex = re.fullmatch(r"[0-9a-f]{24}", identifier)
        record = (
            self.store.get("companies", str(int(identifier, 16))) if is_hex else None
        )
        if record is None or not record.is_live:
            raise self.refuse("document_not_found", "Company does not exist", 404)
        return record

    def row(self, record: Record) -> dict[str, Any]:
        values = record.values
        return {
            "id": record.id,
            "email": values["EMAIL"],
            "emailBlacklisted": values["_blocked"],
            "smsBlacklisted": False,
            "createdAt": iso(record.created),
            "modifiedAt": iso(record.updated),
            "attributes": {
                k: v for k, v in values.items() if k[0] != "_" and k != "EMAIL"
            },
            "listIds": values["_lists"],
            "listUnsubscribed": values["_left"],
        }

    def company_row(self, record: Record) -> dict[str, Any]:
        attributes = {k: v for k, v in record.values.items() if k[0] != "_"}
        attributes |= {
            "created_at": iso(record.created),
            "last_updated_at": iso(record.updated),
        }
        return {
            "id": company_id(record),
            "attributes": attributes,
            "linkedContactsIds": record.values["_links"],
            "linkedDealsIds": [],
        }

    # Other hands.

    def enters(self, email: str, **values: Any) -> Record:
        return self.put(None, {"EMAIL": email, **values}, PERSON)

    def types(self, record: Record, **values: Any) -> None:
        put = self.put if record.kind == "contacts" else self.put_company
        put(record, values, PERSON)

    def syncs(self, record: Record, **values: Any) -> None:
        self.put(record, values, OTHER_APP)

    def deletes(self, record: Record) -> None:
        record.purged = True

    def unsubscribes(self, record: Record) -> None:
        self.put(record, {"_blocked": True}, PORTAL)

    def leaves(self, record: Record, number: int = 7) -> None:
        lists = [one for one in record.values["_lists"] if one != number]
        self.put(record, {"_lists": lists, "_left": [number]}, PORTAL)


def company_id(record: Record) -> str:
    return f"{record.id:024x}"


def fits(kind: str, value: Any) -> bool:
    match kind:
        case "float":
            return type(value) in (int, float)
        case "boolean":
            return isinstance(value, bool)
        case "category":
            return value in GENDERS
        case "date":
            return isinstance(value, str) and bool(
                re.fullmatch(r"\d{4}-\d\d-\d\d", value)
            )
    return isinstance(value, str)


def iso(when: datetime) -> str:
    return f"{when:%Y-%m-%dT%H:%M:%S}.{when.microsecond // 1000:03d}Z"
