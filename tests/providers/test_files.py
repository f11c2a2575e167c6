import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scrapersky.errors import BadPlaceFile, BadPlaceQuery
from scrapersky.providers.area import Box
from scrapersky.providers.budget import LocalBudget
from scrapersky.providers.files import FileSettings, PlaceFiles
from scrapersky.providers.files.encoding import encoding_of
from scrapersky.providers.files.record import (
    RowNotes,
    clean_cell,
    in_spoken_order,
    record_from_cells,
)
from scrapersky.providers.source import (
    MAX_CHARACTERS,
    BusinessStatus,
    FoundPlace,
    PlaceFacts,
    PlaceQuery,
    ResumePoint,
    RowProblem,
)
from sdk_tests.rig.size import size
from tests.providers.rig import collect, ids_in, write_csv
from tests.providers.town import a_town

Import = Callable[..., "list[FoundPlace]"]


async def read(
    directory: Path, content: str | bytes, name: str = "places.csv", **asked: str
) -> tuple[list[FoundPlace], list[RowProblem]]:
    data = content.encode() if isinstance(content, str) else content
    (directory / name).write_bytes(data)
    source = PlaceFiles(FileSettings(directory))
    pages = await collect(source, PlaceQuery(file=name, **asked))  # type: ignore[arg-type]
    places = [place for page in pages for place in page.places]
    return places, [problem for page in pages for problem in page.problems]


@pytest.mark.parametrize(
    "content",
    [
        "name,website\nErfunden,erfunden.example\n",
        "name;website\nErfunden;erfunden.example\n",
        "name\twebsite\nErfunden\terfunden.example\n",
        "name|website\r\nErfunden|erfunden.example\r\n",
        '"Name","Website"\n"Erfunden","erfunden.example"\n',
        "sep=;\nname;website\nErfunden;erfunden.example\n",
        "\n\nFirma;Webseite\nErfunden;https://erfunden.example/\n",
        "Company Name,Company Domain\nErfunden,erfunden.example",
        "NOMBRE,Sitio Web\nErfunden,http://erfunden.example",
        "website,name,unknown\nerfunden.example,Erfunden,x\n\n",
        'name,notes,website\nErfunden,"a, b\nand; c",erfunden.example\n',
    ],
)
async def test_any_dialect_is_read(tmp_path: Path, content: str) -> None:
    places, problems = await read(tmp_path, content)

    assert [place.name for place in places] == ["Erfunden"]
    assert places[0].website in {
        "https://erfunden.example/",
        "http://erfunden.example/",
    }
    assert problems == []


@pytest.mark.parametrize(
    "encoding",
    [
        "utf-8",
        "utf-8-sig",
        "utf-16",
        "utf-16-le",
        "utf-16-be",
        "utf-32",
        "cp1252",
        "latin-1",
    ],
)
async def test_any_encoding_is_read(tmp_path: Path, encoding: str) -> None:
    content = "name,city\nBäckerei Erfunden,Köln\n" + "Café,Zürich\n" * 3
    content += "Straßenbäcker,Münster\n"

    places, _ = await read(tmp_path, content.encode(encoding))

    assert [place.name for place in places] == [
        "Bäckerei Erfunden",
        "Café",
        "Straßenbäcker",
    ]


async def test_a_wrong_letter_at_the_very_end_does_not_spoil_the_rest(
    tmp_path: Path,
) -> None:
    # Long rows: it is the bytes before the letter that matter.
    name = "Business " + "b" * 180
    rows = "".join(f"{name} {n},b{n}.example\n" for n in range(1_500))
    content = b"name,website\n" + rows.encode() + "Café,cafe.example\n".encode("cp1252")

    places, _ = await read(tmp_path, content)

    assert len(places) == 1_501
    assert places[-1].name == "Café"


