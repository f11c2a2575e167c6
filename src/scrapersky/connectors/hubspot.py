"""HubSpot: batches of a hundred, found again by a property of ours that only one may have.

Version 2026-09 of its API, by a service key. An upsert refuses a whole batch for one bad row, so
a refused batch is halved until that row is alone. Nothing tells of deletions: the bin is read.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from math import ceil
from typing import Any, ClassVar, Final
from uuid import UUID

import orjson

from scrapersky.connectors.hubspot_api import (
    A_CALL,
    KINDS,
    NO_SUCH,
    PAGE_ROWS,
    VERSION,
    HubspotApi,
)
from scrapersky.connectors.hubspot_batch import (
    BATCH_ROWS,
    TRACE,
    Row,
    folded,
    parts,
    row_of,
    written_apart,
)
from scrapersky.connectors.hubspot_values import (
    CHANGED,
    PROPERTY_TYPES,
    STANDING,
    field_of,
    moment,
    record_of,
)
from scrapersky.connectors.meter import MeterRule
from scrapersky.connectors.protocol import (
    OWN_ID,
    ConnectorContext,
    ConnectorInfo,
    ConnectorOption,
    CrmAccount,
    CrmChanges,
    CrmField,
    CrmKind,
    CrmRecord,
    PersonOfCompany,
    RecordWrite,
    Refused,
    SyncVolume,
    Unknown,
    WriteResult,
)
from scrapersky.connectors.session import CrmCall
from scrapersky.errors import CrmCannot

GROUPS: Final = {
    CrmKind.COMPANY: "companyinformation",
    CrmKind.PERSON: "contactinformation",
}
PLANS: Final = {"free or starter": (100, 250_000), "professional": (190, 650_000)}
"""Calls within ten seconds, and calls of a day."""
INDEX_LAG: Final = timedelta(minutes=3)
"""What is read again: the index lags, and does not follow in order."""
CLOCK_DOUBT: Final = timedelta(minutes=10)
"""How wrong our clock may be when we begin to follow changes."""
BIN_EVERY: Final = timedelta(hours=1)


class HubspotConnector:
    """One account of HubSpot."""

    info: ClassVar = ConnectorInfo(
        name="hubspot",
        title="HubSpot",
        credential="Service key",
        options=(
            ConnectorOption("base_url", "Address", default="https://api.hubapi.com"),
            ConnectorOption(
                "plan", "Plan", choices=tuple(PLANS), default="free or starter"
            ),
        ),
        batch=dict.fromkeys(CrmKind, BATCH_ROWS),
        knows_own=tuple(CrmKind),
        key_fields={CrmKind.COMPANY: "domain", CrmKind.PERSON: "email"},
        mapping={
            CrmKind.COMPANY: {
                "name": "name",
                "domain": "domain",
                "website": "website",
                "phone": "phone",
                "street": "address",
                "city": "city",
                "region": "state",
                "postal_code": "zip",
                "country": "country",
            },
            CrmKind.PERSON: {
                "first_name": "firstname",
                "last_name": "lastname",
                "email": "email",
                "phone": "phone",
                "role": "jobtitle",
            },
        },
    )

    def __init__(self, context: ConnectorContext) -> None:
        """Begin."""
        self._session = context.session
        self._session.base = context.options["base_url"]
        self._session.headers = {"Authorization": f"Bearer {context.credential}"}
        self._api = HubspotApi(context.session)

    @classmethod
    def meters(cls, options: Mapping[str, str]) -> Sequence[MeterRule]:
        """Return the limits of the plan."""
        burst, daily = PLANS[options.get("plan") or "free or starter"]
        return (
            MeterRule(name="burst", units=burst, per=timedelta(seconds=10)),
            MeterRule(
                name="daily",
                units=daily,
                per=timedelta(days=1),
                reserve=0.1,
                resets_daily=True,
            ),
            MeterRule(name="search", units=5, per=timedelta(seconds=1)),
        )

    async def account(self) -> CrmAccount:
        """Ask for the account's number, and try every right that is needed."""
        path = f"/account-info/{VERSION}/details"
        found = (
            await self._session.ask(CrmCall(method="GET", path=path, meter=A_CALL))
        ).json()
        missing = [
            what
            for kind in CrmKind
            for what, call in rights(kind)
            if not await self._api.may(call)
        ]
        number = str(found["portalId"])
        # It has no name; people know it by its number.
        return CrmAccount(id=number, name=f"Hub ID {number}", missing=tuple(missing))

    async def fields(self, kind: CrmKind) -> Sequence[CrmField]:
        """Return the properties that people see."""
        rows = await self._api.properties(kind)
        return [field_of(row) for row in rows if not row.get("hidden")]

    async def make_fields(
        self, kind: CrmKind, fields: Sequence[CrmField]
    ) -> Mapping[str, str]:
        """Make the properties that are missing; the own id is one that only one may have."""
        there = {row["name"]: row for row in await self._api.properties(kind)}
        if OWN_ID in there and not there[OWN_ID].get("hasUniqueValue"):
            raise CrmCannot(
                f"The property {OWN_ID} of HubSpot's {KINDS[kind]} was not made by us: two "
                "records may have the same value. Delete it there, or rename it.",
            )
        for field in fields:
            if field.name not in there:
                type_, field_type = PROPERTY_TYPES[field.type]
                made = {
                    "name": field.name,
                    "label": field.label,
                    "type": type_,
                    "fieldType": field_type,
                    "groupName": GROUPS[kind],
                    "hasUniqueValue": field.name == OWN_ID,
                }
                await self._api.post(
                    f"/crm/properties/{VERSION}/{KINDS[kind]}", made, accept=(409,)
                )
        return {field.name: field.name for field in fields}

    async def read(
        self, kind: CrmKind, ids: Sequence[str], names: Sequence[str]
    ) -> Mapping[str, CrmRecord]:
        """Read in batches; who is missing is asked for alone, for it may have been merged."""
        wanted, found = set(ids), dict[str, CrmRecord]()
        for part in parts(list(dict.fromkeys(ids))):
            for record in await self._api.read(kind, part, names):
                for one in {record.id, *record.old_ids} & wanted:
                    found[one] = record
        for one in dict.fromkeys(ids):
            if one not in found and (alone := await self._api.alone(kind, one, names)):
                found[one] = alone
        return found

    async def read_own(
        self,
        kind: CrmKind,
        our_ids: Sequence[UUID],
        names: Sequence[str],
        since: datetime | None = None,
    ) -> Mapping[UUID, CrmRecord]:
        """Read by our property, which is answered from what is stored."""
        found = {}
        for part in parts([str(one) for one in our_ids]):
            for record in await self._api.read(kind, part, names, key=OWN_ID):
                if record.our_id is not None:
                    found[record.our_id] = record
        return found

    async def find(
        self, kind: CrmKind, keys: Sequence[str], names: Sequence[str]
    ) -> Mapping[str, Sequence[CrmRecord]]:
        """Look for contacts by address, the second ones too, and for companies by domain."""
        key = self.info.key_fields[kind]
        asked = {one.strip().lower(): one for one in keys}
        found: dict[str, list[CrmRecord]] = {}
        for part in parts(list(asked)):
            rows = (
                await self._api.read(kind, part, [*names, key], key=key)
                if kind is CrmKind.PERSON
                else await self._api.having(kind, key, part, [*names, key])
            )
            for record in rows:
                more = record.values.get("hs_additional_emails") or ""
                for one in {str(record.values.get(key)), *str(more).split(";")}:
                    if one.lower() in asked:
                        found.setdefault(asked[one.lower()], []).append(record)
        return found

    async def write(
        self, kind: CrmKind, records: Sequence[RecordWrite]
    ) -> Sequence[WriteResult]:
        """Upsert what is new by our id, update the rest by theirs."""
        outcomes: dict[str, WriteResult] = {}
        rows = folded(records)
        for is_new, action in ((True, "upsert"), (False, "update")):
            chosen = [row for row in rows if ("idProperty" in row) == is_new]
            path = f"/crm/objects/{VERSION}/{KINDS[kind]}/batch/{action}"

            async def send(part: list[Row], path: str = path) -> Mapping[str, Any]:
                return await self._api.post(path, {"inputs": part})

            outcomes |= await written_apart(send, chosen, is_first=not outcomes)
        for record in records:
            own = str(record.our_id)
            outcome = outcomes[own]
            if record.their_id and isinstance(outcome, Refused):
                outcomes[own] = await self._follow(record, outcome)
        return [outcomes[str(record.our_id)] for record in records]

    async def link(
        self, pairs: Sequence[PersonOfCompany]
    ) -> Mapping[PersonOfCompany, str]:
        """Link as HubSpot does by default; repeated, it is the same."""
        path = f"/crm/associations/{VERSION}/contacts/companies/batch/associate/default"

        async def send(part: list[Row]) -> Mapping[str, Any]:
            rows = [{"from": row["from"], "to": row["to"]} for row in part]
            answer = await self._api.post(path, {"inputs": rows})
            done = {(row["from"]["id"], row["to"]["id"]) for row in answer["results"]}
            there = [
                row for row in part if (row["from"]["id"], row["to"]["id"]) in done
            ]
            return {"results": [{**row, "id": row["to"]["id"]} for row in there]}

        by_trace = {f"{pair.person_id} {pair.company_id}": pair for pair in pairs}
        rows = [
            {
                "from": {"id": pair.person_id},
                "to": {"id": pair.company_id},
                TRACE: one,
            }
            for one, pair in by_trace.items()
        ]
        failed = {}
        for part in parts(rows):
            for one, outcome in (await written_apart(send, part)).items():
                if isinstance(outcome, Refused):
                    failed[by_trace[one]] = "; ".join(outcome.reasons.values())
                elif isinstance(outcome, Unknown):
                    failed[by_trace[one]] = outcome.why
        return failed

    async def changes(
        self, kind: CrmKind, cursor: str | None, names: Sequence[str]
    ) -> CrmChanges:
        """Search by when they changed, going on from the last value, and read the bin hourly.

        Rows move to the end while pages are read, so a page begins at the value where the last
        one ended; only where one value fills a page is there an offset.
        """
        now = self._session.clock.now()
        if cursor is None:
            start = {"from": (now - CLOCK_DOUBT).isoformat(), "bin": now.isoformat()}
            return CrmChanges(records=(), cursor=orjson.dumps(start).decode())
        state: dict[str, Any] = orjson.loads(cursor)
        if "page" in state:
            return await self._bin(kind, state)
        since, offset = datetime.fromisoformat(state["from"]), state.get("offset", 0)
        search = {
            "filterGroups": [
                {
                    "filters": [
                        {
                            "propertyName": CHANGED[kind],
                            "operator": "GTE",
                            "value": moment(since),
                        }
                    ]
                }
            ],
            "sorts": [{"propertyName": CHANGED[kind], "direction": "ASCENDING"}],
            "properties": [*names, *STANDING[kind]],
            "limit": PAGE_ROWS,
            "after": str(offset),
        }
        answer = await self._api.search(kind, search)
        records = [record_of(kind, row) for row in answer["results"]]
        last = max((r.changed_at for r in records if r.changed_at), default=since)
        if answer.get("paging"):
            state |= {"from": last.isoformat(), "offset": 0}
            if last <= since:
                state["offset"] = offset + PAGE_ROWS
            has_more = True
        else:
            begun = state.get("begun", state["from"])
            back = max(last - INDEX_LAG, datetime.fromisoformat(begun))
            state = {"from": back.isoformat(), "bin": state["bin"]}
            has_more = now - datetime.fromisoformat(state["bin"]) >= BIN_EVERY
            if has_more:
                state["page"] = ""
        return CrmChanges(
            records=records, cursor=orjson.dumps(state).decode(), has_more=has_more
        )

    async def erase(self, kind: CrmKind, their_id: str) -> None:
        """Erase a contact for good, and only by its number.

        By an address that no contact has, HubSpot would keep the address and refuse it for ever.
        """
        if kind is CrmKind.COMPANY:
            await self.delete(kind, [their_id])
            raise CrmCannot(
                "HubSpot erases contacts only: the company is in its bin, and is gone after "
                "90 days or when somebody empties the bin there."
            )
        record = await self._api.alone(kind, their_id, ())
        await self._api.post(
            f"/crm/objects/{VERSION}/contacts/gdpr-delete",
            {"objectId": record.id if record else their_id},
            accept=(NO_SUCH,),
        )

    async def delete(self, kind: CrmKind, their_ids: Sequence[str]) -> None:
        """Put records into the bin."""
        for part in parts(their_ids):
            inputs = [{"id": one} for one in part]
            path = f"/crm/objects/{VERSION}/{KINDS[kind]}/batch/archive"
            await self._api.post(path, {"inputs": inputs}, accept=(NO_SUCH,))

    def price(self, kind: CrmKind, volume: SyncVolume) -> Mapping[str, float]:
        """Return a call for every hundred."""
        searches = ceil(volume.searches / BATCH_ROWS)
        counts = (volume.reads, volume.creates, volume.updates, volume.links)
        calls = searches + sum(ceil(count / BATCH_ROWS) for count in counts)
        found = {"burst": calls, "daily": calls}
        # People are looked for by a batch read, companies by the search.
        return found | ({"search": searches} if kind is CrmKind.COMPANY else {})

    async def _follow(self, record: RecordWrite, outcome: Refused) -> WriteResult:
        """Write to the record that swallowed the one we knew, if one did."""
        if not (outcome.is_gone or outcome.existing_id):
            return outcome
        known = record.their_id or ""
        kept = await self._api.alone(record.kind, known, ())
        if kept is None or kept.id == known:
            return outcome
        row = row_of(record) | {"id": kept.id}
        path = f"/crm/objects/{VERSION}/{KINDS[record.kind]}/batch/update"

        async def send(part: list[Row]) -> Mapping[str, Any]:
            return await self._api.post(path, {"inputs": part})

        return (await written_apart(send, [row], is_first=False))[row[TRACE]]

    async def _bin(self, kind: CrmKind, state: dict[str, Any]) -> CrmChanges:
        """Read a page of the bin: who was put there since it was read last."""
        query = {
            "archived": "true",
            "limit": BATCH_ROWS,
            "after": state["page"] or None,
        }
        path = f"/crm/objects/{VERSION}/{KINDS[kind]}"
        call = CrmCall(method="GET", path=path, query=query, meter=A_CALL)
        answer = (await self._session.ask(call)).json()
        before = datetime.fromisoformat(state["bin"]) - CLOCK_DOUBT
        rows = [
            row
            for row in answer["results"]
            if datetime.fromisoformat(row["archivedAt"]) >= before
        ]
        after = answer.get("paging", {}).get("next", {}).get("after")
        if after:
            state["page"] = after
        else:
            del state["page"]
            state["bin"] = self._session.clock.now().isoformat()
        return CrmChanges(
            records=[record_of(kind, row) for row in rows],
            cursor=orjson.dumps(state).decode(),
            has_more=bool(after),
        )


def rights(kind: CrmKind) -> Iterator[tuple[str, CrmCall]]:
    """Yield what is needed, and a call that does nothing and tells whether it is allowed."""
    objects = f"/crm/objects/{VERSION}/{KINDS[kind]}/batch"
    for what, path in (
        (f"read {KINDS[kind]}", f"{objects}/read"),
        (f"write {KINDS[kind]}", f"{objects}/upsert"),
        (
            f"make properties of {KINDS[kind]}",
            f"/crm/properties/{VERSION}/{KINDS[kind]}",
        ),
    ):
        body: dict[str, Any] = {"inputs": []} if path.startswith(objects) else {}
        yield (
            what,
            CrmCall(method="POST", path=path, json=body, meter=A_CALL, accept=(400,)),
        )
