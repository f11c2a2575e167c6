"""What the spellings of one address have in common."""

from typing import Final


def address_words(text: str) -> frozenset[str]:
    """Give the words of a street as every spelling of it has them."""
    parts = "".join(c if c.isalnum() else " " for c in text.casefold()).split()
    return frozenset(_SHORT.get(part) or _shortened(part) for part in parts)


def address_key(street: str, postal_code: str | None) -> str:
    """Give what several spellings of one address share."""
    code = "".join((postal_code or "").casefold().split())
    return " ".join((*sorted(address_words(street)), code)).strip()


def _shortened(word: str) -> str:
    """Write Hauptstrasse as Hauptstr. is written, and leave all else."""
    return f"{word.removesuffix('strasse')}str" if word.endswith("strasse") else word


_SHORT: Final = {
    "street": "st", "avenue": "ave", "boulevard": "blvd", "road": "rd", "drive": "dr",
    "lane": "ln", "suite": "ste", "parkway": "pkwy", "highway": "hwy", "north": "n",
    "south": "s", "east": "e", "west": "w", "straße": "str", "strasse": "str",
    "floor": "fl", "building": "bldg", "place": "pl", "court": "ct", "square": "sq",
}  # fmt: skip
