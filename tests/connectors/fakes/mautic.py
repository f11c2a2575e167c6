"""A Mautic of somebody's own, as far as we use it."""

import re
from typing import Any, ClassVar

from tests.connectors.fakes.clock import StillClock
from tests.connectors.fakes.server import Call, FakeCrm, Refusal, Reply
from tests.connectors.fakes.store import PERSON, US, Record, Store

CREDENTIAL = "YW5uOnNlY3JldA=="
FIELDS = {
    "contact": {
        "firstname": "text",
        "lastname": "text",
        "email": "email",
        "phone": "tel",
        "position": "text",
        "points": "number",
        "stage": "select",
    },
    "company": {
        "companyname": "text",
        "companywebsite": "url",
        "companyphone": "tel",
        "companyaddress1": "text",
        "companycity": "text",
        "companyzipcode": "text",
    },
}
ONE = {"contacts": "contact", "companies": "company"}
EMAIL = re.compile(r"[^@\s]+@[^@\s.]+(\.[^@\s.]+)+")


class FakeMautic(FakeCrm):
    """One server, with one user."""

    routes: ClassVar = {
        "GET /api/users/self": "me",
        "GET /api/fields/{one}": "fields",
        "POST /api/fields/{one}/new": "make_field",
        "GET /api/stats/lead_donotcontact": "refusals",
        "GET /api/{kind}": "page",
        "POST /api/{kind}/new": "create",
        "GET /api/{kind}/{number}": "one",
        "PATCH /api/{kind}/{number}/edit": "update",
        "DELETE /api/{kind}/{number}/delete": "remove",
        "POST /api/companies/{number}/contact/{contact}/add": "link",
    }

    def __init__(self, clock: StillClock | None = None) -> None:
        super().__init__(clock)
        self.store = Store(self.clock, first=0)
        self.schema = {kind: dict(names) for kind, names in FIELDS.items()}
        self.links: set[tuple[int, int]] = set()
        self.dnc: list[dict[str, Any]] = []

    def authorize(self, call: Call) -> None:
        if call.headers.get("authorization") != f"Basic {CREDENTIAL}":
            raise self.refuse(401, "API authorization denied.")

    def no_route(self, call: Call) -> Reply:
        return self.refuse(404, "Item was not found.").reply

    def fault_body(self, status: int) -> Any:
        return self.refuse(status, f"error {status}").reply.body

    def refuse(self, status: int, message: str, **details: list[str]) -> Refusal:
        error = {"code": status, "message": message, "details": details, "type": None}
        return Refusal(status, {"errors": [error]})

    # Routes.

    def me(self, call: Call) -> Reply:
        return Reply(200, {"id": 1, "username": "ann"})

    def fields(self, call: Call, one: str) -> Reply:
        rows = [
            {
                "id": at,
                "alias": name,
                "label": name.capitalize(),
                "type": kind,
                "isPublished": True,
                "properties": {"list": [{"label": "Hot", "value": "hot"}]}
                if kind == "select"
                else [],
            }
            for at, (name, kind) in enumerate(self.schema[one].items())
        ]
        return Reply(200, {"total": len(rows), "fields": rows})

    def make_field(self, call: Call, one: str) -> Reply:
        body = call.json
        if body["alias"] in self.schema[one] or len(body["alias"]) > 25:
            raise self.refuse(400, "alias: not valid", alias=["not valid"])
        self.schema[one][body["alias"]] = body["type"]
        return Reply(201, {"field": {"alias": body["alias"]}})

    def page(self, call: Call, kind: str) -> Reply:
        rows = sorted(self.store.live(self.known(kind)), key=lambda r: r.id)
        if found := re.fullmatch(r'(\w+):"(.*)"', call.query.get("search", "")):
            wanted = found[2].lower()
            rows = [
                r for r in rows if str(r.values.get(found[1], "")).lower() == wanted
            ]
        if since := call.query.get("where[0][val]"):
            rows = [r for r in rows if f"{r.updated:%Y-%m-%d %H:%M:%S}" > since]
        at, limit = (
            int(call.query.get(name, n)) for name, n in (("start", 0), ("limit", 30))
        )
        page = {str(r.id): self.row(r) for r in rows[at : at + limit]}
        # PHP: an empty object becomes an empty list.
        return Reply(200, {"total": str(len(rows)), kind: page or []})

    def one(self, call: Call, kind: str, number: str) -> Reply:
        record = self.found(kind, number)
        return Reply(200, {ONE[kind]: self.row(record)})

    def create(self, call: Call, kind: str) -> Reply:
        values = self.checked(call, kind)
        same = [
            r
            for r in self.store.live(self.known(kind))
            if kind == "contacts"
            and values.get("email")
            and r.values.get("email") == values["email"]
        ]
        if same:
            # It is taken for the same contact, and written over.
            self.store.write(same[0], values, US)
            return Reply(200, {ONE[kind]: self.row(same[0])})
        return Reply(201, {ONE[kind]: self.row(self.store.make(kind, values, US))})

    def update(self, call: Call, kind: str, number: str) -> Reply:
        record = self.found(kind, number)
        self.store.write(record, self.checked(call, kind), US)
        return Reply(200, {ONE[kind]: self.row(record)})

    def remove(self, call: Call, kind: str, number: str) -> Reply:
        record = self.found(kind, number)
        record.purged = True
        return Reply(200, {ONE[kind]: {"id": None}})

    def link(self, call: Call, number: str, contact: str) -> Reply:
        pair = (self.found("contacts", contact).id, self.found("companies", number).id)
        self.links.add(pair)
        return Reply(200, {"success": 1})

    def refusals(self, call: Call) -> Reply:
        since = call.query.get("where[0][val]", "")
        return Reply(
            200, {"stats": [one for one in self.dnc if one["date_added"] > since]}
        )

    # What the routes share.

    def known(self, kind: str) -> str:
        if kind not in ONE:
            raise self.refuse(404, "Item was not found.")
        return kind

    def found(self, kind: str, number: str) -> Record:
        record = self.store.get(self.known(kind), number)
        if record is None or not record.is_live:
            raise self.refuse(404, "Item was not found.")
        return record

    def checked(self, call: Call, kind: str) -> dict[str, str]:
        body: dict[str, str] = call.json
        for name in body:
            if name not in self.schema[ONE[self.known(kind)]]:
                raise self.refuse(
                    400,
                    f"{name}: This form should not contain extra fields.",
                    **{name: ["unknown"]},
                )
        for name, value in body.items():
            if value and not fits(self.schema[ONE[kind]][name], value):
                text = f"{name}: This value is not valid."
                raise self.refuse(400, text, **{name: ["This value is not valid."]})
        if body.get("email") and not EMAIL.fullmatch(body["email"]):
            raise self.refuse(400, "email: not valid", email=["not valid"])
        return {k: v.lower() if k == "email" else v for k, v in body.items()}

    def row(self, record: Record) -> dict[str, Any]:
        refusals = [
            {"id": at, "reason": one["reason"], "channel": "email", "comments": ""}
            for at, one in enumerate(self.dnc)
            if one["lead_id"] == str(record.id) and record.kind == "contacts"
        ]
        values = dict.fromkeys(self.schema[ONE[record.kind]]) | record.values
        return {
            "id": record.id,
            "dateModified": f"{record.updated:%Y-%m-%dT%H:%M:%S+00:00}",
            "fields": {"all": {"id": str(record.id), **values}},
            "doNotContact": refusals,
        }

    # Other hands.

    def enters(self, kind: str, **values: str) -> Record:
        return self.store.make(kind, values, PERSON)

    def types(self, record: Record, **values: str) -> None:
        self.store.write(record, values, PERSON)

    def objects(self, record: Record, reason: int = 1) -> None:
        """Let a person say that they want no mail, which changes no field of theirs."""
        when = f"{self.clock():%Y-%m-%d %H:%M:%S}"
        self.dnc.append(
            {
                "lead_id": str(record.id),
                "reason": reason,
                "date_added": when,
                "channel": "email",
            }
        )


def fits(kind: str, value: str) -> bool:
    """Say whether its form takes a value for a field of a type."""
    match kind:
        case "number":
            return bool(re.fullmatch(r"-?\d+(\.\d+)?", value))
        case "boolean":
            return value in {"0", "1"}
        case "date":
            return bool(re.fullmatch(r"\d{4}-\d\d-\d\d", value))
        case "select":
            return value == "hot"
    return True
