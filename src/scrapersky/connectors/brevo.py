"""Brevo: contacts and companies by imports, read back since an import answers with counts alone.

Two meters: contacts have many calls a second, all else has a hundred an hour. It drops what does
not fit without a word, so values are checked before. It never learns that somebody may be mailed:
no flag of consent is ever sent, no list is joined again, no address changed of who objected.
"""

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from math import ceil
from typing import Any, ClassVar, Final
from uuid import UUID

import orjson

from scrapersky.connectors.brevo_api import (
    BAD_REQUEST,
    IMPORT_PAUSE,
    NO_SUCH,
    PAGE_ROWS,
    PATHS,
    WAITS,
    BrevoApi,
)
from scrapersky.connectors.brevo_values import (
    COMPANY_ID,
    CONTACTS,
    EMAIL,
    MADE_TYPES,
    OWN,
    Values,
    attributes_of,
    company_field,
    contact_field,
    instant,
    record_of,
    without_email,
)
from scrapersky.connectors.meter import MeterRule
from scrapersky.connectors.protocol import (
    ConnectorContext,
    ConnectorInfo,
    ConnectorOption,
    CrmAccount,
    CrmChanges,
    CrmField,
    CrmFieldType,
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
from scrapersky.connectors.session import path_part
from scrapersky.errors import (
    BadCrmAnswer,
    CrmAnswerLost,
    CrmBusy,
    CrmError,
    CrmRejected,
)

BY_ID: Final[Mapping[CrmKind, Mapping[str, str]]] = {
    CrmKind.PERSON: {"identifierType": "contact_id"},
    CrmKind.COMPANY: {},
}
IDS_OF_CALL: Final = 20
MAX_SINGLE_WRITES: Final = {CrmKind.PERSON: 20, CrmKind.COMPANY: 1}
"""So many are written one by one, each with an answer of its own; more are imported."""
MAX_SINGLE_LINKS: Final = 3
CLOCK_DOUBT: Final = timedelta(minutes=10)
"""How wrong our clock may be against theirs."""
READ_AGAIN: Final = timedelta(minutes=2)
ROWS_READ_AGAIN: Final = 50
"""Rows of a page that are read again: those before it may have been deleted."""
OBJECTED: Final = "Brevo would mail the person again under another address."


class BrevoConnector:
    """One account of Brevo."""

    info: ClassVar = ConnectorInfo(
        name="brevo",
        title="Brevo",
        credential="API key",
        options=(
            ConnectorOption("base_url", "Address", default="https://api.brevo.com"),
            ConnectorOption(
                "list_id", "Number of the list of new contacts", is_required=True
            ),
        ),
        batch={CrmKind.PERSON: 2000, CrmKind.COMPANY: 1000},
        knows_own=(CrmKind.PERSON,),
        key_fields={CrmKind.COMPANY: "domain", CrmKind.PERSON: EMAIL},
        mapping={
            CrmKind.COMPANY: {"name": "name", "domain": "domain"},
            CrmKind.PERSON: {
                "first_name": "FIRSTNAME",
                "last_name": "LASTNAME",
                "email": EMAIL,
                "phone": "SMS",
                "role": "JOB_TITLE",
            },
        },
        poll_every=timedelta(minutes=30),
    )

    def __init__(self, context: ConnectorContext) -> None:
        """Begin."""
        self._session = context.session
        self._session.base = context.options["base_url"]
        self._session.headers = {"api-key": context.credential}
        self._lists = [int(context.options["list_id"])]
        self._api = BrevoApi(context.session, self._lists)

    @classmethod
    def meters(cls, options: Mapping[str, str]) -> Sequence[MeterRule]:
        """Return the limits of a general account."""
        hour = timedelta(hours=1)
        return (
            MeterRule(name="second", units=10, per=timedelta(seconds=1)),
            MeterRule(name="fast", units=36_000, per=hour),
            MeterRule(name="slow", units=100, per=hour, burst=50),
        )

    async def account(self) -> CrmAccount:
        """Ask whose key it is."""
        row = await self._api.ask("GET", "/account")
        number = str(row.get("organization_id") or row["email"])
        return CrmAccount(id=number, name=row.get("companyName") or row["email"])

    async def fields(self, kind: CrmKind) -> Sequence[CrmField]:
        """Return the attributes, and the address, which is none there."""
        if kind is CrmKind.COMPANY:
            rows = await self._api.ask("GET", "/crm/attributes/companies")
            return [company_field(row) for row in rows]
        rows = (await self._api.ask("GET", "/contacts/attributes"))["attributes"]
        email = CrmField(name=EMAIL, label="E-mail", type=CrmFieldType.EMAIL)
        return [email, *(contact_field(row) for row in rows)]

    async def make_fields(
        self, kind: CrmKind, fields: Sequence[CrmField]
    ) -> Mapping[str, str]:
        """Make the attributes that are missing; those of contacts are in capitals."""
        there = {one.name for one in await self.fields(kind)}
        names: dict[str, str] = {}
        for field in fields:
            is_contact = kind is CrmKind.PERSON
            name = names[field.name] = field.name.upper() if is_contact else field.name
            type_ = MADE_TYPES.get(field.type, "text")
            if name in there:
                continue
            if is_contact:
                path, made = f"/contacts/attributes/normal/{name}", {"type": type_}
            else:
                path, made = (
                    "/crm/attributes",
                    {
                        "label": name,
                        "attributeType": type_,
                        "objectType": "companies",
                    },
                )
            await self._api.ask("POST", path, made)
        return names

    async def read(
        self, kind: CrmKind, ids: Sequence[str], names: Sequence[str]
    ) -> Mapping[str, CrmRecord]:
        """Read contacts by twenties; companies alone, or all of them where that is cheaper."""
        wanted = list(dict.fromkeys(ids))
        found: dict[str, CrmRecord] = {}
        if kind is CrmKind.PERSON:
            for at in range(0, len(wanted), IDS_OF_CALL):
                query = {"ids": wanted[at : at + IDS_OF_CALL], "limit": IDS_OF_CALL}
                rows = (await self._api.ask("GET", "/contacts", query=query))[
                    "contacts"
                ]
                found |= {str(row["id"]): record_of(kind, row) for row in rows}
        elif len(wanted) <= IDS_OF_CALL // 4:
            for one in wanted:
                path = f"/companies/{path_part(one)}"
                row = await self._api.ask("GET", path, accept=(BAD_REQUEST, NO_SUCH))
                if "id" in row:
                    found[one] = record_of(kind, row)
        else:
            async for record in self._api.all(kind):
                if record.id in wanted:
                    found[record.id] = record
        return found

    async def read_own(
        self,
        kind: CrmKind,
        our_ids: Sequence[UUID],
        names: Sequence[str],
        since: datetime | None = None,
    ) -> Mapping[UUID, CrmRecord]:
        """Look for our ids, newest first; while an import runs, nothing is certain."""
        wanted = set(our_ids)
        found: dict[UUID, CrmRecord] = {}
        if kind is CrmKind.COMPANY:
            # Before anything is read: what ends in between would be taken for not made.
            await self._api.wait_for_imports()
        if kind is CrmKind.PERSON and len(wanted) <= IDS_OF_CALL:
            for one in wanted:
                query = {"filter": f'equals({OWN[kind]},"{one}")', "limit": 1}
                for row in (await self._api.ask("GET", "/contacts", query=query))[
                    "contacts"
                ]:
                    found[one] = record_of(kind, row)
        else:
            async for record in self._api.all(kind, since and since - CLOCK_DOUBT):
                if record.our_id in wanted:
                    found[record.our_id] = record
                if len(found) == len(wanted):
                    break
        return found

    async def find(
        self, kind: CrmKind, keys: Sequence[str], names: Sequence[str]
    ) -> Mapping[str, Sequence[CrmRecord]]:
        """Look for contacts one by one, and for companies among all."""
        found: dict[str, list[CrmRecord]] = {}
        if kind is CrmKind.PERSON:
            for key in dict.fromkeys(keys):
                if record := await self._api.by_email(key):
                    found[key] = [record]
            return found
        async for record in self._api.all(kind):
            domain = str(record.values.get("domain") or "").lower()
            for key in keys:
                if domain == key.lower():
                    found.setdefault(key, []).append(record)
        return found

    async def write(
        self, kind: CrmKind, records: Sequence[RecordWrite]
    ) -> Sequence[WriteResult]:
        """Check every value, then write a few one by one, more of them by an import."""
        fields = {one.name: one for one in await self.fields(kind)}
        results: dict[str, WriteResult] = {}
        new: list[Values] = []
        changed: list[tuple[RecordWrite, Values]] = []
        for record in folded(records):
            sent, wrong = attributes_of(record, fields)
            if need := missing(record, sent):
                wrong[need] = "Brevo takes no record without it."
            if wrong:
                results[str(record.our_id)] = Refused(wrong)
            elif record.their_id:
                changed.append((record, sent))
            else:
                new.append(sent)
        results |= await self._change(kind, changed)
        is_first = not any(isinstance(one, Written) for one in results.values())
        results |= await self._make(kind, new, is_first=is_first)
        return [results[str(record.our_id)] for record in records]

    async def link(
        self, pairs: Sequence[PersonOfCompany]
    ) -> Mapping[PersonOfCompany, str]:
        """Add people to a company; to many companies, by a file."""
        people: dict[str, list[str]] = {}
        for pair in pairs:
            people.setdefault(pair.company_id, []).append(pair.person_id)
        failed: dict[str, str] = {}
        if len(people) <= MAX_SINGLE_LINKS:
            for company, contacts in people.items():
                path = f"/companies/link-unlink/{path_part(company)}"
                body = {"linkContactIds": [int(one) for one in contacts]}
                try:
                    await self._api.ask("PATCH", path, body)
                except CrmRejected as error:
                    failed[company] = str(error)
        else:
            rows = [
                {COMPANY_ID: company, CONTACTS: ",".join(contacts)}
                for company, contacts in people.items()
            ]
            process = await self._api.start(CrmKind.COMPANY, rows, is_update=True)
            if not await self._api.is_done(process):
                raise CrmBusy("Brevo has not linked them yet.", after=IMPORT_PAUSE)
        return {
            pair: failed[pair.company_id] for pair in pairs if pair.company_id in failed
        }

    async def changes(
        self, kind: CrmKind, cursor: str | None, names: Sequence[str]
    ) -> CrmChanges:
        """Page through what changed; rows are in the order in which they were made."""
        if cursor is None:
            since = instant(self._session.clock.now() - CLOCK_DOUBT)
            start = orjson.dumps({"since": since}).decode()
            return CrmChanges(records=(), cursor=start)
        state: dict[str, Any] = orjson.loads(cursor)
        at = state.get("at", 0)
        rows = await self._api.page(kind, at, state["since"], order="asc")
        records = [record_of(kind, row) for row in rows]
        last = max((r.changed_at for r in records if r.changed_at), default=None)
        top = max(state.get("top", ""), instant(last) if last else "")
        has_more = len(rows) == PAGE_ROWS
        if has_more:
            state |= {"at": at + PAGE_ROWS - ROWS_READ_AGAIN, "top": top}
        else:
            back = instant(datetime.fromisoformat(top) - READ_AGAIN) if top else ""
            state = {"since": max(state["since"], back)}
        return CrmChanges(
            records=records, cursor=orjson.dumps(state).decode(), has_more=has_more
        )

    async def erase(self, kind: CrmKind, their_id: str) -> None:
        """Delete for good: Brevo has no bin."""
        await self.delete(kind, [their_id])

    async def delete(self, kind: CrmKind, their_ids: Sequence[str]) -> None:
        """Delete, by their numbers and never by an address."""
        for one in their_ids:
            path = f"/{PATHS[kind]}/{path_part(one)}"
            await self._api.ask("DELETE", path, query=BY_ID[kind], accept=(NO_SUCH,))

    def price(self, kind: CrmKind, volume: SyncVolume) -> Mapping[str, float]:
        """Return calls: an import is one, and three or four that look what it has made."""
        if kind is CrmKind.PERSON:
            is_import = volume.creates > MAX_SINGLE_WRITES[kind]
            creates = (
                4 * ceil(volume.creates / PAGE_ROWS) if is_import else volume.creates
            )
            reads = ceil(volume.reads / IDS_OF_CALL) + volume.searches
            calls = reads + creates + 2 * volume.updates
            links = ceil(volume.links / PAGE_ROWS)
            return {"second": calls, "fast": calls, "slow": 3.0 * links}
        rows = volume.creates + volume.updates
        pages = ceil(volume.reads / PAGE_ROWS) + ceil(volume.searches / PAGE_ROWS)
        return {"slow": pages + 5 * ceil(rows / PAGE_ROWS)}

    async def _change(
        self, kind: CrmKind, changed: Sequence[tuple[RecordWrite, Values]]
    ) -> dict[str, WriteResult]:
        """Update records by their numbers: contacts alone, companies by a file if many."""
        if kind is CrmKind.PERSON or len(changed) <= MAX_SINGLE_WRITES[kind]:
            outcomes: dict[str, WriteResult] = {}
            for record, sent in changed:
                own = str(record.our_id)
                update = self._update(kind, str(record.their_id), sent)
                outcomes[own] = await tried(update, is_first=not outcomes)
            return outcomes
        rows = [{**sent, COMPANY_ID: record.their_id} for record, sent in changed]
        process = await self._api.start(kind, rows, is_update=True)
        if not await self._api.is_done(process):
            why = Unknown("Brevo has not taken the file yet.")
            return {str(record.our_id): why for record, _ in changed}
        ids = [str(record.their_id) for record, _ in changed]
        there = await self.read(kind, ids, ())
        return {
            str(record.our_id): Written(str(record.their_id), is_new=False)
            if record.their_id in there
            else Refused({"": "The company is not there."}, is_gone=True)
            for record, _ in changed
        }

    async def _make(
        self, kind: CrmKind, rows: Sequence[Values], *, is_first: bool
    ) -> dict[str, WriteResult]:
        """Make records, alone or by an import."""
        outcomes: dict[str, WriteResult] = {}
        if len(rows) > MAX_SINGLE_WRITES[kind]:
            return await self._import(kind, rows, is_first=is_first)
        for sent in rows:
            alone = is_first and not outcomes
            outcomes[sent[OWN[kind]]] = await tried(
                self._create(kind, sent), is_first=alone
            )
        return outcomes

    async def _create(self, kind: CrmKind, sent: Values) -> WriteResult:
        if kind is CrmKind.COMPANY:
            body = {"name": sent["name"], "attributes": sent}
            row = await self._api.ask("POST", "/companies", body, is_repeatable=False)
            return Written(str(row["id"]), is_new=True)
        body = {
            "email": sent[EMAIL],
            "attributes": without_email(sent),
            "listIds": self._lists,
            "updateEnabled": False,
        }
        row = await self._api.ask("POST", "/contacts", body, accept=(BAD_REQUEST,))
        if "id" in row:
            return Written(str(row["id"]), is_new=True)
        if "code" not in row:
            raise BadCrmAnswer("Brevo's answer names neither a contact nor an error.")
        if row.get("code") != "duplicate_parameter":
            return Refused({"": str(row.get("message"))})
        return await self._in_the_way(sent)

    async def _in_the_way(self, sent: Values) -> WriteResult:
        """Say whether the contact with this address is ours, which an earlier call made."""
        record = await self._api.by_email(sent[EMAIL])
        if record is None:
            return Unknown("The contact was there, and is gone.")
        if str(record.our_id) == sent[OWN[CrmKind.PERSON]]:
            return Written(record.id, is_new=True)
        return Refused(
            {EMAIL: "Another contact has this address."}, existing_id=record.id
        )

    async def _update(self, kind: CrmKind, their_id: str, sent: Values) -> WriteResult:
        """Update one; an address only of somebody who has not objected."""
        path = f"/{PATHS[kind]}/{path_part(their_id)}"
        if EMAIL in sent and kind is CrmKind.PERSON:
            row = await self._api.ask("GET", path, query=BY_ID[kind], accept=(NO_SUCH,))
            is_same = str(row.get("email")).lower() == str(sent[EMAIL]).lower()
            if row.get("emailBlacklisted") and not is_same:
                return Refused({EMAIL: OBJECTED})
            if is_same:
                sent = without_email(sent)
        method = "PUT" if kind is CrmKind.PERSON else "PATCH"
        body: Values = {"attributes": sent}
        accept = (BAD_REQUEST, NO_SUCH)
        row = await self._api.ask(method, path, body, query=BY_ID[kind], accept=accept)
        if row.get("code") == "document_not_found":
            return Refused({"": str(row["message"])}, is_gone=True)
        if row.get("code") == "duplicate_parameter":
            return await self._in_the_way(sent)
        if "code" in row:
            return Refused({"": str(row.get("message"))})
        return Written(their_id, is_new=False)

    async def _import(
        self, kind: CrmKind, rows: Sequence[Values], *, is_first: bool
    ) -> dict[str, WriteResult]:
        """Import, and look until all are there, or until the import says that it is done."""
        begun, left = self._session.clock.now(), {row[OWN[kind]]: row for row in rows}
        outcomes: dict[str, WriteResult] = {}
        try:
            process = await self._api.start(kind, rows)
        except CrmError as error:
            if is_first:
                raise
            return dict.fromkeys(left, Unknown(str(error)))
        try:
            for wait in WAITS[kind]:
                await self._session.clock.sleep(wait)
                outcomes |= await self._look(kind, left, begun)
                if not left:
                    return outcomes
            if await self._api.is_done(process):
                outcomes |= await self._look(kind, left, begun)
                refused = Refused({"": "Brevo's import did not take it."})
                return outcomes | dict.fromkeys(left, refused)
        except CrmError as error:
            return outcomes | dict.fromkeys(left, Unknown(str(error)))
        return outcomes | dict.fromkeys(left, Unknown("Brevo's import still runs."))

    async def _look(
        self, kind: CrmKind, left: dict[str, Values], begun: datetime
    ) -> dict[str, WriteResult]:
        """Take out of what is left whoever is there."""
        found: dict[str, WriteResult] = {}
        async for record in self._api.all(kind, begun - CLOCK_DOUBT):
            if left.pop(str(record.our_id), None) is not None:
                found[str(record.our_id)] = Written(record.id, is_new=True)
            if not left:
                break
        if kind is CrmKind.PERSON and len(left) <= IDS_OF_CALL:
            for own, row in [*left.items()]:
                if isinstance(result := await self._in_the_way(row), Refused):
                    found[own] = result
                    del left[own]
        return found


async def tried(work: Awaitable[WriteResult], *, is_first: bool) -> WriteResult:
    """Await one write of several: what stops all of them is raised while nothing is written."""
    try:
        return await work
    except (BadCrmAnswer, CrmAnswerLost) as error:
        return Unknown(str(error))
    except CrmRejected as error:
        return Refused({"": str(error)})
    except CrmError as error:
        if is_first:
            raise
        return Unknown(str(error))


def folded(records: Sequence[RecordWrite]) -> list[RecordWrite]:
    """Return the records, one for each id of ours."""
    found: dict[UUID, RecordWrite] = {}
    for record in records:
        before = found.get(record.our_id)
        values = {**before.values, **record.values} if before else record.values
        found[record.our_id] = replace(record, values=values)
    return list(found.values())


def missing(record: RecordWrite, sent: Values) -> str | None:
    """Return what a new record lacks that Brevo must have."""
    need = EMAIL if record.kind is CrmKind.PERSON else "name"
    return need if not record.their_id and not sent.get(need) else None
