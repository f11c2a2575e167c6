"""Boxes at a post office, which stand for a street."""

import re
from typing import Final


def is_box(text: str) -> bool:
    """Say whether a match is more than the word box and a digit."""
    return text[:3].lower() != "box" or len(text) > 5


_BOX_WORDS: Final = (
    r"(?i:P\.?\s?O\.?\s?B(?:ox)?\.?|Post\s?(?:Office\s)?Box|GPO\sBox|Private\sBag|Postfach|Postbus|"
    r"Boîte\spostale|B\.?P\.|Apartado(?:\sde\scorreos)?|Casella\spostale|Caixa\sPostal|"
    r"Postboks|Box|Skrytka\spocztowa)[\s:]{0,2}\#?(?:No\.?:?\s?)?\d[\d\s]{0,8}\d?"
)
BOX: Final = re.compile(rf"(?<!\w)(?:{_BOX_WORDS})(?!\w)")
