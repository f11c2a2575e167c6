"""Open a backup: whose it is and whether it is whole, before anything is done with it."""

import tarfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Final

import orjson
from pydantic import ValidationError

from scrapersky.cli.archive import (
    FORMAT_NUMBER,
    MANIFEST,
    SIGNATURE,
    BackupContents,
    content_of,
    is_signed,
    members_of,
    private_copy,
    read_contents,
    refuse_newer,
)
from scrapersky.cli.old_archive import read_old_contents
from scrapersky.db.embedded import ignore
from scrapersky.errors import BackupUnusable

OLD_FORMAT: Final = 1
BRING_THE_KEY: Final = (
    "Bring the key of the installation that made it: BACKUP_KEY, or the file backup.key of "
    "its data directory. "
)
TRUST: Final = "`--trust` restores the file as it is, if you know where it comes from."
WARNING: Final = """\
WARNING: {path} {doubt}.
It is restored all the same, as you asked with --trust. Nothing in it can run a program here.
But whoever made it decides what the database says from now on: records, rules, and who may log
in with which password or API key. Look at `scrapersky user list` and the API keys before you
let people in."""


@contextmanager
def opened(
    path: Path,
    key: bytes | None,
    *,
    trust: bool = False,
    report: Callable[[str], None] = ignore,
) -> Iterator[BackupContents]:
    """Give what is in a backup that was signed with this key and is whole.

    Raises BackupUnusable, saying why, for any other; with `trust` one that is whole is enough.
    """
    with ExitStack() as held:
        try:
            copy = held.enter_context(private_copy(path))
            tar = held.enter_context(tarfile.open(fileobj=copy, mode="r:"))
            members = members_of(tar)
            if not is_signed(tar, members, key):
                doubt = doubt_about(members, key)
                if not trust:
                    hint = BRING_THE_KEY if SIGNATURE in members else ""
                    raise BackupUnusable(f"{path} {doubt}.", hint=hint + TRUST)
                report(WARNING.format(path=path, doubt=doubt))

            def new_file() -> IO[bytes]:
                return held.enter_context(TemporaryFile(dir=path.absolute().parent))

            contents = read_any(tar, members, new_file)
        except (OSError, tarfile.TarError, LookupError, TypeError, ValueError) as error:
            raise BackupUnusable(
                f"{path} is not a backup of ScraperSky, or not a whole one: "
                f"{reason_of(error)}.",
                hint="`scrapersky backup FILE` makes one.",
            ) from error
        refuse_newer(path, contents.about)
        yield contents


def doubt_about(members: Mapping[str, tarfile.TarInfo], key: bytes | None) -> str:
    """Say why a backup may be anyone's."""
    if MANIFEST not in members:
        raise tarfile.ReadError(f"it lacks {MANIFEST}")
    if SIGNATURE not in members:
        return "is not signed: an older version made it, or somebody else"
    if key is None:
        return "is signed, and the key it was signed with is not here"
    return "was signed with another key, or was changed since"


def read_any(
    tar: tarfile.TarFile,
    members: Mapping[str, tarfile.TarInfo],
    new_file: Callable[[], IO[bytes]],
) -> BackupContents:
    """Read a backup of any format we know."""
    said = orjson.loads(content_of(tar, members[MANIFEST]))["format"]
    if said == OLD_FORMAT:
        return read_old_contents(tar, members, new_file)
    if said == FORMAT_NUMBER:
        return read_contents(tar, members)
    raise BackupUnusable(
        f"The backup has a format that this ScraperSky does not read: {said!r:.20}.",
        hint="Install the version that made it.",
    )


def reason_of(error: Exception) -> str:
    """Say in a line what is wrong, and repeat nothing that the file says."""
    if isinstance(error, ValidationError):
        wrong = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(part)[:40] for part in wrong["loc"])
        return f"{MANIFEST} says something else of {where!r}"
    return str(error) or type(error).__name__
