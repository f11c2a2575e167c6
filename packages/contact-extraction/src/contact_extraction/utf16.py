"""Decode UTF-16 at a bounded cost, whatever the bytes are.

A unit that is half of a pair costs Python's decoder forty times as much as a character;
other codecs replace what is wrong without calling anybody.
"""

import codecs
from typing import Final

PIECE_BYTES: Final = 64 * 1024
MAX_WRONG: Final = 10_000
"""Invalid characters after which the rest of a document is not read."""


def decode_utf16(body: bytes, codec: str) -> str:
    """Decode with replacement, without a byte order mark, up to what is not text."""
    decoder = codecs.getincrementaldecoder(codec)("replace")
    parts: list[str] = []
    wrong = 0
    for start in range(0, len(body), PIECE_BYTES):
        parts.append(decoder.decode(body[start : start + PIECE_BYTES]))
        wrong += parts[-1].count("\ufffd")
        if wrong > MAX_WRONG:
            break
    else:
        parts.append(decoder.decode(b"", final=True))
    return "".join(parts).removeprefix("\ufeff")
