"""How much of a thing a test does: a little in the quick line, all of it in the long one."""

import os
from typing import Final

WHOLE: Final = "TEST_WHOLE_SIZES"
"""The variable that `./check --long` sets."""


def size(quick: int, whole: int) -> int:
    """Return the whole size in a long run, otherwise the quick one."""
    return whole if os.environ.get(WHOLE) else quick
