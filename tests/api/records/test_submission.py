"""Submissions and imports: every line has an answer, whatever wrote the file."""

import codecs
import csv
import io
import os
from collections.abc import AsyncIterator, Iterator
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from openpyxl import Workbook

from scrapersky.api.records.lines import LONGEST_ROW, read_lines
from scrapersky.curation.batch.kind import submission_named
from scrapersky.curation.batch.submission import WrittenLine
from scrapersky.errors import InvalidImport
from scrapersky.kit import workbook_reader
from scrapersky.kit.workbook import as_table
from scrapersky.pipeline import upload
from scrapersky.providers.budget import LocalBudget
from scrapersky.providers.files import FileSettings, PlaceFiles
from scrapersky.providers.source import PlaceQuery
from tests.api.records.rig import Desk

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def lines_of(
    data: bytes, kind: str = "domains", step: int = 7
) -> list[WrittenLine]:
    headings = submission_named(kind).headings

    async def stream() -> AsyncIterator[bytes]:
        for start in range(0, len(data), step):
            yield data[start : start + step]

    return [line async for chunk in read_lines(stream(), headings) for line in chunk]


TEXT = "domain\nädä.de\n\nb.de\n"


@pytest.mark.parametrize(
    "data",
    [
        TEXT.encode(),
        codecs.BOM_UTF8 + TEXT.encode(),
        TEXT.encode("utf-16"),
        codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"),
        TEXT.encode("utf-16-le"),
        TEXT.encode("utf-32"),
        TEXT.encode("cp1252"),
        TEXT.replace("\n", "\r\n").encode(),
        TEXT.replace("\n", "\r").encode(),
        TEXT.replace("b.de", "b\x00.de").encode(),
        b"sep=;\nname;domain\nx;\xc3\xa4d\xc3\xa4.de\n;\ny;b.de",
        b'name\tURL\tdomain\n"a\tb"\thttp://u\t\xc3\xa4d\xc3\xa4.de\n\n"c\n"\t\t" b.de"',
    ],
    ids=range(12),
)
@pytest.mark.parametrize("step", [1, 3, 100_000])
async def test_a_list_is_read_whatever_program_wrote_it(data: bytes, step: int) -> None:
    lines = await lines_of(data, step=step)

    assert [line.text for line in lines] == ["ädä.de", "b.de"]
    assert [line.problem for line in lines] == [None, None]


