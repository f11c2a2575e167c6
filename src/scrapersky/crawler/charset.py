"""Which characters a body is made of: one order of rules, and the answer recorded."""

import codecs
import re
from dataclasses import dataclass
from enum import StrEnum

SCAN = 4096


class CharsetSource(StrEnum):
    """Who said what the charset is; the first that speaks is believed."""

    BOM = "bom"
    HEADER = "header"
    META = "meta"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Charset:
    """A Python codec name that is sure to decode, and who named it."""

    name: str
    source: CharsetSource


def decide_charset(body: bytes, content_type: str) -> Charset:
    """Decide by byte order mark, header, meta tag or XML declaration, else UTF-8."""
    for mark, marked in _MARKS:
        if body.startswith(mark):
            return Charset(marked, CharsetSource.BOM)
    if (header := _PARAMETER.search(content_type)) and (said := _known(header[1])):
        return Charset(said, CharsetSource.HEADER)
    for tag in _DECLARED.finditer(body, 0, SCAN):
        if declared := _known((tag[1] or tag[2]).decode("ascii")):
            # A page that can be read well enough to say UTF-16 is not UTF-16.
            plain = "utf-8" if declared.startswith("utf-16") else declared
            return Charset(plain, CharsetSource.META)
    return Charset("utf-8", CharsetSource.DEFAULT)


def decode(body: bytes, charset: Charset) -> str:
    """Decode with replacement, without byte order mark and NUL; never raises."""
    text = body.decode(charset.name, "replace").removeprefix("\ufeff")
    # PostgreSQL's text refuses NUL, and no reader misses it.
    return text.replace("\0", "") if "\0" in text else text


_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_PARAMETER = re.compile(
    r"""charset\s*=\s*["']?([A-Za-z0-9_.:-]{1,40})""", re.IGNORECASE
)
_DECLARED = re.compile(
    rb"""<meta\s[^>]{0,200}?charset\s*=\s*["']?\s*([A-Za-z0-9_.:-]{1,40})"""
    rb"""|<\?xml\s[^>]{0,100}?encoding\s*=\s*["']([A-Za-z0-9_.:-]{1,40})""",
    re.IGNORECASE,
)
# The encodings of the WHATWG standard by the names of Python's codecs. Others are not
# for text (zlib, rot13), or are a door for injection (utf-7).
_ALLOWED = frozenset(
    {
        *("utf-8", "utf-16", "utf-16-le", "utf-16-be", "cp866", "koi8-r", "koi8-u"),
        *(
            f"iso8859-{part}"
            for part in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 16)
        ),
        *(
            f"cp{page}"
            for page in (874, 1250, 1251, 1252, 1253, 1254, 1255, 1256, 1257, 1258)
        ),
        *(
            "mac-roman",
            "mac-cyrillic",
            "ascii",
            "gbk",
            "gb2312",
            "gb18030",
            "hz",
            "big5",
        ),
        *(
            "big5hkscs",
            "euc_jp",
            "iso2022_jp",
            "shift_jis",
            "cp932",
            "euc_kr",
            "cp949",
            "tis-620",
        ),
    }
)
# As browsers read them: the old labels mean the wider sets of today.
_WIDER = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "utf-16": "utf-16-le",
}


def _known(label: str) -> str | None:
    try:
        name = codecs.lookup(label.strip().lower()).name
    except (LookupError, ValueError):
        return None
    return _WIDER.get(name, name) if name in _ALLOWED else None
