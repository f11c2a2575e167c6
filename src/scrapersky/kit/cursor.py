"""Cursors: where a list was left, signed, and good for nothing but that list."""

import hashlib
from functools import lru_cache
from typing import Any

import orjson
from itsdangerous import BadData, URLSafeSerializer

from scrapersky.errors import InvalidCursor

MAX_CURSOR_CHARACTERS = 16_000
"""Letters; the key in it may be a long text, and a URL holds no more."""


def write_cursor(key: bytes, scope: Any, place: Any) -> str:  # noqa: ANN401 - any JSON
    """Write a place in a list; it can be read only with the same key and scope.

    The scope says which list it is: whose, of what, filtered and sorted how.
    """
    written: str = signed_for(key, scope).dumps(place)
    return written


def read_cursor(key: bytes, scope: Any, cursor: str) -> Any:  # noqa: ANN401 - any JSON
    """Return the place a cursor names, or raise InvalidCursor."""
    if len(cursor) > MAX_CURSOR_CHARACTERS:
        raise refusal()
    try:
        return signed_for(key, scope).loads(cursor)
    except BadData:
        raise refusal() from None


def signed_for(key: bytes, scope: Any) -> URLSafeSerializer:  # noqa: ANN401 - any JSON
    """Return what signs the places of one list, with a key that only that list has."""
    return cursor_signer(key, orjson.dumps(scope, option=orjson.OPT_SORT_KEYS))


# The pages of one list follow one another.
@lru_cache(500)
def cursor_signer(key: bytes, salt: bytes) -> URLSafeSerializer:
    """Return what signs with a key of this salt."""
    return URLSafeSerializer(
        key,
        salt=salt,
        signer_kwargs={"key_derivation": "hmac", "digest_method": hashlib.sha256},
    )


def refusal() -> InvalidCursor:
    """Say that a cursor is not one of ours, or of another list."""
    return InvalidCursor(
        "The cursor does not belong to this list.",
        hint="Ask for the first page again, with the same filters and sort throughout.",
    )
