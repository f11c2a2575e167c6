"""What schemathesis is told beside the document: ids that exist, and what may not be said."""

import json
import os
import random
from typing import Any

import schemathesis

MARK = os.environ["FUZZ_MARK"]
IDS: list[str] = json.loads(os.environ["FUZZ_IDS"])
TURNS = random.Random(int(os.environ["FUZZ_SEED"]))
SHARE = float(os.environ["FUZZ_SHARE"])
"""How many of the cases at the edges of the document are sent."""


@schemathesis.hook
def filter_case(_context: Any, case: Any) -> bool:
    """Leave out some of the edges where time is short; which ones, the seed decides."""
    if SHARE >= 1 or case.meta is None or case.meta.phase.name.value != "coverage":
        return True
    return TURNS.random() < SHARE


@schemathesis.hook
def map_path_parameters(_context: Any, path_parameters: Any) -> Any:
    """Let half of all ids be ids of something, of this tenant or of the other."""
    if not isinstance(path_parameters, dict):
        return path_parameters
    return {
        name: TURNS.choice(IDS)
        if name.endswith("_id") and TURNS.random() < 0.5
        else value
        for name, value in path_parameters.items()
    }


@schemathesis.check
def shows_nothing_of_others(_context: Any, response: Any, _case: Any) -> None:
    """Fail if an answer holds what only the other tenant has."""
    # As bytes: a workbook is not text.
    is_shown = MARK.encode() in response.content
    assert not is_shown, "an answer shows what belongs to another tenant"