@pytest.mark.parametrize(
    "content", [b"\xff\xfe" + b"\x00\xd8" * 50_000, b"name\n" + b"\x81" * 50_000]
)
def test_a_file_of_half_characters_is_not_read_to_its_end(
    tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "list.csv"
    path.write_bytes(content)

    with pytest.raises(BadPlaceFile, match="cannot be read as text"):
        encoding_of(path)


async def test_a_bare_list_of_domains_is_enough(tmp_path: Path) -> None:
    places, problems = await read(
        tmp_path, "eins.example\nhttps://zwei.example/a\n", "d.txt"
    )

    assert [place.website for place in places] == [
        "https://eins.example/",
        "https://zwei.example/a",
    ]
    assert problems == []


async def test_every_column_arrives(tmp_path: Path) -> None:
    header = (
        "id;Business Name;Webseite;Telefon;E-Mail;Straße;Hausnummer;PLZ;Ort;Land;Lat;Lng;"
        "Rating;Reviews;Kategorie;Business Status;Opening Hours;Facebook"
    )
    row = (
        "7;Praxis Erfunden;praxis.example;089 654321;a@praxis.example, b@praxis.example;"
        "Erfundene Gasse;12;80331;München;Deutschland;48,1;11,5;4,5;1.234;Zahnarzt|Praxis;"
        "CLOSED_TEMPORARILY;Mo-Fr 08:00-12:00;https://www.facebook.com/erfunden"
    )
    places, problems = await read(tmp_path, f"{header}\n{row}\n")

    place = places[0]
    facts = PlaceFiles(FileSettings(tmp_path)).facts(place.raw)
    assert problems == []
    assert (place.latitude, place.longitude) == (48.1, 11.5)
    assert (place.rating, place.reviews_count) == (4.5, 1234)
    assert place.categories == ("Zahnarzt", "Praxis")
    assert place.business_status is BusinessStatus.CLOSED_TEMPORARILY
    assert facts.street == "Erfundene Gasse 12"
    assert (facts.postal_code, facts.city, facts.country) == ("80331", "München", "DE")
    assert facts.phone == "+4989654321"
    assert facts.emails == ("a@praxis.example", "b@praxis.example")
    assert facts.links == ("https://www.facebook.com/erfunden",)
    assert facts.hours is not None
    assert facts.hours["mon"] == [["08:00", "12:00"]]


async def test_a_bad_row_is_told_with_its_line_and_harms_no_other(
    tmp_path: Path,
) -> None:
    content = (
        "name,website,lat,lng\n"
        "Eins,eins.example,48,11\n"
        ",,48,11\n"
        '"Zwei\nzweite Zeile",zwei.example,999,11\n'
        "Drei,drei.example,48,11,too,many\n"
        "Vier,no url at all,48,11\n"
        "Fünf\n"
    )

    places, problems = await read(tmp_path, content)

    assert [place.name for place in places] == [
        "Eins",
        "Zwei\nzweite Zeile",
        "Vier",
        "Fünf",
    ]
    assert [(p.line, p.is_fatal) for p in problems] == [
        (3, True),
        (4, False),
        (6, True),
        (7, False),
    ]
    assert places[1].latitude is None


@pytest.mark.parametrize(
    ("cell", "name"),
    [
        ('="Erfunden"', "Erfunden"),
        ("'=Erfunden", None),
        ("=1+1", None),
        ('=HYPERLINK(""http://evil.example"",""x"")', None),
        ("@SUM(1+1)*cmd|' /C calc'!A0", None),
        ("+cmd|' /C calc'!A0", None),
        ("-2+3+cmd|' /C calc'!A0", None),
        ("@home", "@home"),
        ("- Erfunden -", "- Erfunden -"),
    ],
)
async def test_a_formula_is_no_value(
    tmp_path: Path, cell: str, name: str | None
) -> None:
    quoted = cell if cell.startswith('="') else cell.replace('""', '"')
    escaped = quoted.replace('"', '""')
    content = f'name,website\n"{escaped}",erfunden.example\n'

    places, problems = await read(tmp_path, content)

    assert places[0].name == name
    assert bool(problems) == (name is None)
    assert "cmd" not in json.dumps(places[0].raw)


@pytest.mark.parametrize(
    ("cells", "kept", "every"),
    [
        ("AT,01/600 00 03", "+4316000003", ("+4316000003",)),
        ("AT,01/6000003 / 01/6000004", "+4316000003", ("+4316000003", "+4316000004")),
        (",0662/123456", "0662/123456", ("0662/123456",)),
        (",+43 (0)1 6000003 ext. 12", "+4316000003", ("+4316000003",)),
        (",by appointment", None, ()),
        (",112", None, ()),
    ],
)
async def test_a_number_with_a_slash_was_cut_in_two(
    tmp_path: Path, cells: str, kept: str | None, every: tuple[str, ...]
) -> None:
    places, _ = await read(tmp_path, f"name,country,phone\nErfunden,{cells}\n")

    assert places[0].phone == kept
    facts = PlaceFiles(FileSettings(tmp_path)).facts(places[0].raw)
    assert facts.phones == every
    assert places[0].raw["row"]["phone"] == cells.partition(",")[2]


async def test_what_people_wrote_beside_the_number_and_the_name_was_lost(
    tmp_path: Path,
) -> None:
    content = (
        "name,phone,person,Remark,city,country,email\n"
        'Erfunden,ext. 12,"Huber,  Ada",=SUM(A1),Wien,AT,mailto:ada@erfunden.example\n'
        'Erdacht,01 6000003,"Ada Huber, MBA",-,Wien,AT,Ada <ada@erdacht.example>\n'
    )

    places, problems = await read(tmp_path, content)

    first, second = (
        PlaceFiles(FileSettings(tmp_path)).facts(place.raw) for place in places
    )
    assert first.attributes["extra"] == {"Phone": "ext. 12", "Remark": "=SUM(A1)"}
    assert first.attributes["contact"] == {"name": "Ada Huber"}
    assert (first.phone, second.phone) == (None, "+4316000003")
    assert second.attributes["extra"] == {"Remark": "-"}
    assert second.attributes["contact"] == {"name": "Ada Huber, MBA"}
    assert first.emails == ("ada@erfunden.example",)
    assert second.emails == ("ada@erdacht.example",)
    assert [(one.field, one.value, one.why) for one in problems] == [
        ("phone", "ext. 12", "not a phone number"),
        ("email", "Ada", "not an e-mail address"),
    ]


async def test_a_word_for_nothing_is_nobody_and_no_number(tmp_path: Path) -> None:
    content = (
        "name,person,phone,email,role,city,Remark\n"
        "None,keine Angabe,unbekannt,k. A.,N/A,None,keine\n"
    )

    (place,), problems = await read(tmp_path, content)

    facts = PlaceFiles(FileSettings(tmp_path)).facts(place.raw)
    assert (facts.name, facts.city) == ("None", "None")
    assert (facts.phones, facts.emails) == ((), ())
    assert facts.attributes == {"extra": {"Remark": "keine"}}
    assert problems == []


async def test_a_phone_number_is_no_formula(tmp_path: Path) -> None:
    places, problems = await read(tmp_path, "name,phone\nErfunden,+1 (512) 555-0123\n")

    assert places[0].phone == "+15125550123"
    assert problems == []


async def test_a_national_number_is_read_by_the_region_of_the_import(
    tmp_path: Path,
) -> None:
    content = "name,phone\nErfunden,089 654321\n"

    places, _ = await read(tmp_path, content, region="DE")

    facts = PlaceFiles(FileSettings(tmp_path)).facts(places[0].raw)
    assert facts.phone == "+4989654321"


async def test_reading_twice_gives_the_same_ids(tmp_path: Path) -> None:
    town = a_town(50)
    write_csv(tmp_path / "one.csv", town)
    write_csv(tmp_path / "two.csv", reversed(town))
    source = PlaceFiles(FileSettings(tmp_path))

    one = await collect(source, PlaceQuery(file="one.csv"))
    again = await collect(source, PlaceQuery(file="one.csv"))
    two = await collect(source, PlaceQuery(file="two.csv"))

    assert ids_in(one) == ids_in(again)
    assert set(ids_in(one)) == set(ids_in(two))


async def test_ids_of_a_file_belong_to_its_dataset(tmp_path: Path) -> None:
    content = "id,name\n1,Erfunden\n"

    first, _ = await read(tmp_path, content, "a.csv")
    other, _ = await read(tmp_path, content, "b.csv")
    named, _ = await read(
        tmp_path, content.replace("Erf", "Neu-Erf"), "b.csv", dataset="a.csv"
    )

    assert first[0].source_place_id != other[0].source_place_id
    assert first[0].source_place_id == named[0].source_place_id


async def test_a_row_that_stands_twice_is_one_place(tmp_path: Path) -> None:
    content = "name,website\n" + "Erfunden,erfunden.example\n" * 3
    (tmp_path / "a.csv").write_text(content)

    pages = await collect(PlaceFiles(FileSettings(tmp_path)), PlaceQuery(file="a.csv"))

    assert len(ids_in(pages)) == 1
    assert pages[-1].progress.duplicates == 2


async def test_a_second_person_of_a_business_was_left_out_without_a_word(
    tmp_path: Path,
) -> None:
    lines = (
        "name,website,contact,email,phone",
        "Erfunden,erfunden.example,Jo Huber,jo@erfunden.example,01 6000001",
        "Erfunden,erfunden.example,Eva Weiß,eva@erfunden.example,01 6000002",
        "Erfunden,erfunden.example,Jo Huber,jo@erfunden.example,01 6000001",
        "Erfunden,erfunden.example,Eva Weiß,eva@erfunden.example,01 6000002",
        "Erfunden,erfunden.example,,,",
    )
    (tmp_path / "a.csv").write_text("\n".join(lines))
    source = PlaceFiles(FileSettings(tmp_path))

    pages = await collect(source, PlaceQuery(file="a.csv"))

    found = [place for page in pages for place in page.places]
    facts = [source.facts(place.raw) for place in found]
    assert [one.attributes["contact"]["name"] for one in facts] == [
        "Jo Huber",
        "Eva Weiß",
    ]
    assert [one.source_place_id for one in facts] == ids_in(pages)
    assert pages[-1].progress.duplicates == 3


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("van der Berg, Jan", "Jan van der Berg"),
        ("von Hohenfels, Max", "Max von Hohenfels"),
        ("Groß, Dr. Käthe", "Dr. Käthe Groß"),
        ("Prof. Dr. Lang, Petra", "Prof. Dr. Petra Lang"),
        ("King, Martin, Jr.", "Martin King Jr."),
        (" Stein ,  Rolf ", "Rolf Stein"),
        ("Doe, Jane A.", "Jane A. Doe"),
        ("Ada Huber, MBA", "Ada Huber, MBA"),
        ("Jane Doe, Owner", "Jane Doe, Owner"),
    ],
)
def test_only_the_simplest_surname_was_put_behind(written: str, spoken: str) -> None:
    assert in_spoken_order(written) == spoken


