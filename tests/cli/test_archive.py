"""A backup that somebody changed, or made, is refused before anything is done with it."""

import gzip
import io
import os
import tarfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import orjson
import pytest
from pydantic import SecretStr

from scrapersky.cli import archive
from scrapersky.cli.archive import BackupContents, BackupOrigin, Manifest, new_archive
from scrapersky.cli.opening import opened
from scrapersky.cli.signing_key import key_file, make_signing_key, sign, signing_key
from scrapersky.db.revision import revisions
from scrapersky.errors import BackupUnusable, ConfigurationError
from scrapersky.kit.clock import utc_now
from scrapersky.settings import Settings

KEY = b"k" * 32


@dataclass(frozen=True)
class TarPart:
    """A member of an archive."""

    name: str
    content: bytes = b""
    type: bytes = tarfile.REGTYPE
    link: str = ""


def a_backup(path: Path) -> Path:
    """Make a backup of two tables and a file."""
    with new_archive(path) as written:
        for name, content in (
            ("tables/public.tenants.gz", gzip.compress(b"1\tour tenant\n", mtime=0)),
            ("tables/public.users.gz", gzip.compress(b"2\tsomebody\n", mtime=0)),
            ("imports/a/places.csv", b"id,name\n"),
        ):
            with written.entry(name) as out:
                out.write(content)
        about = BackupOrigin(
            made_at=utc_now(),
            scrapersky="1",
            revision=revisions()[-1],
            server="18",
            keys_elsewhere=(),
        )
        columns = dict.fromkeys(("public.tenants", "public.users"), ("id", "name"))
        said = {"columns": columns, "sequences": {}, "entries": written.entries}
        written.finish(Manifest(**about.model_dump(), **said), KEY)
    return path


def parts_of(path: Path) -> list[TarPart]:
    with tarfile.open(path) as tar:
        return [
            TarPart(one.name, archive.reading(tar, one).read())
            for one in tar.getmembers()
        ]


def pack(path: Path, parts: Iterable[TarPart]) -> None:
    with tarfile.open(path, "w") as tar:
        for part in parts:
            member = tarfile.TarInfo(part.name)
            member.type, member.linkname = part.type, part.link
            member.size = len(part.content)
            tar.addfile(member, io.BytesIO(part.content))


def look_at(
    path: Path, key: bytes | None = KEY, *, trust: bool = False
) -> BackupContents:
    with opened(path, key, trust=trust) as contents:
        return contents


def refusal(path: Path, key: bytes | None = KEY, *, trust: bool = False) -> str:
    with pytest.raises(BackupUnusable) as refused:
        look_at(path, key, trust=trust)
    return str(refused.value)


Change = Callable[[list[TarPart]], list[TarPart]]


def edited_entry(parts: list[TarPart]) -> list[TarPart]:
    return [replace(parts[0], content=gzip.compress(b"1\tevil\n")), *parts[1:]]


def edited_manifest(parts: list[TarPart]) -> list[TarPart]:
    said = orjson.loads(parts[-2].content) | {"scrapersky": "2"}
    return [*parts[:-2], replace(parts[-2], content=orjson.dumps(said)), parts[-1]]


def swapped_contents(parts: list[TarPart]) -> list[TarPart]:
    first, second = parts[:2]
    return [
        replace(first, content=second.content),
        replace(second, content=first.content),
        *parts[2:],
    ]


def another_order(parts: list[TarPart]) -> list[TarPart]:
    return [parts[1], parts[0], *parts[2:]]


def one_less(parts: list[TarPart]) -> list[TarPart]:
    return parts[1:]


def one_more(parts: list[TarPart]) -> list[TarPart]:
    return [*parts[:-2], TarPart("tables/public.pages.gz"), *parts[-2:]]


def one_behind(parts: list[TarPart]) -> list[TarPart]:
    return [*parts, TarPart("imports/more")]


def one_twice(parts: list[TarPart]) -> list[TarPart]:
    return [*parts[:2], *parts[1:]]


def another_signature(parts: list[TarPart]) -> list[TarPart]:
    return [*parts[:-1], replace(parts[-1], content=b"0" * 64)]


def of_kind(kind: bytes) -> Change:
    def add(parts: list[TarPart]) -> list[TarPart]:
        return [TarPart("imports/a", type=kind, link="/etc/hostname"), *parts]

    return add


KINDS = (
    tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE,
    tarfile.GNUTYPE_SPARSE, tarfile.CONTTYPE,
)  # fmt: skip
DAMAGE: tuple[Change, ...] = (
    edited_entry, swapped_contents, another_order, one_less, one_more, one_behind,
    one_twice, *map(of_kind, KINDS),
)  # fmt: skip


def test_a_backup_of_ours_is_opened(tmp_path: Path) -> None:
    with opened(a_backup(tmp_path / "backup"), KEY) as contents:
        rows = {name: b"".join(one.read()) for name, one in contents.tables.items()}
        files = {str(name): read().read() for name, read in contents.files.items()}

    assert rows == {
        "public.tenants": b"1\tour tenant\n",
        "public.users": b"2\tsomebody\n",
    }
    assert files == {"a/places.csv": b"id,name\n"}
    assert [one.name for one in tmp_path.iterdir()] == ["backup"]


