"""Take over what changed in a CRM: edits, merges, deletions, and that somebody wants no mail.

What we wrote ourselves comes back too: it equals the snapshot, and is passed over. Nobody is ever
subscribed again by what is read here, and what is missing from a page is not a deletion.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.changes.subscriber import Lease
from scrapersky.connectors.account import CrmConnection
from scrapersky.connectors.mapping import ConflictRule, FieldMapping
from scrapersky.connectors.objection import PeopleNews, act_as, email_field, heed
from scrapersky.connectors.outbox import (
    RECORDS,
    OutboxEntry,
    entry_of,
    save,
    written_entry,
)
from scrapersky.connectors.protocol import CrmField, CrmKind, CrmRecord
from scrapersky.connectors.question import with_answers
from scrapersky.connectors.stray import settle_strays
from scrapersky.connectors.values import normalised
from scrapersky.kit.json_text import json_text
from scrapersky.records.status import LeadStatus
from scrapersky.records.sync import SyncState

LEAD_STATUS: Final = text(
    "UPDATE companies SET lead_status = CAST(:value AS lead_status), worked_at ="  # noqa: S608
    " clock_timestamp() WHERE tenant_id = :tenant AND id = :id"
    f" AND lead_status <> '{LeadStatus.DO_NOT_CONTACT}'"
)
OWNER: Final = text(
    "UPDATE companies SET owner_id = u.id, worked_at = clock_timestamp() FROM users u"
    " WHERE companies.tenant_id = :tenant AND companies.id = :id"
    " AND u.tenant_id = :tenant AND lower(u.email) = lower(:value)"
)
COMING_BACK: Final = {"lead_status": LEAD_STATUS, "owner": OWNER}
"""Values that people change there, and that are ours too, if they are mapped."""


@dataclass(slots=True)
class RemoteNews:
    """What one page of changes means here."""

    entries: dict[UUID, OutboxEntry] = field(default_factory=dict)
    people: PeopleNews = field(default_factory=PeopleNews)
    coming_back: list[tuple[UUID, str, str]] = field(default_factory=list)
    """Companies, and what a value of theirs is now."""


@dataclass(slots=True)
class Pull:
    """Reads what changed, as long as the lease on the connection holds."""

    lease: Lease
    account: CrmConnection
    cursors: dict[str, Any]

    async def step(self, kind: CrmKind) -> bool:
        """Take over a page of changes of a kind; return whether there are more."""
        before = self.cursors.get(kind.value)
        names = self.account.names(kind)
        if kind is CrmKind.PERSON:
            # By their address people are known who are not linked.
            names = list(dict.fromkeys([*names, email_field(self.account.crm.info)]))
        page = await self.account.crm.changes(kind, before, names)
        self.cursors[kind.value] = page.cursor
        # Where nothing changed the schema is not asked for: in Pipedrive it costs a day's share.
        schema = await self.account.schema(kind) if page.records else {}
        async with self.lease.transaction({"cursors": self.cursors}) as connection:
            await act_as(connection, self.account)
            stored = await entries_of(connection, self.lease.id, kind, page.records)
            was = {one.id: stored_form(one) for one in stored}
            news = self._understood(kind, page.records, stored, schema)
            changed = [
                one for one in news.entries.values() if stored_form(one) != was[one.id]
            ]
            await save(connection, self.account.row.connector, changed)
            await self._apply(connection, news)
        await settle_strays(self.lease, self.account, kind, page.records)
        return page.has_more and page.cursor != before

    def _understood(
        self,
        kind: CrmKind,
        records: Sequence[CrmRecord],
        stored: Sequence[OutboxEntry],
        schema: dict[str, CrmField],
    ) -> RemoteNews:
        """Decide what a page means for our records."""
        news, rules = RemoteNews(), self.account.rules(kind)
        for record in records:
            ids = {record.id, *record.old_ids}
            mine = [
                one
                for one in stored
                if one.state is not SyncState.ERASING and one.their_id in ids
            ]
            if kind is CrmKind.PERSON:
                ours = [one.record_id for one in mine]
                news.people.add(self.account.crm.info, record, ours)
            for entry in mine:
                news.entries[entry.id] = entry
                entry.their_id = record.id
                if record.is_deleted:
                    if entry.state is not SyncState.SENDING:
                        entry.state = SyncState.UNLINKED
                    continue
                self._compare(entry, record, rules, schema, news)
        share_merged(list(news.entries.values()))
        return news

    def _compare(
        self,
        entry: OutboxEntry,
        record: CrmRecord,
        rules: Sequence[FieldMapping],
        schema: dict[str, CrmField],
        news: RemoteNews,
    ) -> None:
        """Note what differs from what we wrote last, and what of it comes back."""
        for rule in rules:
            name = rule.theirs
            if name not in entry.snapshot or name not in record.values:
                continue
            last = normalised(entry.snapshot[name], schema.get(name))
            now = normalised(record.values[name], schema.get(name))
            if last == now:
                entry.differs.pop(name, None)
                continue
            # What we have now, where the last push has seen it, or else what we wrote.
            seen = entry.differs.get(name, {})
            ours = seen.get("ours", entry.snapshot[name])
            told = {name: {"ours": ours, "theirs": now}}
            if rule.rule is ConflictRule.ASK:
                told[name]["asks"] = True
            with_answers(entry.differs, told, schema, {})
            entry.differs |= told
            if rule.ours in COMING_BACK and (value := our_value(rule, schema, now)):
                news.coming_back.append((entry.record_id, rule.ours, value))
                entry.snapshot[name] = now
                entry.differs.pop(name)

    async def _apply(self, connection: AsyncConnection, news: RemoteNews) -> None:
        for company, name, value in news.coming_back:
            given = {"tenant": self.lease.tenant_id, "id": company, "value": value}
            await connection.execute(COMING_BACK[name], given)
        await heed(connection, self.lease.tenant_id, self.account, news.people)


def stored_form(entry: OutboxEntry) -> str:
    """Return an entry as it is stored: most of what is read is what we wrote, and unchanged."""
    return json_text(written_entry(entry))


async def entries_of(
    connection: AsyncConnection,
    sync_id: UUID,
    kind: CrmKind,
    records: Sequence[CrmRecord],
) -> list[OutboxEntry]:
    """Return the entries of these records, by their ids and the ids that went into them."""
    theirs = {one.id for one in records} | {
        id_ for one in records for id_ in one.old_ids
    }
    if not theirs:
        return []
    query = (
        select(RECORDS)
        .where(
            RECORDS.c.connection_id == sync_id,
            RECORDS.c.kind == kind.value,
            RECORDS.c.their_id.in_(theirs),
        )
        .order_by(RECORDS.c.id)
        .with_for_update()
    )
    return [entry_of(row) for row in await connection.execute(query)]


def share_merged(entries: Sequence[OutboxEntry]) -> None:
    """Where two of ours are one there now, the first writes and the others share it."""
    first: dict[str | None, OutboxEntry] = {}
    for entry in entries:
        if entry.their_id is None or entry.is_shared:
            continue
        if first.setdefault(entry.their_id, entry) is not entry:
            entry.is_shared = True


def our_value(
    rule: FieldMapping, schema: dict[str, CrmField], now: object
) -> str | None:
    """Return the value of ours that one of theirs stands for."""
    if not isinstance(now, str):
        return None
    if rule.ours == "owner":
        return now
    back = {theirs.casefold(): ours for ours, theirs in rule.choices.items()}
    field_ = schema.get(rule.theirs)
    labels = {one.value: one.label for one in field_.options} if field_ else {}
    for spelt in (now, labels.get(now, now)):
        wanted = back.get(spelt.casefold(), spelt)
        for status in LeadStatus:
            if status.value.casefold() == wanted.casefold():
                return status.value
    return None
