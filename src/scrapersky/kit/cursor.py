"""Cursors: where a list was left, signed, and good for nothing but that list."""

import hashlib
import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from typing import Any

import orjson

from scrapersky.errors import InvalidCursor

SIGNATURE = 16
"""Bytes of the signature; nobody can try 2^128 of them against a server."""
LONGEST = 16_000
"""Letters; the key in it may be a long text, and a URL holds no more."""


def write_cursor(key: bytes, scope: Any, place: Any) -> str:  # noqa: ANN401 - any JSON
    """Write a place in a list; it can be read only with the same key and scope.

    The scope says which list it is: whose, of what, filtered and sorted how.
    """
    written = orjson.dumps(place)
    signed = sign(key, scope, written) + written
    return urlsafe_b64encode(signed).rstrip(b"=").decode()


def read_cursor(key: bytes, scope: Any, cursor: str) -> Any:  # noqa: ANN401 - any JSON
    """Return the place a cursor names, or raise InvalidCursor."""
    if len(cursor) > LONGEST or not cursor.isascii():
        raise refusal()
    try:
        signed = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    except (NotBase64, ValueError):
        raise refusal() from None
    given, written = signed[:SIGNATURE], signed[SIGNATURE:]
    if not hmac.compare_digest(given, sign(key, scope, written)):
        raise refusal()
    return orjson.loads(written)


def sign(key: bytes, scope: Any, written: bytes) -> bytes:  # noqa: ANN401 - any JSON
    """Sign a place together with the list it belongs to."""
    bound = orjson.dumps(scope, option=orjson.OPT_SORT_KEYS)
    # The length keeps scope and place from being cut elsewhere.
    message = len(bound).to_bytes(8, "big") + bound + written
    return hmac.digest(key, message, hashlib.sha256)[:SIGNATURE]


def refusal() -> InvalidCursor:
    """Say that a cursor is not one of ours, or of another list."""
    return InvalidCursor(
        "The cursor does not belong to this list.",
        hint="Ask for the first page again, with the same filters and sort throughout.",
    )
