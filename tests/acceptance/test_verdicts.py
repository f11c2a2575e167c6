"""A register that lies, through the whole pipeline: how right the verdicts on it are."""

from pathlib import Path

import pytest

from bench.verdicts import judged_town
from simulated_town.lie import LieKind
from tests.conftest import TestDatabase

SIZE = 90
NEVER_REFUTED = LieKind.SAID_CLOSED
"""A website outlives its company: that it is there shows no open door."""


@pytest.mark.slow
async def test_refutations_and_confirmations_of_a_lying_register_are_right(
    tmp_path: Path, database: TestDatabase
) -> None:
    score = await judged_town(database.url, SIZE, 3, tmp_path)

    assert score.share("contradicted") >= 0.98, score.wrong
    assert score.share("confirmed") >= 0.99, score.wrong
    assert score.by_silence == 0
    refuted = {kind for kind, count in score.found.items() if count}
    assert refuted == {kind.value for kind in LieKind} - {NEVER_REFUTED.value}
    assert score.counts["confirmed", "right"] > SIZE
    found, told = (sum(each.values()) for each in (score.found, score.told))
    assert found >= 0.8 * (told - score.told[NEVER_REFUTED.value])
