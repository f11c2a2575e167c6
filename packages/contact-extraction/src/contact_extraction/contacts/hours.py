"""Find opening hours as written, and read them by day as far as they are plain."""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Final

from contact_extraction.contacts.model import Interval, Method, Sighting
from contact_extraction.contacts.page_text import PageText
from contact_extraction.text import small, small_pattern

MAX_FOUND: Final = 50
MAX_LINE: Final = 400
MIN_LENGTH: Final = 9

# Weekday names and short forms by language, Monday first.
_DAYS: Final = (
    (
        "monday|mon|mo|montag|lundi|lun|lunes|lunedì|lunedi|maandag|ma|segunda-feira|segunda|seg|"
        "poniedziałek|pon|pn|måndag|mån|mandag|man|maanantai|pondělí|po|pazartesi|pzt|hétfő|luni|月"
    ),
    (
        "tuesday|tues|tue|tu|dienstag|di|mardi|mar|martes|martedì|martedi|dinsdag|terça-feira|terça|"
        "ter|wtorek|wt|tisdag|tis|tirsdag|tir|tiistai|ti|úterý|út|salı|sal|kedd|marți|火"
    ),
    (
        "wednesday|weds|wed|we|mittwoch|mi|mercredi|mer|miércoles|miercoles|mié|mercoledì|mercoledi|"
        "woensdag|wo|quarta-feira|quarta|qua|środa|śr|onsdag|ons|keskiviikko|ke|středa|st|çarşamba|"
        "çar|szerda|miercuri|水"
    ),
    (
        "thursday|thurs|thur|thu|th|donnerstag|do|jeudi|jeu|jueves|jue|giovedì|giovedi|gio|donderdag|"
        "quinta-feira|quinta|qui|czwartek|czw|torsdag|tors|tor|torstai|čtvrtek|čt|perşembe|per|"
        "csütörtök|joi|木"
    ),
    (
        "friday|fri|fr|freitag|vendredi|ven|viernes|vie|venerdì|venerdi|vrijdag|vr|sexta-feira|sexta|"
        "sex|piątek|pt|fredag|fre|perjantai|pe|pátek|pá|cuma|cum|péntek|vineri|金"
    ),
    (
        "saturday|sat|sa|samstag|sonnabend|samedi|sam|sábado|sabado|sáb|sab|sabato|zaterdag|za|sobota|"
        "sob|so|lördag|lör|lørdag|lør|lauantai|la|cumartesi|cmt|szombat|sâmbătă|土"
    ),
    (
        "sunday|sun|su|sonntag|dimanche|dim|domingo|dom|domenica|zondag|zo|niedziela|nd|niedz|söndag|"
        "sön|søndag|søn|sunnuntai|neděle|ne|pazar|paz|vasárnap|duminică|日"
    ),
)
_SPANS: Final = (
    r"everyday|every day|daily|täglich|tous les jours|tutti i giorni|todos los días|dagelijks|"
    r"weekdays|weekday|weekends?|werktags|werkdag(?:en)?|jours ouvrables|codziennie|"
    r"7 days(?: a| per)? week|24 hours a day|24/7|m-f|m-s|mo-fr|mon-fri|ma-vr"
)
_TIME: Final = (
    r"(?:(?<![\d.,:])(?:[01]?\d|2[0-4])(?:\s?[:.h]\s?[0-5]\d)?\s?(?:a\.?m\.?|p\.?m\.?|noon|"
    r"uhr|uur|u|h|hs|hrs|Uhr|kl|klo)?(?![\d]))"
)
_CLOCK: Final = (
    r"(?:(?<![\d.,:/$])(?:[01]?\d|2[0-4])(?:[:.hu][0-5]\d\s?(?:a\.?m\.?|p\.?m\.?|uhr|uur|u|h|hrs)?"
    r"|\s?(?:a\.m\.?|p\.m\.?|am\b|pm\b|uhr\b|uur\b|u\b|h\b))(?!\.?\d)|\bnoon\b|\bmidnight\b)"
)
_CLOSED: Final = (
    r"closed|geschlossen|ruhetag|fermé|cerrado|chiuso|gesloten|fechado|zamknięte|nieczynne|"
    r"stängt|lukket|stengt|suljettu|zavřeno|zatvorené|kapalı|zárva|închis|定休日|by appointment"
)
_HOURS_HINT: Final = re.compile(
    rf"{_CLOCK}|(?:{_CLOSED})\b|24 ?/ ?7|24 hours|\b[0-9]{{1,2}}\s?(?:-|to|–)\s?[0-9]{{1,2}}\b",
    re.IGNORECASE,
)


