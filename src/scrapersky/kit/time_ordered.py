"""Keys in the order of time, as the database makes them."""

import secrets
import time
from typing import Final
from uuid import UUID

_VERSION_AND_VARIANT: Final = 7 << 76 | 0b10 << 62


def time_ordered_uuid() -> UUID:
    """Make a key (UUID 7): what is made together lies together in every index."""
    stamp = time.time_ns() // 1_000_000 << 80
    chance = secrets.randbits(12) << 64 | secrets.randbits(62)
    return UUID(int=stamp | _VERSION_AND_VARIANT | chance)
