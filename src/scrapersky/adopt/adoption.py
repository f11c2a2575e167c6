"""Bring the rows of an old database to a tenant, each slice in a transaction of its own.

Whoever is stopped in the middle runs it again: what is there already is found again.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final
from uuid import UUID

from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.adopt.old_database import OldDatabase, TableUnreadable, old_columns
from scrapersky.adopt.old_row import Columns, OldRow, RowRefused, fitted_row, key_from
from scrapersky.adopt.old_table import (
    GOOGLE,
    LINK_TO_BUSINESS,
    NOT_ADOPTED,
    OLD_TABLES,
    OldReference,
    OldTable,
)
from scrapersky.adopt.report import AdoptionReport, ReportLine, RowFate
from scrapersky.adopt.storing import (
    find_parents,
    find_same,
    insert_rows,
    key_columns,
    known_keys,
    store_sources,
)
from scrapersky.curation.batch.submission import SUPPRESSED
from scrapersky.db.connection import sqlstate_of
from scrapersky.db.rows import reason_of
from scrapersky.db.transaction import Database, run_in_transaction
from scrapersky.kit.clock import utc_now
from scrapersky.privacy.suppression_filter import SuppressionFilter, suppressions

UNSTORABLE: Final = ("22", "23", "54")
"""Classes of PostgreSQL's codes: the row is to blame, and not the server."""
LENT: Final = ("places_staging", "local_businesses")
"""Tables with facts of a source that may take them back."""


@dataclass(frozen=True, slots=True)
class RowVerdict:
    """What became of one row of a slice."""

    row: OldRow
    fate: RowFate
    column: str = ""
    reason: str = ""
    instead: UUID | None = None
    """The row that it was merged into."""


