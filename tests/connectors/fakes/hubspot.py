"""HubSpot's CRM as far as we use it, in the version of September 2026, on loopback."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, ClassVar, Literal

from tests.connectors.fakes.clock import StillClock
from tests.connectors.fakes.hubspot_errors import (
    error,
    lost,
    missing_scope,
    not_found,
    not_unique,
    refuse,
)
from tests.connectors.fakes.hubspot_portal import (
    CHANGED,
    GROUPS,
    Portal,
    comparable,
    holds,
    iso,
)
from tests.connectors.fakes.hubspot_properties import FIELD_TYPES, TYPES, Property
from tests.connectors.fakes.meter import DayMeter, Meter
from tests.connectors.fakes.server import Call, FakeCrm, Refusal, Reply
from tests.connectors.fakes.store import US, Record, SearchHit, Store

TOKEN = "pat-eu1-00000000-0000-4000-8000-000000000000"
VERSION = "2026-09"
KINDS = {
    "contacts": "contacts",
    "0-1": "contacts",
    "companies": "companies",
    "0-2": "companies",
}
TYPE_IDS = {"contacts": "0-1", "companies": "0-2"}
BURST = {"free": 100, "professional": 190, "capacity pack": 250}
DAILY = {"free": 250_000, "professional": 650_000, "capacity pack": 2_000_000}
MOST = 100
DEEPEST = 10_000
ALL_SCOPES = {
    f"crm.{what}.{kind}.{right}"
    for what in ("objects", "schemas")
    for kind in ("contacts", "companies")
    for right in ("read", "write")
}
SPELLINGS = (
    (r"/crm/v3/objects/", f"/crm/objects/{VERSION}/"),
    (r"/crm/v3/properties/", f"/crm/properties/{VERSION}/"),
    (r"/crm/v4/associations/", f"/crm/associations/{VERSION}/"),
)
"""How the vendor's client spells what it has no dated path for yet."""


