"""What somebody is sent about alerts: one, several that came at once, or an outage."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from scrapersky.errors import DatabaseProblem
from scrapersky.kit.clock import utc_now
from scrapersky.scheduler.alert_sender import Message
from scrapersky.scheduler.outage import ADVICE, RULE, SUBJECT


def refusal(problem: DatabaseProblem, *, is_over: bool = False) -> Message:
    """Write what somebody is sent about a database that does not take what it is given."""
    state = "over" if is_over else "trouble"
    return Message(
        title=f"{state.capitalize()}: {RULE} ({SUBJECT})",
        text=str(problem) if is_over else f"{problem}\n{problem.hint or ADVICE}",
        details={
            "state": state,
            "rule": RULE,
            "subject": SUBJECT,
            "since": utc_now().isoformat(),
        },
    )


def message_of(row: Any) -> Message:  # noqa: ANN401 - a row of alerts
    """Write what somebody is sent about an alert."""
    return Message(title=title(row), text=body(row), details=details(row))


def aftermath(outage: Any, rows: Sequence[Any], back: int) -> Message:  # noqa: ANN401 - a row of alerts
    """Write what somebody is sent once, after an outage: what it was, and what it left."""
    lines = [account_of(outage, back), *map(list_line, rows)]
    if not any(row.ended_at is None for row in rows):
        lines.append("Nothing else is wrong.")
    return Message(
        title=title(outage),
        text="\n".join(lines),
        details={**details(outage), "alerts": [details(row) for row in rows]},
    )


def message_of_many(rows: Sequence[Any]) -> Message:
    """Write what somebody is sent about many alerts that began, or ended, at once."""
    state = "trouble" if rows[0].ended_at is None else "over"
    return Message(
        title=f"{state.capitalize()}: {len(rows)} alerts",
        text="\n".join(map(list_line, rows)),
        details={
            "state": state,
            "rule": "several",
            "subject": f"{len(rows)} alerts",
            "since": min(row.since for row in rows).isoformat(),
            "alerts": [details(row) for row in rows],
        },
    )


def account_of(outage: Any, back: int) -> str:  # noqa: ANN401 - a row of alerts
    """Write what there is to know about an outage that is over."""
    began, ended = (f"{at:%Y-%m-%d %H:%M:%S}" for at in (outage.since, outage.ended_at))
    lasted = (outage.ended_at - outage.since) // timedelta(seconds=1)
    who = "1 process is back" if back == 1 else f"{back} processes are back"
    return f"{outage.summary}\nFrom {began} to {ended} UTC, {lasted} s. {who}."


def title(row: Any) -> str:  # noqa: ANN401 - a row of alerts
    """Name an alert, and say whether it is over."""
    state = "Trouble" if row.ended_at is None else "Over"
    return f"{state}: {row.rule} ({row.subject})"


def body(row: Any) -> str:  # noqa: ANN401 - a row of alerts
    """Say what is wrong, and what to do while it is."""
    return row.summary if row.ended_at else f"{row.summary}\n{row.advice}"


def list_line(row: Any) -> str:  # noqa: ANN401 - a row of alerts
    """Write an alert as one of a list."""
    return f"- {title(row)}: {body(row)}".replace("\n", " ")


def details(row: Any) -> dict[str, object]:  # noqa: ANN401 - a row of alerts
    """Return what a program wants to know of an alert."""
    return {
        "state": "trouble" if row.ended_at is None else "over",
        "rule": row.rule,
        "subject": row.subject,
        "since": row.since.isoformat(),
    }