@dataclass(slots=True)
class Adoption:
    """Rows of one old database on their way to one tenant."""

    database: Database
    """An engine; or a connection whose transaction the caller takes back, for a trial."""
    tenant_id: UUID
    user_id: UUID
    google_lends_for: timedelta
    report: AdoptionReport
    progress: Callable[[str, int], None]
    """Told the table and how many of its rows were read."""
    merged: dict[UUID, UUID] = field(default_factory=dict)
    """Keys of rows that are another row here, so that references follow."""

    async def adopt(self, old: OldDatabase) -> None:
        """Adopt all tables, and report what became of every row."""
        for table in OLD_TABLES:
            if (columns := old.columns.get(table.name)) is None:
                self.report.remarks.append(f"{table.name}: there is no such table")
                continue
            lacking = lacking_column(table, columns)
            if lacking is not None:
                self.report.skipped[table.name] = f"it has no column {lacking}"
                continue
            self.report.remarks += remarks_on(table, columns)
            try:
                await self._adopt_table(old, table)
            except TableUnreadable as error:
                self.report.skipped[table.name] = str(error)
        for name, reason in NOT_ADOPTED.items():
            await self._leave(old, name, reason)

    async def _adopt_table(self, old: OldDatabase, table: OldTable) -> None:
        columns = {name: table.target.c[name] for name in table.columns}
        async for given in old.slices(table):
            self.report.read[table.name] += len(given)
            rows = []
            for one in given:
                try:
                    rows.append(self._read(table, columns, one))
                except RowRefused as error:
                    self._refuse(table, str(one["old_key"]), error)
            await self._store(table, rows)
            self.progress(table.name, self.report.read[table.name])

    async def _leave(self, old: OldDatabase, table: str, reason: str) -> None:
        """Count the rows of a table that stay where they are."""
        if table not in old.columns:
            return
        try:
            count = await old.count(table)
        except TableUnreadable as error:
            self.report.skipped[table] = str(error)
            return
        self.report.read[table] = self.report.rows[table, RowFate.REFUSED] = count
        if count:
            self.report.reasons[table, "", RowFate.REFUSED, reason] = count

    def _read(
        self, table: OldTable, columns: Columns, given: Mapping[str, Any]
    ) -> OldRow:
        """Understand one row; raise RowRefused if it cannot be adopted."""
        if given["old_key"] is None:
            raise RowRefused("id", "it is empty")
        if given["old_turn"] > 1:
            raise RowRefused("id", "another row has the same key")
        row = fitted_row(given["old_key"], columns, given)
        row.extra = {name: given.get(name) for name in table.extra}
        for name in table.needs:
            if row.values[name] is None:
                raise RowRefused(name, row.why_empty(name))
        table.finish(row)
        now = utc_now()
        row.values |= {
            "id": key_from(table.name, row.key),
            "tenant_id": self.tenant_id,
            "created_by": self.user_id,
            "created_at": not_in_future(row.values["created_at"], now),
            "updated_at": not_in_future(row.values["updated_at"], now),
        }
        if table.name in LENT and row.values.get("source", GOOGLE) == GOOGLE:
            row.values["expires_at"] = now + self.google_lends_for
        return row

    async def _store(self, table: OldTable, rows: Sequence[OldRow]) -> None:
        """Store rows together; of those that cannot be, find the one that is to blame."""
        if not rows:
            return
        act = partial(self._write, table=table, rows=rows)
        try:
            verdicts = await run_in_transaction(self.database, act)
        except DBAPIError as error:
            if not sqlstate_of(error).startswith(UNSTORABLE):
                raise
            if len(rows) == 1:
                self._refuse(table, rows[0].key, RowRefused("", reason_of(error)))
                return
            half = len(rows) // 2
            await self._store(table, rows[:half])
            await self._store(table, rows[half:])
            return
        for verdict in verdicts:
            self._note(table, verdict)

    async def _write(
        self, connection: AsyncConnection, *, table: OldTable, rows: Sequence[OldRow]
    ) -> list[RowVerdict]:
        # A transaction may be done again: nothing of this one may be left in the rows.
        rows = [row.copy() for row in rows]
        hosts = await self._resolve(connection, table, rows)
        refused = {
            row.values["id"]: verdict
            for row in rows
            if (verdict := without_parent(table, row)) is not None
        }
        left = [row for row in rows if row.values["id"] not in refused]
        refused |= await self._suppressed(connection, table, left, hosts)
        left = [row for row in left if row.values["id"] not in refused]
        stored = await insert_rows(connection, table, left)
        new = [row for row in left if row.values["id"] in stored]
        if table.name == "contacts":
            await store_sources(connection, new)
        others = [row for row in left if row.values["id"] not in stored]
        return [
            *refused.values(),
            *(RowVerdict(row, RowFate.ADOPTED) for row in new),
            *await self._identify(connection, table, others),
        ]

    async def _resolve(
        self, connection: AsyncConnection, table: OldTable, rows: Sequence[OldRow]
    ) -> dict[UUID, str]:
        """Put our keys in the place of the old ones; return the hosts of the domains.

        What leads nowhere stays empty, with its reason.
        """
        hosts: dict[UUID, str] = {}
        for reference in table.references:
            written = {row.values[reference.column] for row in rows} - {None}
            keys = [self._key(reference, one) for one in written]
            found = await find_parents(
                connection, reference, self.tenant_id, keys, [*map(str, written)]
            )
            for row in rows:
                one = row.values[reference.column]
                if one is None:
                    continue
                parent = found.get(str(one)) or found.get(
                    str(self._key(reference, one))
                )
                if parent is None:
                    why = f"it names no row of {reference.table}"
                    row.leave_out(reference.column, why)
                    continue
                row.values[reference.column] = parent.id
                if parent.domain:
                    hosts[parent.id] = parent.domain
                if parent.domain_id and row.values["domain_id"] is None:
                    row.values["domain_id"] = parent.domain_id
        return hosts

    def _key(self, reference: OldReference, written: object) -> UUID:
        key = key_from(reference.table, written)
        return self.merged.get(key, key)

    async def _suppressed(
        self,
        connection: AsyncConnection,
        table: OldTable,
        rows: Sequence[OldRow],
        hosts: Mapping[UUID, str],
    ) -> dict[UUID, RowVerdict]:
        """Return the rows of whoever is on the suppression list; strike them out of others."""
        guard = await suppressions(
            connection,
            self.tenant_id,
            [(row.values, row.extra) for row in rows],
            domains={*hosts.values(), *filter(None, (own_domain(row) for row in rows))},
            people={
                (row.values["name"], host)
                for row in rows
                if (host := parent_host(row, hosts)) and row.values.get("name")
            },
        )
        refused = {}
        for row in rows if guard else ():
            column = hidden_column(guard, row, parent_host(row, hosts))
            if column is None:
                row.values, row.extra = guard.clean(row.values), guard.clean(row.extra)
                column = next((n for n in table.needs if row.values[n] is None), None)
            if column is not None:
                verdict = RowVerdict(row, RowFate.REFUSED, column, SUPPRESSED)
                refused[row.values["id"]] = verdict
        return refused

    async def _identify(
        self, connection: AsyncConnection, table: OldTable, rows: Sequence[OldRow]
    ) -> list[RowVerdict]:
        """Say of rows that were not inserted which rows here they are."""
        keys = [row.values["id"] for row in rows]
        known = await known_keys(connection, table, self.tenant_id, keys)
        missing = [row for row in rows if row.values["id"] not in known]
        same = await find_same(connection, table, self.tenant_id, missing)
        verdicts = [
            RowVerdict(row, RowFate.PRESENT)
            for row in rows
            if row.values["id"] in known
        ]
        for row in missing:
            columns = key_columns(table, row)
            found = same.get(row.values["id"])
            if found is None:
                why = "another row of the database has its key"
                verdicts.append(RowVerdict(row, RowFate.REFUSED, "id", why))
                continue
            why = f"the same {' and '.join(columns)} as another row"
            verdicts.append(RowVerdict(row, RowFate.MERGED, columns[-1], why, found))
        return verdicts

    def _refuse(self, table: OldTable, key: str, error: RowRefused) -> None:
        line = ReportLine(table.name, key, error.column, RowFate.REFUSED, error.reason)
        self.report.add(line)

    def _note(self, table: OldTable, verdict: RowVerdict) -> None:
        """Put what became of a row into the report."""
        row = verdict.row
        if verdict.instead is not None:
            self.merged[row.values["id"]] = verdict.instead
        if verdict.reason:
            line = (table.name, row.key, verdict.column, verdict.fate, verdict.reason)
            self.report.add(ReportLine(*line))
        else:
            self.report.count(table.name, verdict.fate)
        if verdict.fate is RowFate.ADOPTED:
            for column, fate, reason in row.changes:
                self.report.add(ReportLine(table.name, row.key, column, fate, reason))