@cache
def _day_pattern() -> re.Pattern[str]:
    names = sorted(
        (n for group in _DAYS for n in group.split("|")), key=len, reverse=True
    )
    long = "|".join(name for name in names if len(name) > 2)
    short = "|".join(name for name in names if len(name) == 2)
    return small_pattern(
        rf"(?<![\w@.])(?:{long})(?:'?s)?\.?(?![\w@])|(?<!\w)(?:{_SPANS})(?!\w)"
        # "do", "to" and "we" are days only beside a time or another day.
        rf"|(?<![\w@.])(?:{short})\.?(?=\s?(?:[-–—:,/&+]\s?(?:\w\w\b|\d)|\d|t/m|bis\s|tot\s\w\w\s))"
        rf"|(?<=[-–—/&+])\s?(?:{short})\.?(?=\s?:?\s?\d)"
        r"|[月火水木金土日]曜"
    )


_CLOCK_PATTERN: Final = re.compile(_CLOCK, re.IGNORECASE)
_CLOSED_PATTERN: Final = small_pattern(rf"\b(?:{_CLOSED})\b")
_DATE: Final = re.compile(
    r"\b\d{1,2}(?:st|nd|rd|th)?[./ -](?:\d{1,2}|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|"
    r"january|february|march|april|june|july|august|september|october|november|december)"
    r"[a-z]*\.?[,./ -]+(?:19|20)\d\d|\b(?:january|february|march|april|may|june|july|august|"
    r"september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.?\s"
    r"\d{1,2}(?:st|nd|rd|th)?,?\s(?:19|20)\d\d",
    re.IGNORECASE,
)


def find_hours(sheet: PageText) -> list[Sighting]:
    """Find the blocks of lines that say when a place is open."""
    found = []
    spans = [
        (first, span)
        for first, last in _blocks(sheet)
        for part in _parts(sheet, first, last)
        if (span := _trimmed(sheet, *part))
    ]
    for first, (start, end) in spans[:MAX_FOUND]:
        text = " ".join(sheet.text[start:end].split())
        found.append(
            Sighting(
                key=re.sub(r"\W+", " ", text.casefold()).strip(),
                value=text[:500],
                method=Method.TEXT,
                line=first,
                start=start,
                end=end,
                snippet=sheet.snippet(start, end),
            )
        )
    return found


def _parts(sheet: PageText, first: int, last: int) -> Iterator[tuple[int, int]]:
    """Yield a block whole, or a long line sentence by sentence."""
    start = sheet.starts[first]
    end = sheet.starts[last] + len(sheet.lines[last].text)
    text = sheet.lines[first].text
    if first != last or len(text) < 110:
        yield start, end
        return
    for sentence in _SENTENCE.finditer(text):
        part = sentence[0]
        if _HOURS_HINT.search(part) and _day_pattern().search(small(part)):
            yield start + sentence.start(), start + sentence.end()


_SENTENCE: Final = re.compile(r"(?:[^.!?]|\.(?!\s+[A-Z])){3,600}[.!?]?")


