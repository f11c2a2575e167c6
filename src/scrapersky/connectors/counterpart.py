"""Which record of theirs is one of ours: found by address, taken up, or shared.

Several of ours may have one e-mail address, and a person may have made theirs: no second record is
made of either.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from sqlalchemy import text

from scrapersky.changes.subscriber import Lease
from scrapersky.connectors.account import MATCH_EXISTING, CrmConnection
from scrapersky.connectors.lead import SyncedLead
from scrapersky.connectors.outbox import LOST_PAUSE, OutboxEntry, same_address
from scrapersky.connectors.protocol import CrmKind, CrmRecord

SHARED_BY_OTHER: Final = text(
    """SELECT their_id FROM sync_records WHERE connection_id = :connection AND kind = :kind
    AND their_id = ANY(:ids) AND id <> ALL(:but) AND NOT is_shared"""
)


@dataclass(frozen=True, slots=True)
class Counterparts:
    """Finds records there for those of ours that have none yet."""

    lease: Lease
    account: CrmConnection

    async def one_of_each_address(
        self, entries: Sequence[OutboxEntry], leads: dict[UUID, SyncedLead]
    ) -> list[OutboxEntry]:
        """Leave people to the next step whose address another of ours has that goes first.

        Where that one is there already, they share its record: two companies may have one `info@`.
        """
        by_email: dict[str, list[OutboxEntry]] = {}
        for entry in entries:
            email = leads[entry.record_id].values.get("email")
            if isinstance(email, str) and not entry.their_id:
                by_email.setdefault(email, []).append(entry)
        async with self.lease.engine.connect() as connection:
            there = await same_address(
                connection, self.lease.tenant_id, self.lease.id, by_email
            )
        later: set[UUID] = set()
        for email, alike in by_email.items():
            if email not in there:
                later.update(one.id for one in alike[1:])
            elif (their_id := there[email]) is not None:
                await self.take_up(CrmKind.PERSON, alike, their_id)
            else:
                # An answer is still to be found out about.
                for entry in alike:
                    entry.put_back(LOST_PAUSE)
                later.update(one.id for one in alike)
        return [one for one in entries if one.id not in later]

    async def adopt(
        self,
        kind: CrmKind,
        entries: Sequence[OutboxEntry],
        leads: dict[UUID, SyncedLead],
    ) -> None:
        """Take up records of theirs that a single one fits by e-mail address or domain."""
        keys = self.keys(kind, entries, leads)
        if not keys:
            return
        names = self.account.names(kind)
        found = await self.account.crm.find(kind, list(keys), names)
        for key, waiting in keys.items():
            records = [one for one in found.get(key, ()) if not one.is_deleted]
            mine = [one for one in records if one.our_id is None]
            if len(records) > 1:
                ids = ", ".join(sorted(one.id for one in records)[:5])
                for entry in waiting:
                    entry.refuse({"": f"Several records there fit {key}: {ids}."})
            elif mine:
                await self.take_up(kind, waiting, mine[0].id)
            elif records:
                await self._resume(kind, waiting, records[0])

    def keys(
        self,
        kind: CrmKind,
        entries: Sequence[OutboxEntry],
        leads: dict[UUID, SyncedLead],
    ) -> dict[str, list[OutboxEntry]]:
        """Return by which e-mail addresses or domains records are looked for there."""
        if self.account.row.options.get(MATCH_EXISTING) == "no":
            return {}
        ours = {"company": "domain", "person": "email"}[kind.value]
        keys: dict[str, list[OutboxEntry]] = {}
        for entry in entries:
            key = leads[entry.record_id].values.get(ours)
            if isinstance(key, str) and key and not entry.their_id:
                keys.setdefault(key.lower(), []).append(entry)
        return keys

    async def _resume(
        self, kind: CrmKind, waiting: Sequence[OutboxEntry], record: CrmRecord
    ) -> None:
        """One of ours is there already; others of the same address are linked to it."""
        for entry in waiting:
            if record.our_id == entry.record_id:
                entry.their_id = record.id
        others = [one for one in waiting if record.our_id != one.record_id]
        if kind is CrmKind.PERSON:
            await self.take_up(kind, others, record.id)

    async def take_up(
        self, kind: CrmKind, waiting: Sequence[OutboxEntry], their_id: str
    ) -> None:
        """Make a record of theirs that of the first of ours; others share it.

        Companies share nothing: two locations of one domain are two companies.
        """
        asked = {
            "connection": self.lease.id,
            "kind": kind.value,
            "ids": [their_id],
            "but": [one.id for one in waiting],
        }
        async with self.lease.engine.connect() as connection:
            is_taken = bool(await connection.scalar(SHARED_BY_OTHER, asked))
        for entry in waiting:
            if kind is CrmKind.COMPANY and is_taken:
                continue
            entry.their_id, entry.is_adopted = their_id, True
            entry.is_shared, is_taken = is_taken, True