def test_countries_in_their_own_words_were_dropped() -> None:
    named = {
        "Österreich": "AT", "Osterreich": "AT", "España": "ES", "Polska": "PL",
        "Nederland": "NL", "日本": "JP", "u.k.": "GB", "fr": "FR",
    }  # fmt: skip
    notes = RowNotes()

    found = {
        text: record_from_cells({"name": "x", "country": text}, notes).country
        for text in (*named, "Narnia")
    }

    assert found == {**named, "Narnia": None}
    assert [(one.field, one.value) for one in notes.all] == [("country", "Narnia")]


def test_runs_of_spaces_within_a_value_were_kept() -> None:
    cells = ("Leerzeichen \t GmbH", "Allee\u00a0  9\nHof")

    found = [clean_cell(cell, "name", RowNotes()) for cell in cells]

    assert found == ["Leerzeichen GmbH", "Allee 9\nHof"]


def test_the_second_number_behind_a_slash_was_lost() -> None:
    cells = {"name": "x", "phone": "0711 111111 / 0711 222222"}

    assert record_from_cells(cells, RowNotes()).phones == ("0711 111111", "0711 222222")


async def test_a_file_that_changed_is_read_from_the_top(tmp_path: Path) -> None:
    write_csv(tmp_path / "a.csv", a_town(30))
    source = PlaceFiles(FileSettings(tmp_path, page_size=10))
    query = PlaceQuery(file="a.csv")
    before = await collect(source, query)
    write_csv(tmp_path / "a.csv", a_town(40))

    rest = await collect(
        source,
        query,
        resume=ResumePoint(before[1].state, frozenset(ids_in(before[:2]))),
    )

    assert len({*ids_in(before[:2]), *ids_in(rest)}) == 40


