"""Mautic, on a server of the customer's own: one record a call, found again by a field of ours.

A contact made with an address that another has would be merged into that one, so who is there is
looked up before. Those who do not want mail are in a table of their own.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, ClassVar, Final, TypeAlias
from uuid import UUID

import orjson

from scrapersky.connectors import protocol
from scrapersky.connectors.meter import MeterRule
from scrapersky.connectors.protocol import OWN_ID, CrmField, CrmFieldType, CrmKind
from scrapersky.connectors.session import CrmCall
from scrapersky.connectors.values import uuid_in
from scrapersky.errors import BadCrmAnswer, CrmAnswerLost, CrmRejected

Record: TypeAlias = protocol.CrmRecord
Result: TypeAlias = protocol.WriteResult
Names: TypeAlias = Sequence[str]
Aliases: TypeAlias = dict[str, str]
Found: TypeAlias = dict[str, Record]
Lists: TypeAlias = dict[str, list[Record]]
Since: TypeAlias = datetime | None
Write: TypeAlias = protocol.RecordWrite
Changes: TypeAlias = protocol.CrmChanges
Pair: TypeAlias = protocol.PersonOfCompany
ONE: Final = {CrmKind.COMPANY: "company", CrmKind.PERSON: "contact"}
MANY: Final = {CrmKind.COMPANY: "companies", CrmKind.PERSON: "contacts"}
KEYS: Final = {CrmKind.COMPANY: "companywebsite", CrmKind.PERSON: "email"}
TYPES: Final = {
    "number": CrmFieldType.NUMBER,
    "boolean": CrmFieldType.BOOLEAN,
    "date": CrmFieldType.DATE,
    "email": CrmFieldType.EMAIL,
    "tel": CrmFieldType.PHONE,
    "url": CrmFieldType.URL,
    "select": CrmFieldType.CHOICE,
}
MADE_TYPES: Final = {one: name for name, one in TYPES.items()}
PAGE_ROWS: Final = 200
CLOCK_DOUBT: Final = timedelta(minutes=10)
REASON_BOUNCED: Final = 2
GONE: Final = (404, 410)


class MauticConnector:
    """One Mautic, by the name and password of a user of its API."""

    info: ClassVar = protocol.ConnectorInfo(
        name="mautic",
        title="Mautic",
        credential="user:password in Base64",
        options=(protocol.ConnectorOption("base_url", "Address", is_required=True),),
        key_fields=KEYS,
        knows_own=tuple(CrmKind),
        mapping={
            CrmKind.COMPANY: {"name": "companyname", "domain": "companywebsite"}
            | {"phone": "companyphone", "city": "companycity"},
            CrmKind.PERSON: {"first_name": "firstname", "last_name": "lastname"}
            | {"email": "email", "phone": "phone", "role": "position"},
        },
    )

    def __init__(self, context: protocol.ConnectorContext) -> None:
        """Begin."""
        self._session = context.session
        self._session.base = context.options["base_url"]
        self._session.headers = {"Authorization": f"Basic {context.credential}"}
        self._session.error_at = "errors"

    @classmethod
    def meters(cls, options: Mapping[str, str]) -> Sequence[MeterRule]:
        """Return what a small server bears: it declares no limits."""
        return (MeterRule(name="second", units=20, per=timedelta(seconds=1)),)

    async def account(self) -> protocol.CrmAccount:
        """Ask who we are; the server is the account."""
        row = await self._ask("GET", "/api/users/self")
        return protocol.CrmAccount(id=self._session.base, name=str(row["username"]))

    async def fields(self, kind: CrmKind) -> Sequence[CrmField]:
        """Return its fields."""
        rows = await self._list(f"/api/fields/{ONE[kind]}", "fields", limit=1000)
        return [field_of(row) for row in rows]

    async def make_fields(self, kind: CrmKind, fields: Sequence[CrmField]) -> Aliases:
        """Make what is missing; the alias is the name."""
        there = {one.name for one in await self.fields(kind)}
        for field in fields:
            if field.name not in there:
                type_ = MADE_TYPES.get(field.type, "text")
                made = {"alias": field.name, "label": field.label, "type": type_}
                await self._ask("POST", f"/api/fields/{ONE[kind]}/new", made)
        return {field.name: field.name for field in fields}

    async def read(self, kind: CrmKind, ids: Names, names: Names) -> Found:
        """Read records one by one."""
        found: Found = {}
        for one in dict.fromkeys(ids):
            answer = await self._ask("GET", f"/api/{MANY[kind]}/{one}", accept=GONE)
            if ONE[kind] in answer:
                found[one] = record_of(kind, answer[ONE[kind]])
        return found

    async def read_own(
        self, kind: CrmKind, our_ids: Sequence[UUID], names: Names, since: Since = None
    ) -> dict[UUID, Record]:
        """Look in our field: its search reads what is stored."""
        rows = [await self._search(kind, OWN_ID, str(one)) for one in our_ids]
        return {r.our_id: r for found in rows for r in found if r.our_id}

    async def find(self, kind: CrmKind, keys: Names, names: Names) -> Lists:
        """Look by address or website."""
        return {key: await self._search(kind, KEYS[kind], key) for key in keys}

    async def write(self, kind: CrmKind, records: Sequence[Write]) -> list[Result]:
        """Write one record a call."""
        return [await self._write(kind, record) for record in records]

    async def link(self, pairs: Sequence[Pair]) -> dict[Pair, str]:
        """Add contacts to companies."""
        failed: dict[Pair, str] = {}
        for pair in pairs:
            path = f"/api/companies/{pair.company_id}/contact/{pair.person_id}/add"
            try:
                await self._ask("POST", path, {})
            except CrmRejected as error:
                failed[pair] = str(error)
        return failed

    async def changes(self, kind: CrmKind, cursor: str | None, names: Names) -> Changes:
        """Page through what changed, then read who was added to those who want no mail."""
        back = f"{self._session.clock.now() - CLOCK_DOUBT:%Y-%m-%d %H:%M:%S}"
        state: dict[str, Any] = orjson.loads(cursor or "{}") or {"since": back, "at": 0}
        records, rows = list[Record](), list[Any]()
        if cursor is not None:
            path, since, at = f"/api/{MANY[kind]}", state["since"], state["at"]
            page = {"since": since, "column": "dateModified", "start": at}
            rows = await self._list(path, MANY[kind], **page, orderBy="id")
            records = [record_of(kind, row) for row in rows]
            # What changes while pages are read is read in the next round.
            begun = state.get("begun", back)
            state = {"since": since, "at": at + PAGE_ROWS, "begun": begun}
            if len(rows) < PAGE_ROWS:
                state = {"since": begun, "at": 0}
                path = "/api/stats/lead_donotcontact"
                if kind is CrmKind.PERSON:
                    refused = await self._list(path, "stats", since, "date_added")
                    ids = sorted({str(row["lead_id"]) for row in refused})
                    records += (await self.read(kind, ids, names)).values()
        text, more = orjson.dumps(state).decode(), len(rows) == PAGE_ROWS
        return Changes(records=records, cursor=text, has_more=more)

    async def erase(self, kind: CrmKind, their_id: str) -> None:
        """Delete for good: there is no bin."""
        await self.delete(kind, [their_id])

    async def delete(self, kind: CrmKind, their_ids: Names) -> None:
        """Delete records."""
        for one in their_ids:
            await self._ask("DELETE", f"/api/{MANY[kind]}/{one}/delete", accept=GONE)

    def price(self, kind: CrmKind, volume: protocol.SyncVolume) -> Mapping[str, float]:
        """Return calls: a new contact is looked for twice before."""
        once = volume.reads + volume.searches + volume.updates + volume.links
        return {"second": once + 3 * volume.creates}

    async def _write(self, kind: CrmKind, record: Write) -> Result:
        values = {name: sent(value) for name, value in record.values.items()}
        values[OWN_ID] = str(record.our_id)
        path, known = f"/api/{MANY[kind]}", record.their_id
        try:
            if known is None:
                mine = await self._search(kind, OWN_ID, values[OWN_ID])
                known = mine[0].id if mine else None
            email = "" if known else values.get("email", "")
            if email and (there := await self._search(kind, "email", email)):
                return protocol.Refused({"email": "It is taken."}, there[0].id)
            if known is None:
                new = f"{path}/new"
                answer = await self._ask("POST", new, values, is_repeatable=False)
            else:
                answer = await self._ask("PATCH", f"{path}/{known}/edit", values)
        except CrmRejected as error:
            is_gone = record.their_id is not None and error.status in GONE
            return protocol.Refused(reasons_of(error), is_gone=is_gone)
        except (BadCrmAnswer, CrmAnswerLost) as error:
            return protocol.Unknown(str(error))
        return protocol.Written(str(answer[ONE[kind]]["id"]), is_new=known is None)

    async def _search(self, kind: CrmKind, field: str, value: str) -> list[Record]:
        wanted, path = f'{field}:"{value}"', f"/api/{MANY[kind]}"
        rows = await self._list(path, MANY[kind], search=wanted)
        records = [record_of(kind, row) for row in rows]
        return [r for r in records if str(r.values.get(field)).lower() == value.lower()]

    async def _list(
        self, path: str, name: str, since: str = "", column: str = "", **query: object
    ) -> list[Any]:
        """Read a list: an object by numbers, or an empty list where there are none."""
        where = {"col": column, "expr": "gt", "val": since} if since else {}
        query |= {f"where[0][{key}]": value for key, value in where.items()}
        query = {"limit": PAGE_ROWS, **query}
        rows = (await self._ask("GET", path, query=query)).get(name) or []
        return list(rows.values()) if isinstance(rows, dict) else list(rows)

    async def _ask(self, method: str, path: str, body: Any = None, **how: Any) -> Any:  # noqa: ANN401
        how |= {"meter": {"second": 1}, "is_write": method != "GET"}
        call = CrmCall(method=method, path=path, json=body, **how)
        return (await self._session.ask(call)).json() or {}


def field_of(row: Mapping[str, Any]) -> CrmField:
    """Return a field of theirs; an empty object is a list there too."""
    listed = (row.get("properties") or {}).get("list") or ()
    options = tuple(protocol.CrmOption(one["value"], one["label"]) for one in listed)
    type_ = TYPES.get(row["type"], CrmFieldType.TEXT)
    return CrmField(name=row["alias"], label=row["label"], type=type_, options=options)


def record_of(kind: CrmKind, row: Mapping[str, Any]) -> Record:
    """Return a contact or a company as ours."""
    values = row["fields"]["all"]
    refusals = {int(one["reason"]) for one in row.get("doNotContact") or ()}
    return Record(
        kind=kind,
        id=str(row["id"]),
        values=values,
        our_id=uuid_in(values.get(OWN_ID)),
        is_unsubscribed=bool(refusals - {REASON_BOUNCED}),
        is_bounced=REASON_BOUNCED in refusals,
    )


def sent(value: protocol.CrmValue) -> str:
    """Return a value as Mautic takes it."""
    return "" if value is None else str(int(value) if type(value) is bool else value)


def reasons_of(error: CrmRejected) -> dict[str, str]:
    """Return why a record was refused, by its fields."""
    body = error.body if isinstance(error.body, dict) else {}
    errors = [one.get("details") or {} for one in body.get("errors") or ()]
    told = {name: " ".join(texts) for one in errors for name, texts in one.items()}
    return told or {"": str(error)}
