"""A backup file: a snapshot of the database, the files to import, and what both are."""

import hashlib
import os
import shutil
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import IO, Final

import orjson

from scrapersky.db.revision import revisions
from scrapersky.errors import BackupUnusable

FORMAT: Final = 1
MANIFEST: Final = "manifest.json"
DUMP: Final = "database.dump"
IMPORTS: Final = "imports"
CHUNK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup file says about itself."""

    made_at: str
    scrapersky: str
    revision: str
    server: str
    keys_elsewhere: tuple[str, ...]
    """Fingerprints of the suppression keys that are in no backup: SUPPRESSION_KEY."""
    sha256: str
    format: int = FORMAT


def write_archive(path: Path, manifest: Manifest, dump: Path, imports: Path) -> None:
    """Write a backup file; nobody else may read it, and a half-written one has no name."""
    unfinished = path.with_name(f".{path.name}.unfinished")
    handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with (
            os.fdopen(handle, "wb") as file,
            tarfile.open(fileobj=file, mode="w") as tar,
        ):
            described = dump.with_name(MANIFEST)
            described.write_bytes(orjson.dumps(asdict(manifest)))
            tar.add(described, MANIFEST)
            tar.add(dump, DUMP)
            if imports.is_dir():
                tar.add(imports, IMPORTS)
            file.flush()
            os.fsync(file.fileno())
        unfinished.rename(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


@contextmanager
def opened(path: Path) -> Iterator[tuple[Manifest, Path, Path]]:
    """Give what a backup file says, its snapshot and its files; or say what is wrong."""
    with TemporaryDirectory(dir=path.parent, prefix=".restore-") as directory:
        place = Path(directory)
        try:
            with tarfile.open(path) as tar:
                unpack(tar, place)
            said = orjson.loads((place / MANIFEST).read_bytes())
            if said.get("format") != FORMAT:
                raise BackupUnusable(
                    f"{path} has format {said.get('format')}; this ScraperSky reads "
                    f"{FORMAT}.",
                    hint="Install the version that made it.",
                )
            said["keys_elsewhere"] = tuple(said["keys_elsewhere"])
            manifest = Manifest(**said)
            with (place / DUMP).open("rb") as dump:
                whole = digest(dump) == manifest.sha256
        except (OSError, tarfile.TarError, KeyError, TypeError, ValueError) as error:
            raise BackupUnusable(
                f"{path} is not a backup of ScraperSky, or not a whole one: {error}.",
                hint="`scrapersky backup FILE` makes one.",
            ) from error
        if not whole:
            raise BackupUnusable(f"{path} is damaged: its checksum does not match.")
        if manifest.revision not in revisions():
            raise BackupUnusable(
                f"{path} was made by ScraperSky {manifest.scrapersky} at revision "
                f"{manifest.revision}, which this version does not know.",
                hint="Install that version, or a newer one.",
            )
        yield manifest, place / DUMP, place / IMPORTS


def unpack(tar: tarfile.TarFile, place: Path) -> None:
    """Write the files of a backup into a directory, and nothing that is not a file.

    `extractall(filter="data")` would do; Python has it from 3.11.4 on, and Debian 12 has 3.11.2.
    """
    for member in tar:
        name = PurePosixPath(member.name)
        if name.is_absolute() or ".." in name.parts:
            raise tarfile.ReadError(f"it holds {member.name!r}, a place outside")
        source = tar.extractfile(member) if member.isfile() else None
        if source is not None:
            target = place / name
            target.parent.mkdir(parents=True, exist_ok=True)
            # Of two with one name, which is meant?
            with target.open("xb") as out:
                shutil.copyfileobj(source, out, CHUNK)


def digest(file: IO[bytes]) -> str:
    """Return the checksum of a file."""
    found = hashlib.sha256()
    while chunk := file.read(CHUNK):
        found.update(chunk)
    return found.hexdigest()
