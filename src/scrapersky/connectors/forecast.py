"""When what waits will be written, and what is left of a day, by the limits of the account."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import ceil
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Row, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.connectors.account import (
    CONNECTIONS,
    MATCH_EXISTING,
    ConnectorTools,
    CrmConnection,
    StoredMetering,
    open_connection,
)
from scrapersky.connectors.meter import (
    LISTENING_SHARE,
    ONE_DAY,
    MeterRule,
    MeterState,
    level,
)
from scrapersky.connectors.outbox import RECORDS
from scrapersky.connectors.protocol import CrmKind, SyncVolume
from scrapersky.errors import ConfigurationError, CrmError
from scrapersky.records.sync import OPEN_STATES

NO_TIME: Final = timedelta()
UNCLAIMED_TIME: Final = timedelta(seconds=30)
"""After which a connection that is due has nobody who works on it."""


@dataclass(frozen=True, slots=True)
class DailyLimit:
    """A limit of a day, and what is left of our share of it."""

    name: str
    allowed: float
    left: float


@dataclass(frozen=True, slots=True)
class RunForecast:
    """What the limits of an account make of what waits."""

    limits: list[DailyLimit] = field(default_factory=list)
    finish_at: datetime | None = None
    """None: nothing waits, it is paused, or nobody works on it."""
    needs_worker: bool = False
    """It is due, and no process has taken it."""


async def forecast(
    connection: AsyncConnection, row: Row[Any], tools: ConnectorTools
) -> RunForecast:
    """Say when what waits will be written at the earliest, and what is left of the day.

    The row may be without its secret: nothing is asked.
    """
    try:
        opened = open_connection(connection.engine, row, tools)
    except (CrmError, ConfigurationError):
        return RunForecast()
    now, rules = opened.clock.now(), rules_of(opened)
    limits = [
        DailyLimit(
            rule.name, rule.allowed, level(row.meters.get(rule.name), rule, now)[0]
        )
        for rule in rules
        if rule.resets_daily
    ]
    price: dict[str, float] = {}
    for kind, volume in (await waiting_volumes(connection, opened)).items():
        for name, units in opened.crm.price(kind, volume).items():
            price[name] = price.get(name, 0.0) + units
    if not price or not row.is_active:
        return RunForecast(limits)
    if await is_untouched(connection, row.id):
        return RunForecast(limits, needs_worker=True)
    return RunForecast(limits, now + time_needed(rules, row.meters, price, now))


async def is_untouched(connection: AsyncConnection, sync_id: UUID) -> bool:
    """Say whether a connection has been due for a while, and no process works on it."""
    row, since = CONNECTIONS.c, func.clock_timestamp() - UNCLAIMED_TIME
    ended = func.coalesce(row.leased_until, row.next_at) < func.clock_timestamp()
    query = select(row.next_at < since, ended).where(row.id == sync_id)
    return all((await connection.execute(query)).one())


async def waiting_volumes(
    connection: AsyncConnection, opened: CrmConnection
) -> dict[CrmKind, SyncVolume]:
    """Count what waits to be written, by kind."""
    is_known = RECORDS.c.their_id.is_not(None).label("is_known")
    query = (
        select(RECORDS.c.kind, is_known, func.count().label("records"))
        .where(
            RECORDS.c.connection_id == opened.row.id, RECORDS.c.state.in_(OPEN_STATES)
        )
        .group_by(RECORDS.c.kind, is_known)
    )
    looks = opened.row.options.get(MATCH_EXISTING) != "no"
    counted: dict[CrmKind, dict[str, int]] = {}
    for row in await connection.execute(query):
        part = counted.setdefault(CrmKind(row.kind), {})
        if row.is_known:
            part |= {"reads": row.records, "updates": row.records}
            continue
        part |= {"creates": row.records, "searches": row.records * looks}
        if row.kind == CrmKind.PERSON:
            part["links"] = row.records
    return {kind: SyncVolume(**part) for kind, part in counted.items()}


def rules_of(opened: CrmConnection) -> Sequence[MeterRule]:
    """Return the limits of an account."""
    metering = opened.session.metering
    return metering.rules if isinstance(metering, StoredMetering) else ()


def time_needed(
    rules: Sequence[MeterRule],
    state: MeterState,
    price: Mapping[str, float],
    now: datetime,
) -> timedelta:
    """Return how long the limits of an account make so much work take at least."""
    return max((rule_time(rule, state, price, now) for rule in rules), default=NO_TIME)


def rule_time(
    rule: MeterRule, state: MeterState, price: Mapping[str, float], now: datetime
) -> timedelta:
    """Return how long one limit makes it take."""
    left, blocked = level(state.get(rule.name), rule, now)
    spared = rule.allowed * LISTENING_SHARE if rule.resets_daily else 0.0
    missing = price.get(rule.name, 0.0) - max(left - spared, 0.0)
    if missing <= 0:
        return blocked if price.get(rule.name) else NO_TIME
    if not rule.resets_daily:
        return blocked + timedelta(seconds=missing / rule.per_second)
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0) + ONE_DAY
    a_day = max(rule.allowed - spared, 1.0)
    return midnight - now + ONE_DAY * (ceil(missing / a_day) - 1)
