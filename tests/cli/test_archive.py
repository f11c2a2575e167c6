"""A backup file from somebody else can put nothing where it does not belong."""

import io
import tarfile
from pathlib import Path

import pytest

from scrapersky.cli.archive import opened, unpack
from scrapersky.errors import BackupUnusable


def archive(path: Path, *members: tarfile.TarInfo) -> Path:
    """Write a file whose members hold four bytes each."""
    with tarfile.open(path, "w") as tar:
        for member in members:
            member.size = 4 if member.isfile() else 0
            tar.addfile(member, io.BytesIO(b"evil"))
    return path


@pytest.mark.parametrize("name", ["../outside", "imports/../../outside", "/outside"])
def test_a_name_outside_the_directory_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "in").mkdir()
    file = archive(tmp_path / "in" / "backup", tarfile.TarInfo(name))

    with pytest.raises(BackupUnusable, match="a place outside"), opened(file):
        pass

    assert [found.name for found in tmp_path.rglob("*")] == ["in", "backup"]


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    members = (tarfile.TarInfo("imports/a"), tarfile.TarInfo("imports/a"))

    with (
        pytest.raises(BackupUnusable, match="not a backup"),
        opened(archive(tmp_path / "backup", *members)),
    ):
        pass


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_what_is_not_a_file_is_left_out(tmp_path: Path, kind: bytes) -> None:
    link = tarfile.TarInfo("imports")
    link.type, link.linkname = kind, "/etc/hostname"
    place = tmp_path / "place"

    with tarfile.open(archive(tmp_path / "backup", link)) as tar:
        unpack(tar, place)
    assert not place.exists()

    # Neither can a link lead what follows it elsewhere.
    inside = tarfile.TarInfo("imports/a")
    with tarfile.open(archive(tmp_path / "backup", link, inside)) as tar:
        unpack(tar, place)
    assert (place / "imports" / "a").read_bytes() == b"evil"
    assert not (place / "imports").is_symlink()
