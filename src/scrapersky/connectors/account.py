"""Open a connection: its connector, with its credential, its limits and its schema."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Row, select, update
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.connectors.mapping import FieldMapping, mappings
from scrapersky.connectors.meter import ONE_DAY, MeterRule, WaitingClock, learnt, take
from scrapersky.connectors.protocol import (
    Connector,
    ConnectorContext,
    CrmField,
    CrmKind,
)
from scrapersky.connectors.session import LONGEST_WAIT, CrmSession, CrmTransport
from scrapersky.errors import CrmError
from scrapersky.kit.cipher import Cipher
from scrapersky.records.base import Base
from scrapersky.records.sync import SyncConnection

BUDGET: Final = "budget"
MATCH_EXISTING: Final = "match_existing"
"""The option of every connection: `no`, where nothing there can be of these leads yet."""
CONNECTIONS: Final = Base.metadata.tables[SyncConnection.__tablename__]


@dataclass(frozen=True, slots=True)
class ConnectorTools:
    """What connections are opened with in this process."""

    connectors: Mapping[str, type[Connector]]
    transport: CrmTransport
    find_cipher: Callable[[], Cipher]
    folder: Path
    """Under which each connection has a folder of its own."""
    clock: WaitingClock
    longest_outage: timedelta = LONGEST_WAIT
    """How long a call waits for what has failed there; a person does not."""


@dataclass(slots=True)
class SchemaMemory:
    """What a process has read of the schema of one account, and when."""

    fields: dict[CrmKind, dict[str, CrmField]] = field(default_factory=dict)
    read_at: dict[CrmKind, datetime] = field(default_factory=dict)


@dataclass(slots=True)
class StoredMetering:
    """Meters of one account, shared by every process through its row."""

    engine: AsyncEngine
    connection_id: UUID
    rules: Sequence[MeterRule]
    clock: WaitingClock

    async def take(
        self, costs: Mapping[str, float], spared: float
    ) -> tuple[timedelta, str | None]:
        """Take what a call costs, or say how long to wait."""
        asked = {**costs, BUDGET: self._of_budget(costs)}
        async with self.engine.begin() as connection:
            state = await connection.scalar(self._locked())
            now = self.clock.now()
            after, wait, which = take(state or {}, self.rules, asked, now, spared)
            if not wait:
                await connection.execute(self._change(after))
        return wait, which

    async def learn(
        self, name: str, *, left: float, after: timedelta | None = None
    ) -> None:
        """Take notice of what is left."""
        rule = next((one for one in self.rules if one.name == name), None)
        if rule is None:
            return
        async with self.engine.begin() as connection:
            state = await connection.scalar(self._locked()) or {}
            now = self.clock.now()
            known = learnt(state, rule, left=left, after=after, now=now)
            await connection.execute(self._change(known))

    def _of_budget(self, costs: Mapping[str, float]) -> float:
        """Return what a call takes of the budget: tokens where a day has them, else one call."""
        daily = [costs.get(rule.name, 0.0) for rule in self.rules if rule.resets_daily]
        return max([*daily, 1.0]) if costs else 1.0

    def _locked(self) -> Any:  # noqa: ANN401 - a statement
        mine = CONNECTIONS.c.id == self.connection_id
        return select(CONNECTIONS.c.meters).where(mine).with_for_update()

    def _change(self, meters: Mapping[str, Any]) -> Any:  # noqa: ANN401 - as above
        mine = CONNECTIONS.c.id == self.connection_id
        return update(CONNECTIONS).where(mine).values(meters=meters)


@dataclass(slots=True)
class CrmConnection:
    """An open connection: what is sent and asked through it."""

    row: Row[Any]
    crm: Connector
    session: CrmSession
    clock: WaitingClock
    memory: SchemaMemory = field(default_factory=SchemaMemory)
    _read: set[CrmKind] = field(default_factory=set)
    """Of which kinds the schema was read through this, and is not remembered."""

    async def schema(self, kind: CrmKind, *, anew: bool = False) -> dict[str, CrmField]:
        """Return the fields of a kind by their names, asked for once."""
        if anew or kind not in self.memory.fields:
            fields = await self.crm.fields(kind)
            self.memory.fields[kind] = {one.name: one for one in fields}
            self.memory.read_at[kind] = self.clock.now()
            self._read.add(kind)
        return self.memory.fields[kind]

    def forget_schema(self, kind: CrmKind) -> bool:
        """Let a schema that was only remembered be read again; say whether it was."""
        is_remembered = kind not in self._read
        if is_remembered:
            self.memory.fields.pop(kind, None)
        return is_remembered

    def rules(self, kind: CrmKind) -> list[FieldMapping]:
        """Return the mapping of a kind."""
        return mappings(self.crm.info, kind, self.row.mapping, self.row.fields)

    def names(self, kind: CrmKind) -> list[str]:
        """Return the fields of theirs that we write."""
        return list(dict.fromkeys(rule.theirs for rule in self.rules(kind)))

    async def missing_fields(self, kind: CrmKind) -> list[str]:
        """Return mapped fields that their schema does not have (any more)."""
        known = self.memory.fields.get(kind)
        read_at = self.memory.read_at.get(kind)
        lasts = self.crm.info.schema_lasts
        is_old = read_at is None or self.clock.now() - read_at >= lasts
        if known is None or is_old or not known.keys() >= {*self.names(kind)}:
            known = await self.schema(kind, anew=True)
        return [name for name in self.names(kind) if name not in known]

    async def refuse_missing(self, kind: CrmKind) -> None:
        """Raise CrmError if a mapped field was deleted there: nothing is written half."""
        if missing := await self.missing_fields(kind):
            names = ", ".join(missing[:5])
            raise CrmError(
                f"Mapped fields are not there any more: {names}.",
                hint="Map these values to other fields, or to none.",
            )

    def batch(self, kind: CrmKind) -> int:
        """Return how many records of a kind go into one call."""
        return self.crm.info.batch.get(kind, 1)


def open_connection(
    engine: AsyncEngine,
    row: Row[Any],
    tools: ConnectorTools,
    given: str = "",
    memory: SchemaMemory | None = None,
) -> CrmConnection:
    """Make what talks to the account of a connection; nothing is sent yet.

    `given`: with this credential instead of the one that is kept. `memory`: what this process
    knows of the schema there.
    """
    memory = memory or SchemaMemory()
    kind = tools.connectors.get(row.connector)
    if kind is None:
        raise CrmError(f"There is no connector '{row.connector}' in this version.")
    credential = given
    # Whoever only asks for prices has a row without the secret.
    if not given and (secret := getattr(row, "secret", None)) is not None:
        credential = tools.find_cipher().decrypt(secret, str(row.id)).decode()
    options = {one.name: one.default for one in kind.info.options} | row.options
    for named, own in row.fields.items():
        options |= {f"field:{named}:{ours}": theirs for ours, theirs in own.items()}
    rules = [*kind.meters(options)]
    if row.daily_budget is not None:
        rules.append(
            MeterRule(
                name=BUDGET, units=row.daily_budget, per=ONE_DAY, resets_daily=True
            )
        )
    session = CrmSession(
        base="",
        headers={},
        transport=tools.transport,
        metering=StoredMetering(engine, row.id, rules, tools.clock),
        clock=tools.clock,
        longest_outage=tools.longest_outage,
        secrets=(credential,),
    )
    context = ConnectorContext(
        session=session,
        options=options,
        credential=credential,
        folder=tools.folder / str(row.id),
        schemas=memory.fields,
    )
    return CrmConnection(row, kind(context), session, tools.clock, memory)
