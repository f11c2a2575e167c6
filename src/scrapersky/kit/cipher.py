"""Encrypt small secrets that have to be kept: nobody reads them in a copy of the database."""

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from scrapersky.errors import ConfigurationError

PURPOSE: Final = b"scrapersky encryption"
FORMAT: Final = b"\x01"
NONCE_BYTES: Final = 12
MARK_BYTES: Final = 4
"""Of what says which key was used."""


@dataclass(frozen=True, slots=True, repr=False)
class Cipher:
    """Encrypts with the first of its secrets, and reads what any of them has encrypted."""

    secrets: Sequence[str]
    _keys: dict[bytes, bytes] = field(init=False)

    def __post_init__(self) -> None:
        """Make a key of exactly this use out of each secret."""
        keys = [
            hmac.digest(secret.encode(), PURPOSE, hashlib.sha256)
            for secret in self.secrets
        ]
        object.__setattr__(self, "_keys", {mark_of(key): key for key in keys})

    def encrypt(self, content: bytes, purpose: str) -> bytes:
        """Encrypt; it is read again only for the same purpose, such as the id of its row."""
        mark, key = next(iter(self._keys.items()))
        nonce = secrets.token_bytes(NONCE_BYTES)
        encrypted = AESGCM(key).encrypt(nonce, content, purpose.encode())
        return FORMAT + mark + nonce + encrypted

    def decrypt(self, encrypted: bytes, purpose: str) -> bytes:
        """Read what was encrypted; raise ConfigurationError if its key is not given."""
        start = len(FORMAT) + MARK_BYTES
        key = self._keys.get(encrypted[len(FORMAT) : start])
        if key is None or encrypted[: len(FORMAT)] != FORMAT:
            raise ConfigurationError(
                "A secret was encrypted with a key that this process does not have.",
                hint="Give every process the same ENCRYPTION_KEY, and older ones in "
                "ENCRYPTION_OTHER_KEYS.",
            )
        nonce, content = (
            encrypted[start : start + NONCE_BYTES],
            encrypted[start + NONCE_BYTES :],
        )
        try:
            return AESGCM(key).decrypt(nonce, content, purpose.encode())
        except InvalidTag:
            raise ConfigurationError(
                "An encrypted secret was changed, or belongs to something else.",
                hint="Make a new one.",
            ) from None


def mark_of(key: bytes) -> bytes:
    """Return what tells one key from another, and nothing of the key."""
    return hashlib.sha256(b"mark" + key).digest()[:MARK_BYTES]