@pytest.mark.parametrize("change", DAMAGE)
def test_a_changed_backup_was_restored_if_its_checksum_was_changed_too(
    tmp_path: Path, change: Change
) -> None:
    file = a_backup(tmp_path / "backup")
    pack(file, change(parts_of(file)))

    assert "is not a backup of ScraperSky, or not a whole one" in refusal(file)
    assert "or not a whole one" in refusal(file, trust=True)


@pytest.mark.parametrize("change", [edited_manifest, another_signature])
def test_whoever_could_write_the_file_could_write_the_database(
    tmp_path: Path, change: Change
) -> None:
    file = a_backup(tmp_path / "backup")
    pack(file, change(parts_of(file)))
    said: list[str] = []

    assert "signed with another key, or was changed since" in refusal(file)
    with opened(file, KEY, trust=True, report=said.append) as contents:
        assert contents.tables.keys() == {"public.tenants", "public.users"}
    assert said[0].startswith("WARNING: ")


def test_a_wrong_or_lost_key_opens_nothing_unless_the_file_is_trusted(
    tmp_path: Path,
) -> None:
    file = a_backup(tmp_path / "backup")

    assert "signed with another key" in refusal(file, b"other")
    assert "the key it was signed with is not here" in refusal(file, None)
    assert look_at(file, None, trust=True).about.scrapersky == "1"
    pack(file, parts_of(file)[:-1])
    assert "is not signed" in refusal(file)


def with_manifest(path: Path, **said: object) -> Path:
    """Sign another manifest, as somebody does who has the key."""
    file = a_backup(path)
    *parts, manifest, signature = parts_of(file)
    content = orjson.dumps(orjson.loads(manifest.content) | said)
    signed = sign(KEY, content).encode()
    pack(
        file,
        [
            *parts,
            replace(manifest, content=content),
            replace(signature, content=signed),
        ],
    )
    return file


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ({"format": 3}, "a format that this ScraperSky does not read: 3"),
        ({"revision": "9999_future"}, "9999_future, which this version does not know"),
        ({"revision": "\x1b[2J"}, "something else of 'revision'"),
        ({"made_at": "\x1b[2J"}, "something else of 'made_at'"),
        ({"more": 1}, "something else of 'more'"),
        ({"columns": {}}, "which is unknown"),
        ({"entries": []}, "not those that it lists"),
    ],
)
def test_a_manifest_says_what_is_not_so(
    tmp_path: Path, said: dict[str, object], answer: str
) -> None:
    assert answer in refusal(with_manifest(tmp_path / "backup", **said))


@pytest.mark.parametrize(
    "name",
    [
        "../outside", "imports/../../outside", "/outside", "imports//outside", "imports/",
        "imports/./a", "other", "imports/a\0b",
    ],
)  # fmt: skip
def test_a_name_outside_the_directory_is_refused(name: str) -> None:
    with pytest.raises(tarfile.ReadError, match="a place outside"):
        archive.place_of(name)


def test_a_file_changed_between_the_look_and_the_use(tmp_path: Path) -> None:
    file = a_backup(tmp_path / "backup")
    with opened(file, KEY) as contents:
        file.write_bytes(b"\0" * file.stat().st_size)

        assert b"".join(contents.tables["public.users"].read()) == b"2\tsomebody\n"


def test_a_link_planted_where_a_backup_is_written_is_not_followed(
    tmp_path: Path,
) -> None:
    other = tmp_path / "other"
    other.write_text("kept")
    for name in ("backup", ".backup.unfinished"):
        (tmp_path / name).symlink_to(other)

    file = a_backup(tmp_path / "backup")

    assert other.read_text() == "kept"
    assert file.stat().st_mode & 0o077 == 0


def test_the_key_is_made_once_and_is_its_owners_alone(tmp_path: Path) -> None:
    settings = Settings(SCRAPERSKY_DATA_DIR=tmp_path / "data")
    assert signing_key(settings) is None

    made, is_new = make_signing_key(settings)

    assert is_new
    assert make_signing_key(settings) == (made, False)
    assert key_file(settings).stat().st_mode & 0o777 == 0o600
    # On another machine the setting takes what the file holds.
    secret = SecretStr(key_file(settings).read_text().strip())
    assert signing_key(settings.model_copy(update={"backup_key": secret})) == made


def plant_open(path: Path) -> None:
    path.write_text("k" * 64)
    path.chmod(0o640)


def plant_link(path: Path) -> None:
    path.with_name("other").write_text("k" * 64)
    path.symlink_to(path.with_name("other"))


def plant_short(path: Path) -> None:
    path.write_text("k")
    path.chmod(0o600)


def plant_directory(path: Path) -> None:
    path.mkdir(mode=0o700)


def plant_pipe(path: Path) -> None:
    os.mkfifo(path, 0o600)


@pytest.mark.parametrize(
    "plant", [plant_open, plant_link, plant_short, plant_directory, plant_pipe]
)
def test_a_key_that_others_could_have_planted_is_not_used(
    tmp_path: Path, plant: Callable[[Path], None]
) -> None:
    settings = Settings(SCRAPERSKY_DATA_DIR=tmp_path)
    plant(key_file(settings))

    with pytest.raises(ConfigurationError, match=r"backup\.key"):
        make_signing_key(settings)
