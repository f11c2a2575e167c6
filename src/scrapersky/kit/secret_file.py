"""Secrets that are made once and kept in a file that nobody else can read."""

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final

from scrapersky.errors import ConfigurationError

SECRET_BYTES: Final = 32
MAX_CHARACTERS: Final = 10_000


def make_secret(path: Path) -> None:
    """Make a secret and keep it in a file, unless there is one."""
    # Where root's PostgreSQL will be, its user passes through, and cannot list what is inside.
    mode = 0o711 if os.geteuid() == 0 else 0o700
    path.parent.mkdir(mode=mode, parents=True, exist_ok=True)
    with NamedTemporaryFile("w", dir=path.parent, prefix=f".{path.name}.") as file:
        file.write(f"{secrets.token_hex(SECRET_BYTES)}\n")
        file.flush()
        os.fsync(file.fileno())
        # It appears whole. Of several that make one at once, the first one's is kept.
        with suppress(FileExistsError):
            os.link(file.name, path)


def read_secret(path: Path, name: str, *, if_lost: str) -> str:
    """Read a secret from a file that nobody else can read or change.

    `name` says in errors what it is, and `if_lost` what to do without it.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags)
        with os.fdopen(descriptor, encoding="ascii", errors="replace") as file:
            found = os.fstat(file.fileno())
            is_ours = os.geteuid() in {0, found.st_uid}
            is_file = stat.S_ISREG(found.st_mode)
            secret = file.read(MAX_CHARACTERS).strip() if is_file else ""
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ConfigurationError(
            f"{name[0].upper()}{name[1:]}, {path}, cannot be read: {error.strerror}.",
            hint="It is a file of yours, and not a link.",
        ) from error
    if found.st_mode & 0o077 or not is_ours:
        raise ConfigurationError(
            f"Others can read or change {name}, {path}.",
            hint=f"chmod 600 {path}, as the user who runs ScraperSky.",
        )
    if len(secret) < SECRET_BYTES:
        raise ConfigurationError(
            f"{path} does not hold {name}.",
            hint=f"Put the copy back that you keep, or remove the file: {if_lost}",
        )
    return secret
