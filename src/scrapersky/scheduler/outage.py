"""A time in which nobody could use the database: who was there records it afterwards."""

from datetime import timedelta
from typing import Any, Final

from sqlalchemy import func, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.db.connection import SERVER_STATES, driver_error, sqlstate_of
from scrapersky.records import Process

RULE: Final = "database_away"
SUBJECT: Final = "database"
ADVICE: Final = (
    "`scrapersky doctor` looks at the database, `scrapersky workers` at who is back."
)
SETTLED_AFTER: Final = timedelta(minutes=2)
"""How long after an outage alerts wait: most of what it brought about is over by then."""
OTHERS_MISS: Final = timedelta(seconds=10)
"""A process that was heard of so long after we lost the database could use it."""

RECORD = text("""INSERT INTO alerts (rule, subject, summary, advice, since, ended_at)
  SELECT :rule, :subject, :summary, :advice, clock_timestamp() - CAST(:away AS interval),
    clock_timestamp()
  WHERE NOT EXISTS (SELECT FROM processes WHERE name <> :name
    AND seen_at > clock_timestamp() - CAST(:away AS interval) + CAST(:others AS interval)
    AND coalesce(back_at, '-infinity') < clock_timestamp() - CAST(:away AS interval))
  ON CONFLICT (rule, subject) DO UPDATE SET
    summary = excluded.summary, advice = excluded.advice, seen_at = excluded.seen_at,
    since = CASE WHEN alerts.end_sent_at IS NULL
        AND alerts.ended_at > excluded.since - CAST(:settled AS interval)
      THEN alerts.since ELSE excluded.since END,
    ended_at = excluded.ended_at, sent_at = NULL, end_sent_at = NULL
  WHERE alerts.ended_at < excluded.since""")
"""Not where others could use it all the time, nor where one who was back sooner did so.

One that follows before anybody was notified is a part of the same outage."""


async def record_outage(
    connection: AsyncConnection, name: str, away: float, why: str
) -> None:
    """Record that a process was without the database for so many seconds, if all were."""
    values = {
        "rule": RULE,
        "subject": SUBJECT,
        "summary": f"PostgreSQL could not be used: {why}.",
        "advice": ADVICE,
        "name": name,
        "away": timedelta(seconds=away),
        "others": OTHERS_MISS,
        "settled": SETTLED_AFTER,
    }
    await connection.execute(RECORD, values)


def reason_of(error: BaseException) -> str:
    """Say in a few words why the database could not be used."""
    if (state := SERVER_STATES.get(sqlstate_of(error))) is not None:
        return f"it {state.what}"
    return f"it did not answer ({type(driver_error(error)).__name__})"


async def count_returned(connection: AsyncConnection, outage: Any) -> int:  # noqa: ANN401 - a row of alerts
    """Count the processes that were there before an outage and have been heard of since."""
    was_there = Process.started_at < outage.since
    is_back = Process.seen_at >= outage.ended_at
    query = select(func.count()).where(was_there, is_back)
    return int(await connection.scalar(query) or 0)
