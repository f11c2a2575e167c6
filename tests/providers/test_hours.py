import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extraction_tests.pace import takes_at_most
from scrapersky.providers.hours import DAYS, week_from_osm, week_from_periods

WORKDAYS = DAYS[:5]
ALWAYS = {day: [["00:00", "24:00"]] for day in DAYS}


def a_week(**days: list[list[str]]) -> dict[str, list[list[str]]]:
    return {day: days.get(day, []) for day in DAYS}


NINE_TO_FIVE = a_week(**{day: [["09:00", "17:00"]] for day in WORKDAYS})


@pytest.mark.parametrize(
    ("text", "week"),
    [
        ("24/7", ALWAYS),
        ("Mo-Su 00:00-24:00", ALWAYS),
        ("Mo-Fr 09:00-17:00", NINE_TO_FIVE),
        ("mo-fr 9:00-17:00", NINE_TO_FIVE),
        ("Mo-Fr 09:00–17:00", NINE_TO_FIVE),  # noqa: RUF001 - as people write it
        ("Mo-Fr 09:00-17:00; PH off", NINE_TO_FIVE),
        ("Mo-Fr 09:00-17:00; PH,SH off", NINE_TO_FIVE),
        ("Mo-Su 09:00-17:00; Sa,Su off", NINE_TO_FIVE),
        ("Mo,Tu,We,Th,Fr 09:00-17:00", NINE_TO_FIVE),
        ("Mo, Tu, We, Th, Fr 09:00-17:00; Sa closed", NINE_TO_FIVE),
        ("Mo-Fr  09:00 - 17:00 ;", NINE_TO_FIVE),
        ("10:00-20:00", {day: [["10:00", "20:00"]] for day in DAYS}),
        (
            "Mo 08:00-12:00,13:00-17:00",
            a_week(mon=[["08:00", "12:00"], ["13:00", "17:00"]]),
        ),
        (
            "Mo 08:00-12:00, Sa 09:00-12:00",
            a_week(mon=[["08:00", "12:00"]], sat=[["09:00", "12:00"]]),
        ),
        (
            "Mo 08:00-12:00, Mo 13:00-17:00",
            a_week(mon=[["08:00", "12:00"], ["13:00", "17:00"]]),
        ),
        ("Mo 08:00-12:00; Mo 09:00-10:00", a_week(mon=[["09:00", "10:00"]])),
        (
            "Sa-Mo 10:00-11:00",
            a_week(
                sat=[["10:00", "11:00"]],
                sun=[["10:00", "11:00"]],
                mon=[["10:00", "11:00"]],
            ),
        ),
        ("Fr 20:00-02:00", a_week(fri=[["20:00", "02:00"]])),
        ("Fr 20:00-26:00", a_week(fri=[["20:00", "02:00"]])),
        ("Su off", a_week()),
    ],
)
def test_the_common_grammar_is_read(text: str, week: object) -> None:
    assert week_from_osm(text) == week


@pytest.mark.parametrize(
    "text",
    [
        "",
        "by appointment",
        'Mo-Fr 09:00-17:00 "call first"',
        "Apr-Sep Mo-Fr 09:00-17:00",
        "Mo-Fr sunrise-sunset",
        "Mo-Fr 09:00+",
        "Mo-Fr 09:00-17:00 || on appointment",
        "Mo[1] 09:00-17:00",
        "week 1-10 Mo 09:00-17:00",
        "Mo-Fr 25:00-27:00",
        "Mo-Fr 09:70-17:00",
        "Mo-Xx 09:00-17:00",
        "2026 Mo 09:00-17:00",
        "PH off",
        "Mo " + "09:00-10:00," * 300,
    ],
)
def test_what_goes_beyond_it_is_unknown_and_not_guessed(text: str) -> None:
    assert week_from_osm(text) is None


@settings(deadline=None)
@given(st.text("MoTuPH0123456789:-,; off/24", max_size=60))
def test_any_text_is_a_whole_week_or_unknown(text: str) -> None:
    week = week_from_osm(text)

    assert week is None or tuple(week) == DAYS


def test_no_text_takes_long() -> None:
    with takes_at_most(1):
        week_from_osm("mo" + " " * 990 + "x")
        week_from_osm("mo," * 330 + "x")
        week_from_osm("mo-tu " * 160 + "x")


def at(day: int, hour: int, minute: int = 0) -> dict[str, int]:
    return {"day": day, "hour": hour, "minute": minute}


@pytest.mark.parametrize(
    ("periods", "week"),
    [
        ([{"open": at(0, 0)}], ALWAYS),
        ([{"open": at(1, 9), "close": at(1, 17)}], a_week(mon=[["09:00", "17:00"]])),
        (
            [
                {"open": at(1, 13), "close": at(1, 17)},
                {"open": at(1, 9), "close": at(1, 12)},
            ],
            a_week(mon=[["09:00", "12:00"], ["13:00", "17:00"]]),
        ),
        ([{"open": at(6, 20), "close": at(0, 2)}], a_week(sat=[["20:00", "02:00"]])),
        ([{"open": at(5, 18), "close": at(6, 0)}], a_week(fri=[["18:00", "24:00"]])),
        (
            [{"open": at(5, 18), "close": at(0, 10)}],
            a_week(
                fri=[["18:00", "24:00"]],
                sat=[["00:00", "24:00"]],
                sun=[["00:00", "10:00"]],
            ),
        ),
        ([{"open": {}, "close": {"hour": 5}}], a_week(sun=[["00:00", "05:00"]])),
        ([], a_week()),
    ],
)
def test_periods_become_days(periods: object, week: object) -> None:
    assert week_from_periods(periods) == week


@pytest.mark.parametrize(
    "periods",
    [
        None,
        "always",
        [None],
        [{"close": at(1, 9)}],
        [{"open": at(9, 9), "close": at(1, 17)}],
        [{"open": at(1, 99), "close": at(1, 17)}],
        [{"open": at(1, 9), "close": None}],
        [{"open": {"day": "1"}, "close": at(1, 9)}],
    ],
)
def test_periods_nobody_can_read_are_unknown(periods: object) -> None:
    assert week_from_periods(periods) is None