OVERTURE = {
    "id": "08f194db1234",
    "geometry": {"type": "Point", "coordinates": [11.5, 48.1]},
    "bbox": {"xmin": 11.5, "xmax": 11.5, "ymin": 48.1, "ymax": 48.1},
    "version": 3,
    "names": {"primary": "Praxis Erfunden", "common": None, "rules": None},
    "categories": {"primary": "dentist", "alternate": ["orthodontist"]},
    "confidence": 0.93,
    "websites": ["https://praxis.example"],
    "emails": ["info@praxis.example"],
    "phones": ["+4989654321"],
    "socials": ["https://www.facebook.com/123"],
    "brand": {"names": {"primary": "Erfunden"}},
    "addresses": [
        {
            "freeform": "Erfundene Gasse 12",
            "locality": "München",
            "postcode": "80331",
            "region": "BY",
            "country": "DE",
        }
    ],
    "operating_status": "open",
    "sources": [
        {"property": "", "dataset": "meta", "record_id": "1"},
        {"property": "", "dataset": "Foursquare", "record_id": "2"},
    ],
}


@pytest.mark.parametrize(
    "line",
    [
        json.dumps(OVERTURE),
        json.dumps({**OVERTURE, "geometry": "POINT (11.5 48.1)"}),
        json.dumps({**OVERTURE, "geometry": None}),
        "\x1e"
        + json.dumps(
            {
                "type": "Feature",
                "id": OVERTURE["id"],
                "geometry": OVERTURE["geometry"],
                "properties": {
                    key: value for key, value in OVERTURE.items() if key != "geometry"
                },
            }
        ),
    ],
)
async def test_overture_is_read_in_every_form(tmp_path: Path, line: str) -> None:
    places, problems = await read(tmp_path, line + "\n", "places.jsonl")

    place = places[0]
    facts = PlaceFiles(FileSettings(tmp_path)).facts(place.raw)
    assert problems == []
    assert place.name == "Praxis Erfunden"
    assert (place.latitude, place.longitude) == (48.1, 11.5)
    assert place.categories == ("dentist", "orthodontist")
    assert place.licence == facts.licence == "CDLA-Permissive-2.0 AND Apache-2.0"
    assert place.business_status is BusinessStatus.OPERATING
    assert facts.emails == ("info@praxis.example",)
    assert facts.phone == "+4989654321"
    assert facts.city == "München"
    assert facts.attributes == {"brand": "Erfunden", "confidence": 0.93}


