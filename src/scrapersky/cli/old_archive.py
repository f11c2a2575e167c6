"""Backups of format 1: a dump of pg_dump, of which only the rows are taken.

A dump is a program: its statements can do whatever the user who runs them may. None of them
is run. `pg_restore` writes them out as text, without a database; the rows in it are kept,
and a statement that a dump of ours would not have makes the file unusable.
"""

import re
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from tempfile import TemporaryFile
from typing import IO, Annotated, Final, Literal

from pydantic import Field

from scrapersky.cli.archive import (
    CHUNK_BYTES,
    MANIFEST,
    BackupContents,
    BackupOrigin,
    content_of,
    digest,
    place_of,
    reading,
)
from scrapersky.db.embedded import wheel_directory
from scrapersky.db.rows import TableRows

DUMP: Final = "database.dump"
COPY: Final = re.compile(rb'COPY (\w+\.\w+) \(([\w", ]+)\) FROM stdin;\n')
SETVAL: Final = re.compile(
    rb"SELECT pg_catalog\.setval\('(\w+\.\w+)', (\d{1,18}), (true|false)\);\n"
)
HARMLESS: Final = re.compile(
    rb"(?:--[^\n]*|SET \w+ = [\w' -]+;|\\(?:un)?restrict \w+"
    rb"|SELECT pg_catalog\.set_config\('search_path', '', false\);)?\n"
)
END: Final = b"\\.\n"


class OldManifest(BackupOrigin):
    """What a backup of format 1 says about itself."""

    format: Literal[1]
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


def read_old_contents(
    tar: tarfile.TarFile,
    members: Mapping[str, tarfile.TarInfo],
    new_file: Callable[[], IO[bytes]],
) -> BackupContents:
    """Return the rows and files of an old backup; `new_file` gives places to keep them."""
    manifest = OldManifest.model_validate_json(content_of(tar, members[MANIFEST]))
    files = {
        place_of(name): partial(reading, tar, member)
        for name, member in members.items()
        if name not in {MANIFEST, DUMP}
    }
    dump = new_file()
    with reading(tar, members[DUMP]) as stored:
        shutil.copyfileobj(stored, dump, CHUNK_BYTES)
    dump.seek(0)
    if digest(dump) != manifest.sha256:
        raise tarfile.ReadError(f"{DUMP!r} was changed, or is damaged")
    dump.seek(0)
    tables: dict[str, TableRows] = {}
    sequences: dict[str, tuple[int, bool]] = {}
    lines = statements_of(dump)
    for line in lines:
        if found := COPY.fullmatch(line):
            columns = found[2].decode().replace('"', "").split(", ")
            rows = new_file()
            keep_rows(lines, rows)
            tables[found[1].decode()] = TableRows(tuple(columns), partial(pieces, rows))
        elif found := SETVAL.fullmatch(line):
            sequences[found[1].decode()] = (int(found[2]), found[3] == b"true")
        elif not HARMLESS.fullmatch(line):
            raise tarfile.ReadError(f"it holds a statement of its own, {line[:60]!r}")
    return BackupContents(manifest, tables, sequences, files)


def statements_of(dump: IO[bytes]) -> Iterator[bytes]:
    """Write out the part of a dump that fills tables, line by line; nothing is run."""
    program = wheel_directory() / "pginstall" / "bin" / "pg_restore"
    with TemporaryFile() as said:
        with subprocess.Popen(
            [str(program), "--data-only", "--file", "-"],
            stdin=dump,
            stdout=subprocess.PIPE,
            stderr=said,
            env={},
        ) as reader:
            assert reader.stdout is not None  # noqa: S101 - for the type checker
            yield from reader.stdout
        if reader.returncode:
            said.seek(0)
            reason = said.read(200).decode(errors="replace").strip()
            raise tarfile.ReadError(f"pg_restore cannot read it: {reason!r}")


def keep_rows(lines: Iterator[bytes], rows: IO[bytes]) -> None:
    """Keep what follows the head of a table, up to its end."""
    for line in lines:
        if line == END:
            return
        rows.write(line)
    raise tarfile.ReadError("it ends in the middle of a table")


def pieces(rows: IO[bytes]) -> Iterator[bytes]:
    """Yield rows that were kept, from their beginning."""
    rows.seek(0)
    while piece := rows.read(CHUNK_BYTES):
        yield piece
