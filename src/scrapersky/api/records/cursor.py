"""The key that cursors are signed with: one for all processes of an installation."""

import hashlib
import hmac
from typing import Final

from fastapi import Request

PURPOSE: Final = b"cursors of lists"


def cursor_key(request: Request) -> bytes:
    """Return a key of this use alone, made of the installation's secret."""
    secret: bytes = request.app.state.secret
    return hmac.digest(secret, PURPOSE, hashlib.sha256)