async def test_flat_objects_are_read_like_rows(tmp_path: Path) -> None:
    rows = [
        {
            "name": "Eins",
            "website": "eins.example",
            "lat": 48.1,
            "lng": 11.5,
            "reviews": 3,
        },
        {"Company": "Zwei", "phones": ["+49 89 1", "+49 89 654321"], "open": True},
        {"title": "=1+1", "url": "drei.example", "nested": {"deep": 1}},
    ]
    content = "\n".join(json.dumps(row) for row in rows)

    places, problems = await read(tmp_path, content, "places.ndjson")

    assert [place.name for place in places] == ["Eins", "Zwei", None]
    assert places[0].latitude == 48.1
    assert places[0].reviews_count == 3
    facts = PlaceFiles(FileSettings(tmp_path)).facts(places[1].raw, region="DE")
    assert facts.phones == ("+4989654321",)
    assert [(p.line, p.is_fatal) for p in problems] == [(2, False), (3, False)]


async def test_broken_lines_are_told_and_harm_no_other(tmp_path: Path) -> None:
    content = '{"name": "Eins"}\n{"name": \n[1]\n\n"x"\n{}\n{"name": "Zwei"}\n'

    places, problems = await read(tmp_path, content, "places.jsonl")

    assert [place.name for place in places] == ["Eins", "Zwei"]
    assert [problem.line for problem in problems] == [2, 3, 5, 6]


@pytest.mark.parametrize("name", ["places.csv", "places.jsonl"])
async def test_an_endless_line_is_left_out(tmp_path: Path, name: str) -> None:
    is_json = name.endswith("jsonl")
    head, good = (
        ("", '{"name": "Eins"}\n')
        if is_json
        else ("name,website\n", "Eins,e.example\n")
    )
    content = head + good + "x" * 3_000_000 + "\n" + good.replace("Eins", "Zwei")

    places, problems = await read(tmp_path, content, name)

    assert [place.name for place in places] == ["Eins", "Zwei"]
    assert len(problems) == 1


async def test_a_quote_that_never_closes_is_told(tmp_path: Path) -> None:
    content = (
        'name,website\nEins,eins.example\n"Zwei,zwei.example\n'
        + f"Drei {'x' * 135},d.example\n" * 2_000
    )

    places, problems = await read(tmp_path, content)

    assert places[0].name == "Eins"
    assert problems[0].line == 3
    assert "CSV" in problems[0].why


@pytest.mark.parametrize(
    ("content", "name", "why"),
    [
        (b"", "a.csv", "empty"),
        (b"\n \n", "a.csv", "empty"),
        (b"colour,size\nred,3\n", "a.csv", "no column"),
        (b"PK\x03\x04rest", "a.xlsx", "spreadsheet"),
        (b"PK\x03\x04rest", "a.csv", "spreadsheet"),
        (b'[{"name": "x"}]', "a.json", "array"),
    ],
)
async def test_a_file_without_places_is_refused_with_a_reason(
    tmp_path: Path, content: bytes, name: str, why: str
) -> None:
    with pytest.raises(BadPlaceFile, match=why):
        await read(tmp_path, content, name)