def _blocks(sheet: PageText) -> Iterator[tuple[int, int]]:
    """Yield runs of lines about hours; a table has days and times on lines apart."""
    kinds = _kinds(sheet)
    number = 0
    while number < len(kinds):
        if not kinds[number]:
            number += 1
        elif kinds[number] == "dt" or (
            kinds[number] == "d"
            and number + 1 < len(kinds)
            and kinds[number + 1] == "t"
            and len(sheet.lines[number].text) < 40
            and len(sheet.lines[number + 1].text) < 60
        ):
            last = number
            while (
                last + 1 < len(kinds)
                and kinds[last + 1]
                and len(sheet.lines[last + 1].text) < 90
                and (
                    "d" in kinds[last + 1]
                    or _is_mostly_time(sheet.lines[last + 1].text)
                )
            ):
                last += 1
            while last > number and kinds[last] == "d":
                last -= 1
            yield number, last
            number = last + 1
        else:
            number += 1


def _kinds(sheet: PageText) -> list[str]:
    """Mark each line by whether it names days (d) and times (t).

    Only lines near something like a time are looked at; the rest of a page is skipped.
    """
    kinds = [""] * len(sheet.lines)
    timed: set[int] = set()
    for count, match in enumerate(_TIME_SCAN.finditer(sheet.text)):
        if count > MAX_TIMES:
            break
        timed.add(sheet.line_at(match.start()))
    near = {place for line in timed for place in range(line - 3, line + 4)}
    for number in near:
        if not 0 <= number < len(kinds):
            continue
        text = sheet.lines[number].text
        has_time = number in timed
        if len(text) > (MAX_LINE * 4 if has_time else MAX_LABEL):
            continue
        if sheet.lines[number].tag == "option":
            continue
        is_closed, has_day = _says_closed_or_day(text)
        has_time = has_time or is_closed
        is_dated = has_time and bool(
            _TIMESTAMP.search(text) or (has_day and _DATE.search(text))
        )
        if not is_dated:
            kinds[number] = ("d" if has_day else "") + ("t" if has_time else "")
    return kinds


# Every page of a site has the hours of its footer.
@lru_cache(1_024)
def _says_closed_or_day(text: str) -> tuple[bool, bool]:
    low = small(text)
    return bool(_CLOSED_PATTERN.search(low)), bool(_day_pattern().search(low))


_TIMESTAMP: Final = re.compile(r"\b(?:19|20)\d\d-[01]\d-[0-3]\d\b")
_ALWAYS: Final = re.compile(r"24\s?/\s?7|24 hours a day")
MAX_LABEL: Final = 60
MAX_TIMES: Final = 5_000
# It starts with a digit, so that the matcher runs through text without numbers.
_TIME_SCAN: Final = re.compile(
    r"\d\s?(?:[:.hu][0-5]\d\b|[aApP]\.?[mM]\b|[uU]hr|uur|h\b|u\b|(?:-|–|to)\s?\d|/7\b)"
)


def _is_mostly_time(text: str) -> bool:
    left = _CLOCK_PATTERN.sub("", text)
    return len(left) < 0.5 * len(text) + 6 or bool(
        _CLOSED_PATTERN.fullmatch(small(text.strip()))
    )


def _trimmed(sheet: PageText, start: int, end: int) -> tuple[int, int] | None:
    """Cut a part to what stands from the first to the last day or time."""
    text = sheet.text[start:end]
    low = small(text)
    marks = [*_day_pattern().finditer(low), *_CLOCK_PATTERN.finditer(text)]
    marks += list(_CLOSED_PATTERN.finditer(low))
    clocks = _CLOCK_PATTERN.findall(text)
    if not marks or (
        len(clocks) < 2
        and not _CLOSED_PATTERN.search(low)
        and not re.search(
            r"\d\s?(?:-|–|to|tot|bis|à|a)\s?\d|24\s?/\s?7|24 hours a day", text
        )
    ):
        return None
    has_day = _day_pattern().search(low)
    if not has_day or not (
        clocks or _CLOSED_PATTERN.search(low) or _ALWAYS.search(text)
    ):
        return None
    left = min(m.start() for m in marks)
    right = max(m.end() for m in marks)
    zone = re.match(
        r",?\s?\(?(?:[ECMP][SD]?T|GMT|UTC|BST|CET|(?:Eastern|Central|Pacific|Mountain)(?: Standard)?(?: Time)?)\)?",
        text[right:],
    )
    right += zone.end() if zone else 0
    if not MIN_LENGTH <= right - left <= MAX_LINE * 2:
        return None
    return start + left, start + right


