"""A backup file: rows of the database, files to import, what they are, and a signature.

It is a tar archive of plain files. The last two are the manifest, which has the hash of every
other, and the signature of the manifest. Nothing in it is a statement or a program.
"""

import gzip
import hashlib
import hmac
import io
import os
import shutil
import tarfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from tempfile import TemporaryFile
from typing import IO, Annotated, Final

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, NonNegativeInt

from scrapersky.cli.signing_key import sign
from scrapersky.db.revision import revisions
from scrapersky.db.rows import TableRows
from scrapersky.errors import BackupUnusable
from scrapersky.kit.private_file import appearing_whole

FORMAT_NUMBER: Final = 2
MANIFEST: Final = "manifest.json"
SIGNATURE: Final = "signature"
TABLES: Final = "tables/"
IMPORTS: Final = "imports/"
CHUNK_BYTES: Final = 1 << 20
MAX_MANIFEST_BYTES: Final = 64 * 1024**2
MAX_ENTRIES: Final = 100_000
COMPRESSION_LEVEL: Final = 4

Word = Annotated[str, Field(pattern=r"^[\w.+-]{1,64}$")]
Name = Annotated[str, Field(min_length=1, max_length=1_024)]


class StrictModel(BaseModel):
    """Something that a backup says, of which nothing is believed but its form."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ArchiveEntry(StrictModel):
    """A file in a backup, as it stands there."""

    name: Name
    size: NonNegativeInt
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class BackupOrigin(StrictModel):
    """Where a backup comes from."""

    made_at: AwareDatetime
    scrapersky: Word
    revision: Word
    server: Annotated[str, Field(max_length=200)]
    keys_elsewhere: tuple[Word, ...]
    """Fingerprints of the suppression keys that are in no backup: SUPPRESSION_KEY."""


class Manifest(BackupOrigin):
    """What a backup says about itself."""

    format: int = FORMAT_NUMBER
    columns: dict[Name, tuple[Name, ...]]
    """The columns of every table, in the order of its rows."""
    sequences: dict[Name, tuple[int, bool]]
    entries: Annotated[tuple[ArchiveEntry, ...], Field(max_length=MAX_ENTRIES)]


@dataclass(frozen=True, slots=True)
class BackupContents:
    """What is in a backup that was looked at: of the right form, and whole."""

    about: BackupOrigin
    tables: Mapping[str, TableRows]
    sequences: Mapping[str, tuple[int, bool]]
    files: Mapping[PurePosixPath, Callable[[], IO[bytes]]]
    """The files to import, by their place under `imports`."""


class ArchiveWriter:
    """Writes a backup, entry by entry; the manifest says what was written."""

    def __init__(self, tar: tarfile.TarFile, place: Path) -> None:
        """Write to an archive; what is not ready yet lies in a directory, without a name."""
        self._tar, self._place = tar, place
        self._entries: list[ArchiveEntry] = []

    @property
    def entries(self) -> tuple[ArchiveEntry, ...]:
        """What was written."""
        return tuple(self._entries)

    @contextmanager
    def entry(self, name: str) -> Iterator[IO[bytes]]:
        """Give a place to write an entry to."""
        with TemporaryFile(dir=self._place) as unfinished:
            yield unfinished
            size = unfinished.tell()
            unfinished.seek(0)
            found = digest(unfinished)
            unfinished.seek(0)
            self._add(name, size, unfinished)
        self._entries.append(ArchiveEntry(name=name, size=size, sha256=found))

    def finish(self, manifest: Manifest, key: bytes) -> None:
        """Write the manifest and its signature."""
        content = manifest.model_dump_json().encode()
        self._add(MANIFEST, len(content), io.BytesIO(content))
        signature = sign(key, content).encode()
        self._add(SIGNATURE, len(signature), io.BytesIO(signature))

    def _add(self, name: str, size: int, content: IO[bytes]) -> None:
        member = tarfile.TarInfo(name)
        member.size, member.mode = size, 0o600
        self._tar.addfile(member, content)


@contextmanager
def new_archive(path: Path) -> Iterator[ArchiveWriter]:
    """Make a backup file that only its owner can read, and that appears when it is whole."""
    place = path.absolute().parent
    with appearing_whole(path) as file:
        with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as tar:
            yield ArchiveWriter(tar, place)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def private_copy(path: Path) -> Iterator[IO[bytes]]:
    """Give a copy of a file that has no name, so that nobody can change it any more.

    What is checked is then what is used.
    """
    with TemporaryFile(dir=path.absolute().parent) as copy:
        with path.open("rb") as given:
            shutil.copyfileobj(given, copy, CHUNK_BYTES)
        copy.seek(0)
        yield copy


def members_of(tar: tarfile.TarFile) -> dict[str, tarfile.TarInfo]:
    """Return the files in an archive by their names; refuse what is not a plain file."""
    found: dict[str, tarfile.TarInfo] = {}
    directories = 0
    for member in tar:
        if member.isdir() and f"{member.name}/".startswith(IMPORTS):
            directories += 1
            continue
        if member.type not in {tarfile.REGTYPE, tarfile.AREGTYPE} or member.issparse():
            raise tarfile.ReadError(f"it holds {member.name!r}, which is not a file")
        if member.name in found:
            raise tarfile.ReadError(f"it holds {member.name!r} twice")
        found[member.name] = member
        if len(found) > MAX_ENTRIES + 2:
            raise tarfile.ReadError(f"it holds more than {MAX_ENTRIES} files")
    if directories and SIGNATURE in found:
        raise tarfile.ReadError(
            "it holds directories, as only older versions wrote them"
        )
    return found


def is_signed(
    tar: tarfile.TarFile, members: Mapping[str, tarfile.TarInfo], key: bytes | None
) -> bool:
    """Say whether a manifest was signed with this key."""
    if key is None or SIGNATURE not in members:
        return False
    expected = sign(key, content_of(tar, members[MANIFEST])).encode()
    return hmac.compare_digest(expected, content_of(tar, members[SIGNATURE]))


def read_contents(
    tar: tarfile.TarFile, members: Mapping[str, tarfile.TarInfo]
) -> BackupContents:
    """Compare every entry with what the manifest says, and return what there is."""
    manifest = Manifest.model_validate_json(content_of(tar, members[MANIFEST]))
    if [*members] != [*(one.name for one in manifest.entries), MANIFEST, SIGNATURE]:
        raise tarfile.ReadError("its files are not those that it lists")
    for entry in manifest.entries:
        member = members[entry.name]
        with reading(tar, member) as stored:
            if member.size != entry.size or digest(stored) != entry.sha256:
                raise tarfile.ReadError(f"{entry.name!r} was changed, or is damaged")
    tables, files = {}, {}
    for entry in manifest.entries:
        read = partial(reading, tar, members[entry.name])
        if entry.name.startswith(IMPORTS):
            files[place_of(entry.name)] = read
        else:
            name = entry.name.removeprefix(TABLES).removesuffix(".gz")
            if entry.name != f"{TABLES}{name}.gz" or name not in manifest.columns:
                raise tarfile.ReadError(f"it holds {entry.name!r}, which is unknown")
            tables[name] = TableRows(manifest.columns[name], partial(unpacked, read))
    return BackupContents(manifest, tables, manifest.sequences, files)


def place_of(name: str) -> PurePosixPath:
    """Return where under `imports` a file belongs, and refuse another place."""
    place = PurePosixPath(name.removeprefix(IMPORTS))
    if f"{IMPORTS}{place}" != name or {"..", "."} & {*place.parts} or "\0" in name:
        raise tarfile.ReadError(f"it holds {name!r}, a place outside")
    if place.is_absolute() or not place.parts:
        raise tarfile.ReadError(f"it holds {name!r}, a place outside")
    return place


def refuse_newer(path: Path, about: BackupOrigin) -> None:
    """Raise for a backup of a version that this one does not know."""
    if about.revision not in revisions():
        raise BackupUnusable(
            f"{path} was made by ScraperSky {about.scrapersky} at revision "
            f"{about.revision}, which this version does not know.",
            hint="Install that version, or a newer one.",
        )


def reading(tar: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    """Open a file of an archive."""
    found = tar.extractfile(member)
    assert found is not None  # noqa: S101 - it is a plain file
    return found


def unpacked(read: Callable[[], IO[bytes]]) -> Iterator[bytes]:
    """Yield the rows of a table, piece by piece."""
    with read() as packed, gzip.GzipFile(fileobj=packed) as rows:
        while piece := rows.read(CHUNK_BYTES):
            yield piece


def content_of(tar: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    """Return what a small file of an archive holds."""
    if member.size > MAX_MANIFEST_BYTES:
        raise tarfile.ReadError(f"{member.name!r} is too large")
    with reading(tar, member) as file:
        return file.read()


def digest(file: IO[bytes]) -> str:
    """Return the checksum of a file, from here to its end."""
    found = hashlib.sha256()
    while chunk := file.read(CHUNK_BYTES):
        found.update(chunk)
    return found.hexdigest()
