import pytest

from simulated_town.log import HostRecord, LogEntry, TownLog, measure


def a_visit(started: float, ended: float | None) -> LogEntry:
    return LogEntry("/", started, ended, 200)


def test_the_gap_runs_from_an_answer_to_the_next_request() -> None:
    record = measure("a.bv", [a_visit(1.0, 1.5), a_visit(2.0, 2.1), a_visit(2.3, 2.4)])

    assert record.shortest_gap == pytest.approx(0.2)
    assert record.overlaps == 0


def test_requests_under_way_at_the_same_time_are_counted() -> None:
    record = measure("a.bv", [a_visit(1.0, 3.0), a_visit(1.5, 1.6), a_visit(2.0, 2.5)])

    assert record.overlaps == 2
    assert record.shortest_gap is not None
    assert record.shortest_gap < 0


def test_a_single_visit_has_no_gap() -> None:
    assert measure("a.bv", [a_visit(1.0, 1.1)]) == HostRecord("a.bv", 1, 0, None)


def test_visits_are_measured_in_the_order_they_began() -> None:
    record = measure("a.bv", [a_visit(5.0, 5.1), a_visit(1.0, 2.0)])

    assert record == HostRecord("a.bv", 2, 0, 3.0)


def test_a_silent_answer_counts_from_when_it_was_asked_for() -> None:
    record = measure("a.bv", [a_visit(1.0, None), a_visit(11.0, 11.1)])

    assert record.shortest_gap == 10.0


def test_the_busiest_site_comes_first() -> None:
    log = TownLog()
    for site, count in (("a.bv", 1), ("b.bv", 3), ("c.bv", 2)):
        for number in range(count):
            log.record(site, a_visit(number, number + 0.1))

    assert [record.site for record in log.records()] == ["b.bv", "c.bv", "a.bv"]
    assert log.total == 6


def test_a_cleared_log_is_empty() -> None:
    log = TownLog()
    log.record("a.bv", a_visit(0, 1))

    log.clear()

    assert (log.total, list(log.records())) == (0, [])
