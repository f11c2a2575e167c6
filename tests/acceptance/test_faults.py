"""The pipeline over the town while workers die and PostgreSQL restarts."""

import pytest

from tests.acceptance.scenario import Report, calm, rolling, stormy


def expect_nothing_lost(storm: Report) -> None:
    assert storm.finished
    # Nobody is blamed for what was done to the workers.
    assert [death for death in storm.deaths if death[1] == "quarantined"] == []
    assert (storm.missed, storm.wrong) == (0, 0), storm.missing
    assert (storm.not_over, storm.not_handed_over) == (0, 0)
    assert storm.too_fast == 0


@pytest.mark.slow
async def test_kills_and_restarts_change_nothing_but_the_time() -> None:
    storm = await stormy(3, kills=1, restarts=1)

    expect_nothing_lost(storm)
    assert (storm.kills, storm.restarts) == (1, 1)


@pytest.mark.long
async def test_long_storms_change_nothing_but_the_time() -> None:
    peace = await calm(60)

    for seed in (1, 2, 3):
        storm = await stormy(60, kills=25, restarts=6, seed=seed)
        expect_nothing_lost(storm)
        assert storm.contacts == peace.contacts
        assert storm.causes_of_death == peace.causes_of_death


@pytest.mark.long
async def test_a_rolling_restart_under_load_loses_and_delays_nothing() -> None:
    rolled = await rolling(60, rounds=3)

    expect_nothing_lost(rolled)
    assert (rolled.restarts, rolled.unclean) == (9, 0)
    assert rolled.at_work > 0
