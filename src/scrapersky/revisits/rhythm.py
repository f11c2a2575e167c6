"""When a website is visited again: sooner where something changed, later where nothing did."""

from calendar import monthrange
from datetime import datetime, timedelta
from typing import Final

from scrapersky.records.search_schedule import Repetition

FIRST_PAUSE: Final = timedelta(days=7)
SHORTEST_PAUSE: Final = timedelta(days=1)
LONGEST_PAUSE: Final = timedelta(days=28)
"""Half the pause after a visit that found a difference, twice the pause after any other."""
FULL_LOOK: Final = 4
"""Every so many visits all pages that hold values are asked for, whatever a sitemap says."""
MONTHS_A_YEAR: Final = 12


def run_after(due: datetime, every: Repetition, now: datetime) -> datetime:
    """Return the first run after now; those that were missed are not made up for."""
    step, after = 1, due
    while after <= now:
        after = shifted(due, every, step)
        step += 1
    return after


def shifted(due: datetime, every: Repetition, steps: int) -> datetime:
    """Return the time so many steps later; a month ends where it is too short."""
    match every:
        case Repetition.DAILY:
            return due + timedelta(days=steps)
        case Repetition.WEEKLY:
            return due + timedelta(weeks=steps)
        case Repetition.MONTHLY:
            years, month = divmod(due.month - 1 + steps, MONTHS_A_YEAR)
            year = due.year + years
            day = min(due.day, monthrange(year, month + 1)[1])
            return due.replace(year=year, month=month + 1, day=day)
