"""Files that only their owner can read or lock, and that are never opened through a link."""

import grp
import os
import pwd
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, TextIO

ONLY_MINE = 0o600


def open_lock(path: Path) -> TextIO:
    """Open a file to lock it: made if it is missing, never by way of a link.

    Whoever can open a file can hold its lock, so others may not even read it.
    """
    return os.fdopen(open_private(path, os.O_RDWR), "r+", encoding="utf-8")


def open_log(path: Path) -> int:
    """Open a file to add to it; return its descriptor."""
    return open_private(path, os.O_WRONLY | os.O_APPEND)


def open_private(path: Path, flags: int) -> int:
    """Open or make a plain file that is ours alone; raise OSError for anything else."""
    descriptor = os.open(
        path, flags | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, ONLY_MINE
    )
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        os.close(descriptor)
        raise OSError(0, "not a plain file", str(path))
    if stat.S_IMODE(found.st_mode) != ONLY_MINE and found.st_uid == os.geteuid():
        os.fchmod(descriptor, ONLY_MINE)
    return descriptor


def why_untrusted(found: os.stat_result, uid: int) -> str | None:
    """Say who else could have written a file that a user is about to obey, if anyone.

    Root may write anything anyway, so that what is root's is trusted by all.
    """
    mode = found.st_mode
    if found.st_uid not in {uid, 0}:
        return f"belongs to {user_name(found.st_uid)}"
    if stat.S_ISLNK(mode):
        return None
    if mode & stat.S_IWOTH:
        return "can be written by everyone"
    if mode & stat.S_IWGRP and not is_own_group(found.st_gid, found.st_uid):
        return f"can be written by the group {found.st_gid}"
    return None


def is_own_group(gid: int, uid: int) -> bool:
    """Say whether a group is the one that bears a user's name and has nobody else."""
    try:
        group, user = grp.getgrgid(gid), pwd.getpwuid(uid)
    except KeyError:
        return False
    return group.gr_name == user.pw_name and set(group.gr_mem) <= {user.pw_name}


def user_name(uid: int) -> str:
    """Return what a user is called, or their number if they have no name here."""
    with suppress(KeyError):
        return pwd.getpwuid(uid).pw_name
    return f"user {uid}"


@contextmanager
def appearing_whole(path: Path) -> Iterator[BinaryIO]:
    """Give a file to write to; it appears at the end, or not at all.

    Until then it has a name that nobody can foresee. A link at `path` is replaced, and
    what it leads to stays as it was.
    """
    descriptor, name = tempfile.mkstemp(
        prefix=f".{path.name}.", suffix=".unfinished", dir=path.parent
    )
    unfinished = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def make_private_directory(directory: Path, uid: int, gid: int) -> bool:
    """Make a directory that only one user may enter; say whether it is one.

    One that is there already must be theirs or ours. A link is not followed: where it
    leads may be anyone's.
    """
    with suppress(FileExistsError):
        directory.mkdir(mode=0o700)
    try:
        descriptor = os.open(
            directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        )
    except OSError:
        return False
    try:
        owner = os.fstat(descriptor).st_uid
        if owner not in {uid, os.geteuid()}:
            return False
        if owner != uid:
            os.fchown(descriptor, uid, gid)
        os.fchmod(descriptor, 0o700)
    finally:
        os.close(descriptor)
    return True
