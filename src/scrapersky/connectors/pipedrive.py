"""Pipedrive: one record a call, within the tokens of a day that all its programs share.

It has no upsert and no key of its own. A record made is found again by our id in a field of ours,
read from its lists and never from its search, which lags. Version 2 of its API.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, ClassVar, Final
from uuid import UUID

import orjson

from scrapersky.connectors.meter import MeterRule
from scrapersky.connectors.pipedrive_values import (
    FIELD_TYPES,
    Values,
    field_of,
    record_of,
    sent,
)
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
    Written,
)
from scrapersky.connectors.session import CrmAnswer, CrmCall
from scrapersky.errors import (
    BadCrmAnswer,
    CrmAnswerLost,
    CrmRejected,
    CrmScopeMissing,
)

BESIDES: Final[Mapping[CrmKind, Mapping[str, str]]] = {
    CrmKind.PERSON: {"include_fields": "marketing_status"},
    CrmKind.COMPANY: {},
}
"""What is asked for besides, to be told who wants no mail."""
KINDS: Final = {CrmKind.COMPANY: "organizations", CrmKind.PERSON: "persons"}
ONE: Final = {CrmKind.COMPANY: "organization", CrmKind.PERSON: "person"}
PLANS: Final = {
    "lite": (1, 20),
    "growth": (2, 40),
    "premium": (5, 100),
    "ultimate": (7, 120),
}
"""Shares of tokens of a day for each seat, and calls within two seconds."""
TOKENS_OF_A_SEAT: Final = 30_000
DAY_RESERVE: Final = 1 / 3
"""What is left of a day's tokens to the customer's other programs."""
READ_TOKENS, LIST_TOKENS, WRITE_TOKENS, DELETE_TOKENS, SEARCH_TOKENS = 1, 10, 5, 3, 20
PAGE_ROWS: Final = 500
IDS_OF_CALL: Final = 100
READ_AGAIN: Final = timedelta(minutes=2)
CLOCK_DOUBT: Final = timedelta(minutes=10)
"""How wrong our clock may be against theirs."""
MAY_REFUSE: Final = (400, 404, 409, 422)
NO_SUCH: Final = (404, 410)
TOO_MANY: Final = 429
WITH_CONTACT_SYNC: Final = {"job_title", "notes", "im", "birthday", "postal_address"}
ERASED: Final = {"name": "(erased)", "emails": [], "phones": []}


class PipedriveConnector:
    """One company's account of Pipedrive, by the token of one of its users."""

    info: ClassVar = ConnectorInfo(
        name="pipedrive",
        title="Pipedrive",
        credential="API token",
        options=(
            ConnectorOption("base_url", "Address", default="https://api.pipedrive.com"),
            ConnectorOption("plan", "Plan", choices=tuple(PLANS), default="lite"),
            ConnectorOption("seats", "Seats", default="1"),
            ConnectorOption(
                "leads", "A lead for each new pair", choices=("no", "yes"), default="no"
            ),
        ),
        batch=dict.fromkeys(CrmKind, 1),
        key_fields={CrmKind.COMPANY: "website", CrmKind.PERSON: "emails"},
        mapping={
            CrmKind.COMPANY: {
                "name": "name",
                "website": "website",
                "street": "address.route",
                "city": "address.locality",
                "region": "address.admin_area_level_1",
                "postal_code": "address.postal_code",
                "country": "address.country",
            },
            CrmKind.PERSON: {"name": "name", "email": "emails", "phone": "phones"},
        },
        unit="tokens",
        poll_every=timedelta(minutes=15),
        schema_lasts=timedelta(hours=1),
    )

    def __init__(self, context: ConnectorContext) -> None:
        """Begin."""
        self._session = context.session
        self._session.base = context.options["base_url"]
        self._session.headers = {"x-api-token": context.credential}
        self._session.hear = self._hear
        self._options = context.options
        self._schemas = context.schemas

    @classmethod
    def meters(cls, options: Mapping[str, str]) -> Sequence[MeterRule]:
        """Return the limits of the plan and its seats."""
        share, burst = PLANS[options.get("plan") or "lite"]
        seats = max(int(options.get("seats") or 1), 1)
        two_seconds = timedelta(seconds=2)
        return (
            MeterRule(
                name="tokens",
                units=TOKENS_OF_A_SEAT * share * seats,
                per=timedelta(days=1),
                reserve=DAY_RESERVE,
                resets_daily=True,
            ),
            MeterRule(name="burst", units=burst, per=two_seconds),
            MeterRule(name="search", units=10, per=two_seconds),
        )

    async def account(self) -> CrmAccount:
        """Ask who we are: the company is the account."""
        row = (await self._ask("GET", "/api/v1/users/me", 2))["data"]
        return CrmAccount(id=str(row["company_id"]), name=str(row["company_name"]))

    async def fields(self, kind: CrmKind) -> Sequence[CrmField]:
        """Return its fields; an address is shown by its parts."""
        path = f"/api/v2/{ONE[kind]}Fields"
        rows = [row async for page, _ in self._pages(path, {}) for row in page]
        found = [field for row in rows for field in field_of(row)]
        self._schemas[kind] = {field.name: field for field in found}
        return found

    async def make_fields(
        self, kind: CrmKind, fields: Sequence[CrmField]
    ) -> Mapping[str, str]:
        """Make our fields; theirs are known by codes, and found again by what they are called."""
        there = {
            one.label: one.name for one in await self.fields(kind) if one.is_custom
        }
        for field in fields:
            if field.label not in there:
                type_ = FIELD_TYPES.get(field.type, "varchar")
                made = {"field_name": field.label, "field_type": type_}
                path = f"/api/v2/{ONE[kind]}Fields"
                row = (
                    await self._ask(
                        "POST", path, WRITE_TOKENS, made, is_repeatable=False
                    )
                )["data"]
                there[field.label] = row["field_code"]
        self._schemas.pop(kind, None)
        return {field.name: there[field.label] for field in fields}

    async def read(
        self, kind: CrmKind, ids: Sequence[str], names: Sequence[str]
    ) -> Mapping[str, CrmRecord]:
        """Read a few one by one, more of them by lists: a list costs as much as ten."""
        found: dict[str, CrmRecord] = {}
        wanted = list(dict.fromkeys(ids))
        for at in range(0, len(wanted), IDS_OF_CALL):
            part = wanted[at : at + IDS_OF_CALL]
            if len(part) * READ_TOKENS < LIST_TOKENS:
                alone = [await self._alone(kind, one) for one in part]
                rows = [row for row in alone if row is not None]
            else:
                query = {"ids": ",".join(part), "limit": IDS_OF_CALL}
                query |= BESIDES[kind]
                rows = (
                    await self._ask("GET", self._path(kind), LIST_TOKENS, query=query)
                )["data"]
            for row in rows:
                if not row.get("is_deleted"):
                    found[str(row["id"])] = self._record(kind, row)
        return found

    async def read_own(
        self,
        kind: CrmKind,
        our_ids: Sequence[UUID],
        names: Sequence[str],
        since: datetime | None = None,
    ) -> Mapping[UUID, CrmRecord]:
        """Page through what was touched since, which is read from what is stored."""
        wanted, found = set(our_ids), dict[UUID, CrmRecord]()
        query: dict[str, Any] = {"sort_by": "update_time", "limit": PAGE_ROWS}
        if since is not None:
            query["updated_since"] = seconds(since - CLOCK_DOUBT)
        async for page, _ in self._pages(self._path(kind), query):
            for row in page:
                record = self._record(kind, row)
                if record.our_id in wanted and not record.is_deleted:
                    found[record.our_id] = record
            if len(found) == len(wanted):
                break
        return found

    async def find(
        self, kind: CrmKind, keys: Sequence[str], names: Sequence[str]
    ) -> Mapping[str, Sequence[CrmRecord]]:
        """Search, at twenty tokens a key: its index is good enough for a hint."""
        found: dict[str, Sequence[CrmRecord]] = {}
        for key in dict.fromkeys(keys):
            if kind is CrmKind.PERSON:
                query = {"term": key, "fields": "email", "exact_match": "true"}
                path = "/api/v2/persons/search"
                rows = (await self._search(path, query))["data"]["items"]
                ids = [str(row["item"]["id"]) for row in rows]
            else:
                query = {"term": key, "field": "website", "match": "middle"}
                query["entity_type"] = "organization"
                rows = (await self._search("/api/v2/itemSearch/field", query))["data"]
                ids = [str(row["id"]) for row in rows if is_of(row["website"], key)]
            if ids:
                found[key] = [*(await self.read(kind, ids, names)).values()]
        return found

    async def write(
        self, kind: CrmKind, records: Sequence[RecordWrite]
    ) -> Sequence[WriteResult]:
        """Write one record a call; `info.batch` says that there is one."""
        return [await self._write(kind, record) for record in records]

    async def link(
        self, pairs: Sequence[PersonOfCompany]
    ) -> Mapping[PersonOfCompany, str]:
        """Give people the organization, unless a person gave them another one."""
        failed: dict[PersonOfCompany, str] = {}
        for pair in pairs:
            row = await self._alone(CrmKind.PERSON, pair.person_id)
            if row is None or row.get("is_deleted"):
                failed[pair] = "The person is not there any more."
            elif row.get("org_id") is None:
                body = {"org_id": int(pair.company_id)}
                path = self._path(CrmKind.PERSON, pair.person_id)
                try:
                    await self._ask("PATCH", path, WRITE_TOKENS, body)
                except CrmRejected as error:
                    failed[pair] = str(error)
            elif str(row["org_id"]) != pair.company_id:
                failed[pair] = "The person belongs to another organization there."
            if pair not in failed and row is not None and self._makes_leads:
                await self._make_lead(pair, row)
        return failed

    @property
    def _makes_leads(self) -> bool:
        return self._options.get("leads") == "yes"

    async def _make_lead(self, pair: PersonOfCompany, person: Values) -> None:
        """Make a lead of a person and its organization, unless the person has one.

        Leads are in version 1 alone; its list reads what is stored, so that nothing lost is
        made twice.
        """
        if await self._leads_of(pair.person_id):
            return
        company = await self._alone(CrmKind.COMPANY, pair.company_id) or {}
        ours = self._record(CrmKind.PERSON, person).our_id
        lead = {
            "title": company.get("name") or person["name"],
            "person_id": int(pair.person_id),
            "organization_id": int(pair.company_id),
            "origin_id": str(ours) if ours else None,
        }
        path, tokens = "/api/v1/leads", 2 * WRITE_TOKENS
        await self._ask("POST", path, tokens, lead, is_repeatable=False)

    async def _leads_of(self, person_id: str) -> list[dict[str, Any]]:
        query, path = {"person_id": person_id, "limit": 100}, "/api/v1/leads"
        answer = await self._ask("GET", path, 2 * LIST_TOKENS, query=query)
        return list(answer.get("data") or ())

    async def changes(
        self, kind: CrmKind, cursor: str | None, names: Sequence[str]
    ) -> CrmChanges:
        """Page through what changed since the latest change that was seen."""
        if cursor is None:
            start = {"since": seconds(self._session.clock.now() - CLOCK_DOUBT)}
            return CrmChanges(records=(), cursor=orjson.dumps(start).decode())
        state: dict[str, str] = orjson.loads(cursor)
        query: dict[str, Any] = {
            "updated_since": state["since"],
            "sort_by": "update_time",
            "limit": PAGE_ROWS,
        }
        query |= BESIDES[kind]
        if state.get("page"):
            query["cursor"] = state["page"]
        answer = await self._ask("GET", self._path(kind), LIST_TOKENS, query=query)
        records = [self._record(kind, row) for row in answer["data"]]
        last = max((r.changed_at for r in records if r.changed_at), default=None)
        top = max(state.get("top", ""), seconds(last) if last else "")
        page = (answer.get("additional_data") or {}).get("next_cursor")
        if page:
            state |= {"page": page, "top": top}
        elif top:
            back = seconds(datetime.fromisoformat(top) - READ_AGAIN)
            state = {"since": max(state["since"], back)}
        else:
            state = {"since": state["since"]}
        return CrmChanges(
            records=records, cursor=orjson.dumps(state).decode(), has_more=bool(page)
        )

    async def erase(self, kind: CrmKind, their_id: str) -> None:
        """Empty the record of what names a person, then delete it: it is kept for thirty days."""
        if kind is CrmKind.PERSON:
            for lead in await self._leads_of(their_id) if self._makes_leads else ():
                path, tokens = f"/api/v1/leads/{lead['id']}", 2 * DELETE_TOKENS
                await self._ask("DELETE", path, tokens, accept=NO_SUCH)
            own = self._options.get(f"field:{kind}:{OWN_ID}")
            body = {**ERASED, **({"custom_fields": {own: None}} if own else {})}
            await self._ask(
                "PATCH", self._path(kind, their_id), WRITE_TOKENS, body, accept=NO_SUCH
            )
        await self.delete(kind, [their_id])

    async def delete(self, kind: CrmKind, their_ids: Sequence[str]) -> None:
        """Put records into the bin."""
        for one in their_ids:
            await self._ask(
                "DELETE", self._path(kind, one), DELETE_TOKENS, accept=NO_SUCH
            )

    def price(self, kind: CrmKind, volume: SyncVolume) -> Mapping[str, float]:
        """Return tokens and calls; an update reads before it writes."""
        # Who is made is linked in the same call.
        links = max(volume.links - volume.creates, 0)
        leads = volume.links if self._makes_leads else 0
        writes = volume.creates + volume.updates + links
        reads = volume.reads + volume.updates + links
        tokens = (
            reads * READ_TOKENS
            + writes * WRITE_TOKENS
            + volume.searches * SEARCH_TOKENS
            + leads * (2 * READ_TOKENS + 2 * LIST_TOKENS + 2 * WRITE_TOKENS)
        )
        return {
            "tokens": tokens,
            "burst": reads + writes + 4 * leads,
            "search": volume.searches,
        }

    async def _write(self, kind: CrmKind, record: RecordWrite) -> WriteResult:
        try:
            values = await self._body(kind, record)
            if values is None:
                return Refused({"": "The record is not there."}, is_gone=True)
            if record.their_id:
                path = self._path(kind, record.their_id)
                answer = await self._ask("PATCH", path, WRITE_TOKENS, values)
            else:
                path = self._path(kind)
                if record.company_id is not None:
                    # A call less than to link them afterwards: five tokens of ten.
                    values = {**values, "org_id": int(record.company_id)}
                answer = await self._ask(
                    "POST", path, WRITE_TOKENS, values, is_repeatable=False
                )
        except CrmRejected as error:
            if error.status not in {200, *MAY_REFUSE}:
                raise
            body = error.body if isinstance(error.body, dict) else {}
            is_gone = bool(record.their_id) and error.status in NO_SUCH
            name = str(body.get("field_code") or "")
            if name == "org_id" and record.company_id is not None:
                # The organization is gone; the person is wanted all the same.
                return await self._write(kind, replace(record, company_id=None))
            return Refused({name: str(error)}, is_gone=is_gone)
        except CrmScopeMissing as error:
            closed = WITH_CONTACT_SYNC & record.values.keys()
            if not closed:
                raise
            return Refused(dict.fromkeys(closed, str(error)))
        except (BadCrmAnswer, CrmAnswerLost) as error:
            return Unknown(str(error))
        their_id = str(answer["data"]["id"])
        if record.their_id:
            return Written(their_id, is_new=False)
        # With leads, what is left of linking is to make one.
        linked = None if self._makes_leads else record.company_id
        return Written(their_id, is_new=True, linked_to=linked)

    async def _body(self, kind: CrmKind, record: RecordWrite) -> Values | None:
        """Return what is sent; lists and addresses are sent whole, so they are read before."""
        if kind not in self._schemas:
            await self.fields(kind)
        current: Mapping[str, Any] | None = {}
        is_whole = any(n in {"emails", "phones"} or "." in n for n in record.values)
        if record.their_id and is_whole:
            current = await self._alone(kind, record.their_id)
            if current is None or current.get("is_deleted"):
                return None
        body = sent(record.values, self._schemas[kind], current or {})
        own = self._options.get(f"field:{kind}:{OWN_ID}", OWN_ID)
        body["custom_fields"] = {
            **body.get("custom_fields", {}),
            own: str(record.our_id),
        }
        if not record.their_id and not body.get("name"):
            known = (values for values in record.values.values() if values)
            body["name"] = str(next(known, record.our_id))
        return body

    def _record(self, kind: CrmKind, row: Mapping[str, Any]) -> CrmRecord:
        own = self._options.get(f"field:{kind}:{OWN_ID}", OWN_ID)
        return record_of(kind, row, own)

    def _path(self, kind: CrmKind, their_id: str | None = None) -> str:
        return f"/api/v2/{KINDS[kind]}" + (f"/{their_id}" if their_id else "")

    async def _alone(self, kind: CrmKind, their_id: str) -> dict[str, Any] | None:
        path = self._path(kind, their_id)
        query = BESIDES[kind]
        answer = await self._ask("GET", path, READ_TOKENS, query=query, accept=NO_SUCH)
        row: dict[str, Any] | None = answer.get("data")
        return row

    async def _pages(
        self, path: str, query: Mapping[str, Any]
    ) -> AsyncIterator[tuple[list[dict[str, Any]], str | None]]:
        cursor: str | None = None
        while True:
            asked = {"limit": PAGE_ROWS, **query, "cursor": cursor}
            answer = await self._ask("GET", path, LIST_TOKENS, query=asked)
            cursor = (answer.get("additional_data") or {}).get("next_cursor")
            yield answer["data"], cursor
            if not cursor:
                return

    async def _search(self, path: str, query: Mapping[str, Any]) -> dict[str, Any]:
        return await self._ask("GET", path, SEARCH_TOKENS, query=query, meter="search")

    async def _ask(
        self,
        method: str,
        path: str,
        tokens: int,
        body: Mapping[str, Any] | None = None,
        *,
        query: Mapping[str, Any] | None = None,
        is_repeatable: bool = True,
        accept: Sequence[int] = (),
        meter: str = "burst",
    ) -> dict[str, Any]:
        """Make a call; an answer may say 200 and that nothing was done."""
        call = CrmCall(
            method=method,
            path=path,
            query=query or {},
            json=body,
            meter={"tokens": tokens, meter: 1},
            is_write=method != "GET",
            is_repeatable=is_repeatable,
            accept=accept,
        )
        answer = await self._session.ask(call)
        found = answer.json()
        if not isinstance(found, dict):
            found = {}
        if found.get("success") is False and answer.status not in accept:
            text = self._session.mask(str(found.get("error")))
            raise CrmRejected(text, status=answer.status, body=found)
        if "data" not in found and answer.status not in accept:
            raise BadCrmAnswer("The answer has no data.")
        return found

    async def _hear(self, answer: CrmAnswer) -> timedelta | None:
        """Take notice of what others left of the day; say which limit a refusal means."""
        learn, now = self._session.metering.learn, self._session.clock.now()
        tomorrow = now.replace(hour=0, minute=0, second=0, microsecond=0)
        rest_of_day = tomorrow + timedelta(days=1) - now
        tokens = answer.headers.get("x-daily-ratelimit-token-remaining", "")
        if tokens.isdecimal():
            await learn("tokens", left=int(tokens), after=rest_of_day)
        if answer.status != TOO_MANY:
            return None
        if tokens == "0":
            return rest_of_day
        reset = answer.headers.get("x-ratelimit-reset", "")
        return timedelta(seconds=int(reset) if reset.isdecimal() else 2)


def is_of(website: str | None, domain: str) -> bool:
    """Say whether a website is of a domain, however a person wrote it."""
    bare = (website or "").lower().partition("://")[2] or (website or "").lower()
    return bare.removeprefix("www.").partition("/")[0] == domain.lower()


def seconds(when: datetime) -> str:
    """Return a time as its lists take it: without parts of a second."""
    return f"{when:%Y-%m-%dT%H:%M:%SZ}"
