"""What people write into a cell to say that there is nothing."""

from collections.abc import Container
from typing import Final

REACHED_BY: Final[Container[str]] = frozenset(
    {"person", "first_name", "last_name", "role", "email", "phone", "website"}
)
"""Columns where such a word is never a value: a town or a business may be called None."""
NOTHING_WORDS: Final = (
    "-", "--", "---", "?", "aucun", "aucune", "brak", "desconocido", "entfällt", "geen",
    "inconnu", "k. a", "k.a", "ka", "keine", "keine angabe", "keine angaben", "keiner", "n. a",
    "n. n", "n.a", "n.n", "n.v.t", "n/a", "n/d", "nan", "nessuno", "ninguno", "nicht bekannt",
    "nil", "no data", "non renseigné", "none", "not available", "not known", "null", "onbekend",
    "sconosciuto", "sin datos", "tbd", "unbekannt", "unknown",
)  # fmt: skip


def is_nothing(cell: str) -> bool:
    """Say whether a cell says that there is nothing."""
    return cell.strip().casefold().rstrip(". ") in NOTHING_WORDS
