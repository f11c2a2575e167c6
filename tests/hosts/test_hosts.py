"""Several hosts, one database: what holds when hosts, clocks, cables and servers fail."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hosts import network, scenario
from tests.hosts.network import Network, a_network
from tests.hosts.scenario import DELAY, TOLERANCE, WORKERS, Line

NO_HOSTS = network.why_not()
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(NO_HOSTS is not None, reason=f"no hosts: {NO_HOSTS}"),
]


@pytest.fixture
def hosts() -> Iterator[Network]:
    with a_network("first", "second", *WORKERS, "web") as found:
        yield found


def assert_exact(line: Line) -> None:
    print(f"\n{Line.HEADER}\n{line}")
    assert (line.lost, line.doubled, line.stuck) == (0, 0, 0)
    assert set(line.shares) == set(WORKERS)


@pytest.mark.parametrize("skew", [None, "+241s"])
def test_two_hosts_share_work_manners_and_jobs(
    skew: str | None, hosts: Network, tmp_path: Path
) -> None:
    line = scenario.one_web(hosts, tmp_path, skew=skew)

    assert_exact(line)
    assert line.seen["visitors"] == len(WORKERS)
    assert line.seen["handovers"] > 0
    assert line.seen["shortest gap"] >= DELAY - TOLERANCE
    assert line.seen["ticks"] == line.seen["recorded"] == line.seen["ran"]


def test_a_host_cut_off_for_longer_than_its_lease_does_no_harm_when_it_is_back(
    hosts: Network, tmp_path: Path
) -> None:
    line = scenario.cut_off(hosts, tmp_path)

    assert_exact(line)
    assert line.seen["rescued"] > 0
    assert line.seen["refused"] > 0


def test_what_a_host_without_power_had_in_hand_is_done_by_another(
    hosts: Network, tmp_path: Path
) -> None:
    line = scenario.power_cut(hosts, tmp_path)

    assert_exact(line)
    assert line.seen["rescued"] > 0


def test_clocks_of_hosts_decide_nothing(hosts: Network, tmp_path: Path) -> None:
    assert_exact(scenario.wrong_clocks(hosts, tmp_path))


def test_a_failover_with_synchronous_commit_forgets_nothing(
    hosts: Network, tmp_path: Path
) -> None:
    line = scenario.failover(hosts, tmp_path, is_synchronous=True)

    assert_exact(line)
    assert line.seen["writes forgotten"] == line.seen["work forgotten"] == 0
    assert line.seen["done again"] == 0


def test_a_failover_without_it_forgets_the_last_moments_and_nothing_half(
    hosts: Network, tmp_path: Path
) -> None:
    line = scenario.failover(hosts, tmp_path, is_synchronous=False)

    assert_exact(line)
    # Otherwise the test with synchronous commit would prove nothing.
    assert line.seen["writes forgotten"] > 0
    assert line.seen["work forgotten"] > 0
