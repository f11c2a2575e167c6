"""The key that backups are signed with: given by a setting, or made once and kept in a file.

It is in no backup: whoever has the file can read it, and cannot write another.
"""

import hashlib
import hmac
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final

from scrapersky.errors import ConfigurationError
from scrapersky.settings import Settings

FILE: Final = "backup.key"
PURPOSE: Final = b"scrapersky backup"
SECRET_BYTES: Final = 32
MAX_CHARACTERS: Final = 10_000


def key_file(settings: Settings) -> Path:
    """Return where the key is kept while BACKUP_KEY is not set."""
    return settings.data_dir / FILE


def signing_key(settings: Settings) -> bytes | None:
    """Return the key of this installation; None if it has none yet."""
    if settings.backup_key is not None:
        return derived(settings.backup_key.get_secret_value())
    try:
        return derived(read_private(key_file(settings)))
    except FileNotFoundError:
        return None


def make_signing_key(settings: Settings) -> tuple[bytes, bool]:
    """Return the key of this installation, made if need be; and whether it was."""
    if (found := signing_key(settings)) is not None:
        return found, False
    path = key_file(settings)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with NamedTemporaryFile("w", dir=path.parent, prefix=f".{FILE}.") as file:
        file.write(f"{secrets.token_hex(SECRET_BYTES)}\n")
        file.flush()
        os.fsync(file.fileno())
        # It appears whole. Of several that make one at once, the first one's is kept.
        with suppress(FileExistsError):
            os.link(file.name, path)
    return derived(read_private(path)), True


def read_private(path: Path) -> str:
    """Read a secret from a file that nobody else can read or change."""
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
            f"The key of the backups, {path}, cannot be read: {error.strerror}.",
            hint="It is a file of yours, and not a link.",
        ) from error
    if found.st_mode & 0o077 or not is_ours:
        raise ConfigurationError(
            f"Others can read or change the key of the backups, {path}.",
            hint=f"chmod 600 {path}, as the user who runs ScraperSky.",
        )
    if len(secret) < SECRET_BYTES:
        raise ConfigurationError(
            f"{path} does not hold the key of the backups.",
            hint="Put the copy back that you keep, or remove the file: the next backup "
            "makes a new key.",
        )
    return secret


def derived(secret: str) -> bytes:
    """Make a key of exactly this use out of a secret."""
    return hmac.digest(secret.encode(), PURPOSE, hashlib.sha256)


def sign(key: bytes, content: bytes) -> str:
    """Sign what a backup says of itself."""
    return hmac.digest(key, content, hashlib.sha256).hex()
