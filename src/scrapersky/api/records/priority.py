"""Priority: which records a stage takes first."""

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field
from sqlalchemy import func, literal, update

from scrapersky.api.dependency import Curator, Transaction, actor_of
from scrapersky.api.field import RecordIds
from scrapersky.api.records.decide import foreign
from scrapersky.api.records.router import address_of
from scrapersky.api.records.schema import Priority
from scrapersky.api.schema import REFUSALS, RequestModel
from scrapersky.records.audit import note
from scrapersky.records.kind import Kind


class PriorityIn(RequestModel):
    """Which records, and how urgent they are."""

    ids: RecordIds = Field(min_length=1)
    priority: Priority


class PriorityOut(BaseModel):
    """How many records have the priority now."""

    changed: int


def add_priority(router: APIRouter, resource: Kind) -> None:
    """Add setting the priority of records that have one."""
    model = resource.record

    @router.post(
        f"{address_of(resource)}/priority",
        operation_id=f"prioritise_{resource.name}",
        summary=f"Set the priority of {resource.name.replace('_', ' ')}",
        responses=REFUSALS,
    )
    async def prioritise(
        request: Request, who: Curator, connection: Transaction, asked: PriorityIn
    ) -> PriorityOut:
        """Let a stage take these records before others, or after them.

        All or none: an id that is not yours fails the rest.
        """
        actor = actor_of(who, request)
        ids = list(dict.fromkeys(asked.ids))
        done = await connection.execute(
            update(model)
            .where(
                model.tenant_id == actor.tenant_id, model.id == func.any(literal(ids))
            )
            .values(priority=asked.priority)
        )
        if done.rowcount < len(ids):
            raise foreign(resource, len(ids) - done.rowcount, len(ids))
        details = {"priority": asked.priority, "records": len(ids)}
        await note(connection, actor, "prioritised", resource.name, details)
        return PriorityOut(changed=done.rowcount)