@pytest.mark.parametrize(
    "name", ["../secret.csv", "/etc/passwd", "missing.csv", ".", "link.csv", "a\x00b"]
)
async def test_no_file_outside_the_directory_is_read(tmp_path: Path, name: str) -> None:
    inside = tmp_path / "imports"
    inside.mkdir()
    (tmp_path / "secret.csv").write_text("name\nSecret\n")
    (inside / "link.csv").symlink_to(tmp_path / "secret.csv")
    source = PlaceFiles(FileSettings(inside))

    with pytest.raises(BadPlaceFile):
        await collect(source, PlaceQuery(file=name))


async def test_a_search_without_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadPlaceQuery):
        await collect(PlaceFiles(FileSettings(tmp_path)), PlaceQuery())


async def test_an_area_leaves_out_what_lies_outside(tmp_path: Path) -> None:
    content = "name,lat,lng\nInside,1,1\nOutside,9,9\nAnywhere,,\n"
    (tmp_path / "a.csv").write_text(content)

    pages = await collect(
        PlaceFiles(FileSettings(tmp_path)),
        PlaceQuery(file="a.csv", area=Box(0, 0, 2, 2)),
    )

    names = [place.name for page in pages for place in page.places]
    assert names == ["Inside", "Anywhere"]


async def test_rows_that_could_not_be_used_are_in_the_coverage(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("name,website\nEins,\n,\n,x y\n")

    pages = await collect(PlaceFiles(FileSettings(tmp_path)), PlaceQuery(file="a.csv"))

    coverage = pages[-1].coverage
    assert coverage is not None
    assert not coverage.is_complete
    assert "1 row skipped" in coverage.why


async def test_a_large_file_is_read_in_pages(tmp_path: Path) -> None:
    path, rows = tmp_path / "large.csv", size(1_600, 6_000)
    with path.open("w") as file:
        file.write("name,website,notes\n")
        for number in range(rows):
            file.write(f"Business {number},b{number}.example,{'x' * 500}\n")
    source = PlaceFiles(FileSettings(tmp_path))

    count = 0
    async for page in source.search(PlaceQuery(file="large.csv"), LocalBudget()):
        assert len(page.places) <= 500
        count += len(page.places)

    assert count == rows


def test_a_query_survives_json() -> None:
    query = PlaceQuery(business_type="dentist", area=Box(0, 0, 1, 1), limit=3)

    assert PlaceQuery.from_json(json.loads(json.dumps(query.to_json()))) == query
    assert query.fingerprint == replace(query).fingerprint
    assert query.fingerprint != replace(query, limit=4).fingerprint
    with pytest.raises(BadPlaceQuery, match="colour"):
        PlaceQuery.from_json({"colour": "red"})
    with pytest.raises(BadPlaceQuery):
        PlaceQuery.from_json({"area": {"box": [1]}})


async def test_a_name_longer_than_any_real_one_was_stored_as_it_is(
    tmp_path: Path,
) -> None:
    long = " ".join(["Erfunden"] * 400)
    content = f"name,city,postal_code,website\n{long},{long},{long},a.example\n"

    places, problems = await read(tmp_path, content)

    assert len(places[0].name or "") <= MAX_CHARACTERS["name"]
    assert len(places[0].address or "") <= MAX_CHARACTERS["address"]
    facts = PlaceFiles(FileSettings(tmp_path)).facts(places[0].raw)
    assert len(facts.city or "") <= MAX_CHARACTERS["city"]
    assert len(facts.postal_code or "") <= MAX_CHARACTERS["postal_code"]
    assert [(p.line, p.is_fatal, p.why) for p in problems] == [
        (2, False, f"the {name} is longer than {most} letters: the rest is cut off")
        for name, most in (("name", 250), ("city", 100), ("postal code", 20))
    ]


def test_no_source_makes_a_place_of_longer_values_than_are_kept() -> None:
    values: dict[str, Any] = dict.fromkeys(MAX_CHARACTERS, "x" * 5000)
    shown = {name: values[name] for name in ("name", "address", "phone")}

    place = FoundPlace(source="a", source_place_id="1", licence="", **shown)
    facts = PlaceFacts(source="a", source_place_id="1", licence="", **values)

    for made in (place, facts):
        lengths = {
            name: len(getattr(made, name))
            for name in MAX_CHARACTERS
            if hasattr(made, name)
        }
        assert lengths == {name: MAX_CHARACTERS[name] for name in lengths}
