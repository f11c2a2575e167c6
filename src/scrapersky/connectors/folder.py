"""A folder of JSON lines or CSV: the simplest target, and the example of a connector.

Each kind is one file. A line of JSON is a record, and the last line of an id is what holds; half
a line, which a crash left behind, is none. A CSV file is replaced as a whole. Their id is our id;
a row without one is somebody's own, and stays.
"""

import csv
import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar, Final
from uuid import UUID

import orjson

from scrapersky.connectors.mapping import own_fields
from scrapersky.connectors.meter import MeterRule
from scrapersky.connectors.protocol import (
    OWN_ID,
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
    SyncVolume,
    WriteResult,
    Written,
)
from scrapersky.connectors.values import TRUE_WORDS, uuid_in
from scrapersky.errors import CrmCannot
from scrapersky.kit.cell import csv_cell, restored

FILES: Final = {CrmKind.COMPANY: "companies", CrmKind.PERSON: "people"}
FORMATS: Final = ("jsonl", "csv")
COMPANY: Final = "company_id"
FIELDS: Final = {
    CrmKind.COMPANY: {
        "name": CrmFieldType.TEXT,
        "domain": CrmFieldType.URL,
        "phone": CrmFieldType.PHONE,
        "street": CrmFieldType.TEXT,
        "city": CrmFieldType.TEXT,
        "postal_code": CrmFieldType.TEXT,
        "country": CrmFieldType.TEXT,
    },
    CrmKind.PERSON: {
        "name": CrmFieldType.TEXT,
        "email": CrmFieldType.EMAIL,
        "phone": CrmFieldType.PHONE,
        "role": CrmFieldType.TEXT,
    },
}