def lacking_column(table: OldTable, there: Sequence[str]) -> str | None:
    """Return the first column without which nothing of an old table can be adopted."""
    if "id" not in there:
        return "id"
    theirs = old_columns(table, there)
    return next((name for name in table.needs if name not in theirs), None)


def remarks_on(table: OldTable, there: Sequence[str]) -> list[str]:
    """Say which columns of an old table have no place here, and which of ours it lacks."""
    theirs = old_columns(table, there)
    used = {"id", "tenant_id", "created_by", LINK_TO_BUSINESS, *theirs.values()}
    left = [name for name in there if name not in {*used, *table.extra}]
    links = {reference.column for reference in table.references}
    lacking = [name for name in table.columns if name not in {*theirs, *links}]
    remarks = []
    if left:
        remarks.append(f"{table.name}: not adopted: {', '.join(left)}")
    if lacking:
        remarks.append(f"{table.name}: not there, stays empty: {', '.join(lacking)}")
    return remarks


def without_parent(table: OldTable, row: OldRow) -> RowVerdict | None:
    """Refuse a row that names nothing where it has to."""
    for reference in table.references:
        if reference.required and row.values[reference.column] is None:
            why = row.why_empty(reference.column)
            return RowVerdict(row, RowFate.REFUSED, reference.column, why)
    return None


def own_domain(row: OldRow) -> str | None:
    """Return the domain that a row is about by itself."""
    name: str | None = row.values.get("domain")
    return name


def parent_host(row: OldRow, hosts: Mapping[UUID, str]) -> str:
    """Return the domain that a row belongs to, or nothing."""
    domain = row.values.get("domain_id")
    return hosts.get(domain, "") if domain else ""


def hidden_column(guard: SuppressionFilter, row: OldRow, host: str) -> str | None:
    """Return the column for which a row is on the suppression list; None if it is not."""
    values = row.values
    if (name := own_domain(row)) and guard.hides_domain(name):
        return "domain"
    if host and guard.hides_domain(host):
        return "domain_id"
    if values.get("email") and guard.hides_email(values["email"]):
        return "email"
    if "email" in values and values["phone"] and guard.hides_phone(values["phone"]):
        return "phone"
    if "email" in values and host and values["name"]:
        return "name" if guard.hides_person(values["name"], host) else None
    return None


def not_in_future(moment: datetime | None, now: datetime) -> datetime:
    """Return a moment that is over: a row of the future would wait until then."""
    return min(moment, now) if moment else now
