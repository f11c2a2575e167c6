"""The key that backups are signed with: given by a setting, or made once and kept in a file.

It is in no backup: whoever has the file can read it, and cannot write another.
"""

import hashlib
import hmac
from pathlib import Path
from typing import Final

from scrapersky.kit.secret_file import make_secret, read_secret
from scrapersky.settings import Settings

FILE: Final = "backup.key"
PURPOSE: Final = b"scrapersky backup"


def key_file(settings: Settings) -> Path:
    """Return where the key is kept while BACKUP_KEY is not set."""
    return settings.data_dir / FILE


def signing_key(settings: Settings) -> bytes | None:
    """Return the key of this installation; None if it has none yet."""
    if settings.backup_key is not None:
        return derived(settings.backup_key.get_secret_value())
    try:
        return derived(read_key(settings))
    except FileNotFoundError:
        return None


def make_signing_key(settings: Settings) -> tuple[bytes, bool]:
    """Return the key of this installation, made if need be; and whether it was."""
    if (found := signing_key(settings)) is not None:
        return found, False
    make_secret(key_file(settings))
    return derived(read_key(settings)), True


def read_key(settings: Settings) -> str:
    """Read the secret from its file."""
    return read_secret(
        key_file(settings),
        "the key of the backups",
        if_lost="the next backup makes a new key.",
    )


def derived(secret: str) -> bytes:
    """Make a key of exactly this use out of a secret."""
    return hmac.digest(secret.encode(), PURPOSE, hashlib.sha256)


def sign(key: bytes, content: bytes) -> str:
    """Sign what a backup says of itself."""
    return hmac.digest(key, content, hashlib.sha256).hex()
