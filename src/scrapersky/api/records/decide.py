"""Decide about records, by ids or by exactly what a list shows."""

from datetime import timedelta
from typing import Final, Protocol
from uuid import UUID

from sqlalchemy import func, literal, select
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.api.records.query import of_caller
from scrapersky.api.records.schema import StatusIn, StatusOut
from scrapersky.api.tenancy import statement_timeout
from scrapersky.curation.condition import Condition
from scrapersky.curation.decision import (
    CHUNK_ROWS,
    MEANWHILE,
    Selection,
    count_selected,
    decide,
)
from scrapersky.errors import IllegalStatus, InvalidDecision
from scrapersky.records.audit import Actor
from scrapersky.records.kind import Kind

CHUNK_TIMEOUT: Final = timedelta(seconds=60)
"""How long one chunk of a decision may take: a rare match among millions needs a while."""


async def set_status(
    connection: AsyncConnection, actor: Actor, resource: Kind, asked: StatusIn
) -> StatusOut:
    """Set a status, or only count what it would be set on."""
    selection = selection_of(asked, actor.user_id)
    require_decidable(resource, asked.status)
    async with statement_timeout(CHUNK_TIMEOUT, connection):
        return await carry_out(connection, actor, resource, asked, selection)


async def carry_out(
    connection: AsyncConnection,
    actor: Actor,
    resource: Kind,
    asked: StatusIn,
    selection: Selection,
) -> StatusOut:
    """Decide about what is meant or, if only that was asked, count it."""
    is_long = selection.ids is not None and len(selection.ids) > CHUNK_ROWS
    if selection.ids is not None and (is_long or asked.dry_run):
        await refuse_foreign(connection, actor.tenant_id, resource, selection.ids)
    if asked.dry_run:
        matched = await count_selected(connection, actor.tenant_id, resource, selection)
        return StatusOut(
            action_id=None,
            matched=matched,
            changed=0,
            queued=0,
            skipped={},
            dry_run=True,
        )
    done = await decide(
        connection, actor, resource, asked.status, selection, force=asked.force
    )
    missing = done.skipped.get(MEANWHILE, 0)
    if selection.ids is not None and not is_long and missing:
        # It was one transaction, which is rolled back with this.
        raise foreign(resource, missing, len(selection.ids))
    return StatusOut(
        action_id=done.action_id,
        matched=done.changed + sum(done.skipped.values()),
        changed=done.changed,
        queued=done.queued,
        skipped=done.skipped,
        dry_run=False,
    )


class SelectionRequest(Protocol):
    """A request that means some records."""

    ids: list[UUID] | None
    filter: list[Condition] | None
    q: str | None


def selection_of(asked: SelectionRequest, user_id: UUID | None) -> Selection:
    """Read which records are meant: by ids or by a filter, not both, not neither."""
    if (asked.ids is None) == (asked.filter is None):
        raise InvalidDecision(
            "Choose the records: send either `ids` or `filter`.",
            hint="An empty `filter` means all records.",
        )
    if asked.ids is None:
        conditions = of_caller(user_id, asked.filter or ())
        return Selection(conditions=conditions, words=asked.q or None)
    if asked.q is not None:
        raise InvalidDecision("`q` goes with `filter`, not with `ids`.")
    return Selection(ids=tuple(dict.fromkeys(asked.ids)))


def require_decidable(resource: Kind, status: str) -> None:
    """Raise unless people may set this status."""
    resource.status_named(status)
    if status not in resource.deciding.settable:
        raise IllegalStatus(
            f"'{status}' is set by the stage, when its work says so.",
            hint=f"You may set: {', '.join(resource.deciding.settable)}.",
        )


async def refuse_foreign(
    connection: AsyncConnection,
    tenant_id: UUID,
    resource: Kind,
    ids: tuple[UUID, ...],
) -> None:
    """Raise, before anything is written, if one of the ids is not the tenant's."""
    model = resource.record
    query = (
        select(func.count())
        .select_from(model)
        .where(model.tenant_id == tenant_id, model.id == func.any(literal(list(ids))))
    )
    found = int(await connection.scalar(query) or 0)
    if found < len(ids):
        raise foreign(resource, len(ids) - found, len(ids))


def foreign(resource: Kind, missing: int, asked: int) -> InvalidDecision:
    """Say that some of the ids are not the tenant's."""
    return InvalidDecision(
        f"{missing} of the {asked} ids are no "
        f"{resource.name.replace('_', ' ')} of yours; nothing was changed.",
        hint="List the records again: some may be gone.",
    )
