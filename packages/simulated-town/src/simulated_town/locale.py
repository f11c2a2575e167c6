"""What differs from language to language: words, names, addresses, telephone numbers."""

import tomllib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from random import Random
from typing import Final

LOCALES: Final = (
    "en_GB", "en_US", "de_DE", "fr_FR", "es_ES", "it_IT", "nl_NL", "pl_PL", "ja_JP",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Word:
    """A word as people write it, and in the letters of a domain name."""

    text: str
    latin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Locale:
    """How a quarter of the town speaks, writes addresses and is called."""

    language: str
    country: str
    weight: int
    town: str
    street: str
    city: str
    postcode: str
    phones: tuple[tuple[str, str], ...]
    """Number plans, national and international; `#` is any digit."""
    patterns: tuple[str, ...]
    mailboxes: tuple[str, ...]
    extra_mailbox: str
    streets: tuple[str, ...]
    words: tuple[Word, ...]
    first: tuple[Word, ...]
    last: tuple[Word, ...]
    roles: tuple[str, ...]
    days: tuple[str, ...]
    closed: str
    sentences: tuple[str, ...]
    words_for: Mapping[str, str]
    paths: Mapping[str, str]
    trades: Mapping[str, Word]

    @property
    def is_large_first(self) -> bool:
        """Whether the family comes before the given name, the city before the street."""
        return self.country == "JP"


@cache
def load_locale(name: str) -> Locale:
    """Read a locale that ships with the package."""
    text = files("simulated_town").joinpath("data", f"{name}.toml").read_text("utf-8")
    data = tomllib.loads(text)
    for key in ("words", "first", "last"):
        data[key] = tuple(read_word(word) for word in data[key])
    for key in ("patterns", "mailboxes", "streets", "roles", "days", "sentences"):
        data[key] = tuple(data[key])
    data["phones"] = tuple((national, abroad) for national, abroad in data["phones"])
    data["trades"] = {k: read_word(word) for k, word in data["trades"].items()}
    return Locale(**data)


def read_word(text: str) -> Word:
    """Read `text` or `text/latin`; what is Latin already needs no second half."""
    written, _, latin = text.partition("/")
    return Word(written, latin or to_latin(written))


def to_latin(text: str) -> str:
    """Spell a word with the letters a to z, digits and hyphens only."""
    for letter, spelling in _SPELT:
        text = text.replace(letter, spelling)
    plain = (
        unicodedata.normalize("NFKD", text.lower()).encode("ascii", "ignore").decode()
    )
    parts = "".join(c if c.isalnum() else " " for c in plain.replace("'", "")).split()
    return "-".join(parts)


def fill(pattern: str, random: Random) -> str:
    """Put a digit for each `#` and one that is not 0 for each `%`."""
    return "".join(
        str(random.randrange(c == "%", 10)) if c in "#%" else c for c in pattern
    )


_SPELT: Final = (
    ("ä", "ae"), ("ö", "oe"), ("ü", "ue"), ("Ä", "ae"), ("Ö", "oe"), ("Ü", "ue"),
    ("ß", "ss"), ("ł", "l"), ("Ł", "l"), ("ø", "o"), ("œ", "oe"), ("&", " "),
)  # fmt: skip
