"""The pipeline over the town while workers die and PostgreSQL restarts."""

import pytest

from tests.acceptance.scenario import Report, calm, stormy


def expect_nothing_lost(storm: Report, peace: Report) -> None:
    assert storm.finished
    assert storm.contacts == peace.contacts, storm.deaths
    assert (storm.not_over, storm.not_handed_over) == (0, 0)
    assert (storm.missed, storm.wrong) == (0, 0)
    assert storm.is_polite


async def test_kills_and_restarts_change_nothing_but_the_time() -> None:
    peace = await calm(8)
    storm = await stormy(8, kills=2, restarts=1)

    expect_nothing_lost(storm, peace)
    assert (storm.kills, storm.restarts) == (2, 1)


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_a_long_storm_changes_nothing_but_the_time(seed: int) -> None:
    peace = await calm(60)
    storm = await stormy(60, kills=25, restarts=6, seed=seed)

    expect_nothing_lost(storm, peace)
