"""The key under which suppressed values are hashed: given by a setting, or made once.

An engine is handed the keys when it is opened, so that whoever has a connection of it
can ask the list. An engine nobody handed them to reads them from the database, which
works only while they are kept there.
"""

import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import SecretStr
from sqlalchemy import func, or_, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from scrapersky.errors import ConfigurationError
from scrapersky.privacy.subject import Subject, SubjectKind, tail_of
from scrapersky.records import Suppression, SuppressionKey

OPTION = "suppression_keys"
PURPOSE = b"scrapersky suppression list"


@dataclass(frozen=True, slots=True, repr=False)
class Keys:
    """The key that new entries are hashed with, and others that entries may be under."""

    current: bytes
    others: tuple[bytes, ...] = ()

    def write(self, subject: Subject) -> bytes:
        """Hash what is meant, as a new entry keeps it."""
        return keyed_hash(self.current, subject.kind, subject.value)

    def write_tail(self, subject: Subject) -> bytes | None:
        """Hash the digits a number is known by in texts; None for what is not a number."""
        if subject.kind is not SubjectKind.PHONE:
            return None
        return keyed_hash(self.current, "tail", tail_of(subject.value))

    def read(self, kind: str, value: str) -> Iterable[bytes]:
        """Yield every hash under which an entry may have been kept."""
        for key in (self.current, *self.others):
            yield keyed_hash(key, kind, value)

    def read_others(self, subject: Subject) -> Iterable[bytes]:
        """Yield the hashes of an entry that is not under the current key."""
        for key in self.others:
            yield keyed_hash(key, subject.kind, subject.value)


def keyed_hash(key: bytes, kind: str, value: str) -> bytes:
    """Hash one value; the kind is part of it, so that no hash means two things."""
    return hmac.digest(key, f"{kind}:{value}".encode(), hashlib.sha256)


async def load_suppression_keys(
    engine: AsyncEngine,
    *engines: AsyncEngine,
    secret: SecretStr | None = None,
    others: SecretStr | None = None,
) -> None:
    """Give these engines the keys; `engine` may read the table they are kept in.

    `others` are keys that entries may be under besides, comma-separated. Raises
    ConfigurationError if entries were made under a key that is kept elsewhere and was not
    given: the list would protect nobody.
    """
    given = derive_key(secret.get_secret_value()) if secret else None
    async with engine.begin() as connection:
        if given is not None:
            mark = insert(SuppressionKey).values(fingerprint=fingerprint(given))
            await connection.execute(mark.on_conflict_do_nothing())
        keys = await read_keys(connection, given, given_keys(None, others))
    for each in (engine, *engines):
        each.sync_engine.update_execution_options(**{OPTION: keys})


@dataclass(frozen=True, slots=True)
class KeyExposure:
    """How safe the list is from whoever has a copy of the database."""

    entries: int
    readable: int
    """Entries whose key lies in the database beside them: their values can be guessed."""


async def count_exposed(
    connection: AsyncConnection,
    secret: SecretStr | None,
    others: SecretStr | None = None,
) -> KeyExposure:
    """Count the entries, and those under the key that the database keeps.

    Raises ConfigurationError if a key is missing that entries were made with.
    """
    given = derive_key(secret.get_secret_value()) if secret else None
    await read_keys(connection, given, given_keys(None, others))
    entries = select(func.count()).select_from(Suppression)
    total = int(await connection.scalar(entries) or 0)
    if given is None:
        return KeyExposure(total, total)
    # Not every entry says which key it is under; before the first that is kept elsewhere,
    # it was the one in the database.
    since = select(func.min(SuppressionKey.created_at)).where(
        SuppressionKey.secret.is_(None)
    )
    before = entries.where(
        Suppression.created_at
        < func.coalesce(since.scalar_subquery(), func.clock_timestamp())
    )
    return KeyExposure(total, int(await connection.scalar(before) or 0))


async def keys_of(connection: AsyncConnection) -> Keys:
    """Return the keys of a connection's engine, or those the database keeps."""
    assert connection.sync_connection is not None  # noqa: S101 - it is open
    held = connection.sync_connection.get_execution_options().get(OPTION)
    return held if isinstance(held, Keys) else await read_keys(connection, None)


async def read_keys(
    connection: AsyncConnection, given: bytes | None, others: tuple[bytes, ...] = ()
) -> Keys:
    """Read the keys in the database; refuse if entries are under one that is not here."""
    query = select(SuppressionKey.fingerprint, SuppressionKey.secret)
    rows = (await connection.execute(query.order_by(SuppressionKey.created_at))).all()
    kept = tuple(bytes(row.secret) for row in rows if row.secret is not None)
    current, *rest = (*kept, *others) if given is None else (given, *kept, *others)
    known = {fingerprint(key) for key in (current, *rest)}
    elsewhere = {bytes(row.fingerprint) for row in rows if row.secret is None}
    missing = elsewhere - known
    if missing and (count := await count_under(connection, missing)):
        raise ConfigurationError(
            "The suppression list was made with another SUPPRESSION_KEY: "
            f"{count:,} entries are, or may be, under a key that is not given.",
            hint="Give every process the key the list was made with, as SUPPRESSION_KEY or "
            "among SUPPRESSION_OTHER_KEYS; without it nobody on the list is protected.",
        )
    return Keys(current, tuple(rest))


async def count_under(connection: AsyncConnection, fingerprints: set[bytes]) -> int:
    """Count the entries under these keys; those of older versions do not say theirs."""
    query = select(func.count()).where(
        or_(
            Suppression.key_fingerprint.in_(fingerprints),
            Suppression.key_fingerprint.is_(None),
        )
    )
    return int(await connection.scalar(query) or 0)


def given_keys(
    secret: SecretStr | None, others: SecretStr | None = None
) -> tuple[bytes, ...]:
    """Make a key of each secret that a process is given, that of new entries first."""
    written = [secret.get_secret_value()] if secret else []
    if others:
        written += map(str.strip, others.get_secret_value().split(","))
    return tuple(map(derive_key, written))


def derive_key(secret: str) -> bytes:
    """Make a key of exactly this use out of the setting."""
    return hmac.digest(secret.encode(), PURPOSE, hashlib.sha256)


def fingerprint(key: bytes) -> bytes:
    """Return what distinguishes keys and reveals nothing about them."""
    return hmac.digest(key, b"fingerprint", hashlib.sha256)
