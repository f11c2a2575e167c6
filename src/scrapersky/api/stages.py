"""How the stages stand."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, Field

from scrapersky import engine as queue_engine
from scrapersky.api.gateway.dependency import Database, allow
from scrapersky.api.gateway.identity import Identity, Permission
from scrapersky.stages.count import count_stages

router = APIRouter(prefix="/api/v3/stages", tags=["stages"])


class StageOut(BaseModel):
    """One stage of the pipeline: how many records stand where in it."""

    stage: str = Field(examples=["page_curation"])
    queued: int = Field(examples=[12])
    working: int = Field(examples=[3])
    done: int = Field(examples=[240])
    failed: int = Field(examples=[1])
    paused: str | None = Field(None, examples=["the key is refused"])


@router.get("", operation_id="list_stages")
async def list_stages(
    _who: Annotated[Identity, allow(Permission.READ)], engine: Database
) -> list[StageOut]:
    """Count the records of every stage, in the order of the pipeline."""
    paused = {
        state.name: state.paused_why
        for state in await queue_engine.states(engine)
        if state.paused
    }
    return [
        StageOut(
            stage=count.stage,
            queued=count.queued,
            working=count.working,
            done=count.done,
            failed=count.failed,
            paused=paused.get(count.stage),
        )
        for count in await count_stages(engine)
    ]
