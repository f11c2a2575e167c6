"""A truthful list is all green, and one that was tampered with is found out."""

import asyncio
import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from scrapersky.errors import InvalidImport
from scrapersky.kit.delta import pack
from scrapersky.proofs.outcome import ProofVerdict
from tests.cli.rig import run
from tests.conftest import TestDatabase
from tests.proofs.conftest import Proven

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

Row = dict[str, str]


def rewritten(path: Path, change: Callable[[list[Row]], None]) -> Path:
    """Change the rows of a table, as somebody who tampers with it."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = [*csv.DictReader(file)]
    change(rows)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0]])
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.mark.parametrize("form", ["csv", "xlsx", "jsonl"])
@pytest.mark.parametrize("kind", ["contacts", "companies"])
async def test_every_value_of_a_truthful_list_follows_from_its_origin(
    proven: Proven, kind: str, form: str
) -> None:
    path = await proven.export(kind, form)

    report = await proven.verify(path)

    assert report.rows > 10
    assert report.counts[ProofVerdict.PAGE] > 2 * report.rows * (kind == "contacts")
    assert report.counts[ProofVerdict.SOURCE]
    assert report.doubts == []


def digits_changed(rows: list[Row]) -> None:
    for row in rows:
        row["phone"] = row["phone"][:-1] + str((int(row["phone"][-1]) + 1) % 10)


def addresses_exchanged(rows: list[Row]) -> None:
    first, last = rows[0], rows[-1]
    names = ("email", "phone", "name", "proof")
    for name in names[:-1]:
        first[name], last[name] = last[name], first[name]


def whole_proofs_exchanged(rows: list[Row]) -> None:
    """Let a row name the pages that its stolen values are really on."""
    addresses_exchanged(rows)
    pages_exchanged(rows)


def pages_exchanged(rows: list[Row]) -> None:
    """Let a row name the pages of another."""
    one, other = rows[0]["proof"].split(), rows[-1]["proof"].split()
    rows[0]["proof"] = " ".join((*one[:4], *other[4:]))


def column_renamed(rows: list[Row]) -> None:
    for row in rows:
        row["mail"] = row.pop("email")


def id_exchanged(rows: list[Row]) -> None:
    rows[0]["id"] = rows[-1]["id"]


def person_invented(rows: list[Row]) -> None:
    rows[0]["decision_maker"] = "Nadia Nobody"


def rating_improved(rows: list[Row]) -> None:
    next(row for row in rows if row["rating"])["rating"] = "4.99"


def confidence_improved(rows: list[Row]) -> None:
    rows[0]["confidence"] = "1.0"


def proof_removed(rows: list[Row]) -> None:
    rows[0]["proof"] = ""


@pytest.mark.parametrize(
    "tampering",
    [
        digits_changed,
        addresses_exchanged,
        whole_proofs_exchanged,
        pages_exchanged,
        column_renamed,
        id_exchanged,
        person_invented,
        rating_improved,
        confidence_improved,
        proof_removed,
    ],
)
async def test_a_list_that_was_tampered_with_is_found_out(
    proven: Proven, tampering: Callable[[list[Row]], None]
) -> None:
    only = "phone:known" if tampering is digits_changed else "email:known"
    path = await proven.export("contacts", "csv", filters=[only])

    report = await proven.verify(rewritten(path, tampering))

    assert report.false
    assert {one.row for one in report.doubts} <= set(range(2, report.rows + 2))


async def test_what_a_person_wrote_is_said_to_be_theirs(proven: Proven) -> None:
    [contact] = await proven.rows("SELECT id FROM contacts WHERE name IS NULL LIMIT 1")
    await proven.run(
        "UPDATE contacts SET name = 'Ann Lee' WHERE id = :id", id=contact.id
    )
    await proven.run(
        "INSERT INTO contact_evidence (tenant_id, contact_id, field, value, url, snippet,"
        " method, confidence, seen_at) VALUES (:tenant, :id, 'name', 'Ann Lee', '',"
        " 'written by Ada', 'by hand', 1, now())",
        id=contact.id,
        tenant=proven.tenant_id,
    )

    report = await proven.verify(await proven.export("contacts", "csv"))

    assert report.counts[ProofVerdict.HAND] == 1
    assert report.doubts == []


async def test_values_whose_page_is_not_kept_are_open_and_not_false(
    proven: Proven,
) -> None:
    path = await proven.export("contacts", "jsonl")
    await proven.run("UPDATE page_contents SET base = NULL, content = ''")
    await proven.run("DELETE FROM page_contents")

    report = await proven.verify(path)

    assert not report.false
    assert report.counts[ProofVerdict.NOT_KEPT] > report.rows
    assert not report.counts[ProofVerdict.PAGE]


async def test_bytes_that_were_exchanged_in_the_database_are_found_out(
    proven: Proven,
) -> None:
    path = await proven.export("contacts", "csv")
    other = pack(b"<p>Write to <a href='mailto:me@evil.bv'>us</a>")
    await proven.run(
        "UPDATE page_contents SET base = NULL, size = 100, content = :other",
        other=other,
    )

    report = await proven.verify(path)

    assert not report.counts[ProofVerdict.PAGE]
    assert not report.is_sound
    assert {one.judgement.why for one in report.doubts} == {
        "the stored bytes are not those that were read"
    }


async def test_a_page_was_exchanged_in_the_database_and_the_command_found_no_fault(
    proven: Proven, copied: TestDatabase
) -> None:
    path = await proven.export("contacts", "csv")
    given = {"DATABASE_URL": copied.dsn, "SCRAPERSKY_DATA_DIR": proven.folder}
    before = await asyncio.to_thread(run, "verify", str(path), **given)
    [page] = await proven.rows(
        "SELECT c.hash FROM page_contents c WHERE c.base IS NOT NULL"
        " AND EXISTS (SELECT FROM page_snapshots s JOIN contact_evidence e"
        "   ON e.page_id = s.page_id WHERE s.hash = c.hash) LIMIT 1"
    )
    other = pack(b"<p>Write to <a href='mailto:me@evil.bv'>us</a>")
    await proven.run(
        "UPDATE page_contents SET base = NULL, size = 46, content = :other"
        " WHERE hash = :hash",
        other=other, hash=page.hash,
    )  # fmt: skip

    after = await asyncio.to_thread(run, "verify", str(path), **given)

    assert (before.returncode, "NOT what was read" in before.stdout) == (0, False)
    assert after.returncode == 1
    assert "Stored pages that are NOT what was read: 1." in after.stdout


async def test_values_of_older_readers_are_open_where_the_new_ones_do_not_find_them(
    proven: Proven,
) -> None:
    await proven.run("UPDATE page_snapshots SET reader = '0.1.0+old'")
    [row] = await proven.rows(
        "SELECT id, email FROM contacts WHERE email IS NOT NULL LIMIT 1"
    )
    await proven.run(
        "UPDATE contact_evidence SET value = 'old@a.bv' WHERE contact_id = :id"
        " AND field = 'email'",
        id=row.id,
    )
    await proven.run("UPDATE contacts SET email = 'old@a.bv' WHERE id = :id", id=row.id)

    report = await proven.verify(await proven.export("contacts", "csv"))

    assert report.counts[ProofVerdict.OTHER_READER]
    assert not report.false


async def test_a_file_without_proofs_is_refused(proven: Proven) -> None:
    path = await proven.export("contacts", "csv", columns="email")

    with pytest.raises(InvalidImport, match="no column 'proof'"):
        await proven.verify(path)


async def test_damaged_pages_ended_the_verification_and_the_replay(
    proven: Proven,
) -> None:
    path = await proven.export("contacts", "csv")
    await proven.run("UPDATE page_contents SET content = 'xyz' WHERE base IS NULL")

    report = await proven.verify(path)
    replayed = await proven.replay(everything=True)

    assert not report.false
    assert "the stored bytes are not those that were read" in {
        one.judgement.why for one in report.doubts
    }
    assert replayed.pages == 0
    assert replayed.unreadable > 50


@pytest.mark.parametrize("column", ["addresses", "phone_verdict"])
async def test_what_was_found_from_several_pages_is_that_of_the_record(
    proven: Proven, column: str
) -> None:
    path = await proven.export("companies", "csv")

    def changed(rows: list[Row]) -> None:
        next(row for row in rows if row[column])[column] = "silent as the grave"

    report = await proven.verify(rewritten(path, changed))

    assert [one.column for one in report.doubts] == [column]
    assert report.false == 1


async def test_a_truthful_list_was_false_once_its_source_said_something_else(
    proven: Proven,
) -> None:
    path = await proven.export("companies", "csv")
    await proven.run(
        "UPDATE local_businesses SET rating = 1.1 WHERE rating IS NOT NULL"
    )

    at_once = await proven.verify(path)
    await proven.run("UPDATE places_staging SET seen_at = now() + interval '9 seconds'")
    later = await proven.verify(path)

    assert at_once.counts[ProofVerdict.NOT_THE_RECORD]
    assert not later.false
    assert later.counts[ProofVerdict.CHANGED_SINCE]


async def test_a_workbook_was_false_that_had_two_spaces_between_words(
    proven: Proven,
) -> None:
    path = await proven.export("contacts", "csv")

    def one_space_less(rows: list[Row]) -> None:
        for row in rows:
            row["snippet"] = " ".join(row["snippet"].split())

    report = await proven.verify(rewritten(path, one_space_less))

    assert report.doubts == []
