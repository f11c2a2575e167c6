"""Opening hours per weekday, from the ways sources write them.

The form is `{"mon": [["08:00", "12:00"], ["13:00", "17:00"]], ..., "sun": []}`: every
day is there, an empty list means closed, a closing time that is not later than the
opening time belongs to the next day, and `["00:00", "24:00"]` is the whole day.
"""

import re
from collections.abc import Iterator
from typing import Any, TypeAlias

Week: TypeAlias = dict[str, list[list[str]]]

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
WHOLE_DAY = ["00:00", "24:00"]
MINUTES_A_DAY = 24 * 60
OSM_DAYS = ("mo", "tu", "we", "th", "fr", "sa", "su")

MAX_TEXT_CHARACTERS = 1000
TIMES = re.compile(r"\d|off\b|closed\b|open\b", re.IGNORECASE)
DAY_RANGE = re.compile(r"(mo|tu|we|th|fr|sa|su|ph|sh)(?: ?- ?(mo|tu|we|th|fr|sa|su))?")
SPAN = re.compile(r"^(\d{1,2})[:.](\d{2})\s*-\s*(\d{1,2})[:.](\d{2})$")
ADDITION = re.compile(r",\s*(?=(?:mo|tu|we|th|fr|sa|su|ph|sh)\b)", re.IGNORECASE)


def week_from_osm(text: str) -> Week | None:
    """Read the common part of the `opening_hours` grammar; None if it goes beyond.

    Holiday rules say nothing about a weekday and are passed over. Months, weeks, sun
    times, comments and open ends are not guessed at.
    """
    if len(text) > MAX_TEXT_CHARACTERS or '"' in text or "||" in text:
        return None
    # One space at most, so that the pattern below has nothing to try twice.
    text = " ".join(text.replace("\N{EN DASH}", "-").split())
    week: Week = {}
    for rule in filter(None, (part.strip() for part in text.split(";"))):
        touched: set[str] = set()
        for part in split_additions(rule):
            read = read_rule(part)
            if read is None:
                return None
            days, spans = read
            for day in days:
                # A later rule replaces a day, a comma within a rule adds to it.
                week[day] = (week[day] if day in touched else []) + spans
                touched.add(day)
    return {day: week.get(day, []) for day in DAYS} if week else None


def split_additions(rule: str) -> list[str]:
    """Split `Mo-Fr 08:00-12:00, Sa 09:00-12:00`, but not the list `Mo, We`."""
    parts: list[str] = []
    for part in ADDITION.split(rule):
        if parts and not re.search(r"\d|off|closed|open", parts[-1], re.IGNORECASE):
            parts[-1] = f"{parts[-1]},{part}"
        else:
            parts.append(part)
    return parts


def read_rule(rule: str) -> tuple[list[str], list[list[str]]] | None:
    """Read one rule into its weekdays and its times; None if it is not understood."""
    begins = TIMES.search(rule)
    start = begins.start() if begins else len(rule)
    named, times = rule[:start].strip(" :,").lower(), rule[start:].strip().lower()
    days = read_days(named) if named else list(DAYS)
    if days is None or not (named or times):
        return None
    if times in {"off", "closed"}:
        return days, []
    if times in {"", "open", "24/7"}:
        return days, [list(WHOLE_DAY)]
    spans = [read_span(part.strip()) for part in times.split(",")]
    known = [span for span in spans if span is not None]
    return (days, known) if len(known) == len(spans) else None


def read_days(named: str) -> list[str] | None:
    """Read the weekdays of a list such as `mo-fr,su`; holidays are none."""
    days: list[str] = []
    for part in re.split(r" ?, ?", named):
        if (match := DAY_RANGE.fullmatch(part)) is None:
            return None
        if match[1] not in OSM_DAYS:
            continue
        start = OSM_DAYS.index(match[1])
        end = OSM_DAYS.index(match[2]) if match[2] else start
        count = (end - start) % len(DAYS) + 1
        days += [DAYS[(start + step) % len(DAYS)] for step in range(count)]
    return days


def read_span(text: str) -> list[str] | None:
    """Read `8:00-17:30`; None if these are not times of a day."""
    if (match := SPAN.match(text)) is None:
        return None
    hours = [int(match[1]), int(match[3])]
    minutes = [int(match[2]), int(match[4])]
    if max(minutes) > 59 or hours[0] > 23:  # noqa: PLR2004
        return None
    closes = hours[1] * 60 + minutes[1]
    if closes > MINUTES_A_DAY:
        # 26:00 is how the grammar writes two in the morning.
        closes -= MINUTES_A_DAY
    if closes > MINUTES_A_DAY:
        return None
    return [clock(hours[0] * 60 + minutes[0]), clock(closes)]


def week_from_periods(periods: Any) -> Week | None:  # noqa: ANN401 - other people's JSON
    """Read Google's `regularOpeningHours.periods`, whose week begins on Sunday."""
    if not isinstance(periods, list):
        return None
    week: Week = {day: [] for day in DAYS}
    for period in periods:
        opens = moment(period.get("open")) if isinstance(period, dict) else None
        if opens is None:
            return None
        if "close" not in period:
            # Documented: always open is one period that opens and never closes.
            return {day: [list(WHOLE_DAY)] for day in DAYS}
        closes = moment(period["close"])
        if closes is None:
            return None
        for day, span in split_by_day(opens, closes):
            week[day].append(span)
    return {day: sorted(spans) for day, spans in week.items()}


def moment(value: Any) -> tuple[int, int] | None:  # noqa: ANN401 - other people's JSON
    """Read day (0 is Monday) and minute of a Google time point."""
    if not isinstance(value, dict):
        return None
    # Zero may be left out of JSON made from protocol buffers.
    day, hour, minute = (value.get(name, 0) for name in ("day", "hour", "minute"))
    if not all(isinstance(part, int) for part in (day, hour, minute)):
        return None
    if not (0 <= day < len(DAYS) and 0 <= hour <= 24 and 0 <= minute <= 59):  # noqa: PLR2004
        return None
    return (day - 1) % len(DAYS), hour * 60 + minute


def split_by_day(
    opens: tuple[int, int], closes: tuple[int, int]
) -> Iterator[tuple[str, list[str]]]:
    """Give the hours of each day; a night that ends before it began stays whole."""
    day, start = opens
    last, end = closes
    nights = (last - day) % len(DAYS)
    if nights == 0 and end <= start:
        nights = len(DAYS)
    if nights == 0:
        yield DAYS[day], [clock(start), clock(end)]
    elif nights == 1 and end <= start:
        closing = clock(end) if end else "24:00"
        yield DAYS[day], [clock(start), closing]
    else:
        yield DAYS[day], [clock(start), "24:00"]
        for step in range(1, nights):
            yield DAYS[(day + step) % len(DAYS)], list(WHOLE_DAY)
        if end:
            yield DAYS[last], ["00:00", clock(end)]


def clock(minutes: int) -> str:
    """Write minutes since midnight as HH:MM."""
    return f"{minutes // 60:02}:{minutes % 60:02}"
