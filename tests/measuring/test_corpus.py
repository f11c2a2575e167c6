"""Directories of annotated sites are read and served as documented."""

import json
from pathlib import Path

import pytest

from contact_extraction.errors import BadAnnotations
from contact_extraction.measuring.corpus import Part, TrueSite, part_of, read_corpus
from scrapersky.measuring.site_files import site_of

SITES = Path(__file__).parent / "sites"


def a_site(directory: Path, name: str, **files: str) -> TrueSite:
    """Write a site and read it back."""
    for file, text in files.items():
        path = directory / name / file.replace("__", "/").replace("_html", ".html")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (directory / "truth.jsonl").write_text(json.dumps({"site": name}))
    (site,) = read_corpus(directory)
    return site


def test_a_site_of_which_only_the_name_is_told_is_read(tmp_path: Path) -> None:
    """All fields but the name may be missing."""
    site = a_site(tmp_path, "www.Alder.example", index_html="hi")
    assert site.host == site.domain == "alder.example"
    assert not site.emails
    assert site.organisation is None


def test_a_directory_that_is_no_domain_is_served_under_a_closed_ending(
    tmp_path: Path,
) -> None:
    """Its name alone could not be submitted."""
    assert a_site(tmp_path, "alderjoinery", index_html="hi").host == "alderjoinery.bv"


def test_files_are_answered_as_a_plain_server_does(tmp_path: Path) -> None:
    """Folders, pages without their ending, and nothing else."""
    site = a_site(
        tmp_path,
        "alder.example",
        index_html="home",
        team__index_html="team",
        contact_html="contact",
    )
    served = site_of(site)
    assert served.replies["/"].body == b"home"
    assert served.replies["/team/"].body == b"team"
    assert (invented := served.invent("/contact")) is not None
    assert invented.body == b"contact"
    assert (sent := served.invent("/team")) is not None
    assert sent.headers == (("Location", "/team/"),)
    assert served.invent("/nothing") is None
    assert served.missing.status == 404


def test_own_links_go_by_http_and_others_stay_as_they_are(tmp_path: Path) -> None:
    """The server speaks no TLS."""
    text = (
        "https://www.alder.example/a https://alder.example.org/b https://oak.example/"
    )
    served = site_of(a_site(tmp_path, "alder.example", index_html=text))
    assert served.replies["/"].body.decode() == text.replace(
        "https://www.alder.example/", "http://www.alder.example/"
    )


def test_a_missing_or_broken_truth_is_said_in_words(tmp_path: Path) -> None:
    """No traceback for a wrong directory."""
    with pytest.raises(BadAnnotations, match="cannot be read"):
        read_corpus(tmp_path)
    (tmp_path / "truth.jsonl").write_text('{"organisation": "no site"}')
    with pytest.raises(BadAnnotations, match="each with its site"):
        read_corpus(tmp_path)


def test_our_own_sites_name_only_files_that_are_there() -> None:
    """A truth about missing pages would measure nothing."""
    for site in read_corpus(SITES):
        named = {*site.contact_pages, *(p["page"] for p in site.people)}
        named |= {page for email in site.emails for page in email["pages"]}
        assert all((site.root / file).is_file() for file in named), site.name


def test_sites_that_were_looked_at_before_the_split_were_counted_as_unseen(
    tmp_path: Path,
) -> None:
    """The hash decides only about sites that came with a round of their own."""
    unseen = next(
        n for n in map("s{}.example".format, range(9)) if part_of(n) == "score"
    )
    lines = [{"site": unseen}, {"site": "opened.example", "since": 3}]
    (tmp_path / "truth.jsonl").write_text("\n".join(map(json.dumps, lines)))
    old, new = read_corpus(tmp_path)
    assert old.part is Part.LOOK
    assert new.part is part_of("opened.example")
    (tmp_path / "truth.jsonl").write_text(json.dumps({"site": unseen}))
    assert read_corpus(tmp_path)[0].part is Part.SCORE