class FolderConnector:
    """Writes records into the files of a folder of its connection."""

    info: ClassVar = ConnectorInfo(
        name="folder",
        title="Folder",
        credential=None,
        options=(
            ConnectorOption("format", "Format", choices=FORMATS, default="jsonl"),
        ),
        batch=dict.fromkeys(CrmKind, 500),
        knows_own=tuple(CrmKind),
        key_fields={CrmKind.COMPANY: "domain", CrmKind.PERSON: "email"},
        mapping={
            kind: {name: name for name in fields} for kind, fields in FIELDS.items()
        },
    )

    def __init__(self, context: ConnectorContext) -> None:
        """Begin; the folder is made when something is written."""
        self._folder = context.folder
        self._format = context.options.get("format") or FORMATS[0]

    @classmethod
    def meters(cls, options: Mapping[str, str]) -> Sequence[MeterRule]:
        """Return no limits."""
        return ()

    async def account(self) -> CrmAccount:
        """Return the folder itself; raise OSError if nothing can be written there."""
        self._folder.mkdir(parents=True, exist_ok=True)
        return CrmAccount(id=str(self._folder), name=self._folder.name)

    async def fields(self, kind: CrmKind) -> Sequence[CrmField]:
        """Return the fields that a line may have."""
        ours = [
            CrmField(name=name, label=name.replace("_", " ").capitalize(), type=type_)
            for name, type_ in FIELDS[kind].items()
        ]
        return [*ours, *own_fields()]

    async def make_fields(
        self, kind: CrmKind, fields: Sequence[CrmField]
    ) -> Mapping[str, str]:
        """Return the names as they are: a line holds whatever it is given."""
        return {field.name: field.name for field in fields}

    async def read(
        self, kind: CrmKind, ids: Sequence[str], names: Sequence[str]
    ) -> Mapping[str, CrmRecord]:
        """Read the last lines of these ids."""
        found = self._rows(kind)
        return {one: record_of(kind, found[one], names) for one in ids if one in found}

    async def read_own(
        self,
        kind: CrmKind,
        our_ids: Sequence[UUID],
        names: Sequence[str],
        since: datetime | None = None,
    ) -> Mapping[UUID, CrmRecord]:
        """Read the same: their ids are ours."""
        found = await self.read(kind, [str(one) for one in our_ids], names)
        return {UUID(one): record for one, record in found.items()}

    async def find(
        self, kind: CrmKind, keys: Sequence[str], names: Sequence[str]
    ) -> Mapping[str, Sequence[CrmRecord]]:
        """Look for records by e-mail address or domain."""
        field, found = self.info.key_fields[kind], dict[str, list[CrmRecord]]()
        for row in self._rows(kind).values():
            key = str(row.get(field)).lower()
            if key in keys:
                found.setdefault(key, []).append(record_of(kind, row, names))
        return found

    async def write(
        self, kind: CrmKind, records: Sequence[RecordWrite]
    ) -> Sequence[WriteResult]:
        """Append a line for each record, with what its last line says of other fields."""
        rows = self._rows(kind)
        lines, results = [], []
        for record in records:
            key = str(record.our_id)
            row = {**rows.get(key, {}), OWN_ID: key, **record.values}
            results.append(Written(key, is_new=key not in rows))
            rows[key] = row
            lines.append(row)
        self._append(kind, lines)
        return results

    async def link(
        self, pairs: Sequence[PersonOfCompany]
    ) -> Mapping[PersonOfCompany, str]:
        """Write the company's id on the person's line."""
        rows = self._rows(CrmKind.PERSON)
        links = {pair.person_id: pair.company_id for pair in pairs}
        changed = [
            {**rows[person], COMPANY: company}
            for person, company in links.items()
            if person in rows and rows[person].get(COMPANY) != company
        ]
        self._append(CrmKind.PERSON, changed)
        return {pair: "no such person" for pair in pairs if pair.person_id not in rows}

    async def changes(
        self, kind: CrmKind, cursor: str | None, names: Sequence[str]
    ) -> CrmChanges:
        """Return every record if a file has changed: what people edit has no other mark."""
        path = self._path(kind)
        stamp = str(path.stat().st_mtime_ns) if path.exists() else "0"
        if cursor in (None, stamp):
            return CrmChanges(records=(), cursor=stamp)
        rows = self._rows(kind).values()
        return CrmChanges(
            records=[record_of(kind, row, names) for row in rows], cursor=stamp
        )

    async def erase(self, kind: CrmKind, their_id: str) -> None:
        """Write the file anew without any line of the record."""
        await self.delete(kind, [their_id])

    async def delete(self, kind: CrmKind, their_ids: Sequence[str]) -> None:
        """Write the file anew without these records."""
        rows = self._rows(kind)
        kept = {key: row for key, row in rows.items() if key not in set(their_ids)}
        if len(kept) < len(rows):
            self._replace(kind, kept)

    def price(self, kind: CrmKind, volume: SyncVolume) -> Mapping[str, float]:
        """Return nothing: a folder costs nothing."""
        return {}

    def _path(self, kind: CrmKind) -> Path:
        return self._folder / f"{FILES[kind]}.{self._format}"

    def _replace(self, kind: CrmKind, ours: Mapping[str, Mapping[str, Any]]) -> None:
        """Put another file into its place: whoever reads sees the one or the other."""
        path, left, rows = self._path(kind), dict(ours), list[Mapping[str, Any]]()
        for row in self._every(kind):
            own = uuid_in(row.get(OWN_ID))
            if own is None:
                rows.append(row)
            elif str(own) in left:
                rows.append(left.pop(str(own)))
        rows += left.values()
        beside = path.with_suffix(".new")
        if self._format == "csv":
            write_table(beside, rows)
        else:
            beside.write_bytes(b"".join(map(line_of, rows)))
        beside.replace(path)

    def _append(self, kind: CrmKind, rows: Sequence[Mapping[str, Any]]) -> None:
        if not rows:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._path(kind)
        if self._format == "csv":
            changed = {row[OWN_ID]: row for row in rows}
            self._replace(kind, self._rows(kind) | changed)
            return
        with path.open("ab") as file:
            # What a crash left of a line is ended, so that ours begins on one of its own.
            if file.tell() and not ends_line(path):
                file.write(b"\n")
            file.write(b"".join(map(line_of, rows)))
            file.flush()
            os.fsync(file.fileno())

    def _every(self, kind: CrmKind) -> Iterator[dict[str, Any]]:
        path = self._path(kind)
        if path.exists() and path.stat().st_size:
            yield from read_table(path) if self._format == "csv" else read_lines(path)

    def _rows(self, kind: CrmKind) -> dict[str, dict[str, Any]]:
        ids = ((uuid_in(row.get(OWN_ID)), row) for row in self._every(kind))
        return {str(own): {**row, OWN_ID: str(own)} for own, row in ids if own}


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the whole lines of a file."""
    with path.open("rb") as file:
        for line in file:
            try:
                row = orjson.loads(line)
            except orjson.JSONDecodeError:
                continue
            if isinstance(row, dict):
                yield row


def read_table(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a CSV file; what is empty there is not there.

    Raise CrmCannot for a file that a program saved in another form: written over, it would be lost.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            table = csv.DictReader(file, strict=True)
            if OWN_ID not in (table.fieldnames or ()):
                raise unreadable(path, f"it has no column {OWN_ID}")
            for row in table:
                if None in row:
                    raise unreadable(
                        path, "a row has more cells than there are columns"
                    )
                yield {name: restored(value) for name, value in row.items() if value}
    except (UnicodeDecodeError, csv.Error) as error:
        raise unreadable(path, str(error)) from None


def unreadable(path: Path, why: str) -> CrmCannot:
    """Return what to say of a table that is not read, and so not written."""
    return CrmCannot(
        f"{path.name} cannot be read: {why}.",
        hint="Save it as CSV with commas, in UTF-8, or move it away: then it is begun anew.",
    )


def write_table(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write a CSV file with a column for every name; no cell begins a formula."""
    names = list(dict.fromkeys([OWN_ID, *(name for row in rows for name in row)]))
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        table = csv.writer(file)
        table.writerow(names)
        table.writerows([csv_cell(row.get(name)) for name in names] for row in rows)
        file.flush()
        os.fsync(file.fileno())


def line_of(row: Mapping[str, Any]) -> bytes:
    """Return a record as a line."""
    return orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_SORT_KEYS)


def ends_line(path: Path) -> bool:
    """Say whether the last byte of a file ends a line."""
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def record_of(kind: CrmKind, row: Mapping[str, Any], names: Sequence[str]) -> CrmRecord:
    """Return a line as a record."""
    return CrmRecord(
        kind=kind,
        id=row[OWN_ID],
        our_id=UUID(row[OWN_ID]),
        values={name: row.get(name) for name in names},
        company_id=row.get(COMPANY),
        is_unsubscribed=str(row.get("unsubscribed")).lower() in TRUE_WORDS,
        is_bounced=str(row.get("bounced")).lower() in TRUE_WORDS,
    )