@pytest.mark.parametrize(
    "unreadable",
    [b"\x00\xd8", b"\x81", b"\x00\xd8\x00\x00"],
    ids=["UTF-16", "cp1252", "UTF-32"],
)
async def test_four_megabytes_of_half_characters_took_five_seconds(
    unreadable: bytes,
) -> None:
    """They are refused as soon as it is plain that the file is not text."""
    mark = {2: codecs.BOM_UTF16_LE, 4: codecs.BOM_UTF32_LE}.get(len(unreadable), b"a\n")
    read = 0

    async def stream() -> AsyncIterator[bytes]:
        nonlocal read
        yield mark
        for _ in range(64):
            read += 1
            yield unreadable * (65_536 // len(unreadable))

    with pytest.raises(InvalidImport, match="Much of the file cannot be read"):
        _ = [chunk async for chunk in read_lines(stream(), ("domain",))]
    assert read <= 2


async def test_lines_keep_their_numbers() -> None:
    data = b'a.de\n\n"b.de"\n"open\nc.de\nd.de\n'

    lines = await lines_of(data)

    assert [(line.number, line.text, line.problem) for line in lines] == [
        (1, "a.de", None),
        (3, "b.de", None),
        (4, '"open', "a quote is opened and never closed"),
        (5, "c.de", None),
        (6, "d.de", None),
    ]


async def test_a_url_with_commas_in_a_plain_list_stays_whole() -> None:
    lines = await lines_of(b"https://a.de/x\nhttps://a.de/y,z;1\n", "pages")

    assert [line.text for line in lines] == ["https://a.de/x", "https://a.de/y,z;1"]


async def test_a_row_without_end_is_refused_and_the_next_is_read() -> None:
    endless = b"x" * (LONGEST_ROW * 3)

    lines = await lines_of(b"a.de\n" + endless + b"\nb.de\n", step=4_000)

    assert [line.text[:5] for line in lines] == ["a.de", "xxxxx", "b.de"]
    assert lines[1].problem == "the row is longer than 65,536 letters"


async def test_a_row_of_many_columns_is_one_row() -> None:
    data = b"name,domain\n" + b"," * 60_000 + b"\nx,b.de\n" + b"," * 500_000 + b"\n"

    lines = await lines_of(data, step=10_000)

    assert [(line.number, line.problem) for line in lines] == [
        (3, None),
        (4, "the row is longer than 65,536 letters"),
    ]


async def submitted(desk: Desk, path: str, data: bytes, **more: Any) -> Any:
    return await desk.send("POST", f"{path}/import", content=data, **more)


async def test_every_line_of_an_import_has_an_answer(desk: Desk) -> None:
    await desk.add_domain("known.de")
    data = b"name,domain\nA,a.de\nB,KNOWN.de\nC,a.de\nD,not one\nE,127.0.0.1\n"

    done = await submitted(desk, "/domains", data, params={"name": "leads.csv"})

    assert (done["accepted"], done["duplicates"], done["refused_count"]) == (1, 2, 2)
    assert [(each["line"], each["value"]) for each in done["refused"]] == [
        (5, "not one"),
        (6, "127.0.0.1"),
    ]
    rows = await desk.run("SELECT domain FROM domains ORDER BY domain")
    assert [row.domain for row in rows] == ["a.de", "known.de"]


INTERNAL = [
    "127.0.0.1", "localhost", "http://[::1]/", "2130706433", "0x7f.1", "0177.0.0.1",
    "169.254.169.254", "metadata.google.internal", "10.0.0.1:80", "printer.local",
    "db.svc.cluster.local", "http://[::ffff:127.0.0.1]/", "http://[64:ff9b::a9fe:a9fe]",
    "router.home.arpa", "file:///etc/passwd", "gopher://a.de", "javascript:alert(1)",
    "http://a.de:22/", "http://a.de:5432/", "①②⑦.⓪.⓪.①", "http://[fe80::1%25eth0]/",
]  # fmt: skip


@pytest.mark.parametrize("path", ["/domains", "/sitemap-files", "/pages"])
async def test_nobody_sends_us_inside_a_network(desk: Desk, path: str) -> None:
    done = await desk.post(path, {"items": INTERNAL})

    assert (done["accepted"], done["refused_count"]) == (0, len(INTERNAL))
    assert len({each["reason"] for each in done["refused"][:10]}) == 1


@pytest.mark.slow
async def test_ten_thousand_internal_hosts_are_each_refused(desk: Desk) -> None:
    data = "".join(f"10.{n // 256}.{n % 256}.1\n" for n in range(10_000)).encode()

    done = await submitted(desk, "/domains", data)

    assert (done["accepted"], done["refused_count"]) == (0, 10_000)
    assert len(done["refused"]) == 100
    assert {each["reason"] for each in done["refused"]} == {
        "not a domain on the public internet"
    }


@pytest.mark.parametrize(
    "data",
    [b"PK\x03\x04" + b"\0" * 5000, b"\xd0\xcf\x11\xe0xx", b"\x1f\x8b\x08", b"%PDF-1.4"],
    ids=["xlsx", "xls", "gzip", "pdf"],
)
async def test_a_renamed_workbook_is_refused_in_words(desk: Desk, data: bytes) -> None:
    problem = await submitted(desk, "/domains", data, status=422)

    assert problem["detail"].endswith("not a list.")
    assert "CSV" in problem["hint"]
    assert await desk.scalar("SELECT count(*) FROM batch_jobs") == 0


async def test_an_import_that_was_cut_off_goes_on(desk: Desk) -> None:
    lines = [f"site{n}.de" for n in range(3_500)]

    async def cut() -> AsyncIterator[bytes]:
        yield "\n".join(lines[:2_200]).encode()
        raise ConnectionResetError

    await desk.send("POST", "/domains/import", content=cut(), status=503)
    (batch,) = await desk.run("SELECT id FROM batch_jobs")
    kept = await desk.scalar("SELECT count(*) FROM batch_items")
    done = await submitted(
        desk, "/domains", "\n".join(lines).encode(), params={"batch": str(batch.id)}
    )

    assert kept == 2_000
    assert (done["accepted"], done["duplicates"]) == (1_500, 0)
    assert (
        await desk.scalar("SELECT count(DISTINCT position) FROM batch_items") == 3_500
    )


async def test_an_import_goes_on_in_no_batch_of_others(desk: Desk) -> None:
    theirs = await desk.scalar(
        "INSERT INTO batch_jobs (tenant_id, kind) VALUES (:t, 'domains') RETURNING id",
        t=desk.other,
    )

    await submitted(
        desk, "/domains", b"a.de", params={"batch": str(theirs)}, status=404
    )

    assert await desk.scalar("SELECT count(*) FROM domains") == 0


@pytest.mark.slow
async def test_a_million_blank_lines_cost_nothing(desk: Desk) -> None:
    done = await submitted(desk, "/domains", b"a.de\n" + b"\r\n" * 1_000_000 + b"b.de")

    assert (done["accepted"], done["refused_count"]) == (2, 0)


def hostile_cells() -> Iterator[str]:
    for start in ("=", "+", "-", "@", "\t=", " =", "'=", '"=', "\ufeff=", "\uff1d"):
        yield f"{start}cmd|' /C calc'!A0"
    yield from ("'plain", "+49 30 1234567", "a,b;c", 'say "hi"', "two\nlines")


async def test_an_export_is_imported_again_without_a_loss(desk: Desk) -> None:
    for number, title in enumerate(hostile_cells()):
        await desk.add_domain(f"site{number}.de", title=title)

    answer = await desk.client.get("/api/v3/domains/export", params={"sort": "domain"})
    again = await submitted(desk, "/domains", answer.content)

    count = len([*hostile_cells()])
    assert (again["accepted"], again["duplicates"], again["refused_count"]) == (
        0,
        count,
        0,
    )
    rows = csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig")))
    assert all(row["title"][:1] not in "=-@\t" for row in rows)


async def priorities(desk: Desk) -> dict[str, int]:
    rows = await desk.run("SELECT domain, priority FROM domains")
    return {row[0]: row[1] for row in rows}


async def test_only_sql_could_say_what_is_urgent(desk: Desk) -> None:
    known = await desk.add_domain("known.de")

    await desk.post("/domains", {"items": ["known.de", "new.de"], "priority": 5})
    assert await priorities(desk) == {"known.de": 0, "new.de": 5}

    await desk.client.post(
        "/api/v3/domains/import?priority=7",
        content=b"domain\nfile.de\n",
        headers={"Content-Type": "text/csv"},
    )
    answer = await desk.post("/domains/priority", {"ids": [str(known)], "priority": 9})
    assert answer == {"changed": 1}
    assert await priorities(desk) == {"known.de": 9, "new.de": 5, "file.de": 7}


async def test_a_priority_is_set_on_all_of_the_records_or_on_none(desk: Desk) -> None:
    mine = await desk.add_domain("mine.de")
    theirs = await desk.add_domain("theirs.de", tenant=desk.other)
    both = {"ids": [str(mine), str(theirs)], "priority": 5}

    await desk.post("/domains/priority", both, status=422)
    await desk.post("/domains/priority", both | {"priority": 1001}, status=422)
    await desk.post("/contacts/priority", both, status=405)

    assert await priorities(desk) == {"mine.de": 0, "theirs.de": 0}


FIELDS = ["name", "website", "-", "-"]
BUSINESSES = (
    "sep=;\n"
    "Betrieb;Seite;Telefon;Umsatz\n"
    "Ada's Bakery;ada.example;030 1234567;12\n"
    "Bob;not a web;;\n"
    ";;030 7654321;5\n"
    "1;2;3;4;5\n"
)


async def kept(desk: Desk) -> str:
    """Read what was kept of the one file that was uploaded."""
    return str(
        await desk.scalar(
            "SELECT convert_from(string_agg(content, ''::bytea ORDER BY position), 'UTF8')"
            " FROM uploaded_parts"
        )
    )


async def send_list(
    desk: Desk,
    path: str,
    content: str | bytes,
    params: dict[str, Any] | None = None,
    *,
    status: int = 200,
) -> Any:
    headers = {"Content-Type": "text/csv"}
    return await desk.send(
        "POST", path, content=content, params=params, status=status, headers=headers
    )


async def test_a_business_list_is_looked_at_before_anything_is_stored(
    desk: Desk,
) -> None:
    answer = await send_list(desk, "/searches/file/preview", BUSINESSES)
    chosen = ["name", "website", "phone", "-"]
    again = await send_list(
        desk, "/searches/file/preview", BUSINESSES, {"fields": chosen}
    )

    columns = answer["columns"]
    assert [(c["heading"], c["field"]) for c in columns] == [
        ("Betrieb", None), ("Seite", None), ("Telefon", "phone"), ("Umsatz", None),
    ]  # fmt: skip
    assert columns[1]["examples"] == ["ada.example", "not a web", "2"]
    assert (answer["rows"], answer["problems"]) == (0, [])
    assert [column["field"] for column in again["columns"]] == [*chosen[:3], None]
    assert (again["rows"], again["places"]) == (4, 2)
    assert [(p["line"], p["why"]) for p in again["problems"]] == [
        (4, "not the address of a website"),
        (5, "neither a name nor a website"),
        (6, "5 cells where the header has 4"),
    ]


async def test_a_business_list_is_imported_under_the_fields_that_a_person_chose(
    desk: Desk,
) -> None:
    asked = {"name": "my list.csv", "fields": FIELDS}
    started = await send_list(desk, "/searches/file", BUSINESSES, asked, status=201)

    search = await desk.get(f"/searches/{started['search_id']}")
    record = search["record"]
    lines = (await kept(desk)).splitlines()
    assert (record["source"], record["location"]) == ("file", "my list.csv")
    assert Path(record["params"]["file"]).parent.name == str(desk.tenant)
    # What nobody mapped keeps its cells, and means nothing even if it would by its name.
    assert lines[1] == "name;website;Column 3: Telefon;Umsatz"
    assert lines[2:] == BUSINESSES.splitlines()[2:]


def workbook(*rows: tuple[object, ...]) -> bytes:
    """Make a workbook whose formulas have a value, as Excel keeps them."""
    book, plain, packed = Workbook(), io.BytesIO(), io.BytesIO()
    book.create_sheet("Hidden", 0).sheet_state = "hidden"
    for row in rows:
        book["Sheet"].append([*row])
    book.save(plain)
    with ZipFile(plain) as parts, ZipFile(packed, "w") as again:
        for name in parts.namelist():
            again.writestr(name, parts.read(name).replace(b"<v></v>", b"<v>42</v>"))
    return packed.getvalue()


async def test_a_workbook_is_looked_at_and_imported_as_csv_is(desk: Desk) -> None:
    book = workbook(
        ("Betrieb", "Seite", "Telefon", "Umsatz", "Seit"),
        ("Ada's\nBakery", "ada.example", 301234567.0, "=6*7", date(2026, 3, 1)),
        (),
        ("Bob; and, Ann", None, "#N/A", 0.5, True),
    )
    look = await send_list(desk, "/searches/file/preview", book)
    asked = {"name": "shops.xlsx", "fields": ["name", "website", "phone", "-", "-"]}
    await send_list(desk, "/searches/file", book, asked, status=201)

    assert [(c["heading"], c["field"]) for c in look["columns"]] == [
        ("Betrieb", None), ("Seite", None), ("Telefon", "phone"), ("Umsatz", None),
        ("Seit", None),
    ]  # fmt: skip
    assert look["columns"][3]["examples"] == ["42", "0.5"]
    # A row stays on the line of its number, so that what is wrong with it is found.
    assert (await kept(desk)).splitlines() == [
        "name,website,phone,Umsatz,Seit",
        '"Ada\'s Bakery","ada.example","301234567","42","2026-03-01"',
        "",
        '"Bob; and, Ann","","","0.5","true"',
    ]


async def test_a_workbook_of_domains_is_submitted(desk: Desk) -> None:
    book = workbook(("Company", "Domain"), ("Ada", "ada.example"), ("Bob", "no domain"))
    done = await send_list(desk, "/domains/import", book)

    assert (done["accepted"], done["refused_count"]) == (1, 1)
    assert done["refused"][0]["line"] == 3


BOMB = b"""<?xml version="1.0"?><!DOCTYPE w [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>
<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>
<row r="1"><c r="A1" t="inlineStr"><is><t>&b;</t></is></c></row></sheetData></worksheet>"""
DOCTYPE = b'<!DOCTYPE w [<!ENTITY a "ha">]>'


async def test_a_workbook_could_fill_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book, made = tmp_path / "book.xlsx", workbook(("Name",), ("Ada",))
    book.write_bytes(made)
    monkeypatch.setattr(workbook_reader, "MAX_UNPACKED_BYTES", 1_000)
    with pytest.raises(ValueError, match="unpacks to more"):
        [*workbook_reader.rows_of(book, 10)]
    monkeypatch.undo()
    with ZipFile(io.BytesIO(made)) as parts, ZipFile(book, "w") as again:
        for name in parts.namelist():
            is_sheet = name.startswith("xl/worksheets/")
            again.writestr(name, BOMB if is_sheet else parts.read(name))
    with pytest.raises(workbook_reader.DocumentTypeFound):
        [*workbook_reader.rows_of(book, 10)]


@pytest.mark.parametrize("part", ["xl/worksheets/sheet2", "xl/workbook"])
async def test_a_document_type_was_read_in_a_part_that_is_not_called_xml(
    tmp_path: Path, part: str
) -> None:
    book, made = tmp_path / "book.xlsx", workbook(("Name",), ("Ada",))
    old, new = f"{part}.xml", f"{part}.dat"
    with ZipFile(io.BytesIO(made)) as parts, ZipFile(book, "w") as again:
        for name in parts.namelist():
            # Relationships and the list of types name every part.
            content = parts.read(name).replace(old.encode(), new.encode())
            if name == old:
                content = BOMB if "sheet" in part else DOCTYPE + content
            again.writestr(new if name == old else name, content)

    with pytest.raises(workbook_reader.DocumentTypeFound):
        [*workbook_reader.rows_of(book, 10)]
    with pytest.raises(InvalidImport):
        as_table(book, tmp_path / "table.csv")


async def test_a_picture_in_a_workbook_is_not_read(tmp_path: Path) -> None:
    book = tmp_path / "book.xlsx"
    book.write_bytes(workbook(("Name",), ("Ada",)))
    with ZipFile(book, "a") as more:
        more.writestr("xl/media/image1.png", b"\x89PNG\r\n\x1a\n")

    assert [*workbook_reader.rows_of(book, 10)] == [["Name"], ["Ada"]]


async def test_a_list_uploaded_on_one_host_could_not_be_read_on_another(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upload, "PART_BYTES", 16)
    left_by_the_dead = tmp_path / upload.READING_FOLDER / "old"
    left_by_the_dead.mkdir(parents=True)
    os.utime(left_by_the_dead, (0, 0))
    started = await send_list(
        desk,
        "/searches/file",
        BUSINESSES,
        {"name": "a.csv", "fields": FIELDS},
        status=201,
    )
    record = (await desk.get(f"/searches/{started['search_id']}"))["record"]
    name = record["params"]["file"]

    elsewhere = PlaceFiles(
        FileSettings(tmp_path, partial(upload.fetched_upload, desk.engine, tmp_path))
    )
    pages = [
        page async for page in elsewhere.search(PlaceQuery(file=name), LocalBudget())
    ]

    assert sum(len(page.places) for page in pages) == 2
    assert [*(tmp_path / upload.READING_FOLDER).iterdir()] == []
    assert await upload.purge_uploads(desk.engine, timedelta(days=1)) == 0
    assert await upload.purge_uploads(desk.engine, timedelta(0)) > 2


async def test_an_address_between_two_pieces_of_a_list_outlived_its_erasure(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upload, "PART_BYTES", 24)
    rows = [f"Shop {n};owner-{n}@shop.example" for n in range(9)]
    listed = "\n".join(["name;mail", *rows])
    await send_list(
        desk,
        "/searches/file",
        listed,
        {"name": "a", "fields": ["name", "-"]},
        status=201,
    )

    await desk.post("/people/erase", {"email": "owner-4@shop.example"})

    left = (await kept(desk)).splitlines()
    assert len(left) == len(rows) + 1
    assert [row for row in rows if row not in left] == [rows[4]]
    assert "owner-4" not in "".join(left)


@pytest.mark.parametrize(
    ("content", "asked"),
    [
        (BUSINESSES, {"name": "x", "fields": ["name", "nonsense", "-", "-"]}),
        (BUSINESSES, {"name": "x", "fields": ["name"]}),
        (BUSINESSES, {"name": "x", "fields": ["name", "name", "-", "-"]}),
        (BUSINESSES, {"name": "x"}),
        ("", {"name": "x"}),
        ("PK\x03\x04...", {"name": "x"}),
    ],
)
async def test_a_business_list_that_nothing_can_be_made_of_is_refused_and_not_kept(
    desk: Desk, content: str, asked: dict[str, object]
) -> None:
    await send_list(desk, "/searches/file", content, asked, status=422)

    assert await desk.scalar("SELECT count(*) FROM uploaded_parts") == 0
    assert await desk.scalar("SELECT count(*) FROM place_searches") == 0
