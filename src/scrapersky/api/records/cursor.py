"""The key that cursors are signed with: one for all processes of an installation."""

import hashlib
import hmac
from functools import lru_cache
from typing import Final

from fastapi import Request

PURPOSE: Final = b"cursors of lists"


def cursor_key(request: Request) -> bytes:
    """Return a key of this use alone, made of the installation's secret."""
    return made_of(request.app.state.secret)


@lru_cache(1)
def made_of(secret: bytes) -> bytes:
    """Make the key."""
    return hmac.digest(secret, PURPOSE, hashlib.sha256)