_RANGE: Final = re.compile(
    rf"({_TIME})\s?(?:-|–|—|to|tot|bis|until|till|til|à|a|al|do|t/m|and|–)\s?({_TIME})",
    re.IGNORECASE,
)


def read_intervals(text: str) -> tuple[Interval, ...]:
    """Read plain hours (`Mon-Fri 9am-5pm`) into days; give () where in doubt."""
    marks = _day_marks(text)
    if not marks:
        return ()
    result: list[Interval] = []
    for place, (_, end, days) in enumerate(marks):
        stop = marks[place + 1][0] if place + 1 < len(marks) else len(text)
        part = text[end:stop]
        ranges = [(_clock(a), _clock(b)) for a, b in _RANGE.findall(part)]
        ranges = [_afternoon(a, b) for a, b in ranges if a and b]
        if ranges:
            result += [Interval(day, a, b) for day in days for a, b in ranges]
        elif _CLOSED_PATTERN.search(small(part)):
            result += [Interval(day, None, None) for day in days]
    return tuple(result)


@cache
def _day_numbers() -> dict[str, int]:
    return {name: day for day, group in enumerate(_DAYS) for name in group.split("|")}


_TO: Final = re.compile(
    r"^\s?(?:-|–|—|to|through|thru|till|until|bis|t/m|tot en met|tot|à|au|al?|do|až|til|–)\s?$",
    re.IGNORECASE,
)
_AND: Final = re.compile(
    r"^\s?(?:,|&|\+|/|and|und|en|et|y|e|i|och|og|ja|a|ve)\s?$", re.IGNORECASE
)


def _day_marks(text: str) -> list[tuple[int, int, tuple[int, ...]]]:
    """Give start, end and weekdays of each mention of days, ranges unfolded."""
    marks: list[tuple[int, int, tuple[int, ...]]] = []
    for match in _day_pattern().finditer(small(text)):
        days = _days_of(text[match.start() : match.end()])
        if not days:
            continue
        if marks:
            start, end, before = marks[-1]
            between = text[end : match.start()]
            if _TO.match(between) and len(days) == 1:
                first, last = before[-1], days[0]
                span = tuple((first + i) % 7 for i in range((last - first) % 7 + 1))
                marks[-1] = (start, match.end(), (*before[:-1], *span))
                continue
            if _AND.match(between):
                marks[-1] = (start, match.end(), (*before, *days))
                continue
        marks.append((match.start(), match.end(), days))
    return marks


def _days_of(word: str) -> tuple[int, ...]:
    low = word.casefold().strip(" .")
    number = _day_numbers().get(low, _day_numbers().get(low.rstrip("s").rstrip("'")))
    if number is not None:
        return (number,)
    if low in ("m-f", "mo-fr", "mon-fri", "ma-vr") or low.startswith(
        ("weekday", "werk", "working")
    ):
        return (0, 1, 2, 3, 4)
    if low.startswith("weekend"):
        return (5, 6)
    if low.startswith(
        ("every", "daily", "täglich", "tous", "tutti", "todos", "dagelijks", "7 days")
    ):
        return (0, 1, 2, 3, 4, 5, 6)
    return ()


def _clock(text: str) -> str | None:
    match = re.match(
        r"(\d{1,2})(?:\s?[:.hu]\s?(\d\d))?\s?([ap])?", text.strip().lower()
    )
    if not match:
        return None
    hour, minute = int(match[1]), int(match[2] or 0)
    if match[3] == "p" and hour < 12:
        hour += 12
    elif match[3] == "a" and hour == 12:
        hour = 0
    if hour > 24 or minute > 59:
        return None
    return f"{hour:02}:{minute:02}"


def _afternoon(opens: str, closes: str) -> tuple[str, str]:
    """Read `9 - 5` as nine to five in the afternoon."""
    if closes <= opens and int(closes[:2]) < 12 and int(opens[:2]) < 12:
        return opens, f"{int(closes[:2]) + 12:02}{closes[2:]}"
    return opens, closes
