"""Write the outbox of one connection to its CRM: no record twice, none lost, whatever is killed.

Each batch passes three transactions. The first reads; the second says "being written", with when,
before the first byte goes out; the third says what came of it. Who finds "being written" after a
crash waits until no call of before can still be on its way, asks the CRM for our ids, and writes
again only what is not there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from sqlalchemy import insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.changes.subscriber import Lease
from scrapersky.connectors.account import CrmConnection
from scrapersky.connectors.counterpart import Counterparts
from scrapersky.connectors.lead import SyncedLead, read_leads
from scrapersky.connectors.mapping import mapped, merged
from scrapersky.connectors.objection import PeopleNews, heed
from scrapersky.connectors.outbox import (
    LOST_PAUSE,
    RECORDS,
    OutboxEntry,
    entry_of,
    in_state,
    next_batch,
    save,
)
from scrapersky.connectors.protocol import (
    CrmField,
    CrmKind,
    CrmRecord,
    CrmValue,
    CrmValues,
    PersonOfCompany,
    RecordWrite,
    Refused,
    Unknown,
    WriteResult,
    Written,
)
from scrapersky.connectors.question import with_answers
from scrapersky.connectors.stray import keep_made
from scrapersky.connectors.values import normalised
from scrapersky.errors import (
    BadCrmAnswer,
    CrmAnswerLost,
    CrmBusy,
    CrmError,
    CrmRejected,
    SubscriptionTaken,
)
from scrapersky.records.sync import SyncState, SyncWrite

CLOCK_OVERLAP: Final = timedelta(minutes=10)
"""Clocks differ: a record made at a moment may bear one that is so much earlier."""
MAX_LOST: Final = 8
"""How often an answer may be lost until a person has to look."""
IN_FLIGHT: Final = (SyncState.SENDING, SyncState.UNKNOWN)


@dataclass(slots=True)
class PendingWrite:
    """What is to be written of one record."""

    entry: OutboxEntry
    changes: dict[str, CrmValue]
    before: CrmValues
    company_id: str | None = None
    """Of a person: their id of its company, where it is there."""

    @property
    def record(self) -> RecordWrite:
        """Return it as a connector takes it."""
        return RecordWrite(
            kind=self.entry.kind,
            our_id=self.entry.record_id,
            values=self.changes,
            their_id=self.entry.their_id,
            company_id=self.company_id,
        )


@dataclass(slots=True)
class Push:
    """Writes what is queued, as long as the lease on the connection holds."""

    lease: Lease
    account: CrmConnection
    run_id: UUID
    people: PeopleNews = field(default_factory=PeopleNews)
    """What their records say of people of ours."""

    @property
    def counterparts(self) -> Counterparts:
        """Return what finds the records there that are ours."""
        return Counterparts(self.lease, self.account)

    @property
    def _connector(self) -> str:
        return str(self.account.row.connector)

    async def step(self) -> bool:
        """Do the next thing there is to do; return whether there was any."""
        for kind in self.account.crm.info.kinds:
            if await self._settle_unknown(kind) or await self._write_next(kind):
                return True
        return await self._link_people()

    async def _settle_unknown(self, kind: CrmKind) -> bool:
        """Find out what became of writes without an answer."""
        async with self.lease.engine.connect() as connection:
            most = self.account.batch(kind)
            entries = await in_state(
                connection, self.lease.id, IN_FLIGHT, most=most, kind=kind
            )
        if not entries:
            return False
        # An update by their id is the same however often it is done.
        made = [one for one in entries if one.their_id is None]
        if cut_off := [one for one in made if one.state is SyncState.SENDING]:
            # Whoever sent it is gone, and their server may still be at it.
            for entry in cut_off:
                entry.state, entry.wait = SyncState.UNKNOWN, LOST_PAUSE
            await self._store(cut_off, [])
            return True
        found = await self._read_back(kind, made) if made else {}
        schema = await self.account.schema(kind)
        notes = []
        for entry in entries:
            there = found.get(entry.record_id)
            if there is None:
                self._send_again(entry)
                continue
            entry.their_id, entry.state, entry.problem = there.id, SyncState.DONE, {}
            entry.snapshot |= {
                name: normalised(value, schema.get(name))
                for name, value in entry.sending.items()
            }
            written = PendingWrite(entry, dict(entry.sending), {})
            notes.append(self._note(written, Written(there.id, is_new=True)))
            if differs_from(there, entry, schema):
                # Half of it was written: the rest is the difference to what is there now.
                entry.state = SyncState.QUEUED
            entry.sending, entry.sent_at, entry.attempts = {}, None, 0
        await self._store(entries, notes)
        return True

    def _send_again(self, entry: OutboxEntry) -> None:
        """Queue what is not there; what an update sent is compared before it goes again."""
        if entry.attempts > MAX_LOST:
            why = entry.problem.get("", "")
            entry.refuse({"": f"The answer was lost {MAX_LOST} times: {why}"})
            return
        sent = dict(entry.sending) if entry.their_id else {}
        entry.put_back(timedelta())
        entry.sending = sent

    async def _store(
        self, entries: Sequence[OutboxEntry], notes: Sequence[dict[str, Any]]
    ) -> None:
        """Store what came of entries, with what was written of those that are still ours."""
        async with self.lease.transaction() as connection:
            await save(connection, self._connector, entries)
            stored = {one.record_id for one in entries if one.is_stored}
            kept = [one for one in notes if one["record_id"] in stored]
            if kept:
                await connection.execute(insert(SyncWrite), kept)

    async def _read_back(
        self, kind: CrmKind, entries: Sequence[OutboxEntry]
    ) -> dict[UUID, CrmRecord]:
        sent = [one.sent_at for one in entries if one.sent_at is not None]
        since = min(sent) - CLOCK_OVERLAP if sent else None
        ids, names = [one.record_id for one in entries], self.account.names(kind)
        return dict(await self.account.crm.read_own(kind, ids, names, since))

    async def _write_next(self, kind: CrmKind) -> bool:
        """Write the next batch of a kind."""
        async with self.lease.engine.connect() as connection:
            most = self.account.batch(kind)
            entries = await next_batch(connection, self.lease.id, kind, most)
            if not entries:
                return False
            ids = [entry.record_id for entry in entries]
            leads = await read_leads(connection, self.lease.tenant_id, kind, ids)
        pending = await self.pending(kind, entries, leads)
        async with self.lease.transaction() as connection:
            # Reading there took its time: who must not leave any more does not.
            pending = await self._still_allowed(connection, kind, pending)
            companies = await their_companies(connection, self.lease.id, pending)
            for one in pending:
                one.company_id = companies.get(one.entry.company_id)
                one.entry.state = SyncState.SENDING
                one.entry.sent_at = self.account.clock.now()
                one.entry.sending = dict(one.changes)
            await save(connection, self._connector, entries)
            await self._heed(connection)
        pending = [one for one in pending if one.entry.is_stored]
        if pending:
            await self._send(kind, pending)
        return True

    async def _still_allowed(
        self,
        connection: AsyncConnection,
        kind: CrmKind,
        pending: Sequence[PendingWrite],
    ) -> list[PendingWrite]:
        """Refuse whoever was stopped or went away since they were read."""
        ids = [one.entry.record_id for one in pending]
        leads = await read_leads(connection, self.lease.tenant_id, kind, ids)
        for one in pending:
            if refusal := leads[one.entry.record_id].refusal:
                one.entry.refuse({"": refusal})
        return [one for one in pending if one.entry.state is SyncState.QUEUED]

    async def _heed(self, connection: AsyncConnection) -> None:
        """Take over what reading told of people."""
        people, self.people = self.people, PeopleNews()
        if people != PeopleNews():
            await heed(connection, self.lease.tenant_id, self.account, people)

    async def pending(
        self,
        kind: CrmKind,
        entries: Sequence[OutboxEntry],
        leads: dict[UUID, SyncedLead],
    ) -> list[PendingWrite]:
        """Compare with what is there; settle what needs no write, and return what does."""
        for entry in entries:
            if refusal := leads[entry.record_id].refusal:
                entry.refuse({"": refusal})
        open_ = [one for one in entries if one.state is SyncState.QUEUED]
        if kind is CrmKind.PERSON:
            open_ = await self.counterparts.one_of_each_address(open_, leads)
        there = await self._present(kind, open_, leads)
        rules, schema = self.account.rules(kind), await self.account.schema(kind)
        pending = []
        for entry in open_:
            if entry.state is not SyncState.QUEUED:
                continue
            values = mapped(leads[entry.record_id].values, rules, schema).values
            now = there[entry.id].values if entry.id in there else {}
            take_as_written(entry, now, schema)
            compared = merged(values, entry.snapshot, now, rules, schema)
            answered = with_answers(entry.differs, compared.differs, schema, values)
            compared.changes.update(answered)
            entry.differs = compared.differs
            entry.company_id = leads[entry.record_id].company_id or entry.company_id
            if entry.is_shared or (entry.their_id and not compared.changes):
                entry.state = SyncState.DONE
                continue
            pending.append(PendingWrite(entry, compared.changes, now))
        return pending

    async def _present(
        self,
        kind: CrmKind,
        entries: Sequence[OutboxEntry],
        leads: dict[UUID, SyncedLead],
    ) -> dict[UUID, CrmRecord]:
        """Read what the CRM has of these; take note of what was deleted or merged there."""
        await self.counterparts.adopt(
            kind, [one for one in entries if not one.their_id], leads
        )
        known = {
            one.their_id: one for one in entries if one.their_id and not one.is_shared
        }
        if not known:
            return {}
        names = self.account.names(kind)
        found = await self.account.crm.read(kind, list(known), names)
        there: dict[UUID, CrmRecord] = {}
        for their_id, entry in known.items():
            record = found.get(their_id)
            if record is None or record.is_deleted:
                entry.state = SyncState.UNLINKED
                continue
            entry.their_id = record.id
            there[entry.id] = record
            self.people.add(self.account.crm.info, record, [entry.record_id])
            if record.is_unsubscribed:
                title = self.account.crm.info.title
                entry.refuse({"": f"The person has unsubscribed in {title}."})
        return there

    async def _send(self, kind: CrmKind, pending: Sequence[PendingWrite]) -> None:
        """Write a batch, and store what came of it."""
        entries = [one.entry for one in pending]
        try:
            results = await self.account.crm.write(
                kind, [one.record for one in pending]
            )
        except CrmAnswerLost as error:
            results = [Unknown(str(error))] * len(pending)
        except (CrmRejected, BadCrmAnswer) as error:
            results = self._judged(pending, error)
        except CrmError as error:
            wait = error.after if isinstance(error, CrmBusy) else timedelta()
            for entry in entries:
                if error.may_be_done:
                    entry.state, entry.wait = SyncState.UNKNOWN, wait
                else:
                    entry.put_back(wait)
            async with self.lease.transaction() as connection:
                await save(connection, self._connector, entries)
            raise
        schema = await self.account.schema(kind)
        for one, result in zip(pending, results, strict=True):
            await self._take_result(kind, one, result)
            if isinstance(result, Written):
                one.entry.snapshot |= {
                    name: normalised(value, schema.get(name))
                    for name, value in one.changes.items()
                }
        notes = [
            self._note(one, result)
            for one, result in zip(pending, results, strict=True)
            if isinstance(result, Written)
        ]
        refused = [one for one in entries if one.state is SyncState.REFUSED]
        is_doubtful = bool(refused) and self.account.forget_schema(kind)
        for entry in refused if is_doubtful else ():
            # It may be the schema that has changed since we have read it.
            entry.put_back(timedelta())
        try:
            await self._store(entries, notes)
        except SubscriptionTaken:
            await keep_made(self.lease.engine, entries, notes)
            raise
        if is_doubtful:
            await self.account.refuse_missing(kind)

    def _judged(
        self, pending: Sequence[PendingWrite], error: CrmError
    ) -> list[WriteResult]:
        """Return what an error about a whole batch means for each of its records."""
        if isinstance(error, BadCrmAnswer):
            # An answer that cannot be read tells nothing of what was written.
            return [Unknown(str(error))] * len(pending)
        return [Refused({"": str(error)})] * len(pending)

    async def _take_result(
        self, kind: CrmKind, one: PendingWrite, result: WriteResult
    ) -> None:
        entry = one.entry
        entry.attempts += 1
        match result:
            case Written(their_id=their_id, linked_to=linked_to):
                entry.state, entry.their_id, entry.problem = (
                    SyncState.DONE,
                    their_id,
                    {},
                )
                entry.linked_to = linked_to or entry.linked_to
                entry.sending, entry.sent_at, entry.attempts = {}, None, 0
            case Unknown(why=why):
                entry.state = SyncState.UNKNOWN
                entry.problem = {"": self.account.session.mask(why)}
                entry.wait = LOST_PAUSE * entry.attempts
            case Refused(is_gone=True):
                entry.state, entry.sending, entry.sent_at = SyncState.UNLINKED, {}, None
            case Refused(existing_id=str() as existing) if not entry.their_id:
                await self.counterparts.take_up(kind, [entry], existing)
                entry.put_back(timedelta())
            case Refused(reasons=reasons):
                mask, schema = (
                    self.account.session.mask,
                    await self.account.schema(kind),
                )
                told = {
                    name: with_label(schema, name, reasons[name]) for name in reasons
                }
                entry.refuse({name: mask(why) for name, why in told.items()})

    def _note(self, one: PendingWrite, result: Written) -> dict[str, Any]:
        names = set(one.changes)
        return {
            "tenant_id": self.lease.tenant_id,
            "connection_id": self.lease.id,
            "run_id": self.run_id,
            "kind": one.entry.kind.value,
            "record_id": one.entry.record_id,
            "their_id": result.their_id,
            "is_new": result.is_new,
            "before": {name: one.before.get(name) for name in names},
            "after": dict(one.changes),
        }

    async def _link_people(self) -> bool:
        """Link people to their companies, where both are there."""
        async with self.lease.engine.connect() as connection:
            entries = await unlinked_people(connection, self.lease.id)
        if not entries:
            return False
        pairs = {
            PersonOfCompany(str(entry.their_id), company): (entry, company)
            for entry, company in entries
        }
        failed = await self.account.crm.link(list(pairs))
        for pair, (entry, company) in pairs.items():
            # What failed is not tried again by itself; it is shown.
            entry.linked_to = company
            if why := failed.get(pair):
                entry.problem = {"company": why}
        async with self.lease.transaction() as connection:
            await save(connection, self._connector, [entry for entry, _ in entries])
        return True


def with_label(schema: Mapping[str, CrmField], name: str, why: str) -> str:
    """Return a reason with what people call the field there: its name may be a code."""
    label = schema[name].label if name in schema else name
    is_told = label.casefold() in why.casefold() or label == name
    return why if is_told else f"{label}: {why}"


def differs_from(there: CrmRecord, entry: OutboxEntry, schema: dict[str, Any]) -> bool:
    """Say whether something that was sent is not there."""
    return any(
        normalised(value, schema.get(name))
        != normalised(there.values.get(name), schema.get(name))
        for name, value in entry.sending.items()
    )


def take_as_written(
    entry: OutboxEntry, now: CrmValues, schema: Mapping[str, CrmField]
) -> None:
    """Own what an update without an answer has written after all."""
    for name, value in entry.sending.items():
        sent = normalised(value, schema.get(name))
        if normalised(now.get(name), schema.get(name)) == sent:
            entry.snapshot[name] = sent
    entry.sending = {}


async def their_companies(
    connection: AsyncConnection, sync_id: UUID, pending: Sequence[PendingWrite]
) -> dict[UUID | None, str]:
    """Return their ids of the companies of people, where they are there."""
    ours = [one.entry.company_id for one in pending if one.entry.company_id]
    if not ours:
        return {}
    query = select(RECORDS.c.record_id, RECORDS.c.their_id).where(
        RECORDS.c.connection_id == sync_id,
        RECORDS.c.kind == CrmKind.COMPANY.value,
        RECORDS.c.record_id.in_(ours),
        RECORDS.c.state == SyncState.DONE,
        RECORDS.c.their_id.is_not(None),
    )
    rows = (await connection.execute(query)).all()
    return {row.record_id: row.their_id for row in rows}


async def unlinked_people(
    connection: AsyncConnection, sync_id: UUID
) -> list[tuple[OutboxEntry, str]]:
    """Return people that are there and not linked to the company that is there."""
    company = RECORDS.alias("company")
    query = (
        select(RECORDS, company.c.their_id.label("company_their_id"))
        .join(
            company,
            (company.c.connection_id == RECORDS.c.connection_id)
            & (company.c.kind == CrmKind.COMPANY.value)
            & (company.c.record_id == RECORDS.c.company_id),
        )
        .where(
            RECORDS.c.connection_id == sync_id,
            RECORDS.c.kind == CrmKind.PERSON.value,
            RECORDS.c.state == SyncState.DONE,
            company.c.state == SyncState.DONE,
            RECORDS.c.their_id.is_not(None),
            company.c.their_id.is_not(None),
            # A merge there takes its people along: who is linked once stays so.
            RECORDS.c.linked_to.is_(None),
        )
        .order_by(RECORDS.c.id)
        .limit(100)
    )
    found = (await connection.execute(query)).all()
    return [(entry_of(row), row.company_their_id) for row in found]
