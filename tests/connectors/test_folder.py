"""A folder of leads: kills between two bytes, and people who edit its tables."""

import contextlib
import csv
import itertools
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from scrapersky.connectors.folder import FolderConnector
from scrapersky.connectors.protocol import OWN_ID, ConnectorContext, CrmKind
from scrapersky.errors import CrmCannot
from tests.connectors.desk import SalesDesk
from tests.connectors.fakes.clock import StillClock
from tests.connectors.killing import Executioner, Killed
from tests.connectors.rig import connected, our, write

COMPANY = CrmKind.COMPANY
FORMATS = pytest.mark.parametrize("form", ["jsonl", "csv"])


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[FolderConnector]:
    async with connected(
        FolderConnector, "", "", StillClock(), tmp_path, format="csv"
    ) as connector:
        await connector.write(
            COMPANY, [write(COMPANY, n, {"name": f"N{n}"}) for n in (1, 2)]
        )
        yield connector


def ids(connector: FolderConnector) -> list[str]:
    return sorted(connector._rows(COMPANY))


@FORMATS
@pytest.mark.parametrize("call", ["write", "fsync", "replace"])
async def test_a_kill_while_a_file_is_written_lost_and_doubled_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, call: str
) -> None:
    async with connected(
        FolderConnector, "", "", StillClock(), tmp_path, format=form
    ) as connector:
        await connector.write(COMPANY, [write(COMPANY, 1, {"name": "One"})])
        path = connector._path(COMPANY)

        def killed(*_: Any) -> None:
            raise Killed

        with monkeypatch.context() as patch:
            if call == "fsync":
                patch.setattr(os, "fsync", killed)
            elif call == "replace":
                patch.setattr(Path, "replace", killed)
            elif form == "jsonl":
                with path.open("ab") as file:
                    file.write(b'{"scrapersky_id": "3f1e')
            else:
                path.with_suffix(".new").write_bytes(b"scrapersky_id,na")
            try:
                await connector.write(COMPANY, [write(COMPANY, 2, {"name": "Two"})])
            except Killed:
                assert call != "write"
        record = write(COMPANY, 2, {"name": "Two"})
        if not await connector.read_own(COMPANY, [our(2)], ()):
            await connector.write(COMPANY, [record])
        await connector.erase(COMPANY, str(our(1)))

        assert ids(connector) == [str(our(2))]
        assert connector._rows(COMPANY)[str(our(2))]["name"] == "Two"


@pytest.mark.slow
@FORMATS
async def test_a_kill_at_every_step_leaves_each_lead_in_the_folder_once(
    desk: SalesDesk, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    sync_id = await desk.connect("folder", options={"format": form})
    context = ConnectorContext(None, {"format": form}, "", desk.folder / str(sync_id))  # type: ignore[arg-type]
    files = FolderConnector(context)
    companies, contacts = list[UUID](), list[UUID]()
    for at in itertools.count(1):
        company = await desk.add_company(f"Company {at}", f"k{at}.example")
        contact = await desk.add_contact(f"p@k{at}.example", f"Pat {at}", company)
        companies.append(company)
        contacts.append(contact)
        await desk.push(sync_id, company)
        with monkeypatch.context() as patch, contextlib.suppress(Killed):
            Executioner(at).arm(patch)
            await desk.work(sync_id)
            break
        await desk.work_until_idle(sync_id)
        assert ids(files) == sorted(map(str, companies)), at
        people = files._rows(CrmKind.PERSON)
        assert {*people} == {*map(str, contacts)}, at
        assert all(one.get("company_id") for one in people.values())
    assert at > 8


async def test_rows_that_a_person_added_to_a_table_stay(table: FolderConnector) -> None:
    path = table._path(COMPANY)
    with path.open("a", newline="", encoding="utf-8") as file:
        csv.writer(file).writerow(["", "By Hand Ltd"])

    await table.write(COMPANY, [write(COMPANY, 1, {"name": "Other"})])
    await table.delete(COMPANY, [str(our(2))])

    assert "By Hand Ltd" in path.read_text(encoding="utf-8")
    assert ids(table) == [str(our(1))]


@pytest.mark.parametrize(
    "text",
    [
        f"\ufeff{OWN_ID};name\r\n{our(1)};Müller\r\n",
        "name,city\r\nAcme,Bonn\r\n",
        "M\xfcller",
    ],
    ids=["semicolons", "without our column", "another encoding"],
)
async def test_a_table_that_cannot_be_read_was_not_written_over(
    table: FolderConnector, text: str
) -> None:
    path = table._path(COMPANY)
    encoding = "latin-1" if text == "M\xfcller" else "utf-8"
    path.write_text(text, encoding=encoding, newline="")
    before = path.read_bytes()

    with pytest.raises(CrmCannot, match=r"companies\.csv"):
        await table.write(COMPANY, [write(COMPANY, 3, {"name": "New"})])

    assert path.read_bytes() == before


async def test_an_id_that_a_person_broke_is_a_row_of_theirs(
    table: FolderConnector,
) -> None:
    path = table._path(COMPANY)
    text = path.read_text(encoding="utf-8-sig").replace(str(our(1)), "one")
    path.write_text(text, encoding="utf-8-sig")

    page = await table.changes(COMPANY, "0", ["name"])

    assert [one.our_id for one in page.records] == [our(2)]
    await table.write(COMPANY, [write(COMPANY, 3, {"name": "New"})])
    assert ids(table) == sorted([str(our(2)), str(our(3))])
    assert "one,N1" in path.read_text(encoding="utf-8-sig")
