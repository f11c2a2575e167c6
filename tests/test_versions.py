"""One version, wherever it is written."""

from scripts.version import written


def test_every_file_has_the_version_of_the_package() -> None:
    found = dict(written())

    assert {version for _, version in written()} == {found["pyproject.toml"]}
