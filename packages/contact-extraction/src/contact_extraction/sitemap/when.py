"""Read the times that sitemaps and feeds write, with how much of them was written."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from contact_extraction.sitemap.model import Precision

Moment = tuple[datetime | None, Precision | None]
NEVER: Final[Moment] = (None, None)


def parse_moment(text: str | None) -> Moment:
    """Read a W3C or RFC 822 time as UTC; a text that is none gives (None, None)."""
    if not text:
        return NEVER
    if precision := _BY_LENGTH.get(len(text)):
        try:
            when = datetime.fromisoformat(text)
        except ValueError:
            return _odd_moment(text)
        if when.tzinfo is UTC:
            return when, precision
        return _in_utc(when, precision)
    return _odd_moment(text)


def parse_moments(
    texts: Sequence[str | None],
) -> tuple[list[datetime | None], list[Precision | None]]:
    """Read a column of times, with the same result as one by one but faster."""
    written = [text for text in texts if text is not None]
    times, precision = _alike(written)
    if precision is None:
        known = {text: parse_moment(text) for text in set(texts)}
        moments = [known[text] for text in texts]
        return [when for when, _ in moments], [of for _, of in moments]
    if len(written) == len(texts):
        return [*times], [precision] * len(times)
    rest = iter(times)
    whens = [None if text is None else next(rest) for text in texts]
    return whens, [None if text is None else precision for text in texts]


def _alike(texts: Sequence[str]) -> tuple[list[datetime], Precision | None]:
    """Read times that are all in UTC and written in the same usual way."""
    lengths = set(map(len, texts))
    precision = _BY_LENGTH.get(lengths.pop()) if len(lengths) == 1 else None
    if precision is None:
        return [], None
    try:
        times = list(map(datetime.fromisoformat, texts))
    except ValueError:
        return [], None
    return times, precision if {when.tzinfo for when in times} == {UTC} else None


# Nearly every lastmod is one of these: 2026-11-15, then with T09:30, Z, +01:00, ...
_BY_LENGTH: Final = {
    len("2026-11-15"): Precision.DAY,
    len("2026-11-15T09:30:00"): Precision.SECOND,
    len("2026-11-15T09:30:00Z"): Precision.SECOND,
    len("2026-11-15T09:30:00+00:00"): Precision.SECOND,
}
_MAX_CHARACTERS: Final = 64
_PARTIAL: Final = re.compile(r"(\d{4})(?:-(\d{2}))?")
_DAY: Final = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(.*)", re.DOTALL)
_CLOCK: Final = re.compile(
    r"[T ]\s*(\d{1,2}):(\d{2})(?::(\d{2})([.,]\d+)?)?\s*"
    r"(Z|UTC|GMT|[+-]\d{2}:?\d{2}|[+-]\d{2})?",
    re.IGNORECASE,
)


def _odd_moment(text: str) -> Moment:
    text = text.strip()
    if len(text) > _MAX_CHARACTERS or not text.isascii():
        return NEVER
    try:
        if found := _PARTIAL.fullmatch(text):
            month = found[2]
            when = datetime(int(found[1]), int(month or 1), 1, tzinfo=UTC)
            return when, Precision.MONTH if month else Precision.YEAR
        if found := _DAY.fullmatch(text):
            return _day_and_clock(found)
        return _in_utc(parsedate_to_datetime(text), Precision.SECOND)
    except (ValueError, OverflowError, TypeError, IndexError):
        return NEVER


def _day_and_clock(found: re.Match[str]) -> Moment:
    year, month, day = (int(part) for part in found.group(1, 2, 3))
    rest = found[4].strip()
    if not rest:
        return datetime(year, month, day, tzinfo=UTC), Precision.DAY
    clock = _CLOCK.fullmatch(found[4].rstrip())
    if clock is None:
        # A day is still a day when nobody can say what follows it.
        return datetime(year, month, day, tzinfo=UTC), Precision.DAY
    hour, minute, second, fraction, zone = clock.groups()
    micro = int(f"{fraction[1:]:0<6.6}") if fraction else 0
    written = f"{year:04}-{month:02}-{day:02}T{int(hour):02}:{minute}"
    written += f":{second or '00'}.{micro:06}{_zone(zone)}"
    precision = Precision.MINUTE
    if second:
        precision = Precision.FRACTION if fraction else Precision.SECOND
    return _in_utc(datetime.fromisoformat(written), precision)


def _zone(zone: str | None) -> str:
    if not zone or zone[0] not in "+-":
        return "+00:00"
    digits = zone.replace(":", "")
    return f"{digits[:3]}:{digits[3:] or '00'}"


def _in_utc(when: datetime, precision: Precision) -> Moment:
    if when.tzinfo is None:
        return when.replace(tzinfo=UTC), precision
    try:
        return when.astimezone(UTC), precision
    except OverflowError:
        return NEVER
