"""One version, wherever it is written; and every release in its changelog."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

from scrapersky.db.releases import RELEASED, releases, revision_meant
from scrapersky.db.revision import revisions
from scrapersky.errors import ConfigurationError
from scripts.version import written

CHANGELOG = Path(__file__).parents[1] / "CHANGELOG.md"
HEADING = re.compile(r"^## \[([\d.]+)\] - (\d{4}-\d\d-\d\d)$", re.MULTILINE)


def test_every_file_has_the_version_of_the_package() -> None:
    found = dict(written())

    assert {version for _, version in written()} == {found["pyproject.toml"]}


def test_everything_stood_under_unreleased() -> None:
    _, *rest = HEADING.split(CHANGELOG.read_text(encoding="utf-8"))
    sections = dict(zip(rest[::3], rest[2::3], strict=True))
    dates = rest[1::3]

    assert {release.version for release in RELEASED} <= sections.keys()
    assert dates == sorted(dates, reverse=True)
    for version, section in sections.items():
        assert section.index("\n### Operator steps\n") == section.index("\n### "), (
            version
        )


def test_every_release_has_a_revision_later_than_the_one_before() -> None:
    known = [revisions().index(release.revision) for release in releases()]

    assert all(older < newer for older, newer in pairwise(known[:-1]))
    assert known[-2] <= known[-1]
    assert [one.commit for one in RELEASED if len(one.commit or "") != 40] == []


@pytest.mark.parametrize("word", ["0.3.0", "0041", "0041_time_ordered_keys"])
def test_a_revision_is_meant_by_release_number_or_name(word: str) -> None:
    assert revision_meant(word) == "0041_time_ordered_keys"


def test_a_release_that_never_was_is_refused_with_those_that_were() -> None:
    with pytest.raises(ConfigurationError) as refused:
        revision_meant("0.3.1")

    assert "no release and no revision '0.3.1'" in str(refused.value)
    assert "0.1.0, 0.2.0, 0.3.0" in str(refused.value.hint)