class FakeHubSpot(FakeCrm):
    """One portal, with one service key."""

    routes: ClassVar = {
        f"GET /account-info/{VERSION}/details": "details",
        f"GET /crm/properties/{VERSION}/{{kind}}": "properties",
        f"POST /crm/properties/{VERSION}/{{kind}}": "make_property",
        f"GET /crm/objects/{VERSION}/{{kind}}": "page",
        f"GET /crm/objects/{VERSION}/{{kind}}/{{number}}": "one",
        f"POST /crm/objects/{VERSION}/{{kind}}/search": "search",
        f"POST /crm/objects/{VERSION}/{{kind}}/gdpr-delete": "purge",
        f"POST /crm/objects/{VERSION}/{{kind}}/batch/read": "read",
        f"POST /crm/objects/{VERSION}/{{kind}}/batch/upsert": "upsert",
        f"POST /crm/objects/{VERSION}/{{kind}}/batch/update": "update",
        f"POST /crm/objects/{VERSION}/{{kind}}/batch/archive": "archive",
        f"POST /crm/associations/{VERSION}/{{kind}}/{{to}}/batch/associate/default": "associate",
        f"POST /crm/associations/{VERSION}/{{kind}}/{{to}}/batch/read": "associated",
    }

    def __init__(
        self,
        clock: StillClock | None = None,
        *,
        seed: int = 0,
        plan: str = "free",
        legacy: bool = False,
        index_lag: float = 30.0,
    ) -> None:
        super().__init__(clock, seed=seed)
        self.skew = 0.0
        """Seconds by which this server's clock is ahead of everybody's."""
        self.portal = Portal(Store(self.now, first=5000, looked_up=("domain",)))
        self.portal.store.lag = lambda: self.random.uniform(0, index_lag)
        self.token = TOKEN
        self.scopes = set(ALL_SCOPES)
        self.burst = Meter(self.clock, BURST[plan], 10)
        self.daily = DayMeter(self.clock, DAILY[plan])
        self.searches = Meter(self.clock, 5, 1)
        self.meter_headers: Literal["present", "missing", "wrong"] = "present"
        self.multi_status = False
        """Whether one bad row of a batch is told apart, as older versions describe it."""
        self.conflicts_first = False
        """Whether a value that is taken is told before a record that is not there."""
        self.locked_until = 0.0
        self._legacy = legacy

    def now(self) -> datetime:
        return self.clock() + timedelta(seconds=self.skew)

    # Credentials, meters, and what is not here.

    def authorize(self, call: Call) -> None:
        if self._legacy:
            for old, new in SPELLINGS:
                call.path = re.sub(f"^{old}", new, call.path)
        given = call.headers.get("authorization", "")
        if given != f"Bearer {self.token}":
            raise Refusal(
                401,
                error(
                    "INVALID_AUTHENTICATION", "Authentication credentials not found."
                ),
            )
        if (scope := self.needed(call)) and scope not in self.scopes:
            raise missing_scope(scope)

    def needed(self, call: Call) -> str | None:
        found = re.match(
            r"/crm/(objects|properties|associations)/[^/]+/([^/]+)", call.path
        )
        if found is None or found[2] not in KINDS:
            return None
        is_read = call.method == "GET" or call.path.endswith(("/read", "/search"))
        what = "schemas" if found[1] == "properties" else "objects"
        return f"crm.{what}.{KINDS[found[2]]}.{'read' if is_read else 'write'}"

    def measure(self, call: Call) -> Mapping[str, str]:
        is_search = call.path.endswith("/search")
        if not self.daily.take():
            raise self.too_many("DAILY", "daily")
        if is_search and not self.searches.take():
            raise self.too_many("SECONDLY", "secondly")
        if not self.burst.take():
            raise self.too_many("TEN_SECONDLY_ROLLING", "ten_secondly_rolling")
        if is_search or self.meter_headers == "missing":
            return {}
        left = self.burst.left if self.meter_headers == "present" else self.burst.most
        return {
            "X-HubSpot-RateLimit-Max": str(self.burst.most),
            "X-HubSpot-RateLimit-Remaining": str(left),
            "X-HubSpot-RateLimit-Interval-Milliseconds": "10000",
        }

    def too_many(self, policy: str, words: str) -> Refusal:
        body = error("RATE_LIMITS", f"You have reached your {words} limit.")
        body |= {"errorType": "RATE_LIMIT", "policyName": policy}
        # Not documented; seen now and then.
        headers = {"Retry_After": "10"} if self.random.random() < 0.5 else {}
        return Refusal(429, body, **headers if policy != "DAILY" else {})

    def no_route(self, call: Call) -> Reply:
        if re.match(
            r"/(crm/v[1-4]|contacts/v1|companies/v2|properties/v[12])/", call.path
        ):
            return Reply(410, error("GONE", "This API version is no longer supported."))
        return Reply(404, error("OBJECT_NOT_FOUND", f"No handler for {call}"))

    def fault_body(self, status: int) -> Any:
        if status == 423:
            return error("LOCKED", "Resource is locked")
        if status == 401:
            return error(
                "EXPIRED_AUTHENTICATION",
                "The OAuth token used to make this call expired 7 second(s) ago.",
            )
        return error("INTERNAL_ERROR", "internal error")

    # Routes: the account and its properties.

    def details(self, call: Call) -> Reply:
        return Reply(
            200,
            {
                "portalId": 4711,
                "accountType": "STANDARD",
                "timeZone": "Europe/Berlin",
                "companyCurrency": "EUR",
                "utcOffset": "+01:00",
                "uiDomain": "app-eu1.hubspot.com",
                "dataHostingLocation": "eu1",
            },
        )

    def properties(self, call: Call, kind: str) -> Reply:
        kind = self.kind(kind)
        results = [prop.to_json() for prop in self.portal.schema[kind].values()]
        return Reply(200, {"results": results})

    def make_property(self, call: Call, kind: str) -> Reply:
        kind, body = self.kind(kind), self.body(call)
        for name in ("name", "label", "type", "fieldType", "groupName"):
            if not isinstance(body.get(name), str):
                raise refuse(f"Invalid input JSON: required field {name} missing")
        if body["type"] not in TYPES or body["fieldType"] not in FIELD_TYPES:
            raise refuse(f"Invalid property type {body['type']}")
        if body["groupName"] != GROUPS[kind]:
            raise refuse(f"Property group {body['groupName']} does not exist")
        name = body["name"]
        if not re.fullmatch(r"[a-z]\w*", name) or name.startswith("hs_"):
            raise refuse(f"Property name {name} is not allowed")
        if name in self.portal.schema[kind]:
            raise refuse(
                f"A property named '{name}' already exists.",
                409,
                "OBJECT_ALREADY_EXISTS",
            )
        is_unique = body.get("hasUniqueValue", False)
        held = sum(prop.is_unique for prop in self.portal.schema[kind].values())
        if is_unique and held >= 10:
            raise refuse("The limit of 10 unique properties is reached")
        made = Property(
            name,
            body["type"],
            body["fieldType"],
            body["label"],
            body["groupName"],
            tuple(option["value"] for option in body.get("options", [])),
            is_unique=is_unique,
            is_ours=True,
        )
        self.portal.schema[kind][name] = made
        return Reply(201, made.to_json())

    # Routes: reading.

    def page(self, call: Call, kind: str) -> Reply:
        kind = self.kind(kind)
        is_archived = call.query.get("archived") == "true"
        limit = min(int(call.query.get("limit", 10)), MOST)
        after = int(call.query.get("after", 0))
        found = sorted(
            record.id
            for record in self.portal.store.records.values()
            if record.kind == kind
            and record.id > after
            and (self.portal.is_in_bin(record) if is_archived else record.is_live)
        )
        names = self.names(call)
        rows = [
            self.portal.row(self.portal.store.records[kind, one], names)
            for one in found[:limit]
        ]
        answer: dict[str, Any] = {"results": rows}
        if len(found) > limit:
            answer["paging"] = {"next": {"after": str(found[limit - 1])}}
        return Reply(200, answer)

    def one(self, call: Call, kind: str, number: str) -> Reply:
        record = self.portal.store.get(self.kind(kind), number)
        while record and record.merged_into is not None:
            record = self.portal.store.records[record.kind, record.merged_into]
        is_archived = call.query.get("archived") == "true"
        if record is None or not (
            self.portal.is_in_bin(record) if is_archived else record.is_live
        ):
            raise not_found()
        return Reply(200, self.portal.row(record, self.names(call)))

    def read(self, call: Call, kind: str) -> Reply:
        kind, body = self.kind(kind), self.body(call)
        inputs, key = self.inputs(body), body.get("idProperty")
        if key and not self.portal.unique(kind, key):
            raise not_unique(TYPE_IDS[kind], key)
        found: list[dict[str, Any]] = []
        missing: list[str] = []
        for given in dict.fromkeys(str(row.get("id")) for row in inputs):
            record = self.portal.find(kind, key, given)
            if record is None:
                missing.append(given)
            elif record.id not in {int(row["id"]) for row in found}:
                found.append(self.portal.row(record, body.get("properties", [])))
        return self.batch(found, missing, kind)

    def search(self, call: Call, kind: str) -> Reply:
        kind, body = self.kind(kind), self.body(call)
        limit, after = int(body.get("limit", 10)), int(body.get("after") or 0)
        groups, sorts = body.get("filterGroups", []), body.get("sorts", [])
        filters = [one for group in groups for one in group["filters"]]
        if limit > 200 or len(sorts) > 1 or len(groups) > 5 or len(filters) > 18:
            raise refuse("There was a problem with the request.")
        if after + limit > DEEPEST:
            raise refuse(f"Paging through more than {DEEPEST} results is not supported")
        for one in filters:
            if one["propertyName"] not in self.portal.schema[kind]:
                raise refuse(f"There is no property {one['propertyName']}")
        found = self.hits(kind, groups, filters)
        order = sorts[0] if sorts else {}
        if not isinstance(order, dict):
            order = {"propertyName": order}
        if len(filters) == 1 and is_by_change(kind, filters[0], order):
            # In order as they come: nobody can page further, and counting takes long.
            found = islice(found, DEEPEST + 1)
        hits = [*found]
        if order:
            hits.sort(
                key=lambda hit: comparable(hit[1].get(order["propertyName"], "")),
                reverse=order.get("direction") == "DESCENDING",
            )
        names = body.get("properties", [])
        rows = [
            self.portal.row(record, names, seen)
            for record, seen in hits[after : after + limit]
        ]
        answer: dict[str, Any] = {"total": len(hits), "results": rows}
        if after + limit < len(hits):
            answer["paging"] = {"next": {"after": str(after + limit)}}
        return Reply(200, answer)

    def hits(
        self, kind: str, groups: list[dict[str, Any]], filters: list[dict[str, Any]]
    ) -> Iterator[SearchHit]:
        """Yield what agrees with a search, as the index has it."""
        store, now = self.portal.store, self.now()
        records = store.live(kind)
        if len(filters) == 1:
            [one] = filters
            if is_by_change(kind, one):
                # Asked for all the time, of a hundred thousand records too.
                since = comparable(one["value"])
                moment = datetime.fromtimestamp(since[1] / 1000, tz=UTC)
                for record, seen in store.touched_since(kind, moment):
                    if comparable(seen.get(CHANGED[kind])) >= since:
                        yield record, seen
                return
            if one["operator"] == "IN" and one["propertyName"] in store.looked_up:
                records = store.holding(kind, one["propertyName"], one["values"])
        for record in records:
            known = record.seen_by_search(now)
            if known is not None and (
                not groups
                or any(all(holds(known, one) for one in g["filters"]) for g in groups)
            ):
                yield record, known

    # Routes: writing.

    def upsert(self, call: Call, kind: str) -> Reply:
        kind, body = self.kind(kind), self.body(call)
        self.check_lock(kind)
        inputs = self.inputs(body)
        for row in inputs:
            if not row.get("id") or not isinstance(row.get("properties"), dict):
                raise refuse("Invalid input JSON: id and properties are required")
            key = row.get("idProperty") or "hs_object_id"
            if not self.portal.unique(kind, key):
                raise not_unique(TYPE_IDS[kind], key)
        self.refuse_twins(inputs)
        return self.write(call, kind, inputs, by_key=True)

    def update(self, call: Call, kind: str) -> Reply:
        kind, body = self.kind(kind), self.body(call)
        self.check_lock(kind)
        inputs = self.inputs(body)
        for row in inputs:
            key = row.get("idProperty")
            if key is not None and not self.portal.unique(kind, key):
                raise not_unique(TYPE_IDS[kind], key)
        self.refuse_twins(inputs)
        return self.write(call, kind, inputs, by_key=False)

    def write(
        self, call: Call, kind: str, inputs: Sequence[dict[str, Any]], *, by_key: bool
    ) -> Reply:
        """Write all rows or none: only what older versions describe tells them apart."""
        good, bad, missing = [], [], []
        for row in inputs:
            known = by_key or self.portal.find(kind, row.get("idProperty"), row["id"])
            if not known and not self.conflicts_first:
                missing.append(row["id"])
                continue
            try:
                self.portal.check(kind, row, by_key=by_key)
                good.append(row)
            except Refusal as refused:
                is_apart = self.multi_status and row.get("objectWriteTraceId")
                if not is_apart:
                    raise
                told = refused.reply.body
                bad.append(
                    told
                    | {"context": {"objectWriteTraceId": [row["objectWriteTraceId"]]}}
                )
        self.portal.check_twins(kind, good)
        rows = []
        for row in self.rows(good):
            record = self.portal.find(kind, row.get("idProperty"), row["id"])
            if record is None and not by_key:
                missing.append(row["id"])
                continue
            rows.append(self.save(kind, record, row, by_key=by_key))
        return self.batch(rows, missing, kind, bad)

    def save(
        self, kind: str, record: Record | None, row: dict[str, Any], *, by_key: bool
    ) -> dict[str, Any]:
        key, values = row.get("idProperty"), self.portal.stored(kind, row["properties"])
        is_new = record is None
        if by_key and key == "email" and record is not None:
            # Not supported in part: what is not sent is not kept.
            ours = {
                name
                for name, prop in self.portal.schema[kind].items()
                if not prop.is_read_only
            }
            values = dict.fromkeys(ours & record.values.keys(), "") | values
        if by_key:
            values |= self.portal.stored(kind, {str(key): row["id"]})
        record = self.portal.put(kind, record, values, US)
        names = [*row["properties"], *([key] if key else [])]
        shown = self.portal.row(record, names) | ({"new": is_new} if by_key else {})
        if trace := row.get("objectWriteTraceId"):
            shown["objectWriteTraceId"] = trace
        return shown

    def archive(self, call: Call, kind: str) -> Reply:
        kind = self.kind(kind)
        for row in self.rows(self.inputs(self.body(call))):
            record = self.portal.store.get(kind, str(row["id"]))
            if record is not None and record.is_live:
                record.deleted = self.now()
        return Reply(204)

    def purge(self, call: Call, kind: str) -> Reply:
        body = self.body(call)
        if self.kind(kind) != "contacts":
            return self.no_route(call)
        given, key = str(body.get("objectId", "")), body.get("idProperty")
        record = (
            self.portal.find(kind, key, given)
            if key
            else self.portal.store.get("contacts", given)
        )
        if record is None or record.purged:
            if key != "email":
                raise not_found()
            self.portal.blocklist.add(given.lower())
            return Reply(204)
        record.purged, record.values = True, {}
        return Reply(204)

    # Routes: associations.

    def associate(self, call: Call, kind: str, to: str) -> Reply:
        one, other = self.kind(kind), self.kind(to)
        rows = []
        for row in self.rows(self.inputs(self.body(call))):
            left, right = (
                self.portal.store.get(k, str(row[end]["id"]))
                for k, end in ((one, "from"), (other, "to"))
            )
            if not (left and right and left.is_live and right.is_live):
                raise not_found("One of the objects does not exist")
            pair = (left.id, right.id) if one == "contacts" else (right.id, left.id)
            self.portal.links.add(pair)
            spec = {
                "associationCategory": "HUBSPOT_DEFINED",
                "associationTypeId": 279 if one == "contacts" else 280,
            }
            rows.append({"from": row["from"], "to": row["to"], "associationSpec": spec})
        return self.batch(rows, [], one)

    def associated(self, call: Call, kind: str, to: str) -> Reply:
        at = 0 if self.kind(kind) == "contacts" else 1
        types = [{"category": "HUBSPOT_DEFINED", "typeId": 279 + at, "label": None}]
        rows = [
            {
                "from": {"id": given},
                "to": [
                    {"toObjectId": str(pair[1 - at]), "associationTypes": types}
                    for pair in pairs
                ],
            }
            for given in (str(row["id"]) for row in self.inputs(self.body(call)))
            if (pairs := sorted(p for p in self.portal.links if str(p[at]) == given))
        ]
        return self.batch(rows, [], self.kind(kind))

    # What the routes share.

    def kind(self, given: str) -> str:
        if given not in KINDS:
            raise refuse(f"Unable to infer object type from: {given}")
        return KINDS[given]

    def body(self, call: Call) -> dict[str, Any]:
        if not isinstance(call.json, dict):
            raise refuse("Invalid input JSON")
        return call.json

    def inputs(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        inputs = body.get("inputs")
        if not isinstance(inputs, list) or not all(isinstance(r, dict) for r in inputs):
            raise refuse("Invalid input JSON: inputs is required")
        if not 0 < len(inputs) <= MOST:
            raise refuse(
                f"The maximum number of inputs supported in a batch request is {MOST}"
            )
        return inputs

    def refuse_twins(self, inputs: Sequence[dict[str, Any]]) -> None:
        ids = [
            (row.get("idProperty"), str(row["id"]).strip().lower()) for row in inputs
        ]
        if len(set(ids)) < len(ids):
            raise refuse("Duplicate IDs found in batch input")

    def check_lock(self, kind: str) -> None:
        if kind == "companies" and self.clock.seconds < self.locked_until:
            # Who comes back before two seconds are over finds it locked anew.
            self.locked_until = max(self.locked_until, self.clock.seconds + 2)
            raise Refusal(423, self.fault_body(423))

    def names(self, call: Call) -> list[str]:
        return [name for name in call.query.get("properties", "").split(",") if name]

    def batch(
        self,
        rows: list[dict[str, Any]],
        missing: list[str],
        kind: str,
        bad: Sequence[Any] = (),
    ) -> Reply:
        answer: dict[str, Any] = {
            "status": "COMPLETE",
            "results": rows,
            "startedAt": iso(self.now()),
            "completedAt": iso(self.now()),
        }
        errors = [*bad]
        if missing:
            errors.append(lost(missing, kind))
        if not errors:
            return Reply(200, answer)
        for one in errors:
            one.setdefault("links", {})
            one.setdefault("errors", [])
        return Reply(207, answer | {"numErrors": len(errors), "errors": errors})


def is_by_change(
    kind: str, condition: dict[str, Any], order: dict[str, Any] | None = None
) -> bool:
    """Say whether a search asks what changed since a moment, and in which order if one is given."""
    changed = CHANGED[kind]
    if (condition["propertyName"], condition["operator"]) != (changed, "GTE"):
        return False
    ascending = {"propertyName": changed, "direction": "ASCENDING"}
    return order is None or order == ascending
