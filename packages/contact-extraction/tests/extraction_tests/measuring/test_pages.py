import gzip
import json
from pathlib import Path

import pytest

from contact_extraction.contacts import Contacts
from contact_extraction.contacts.finder import find_contacts
from contact_extraction.errors import BadAnnotations
from contact_extraction.measuring.pages import (
    read_pages,
    render,
    score_pages,
    token_f1,
)


def a_file(folder: Path, *rows: dict[str, object], name: str = "pages.jsonl") -> Path:
    data = "\n".join(json.dumps(row) for row in rows).encode()
    path = folder / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def a_row(html: str, *entities: tuple[str, str]) -> dict[str, object]:
    return {
        "id": 1,
        "set": "a",
        "url": None,
        "html": html,
        "entities": [{"type": kind, "text": text} for kind, text in entities],
        "mailto": [],
    }


def test_what_is_missed_and_what_is_invented_are_both_listed(tmp_path: Path) -> None:
    row = a_row("<p>ann@acme.com</p>", ("EMAIL", "bob@acme.com"))

    report = score_pages(read_pages(a_file(tmp_path, row)))

    assert [(m.text, m.is_invented) for m in report.misses] == [
        ("bob@acme.com", False),
        ("ann@acme.com", True),
    ]
    assert report.tallies["EMAIL"].f1 == 0.0


def test_a_number_matches_in_national_and_international_form(tmp_path: Path) -> None:
    row = a_row(
        "<html lang='en-GB'><p>Tel: +44 20 7946 0018</p>", ("TEL", "020 7946 0018")
    )

    report = score_pages(read_pages(a_file(tmp_path, row)))

    assert report.tallies["PHONE"].f1 == 1.0


def test_pages_nobody_annotated_for_a_label_do_not_count(tmp_path: Path) -> None:
    row = a_row("<p>ann@acme.com</p>", ("HOURS", "Mon-Fri 9am-5pm"))

    report = score_pages(read_pages(a_file(tmp_path, row)))

    assert "EMAIL" not in report.tallies


def test_half_found_is_half_recall(tmp_path: Path) -> None:
    row = a_row(
        "<p>ann@acme.com</p>", ("EMAIL", "ann@acme.com"), ("EMAIL", "b@acme.com")
    )

    tally = score_pages(read_pages(a_file(tmp_path, row))).tallies["EMAIL"]

    assert (tally.precision, tally.recall) == (1.0, 0.5)
    assert tally.f1 == pytest.approx(2 / 3)


def test_macro_weighs_every_page_the_same(tmp_path: Path) -> None:
    full = a_row("<p>ann@acme.com</p>", ("EMAIL", "ann@acme.com"))
    empty = a_row("<p>nothing</p>", ("EMAIL", "b@acme.com"))

    tally = score_pages(read_pages(a_file(tmp_path, full, empty))).tallies["EMAIL"]

    assert tally.macro == 0.5


def test_another_extractor_can_be_scored(tmp_path: Path) -> None:
    row = a_row("<p>ann@acme.com</p>", ("EMAIL", "ann@acme.com"))

    report = score_pages(
        read_pages(a_file(tmp_path, row)), lambda html, url: Contacts()
    )

    assert report.tallies["EMAIL"].recall == 0.0


def test_a_compressed_file_reads_the_same(tmp_path: Path) -> None:
    row = a_row("<p>ann@acme.com</p>", ("EMAIL", "ann@acme.com"))

    pages = list(read_pages(a_file(tmp_path, row, name="pages.jsonl.gz")))

    assert [page.gold["EMAIL"] for page in pages] == [{"ann@acme.com"}]


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "pages.jsonl"
    path.write_text('{"id": 1, "html": "x", "entities": []}\n{"id": 2}\n')

    with pytest.raises(BadAnnotations, match="line 2"):
        list(read_pages(path))


def test_the_report_shows_tables_and_misses(tmp_path: Path) -> None:
    row = a_row("<p>ann@acme.com</p>", ("EMAIL", "bob@acme.com"))

    text = render(score_pages(read_pages(a_file(tmp_path, row))))

    assert "F1 micro" in text
    assert "- 1" in text
    assert "+ 1" in text


def test_word_overlap_counts_words_as_often_as_they_occur() -> None:
    assert token_f1("The Acme Company", "acme company") == pytest.approx(0.8)
    assert token_f1("a a", "a") == pytest.approx(2 / 3)
    assert token_f1("", "a") == 0.0


def test_a_page_without_contacts_is_empty() -> None:
    assert find_contacts("<p>Nothing here.</p>", "https://acme.com/").is_empty
