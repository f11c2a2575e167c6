"""Passwords: hashed slowly, off the event loop, a few at a time."""

import asyncio
import re
from typing import Final

from pwdlib import PasswordHash
from pwdlib.exceptions import PwdlibError
from pwdlib.hashers.argon2 import Argon2Hasher

from scrapersky.errors import WeakPassword

MIN_CHARACTERS: Final = 10
MAX_CHARACTERS: Final = 200
CONCURRENT_HASHES: Final = 2
"""Each takes 19 MiB and a core for a while; more at once would starve the requests."""
PLAIN: Final = re.compile(r"^(.)\1*$|^(password|scrapersky|1234567890)", re.IGNORECASE)

# OWASP's figures for Argon2id where the machine does other work too.
HASHER: Final = PasswordHash(
    (Argon2Hasher(time_cost=2, memory_cost=19_456, parallelism=1),)
)
NOBODY: Final = (
    "$argon2id$v=19$m=19456,t=2,p=1$9c0RPOYPW2LA6JR9sa6kFg$"
    "rY56Uv8ThTDQ4+Lp7kX1SYWcTCaw+aDg3wQNbR8mWm4"
)
"""Verified when there is no such account, so that both answers take as long."""


class Passwords:
    """Hashes and verifies, never more than a few at once."""

    def __init__(self) -> None:
        self._turns = asyncio.Semaphore(CONCURRENT_HASHES)

    async def hash(self, password: str) -> str:
        """Return the hash to keep."""
        async with self._turns:
            return await asyncio.to_thread(HASHER.hash, password)

    async def verify(self, password: str, kept: str | None) -> bool:
        """Say whether this is the password; None stands for nobody's."""
        async with self._turns:
            return await asyncio.to_thread(verified, password, kept)


def verified(password: str, kept: str | None) -> bool:
    """Verify with the same effort whether or not there is anything to verify."""
    try:
        is_right = HASHER.verify(password, kept or NOBODY)
    except PwdlibError:
        return False
    return is_right and kept is not None


def refuse_weak(password: str) -> None:
    """Raise WeakPassword if guessing would find it."""
    if len(password) < MIN_CHARACTERS or PLAIN.match(password):
        raise WeakPassword(
            f"A password needs {MIN_CHARACTERS} characters that are not easily guessed.",
            hint="A few words in a row are good.",
        )
