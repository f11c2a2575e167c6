"""Meters: how much an account allows, and how long to wait until there is room for a call.

Rolling limits are kept by a small bucket that fills evenly, so that no window of the CRM,
wherever it begins, sees more than it allows. A limit of a day ends at its reset, and leaves a
share to the other programs of the customer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Protocol

ONE_DAY: Final = timedelta(days=1)
BURST_SHARE: Final = 0.05
LISTENING_SHARE: Final = 0.1
"""Of a day's limits: what writing leaves to erasing and to hearing who objected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeterRule:
    """One limit of an account."""

    name: str
    units: float
    """How much is allowed within `per`."""
    per: timedelta
    reserve: float = 0.0
    """The share that is left to others."""
    burst: float | None = None
    """How much may be spent at once; a twentieth unless said. The rest is spread evenly."""
    resets_daily: bool = False
    """It is counted from midnight to midnight (UTC) and not in a rolling window."""

    @property
    def allowed(self) -> float:
        """Return what we may use of it."""
        return self.units * (1 - self.reserve)

    @property
    def capacity(self) -> float:
        """Return what may be spent at once."""
        if self.resets_daily:
            return self.allowed
        return max(1.0, self._at_once)

    @property
    def per_second(self) -> float:
        """Return how fast a rolling limit fills again: a window never sees more than it allows.

        That a small bucket holds a whole unit takes nothing from it: calls are whole too, and
        with 4.75 a second beside that one no window sees more than five.
        """
        return max(self.allowed - self._at_once, 0.01) / self.per.total_seconds()

    @property
    def _at_once(self) -> float:
        return self.burst or self.allowed * BURST_SHARE


MeterState = Mapping[str, Any]
"""By the name of each meter: what is left, as of when. It is stored as JSON."""


class WaitingClock(Protocol):
    """The time, and waiting for it; tests have one that does not wait."""

    def now(self) -> datetime:
        """Return the time, aware."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class Metering(Protocol):
    """Keeps the meters of one account; several processes may share them."""

    async def take(
        self, costs: Mapping[str, float], spared: float
    ) -> tuple[timedelta, str | None]:
        """Take what a call costs, or return how long until there is room, and in which meter.

        `spared`: the share of a day's limits that this call may not touch.
        """
        ...

    async def learn(
        self, name: str, *, left: float, after: timedelta | None = None
    ) -> None:
        """Take notice that the account has no more than this left, until then."""
        ...


def take(
    state: MeterState,
    rules: Sequence[MeterRule],
    costs: Mapping[str, float],
    now: datetime,
    spared: float = 0.0,
) -> tuple[dict[str, Any], timedelta, str | None]:
    """Return the meters after a call, or how long to wait before it, and for which meter."""
    after: dict[str, Any] = {**state}
    longest, which = timedelta(), None
    for rule in rules:
        cost = costs.get(rule.name, 0.0)
        if not cost:
            continue
        left, blocked = level(state.get(rule.name), rule, now)
        kept = rule.allowed * spared if rule.resets_daily else 0.0
        missing = min(cost, rule.capacity) + kept - left
        wait = max(blocked, refill_time(rule, missing, now))
        if wait > longest:
            longest, which = wait, rule.name
        after[rule.name] = {"left": left - cost, "at": now.isoformat()}
    return ({**state}, longest, which) if longest else (after, timedelta(), None)


def level(
    entry: Mapping[str, Any] | None, rule: MeterRule, now: datetime
) -> tuple[float, timedelta]:
    """Return what is left of a meter now, and how long it is blocked."""
    if entry is None:
        return rule.capacity, timedelta()
    at = datetime.fromisoformat(entry["at"])
    blocked = timedelta()
    if until := entry.get("until"):
        blocked = max(datetime.fromisoformat(until) - now, timedelta())
    if rule.resets_daily:
        is_today = at.date() == now.date()
        return (entry["left"] if is_today else rule.capacity), blocked
    passed = max((now - at).total_seconds(), 0.0)
    return min(rule.capacity, entry["left"] + passed * rule.per_second), blocked


def refill_time(rule: MeterRule, missing: float, now: datetime) -> timedelta:
    """Return how long until so much more is there."""
    if missing <= 0:
        return timedelta()
    if rule.resets_daily:
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        return midnight + ONE_DAY - now
    return timedelta(seconds=missing / rule.per_second)


def learnt(
    state: MeterState,
    rule: MeterRule,
    *,
    left: float,
    after: timedelta | None,
    now: datetime,
) -> dict[str, Any]:
    """Return the meters, lowered to what the CRM says is left."""
    known, _ = level(state.get(rule.name), rule, now)
    taken_by_others = rule.units - rule.allowed
    entry: dict[str, Any] = {
        "left": min(known, left - taken_by_others if rule.resets_daily else left),
        "at": now.isoformat(),
    }
    if after is not None and left <= 0:
        entry["until"] = (now + after).isoformat()
    return {**state, rule.name: entry}
