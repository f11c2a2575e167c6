"""The processes that work on this database: which live, where, and why one rests."""

from dataclasses import asdict
from datetime import datetime
from typing import Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from scrapersky.api.dependency import Operator, SystemTransaction, actor_of
from scrapersky.api.schema import NOT_FOUND, Word
from scrapersky.records.audit import note
from scrapersky.scheduler.presence import ask_to_drain, live_processes

router = APIRouter(prefix="/api/v3/workers", tags=["system"])


class WorkerOut(BaseModel):
    """One process of this installation."""

    name: str = Field(examples=["crawler-2-4711-5f0a9c3e"])
    role: str = Field(examples=["worker"])
    host: str = Field(examples=["crawler-2"])
    pid: int
    version: str = Field(
        description="The release, and after a plus which build of it: two builds of one "
        "version differ.",
        examples=["0.4.0+1c9ae3f2"],
    )
    address: str | None = Field(
        None,
        description="Where it serves `/metrics` and `/health`.",
        examples=["http://127.0.0.1:8001"],
    )
    stages: list[str] = Field(description="The stages that it works.")
    in_hand: int = Field(description="Items that it holds.")
    resting: str | None = Field(
        None,
        description="Why it claims nothing.",
        examples=["no name is resolved here: not even example.com, example.org"],
    )
    started_at: datetime
    seen_seconds: float = Field(description="How long ago it was heard of.")
    state: str = Field(
        description="working, serving, resting, draining, drained or gone.",
        examples=["working"],
    )


@router.get("", operation_id="list_workers")
async def list_workers(
    who: Operator,  # noqa: ARG001 - checked
    connection: SystemTransaction,
) -> list[WorkerOut]:
    """List the processes that serve and work, also those that vanished in the last day."""
    live = await live_processes(connection)
    return [WorkerOut.model_validate(asdict(one)) for one in live]


@router.post("/{name}/{command}", operation_id="control_worker", responses=NOT_FOUND)
async def control(
    *,
    name: Word,
    command: Literal["drain", "resume"],
    who: Operator,
    request: Request,
    connection: SystemTransaction,
) -> WorkerOut:
    """Let one process claim nothing more, or let it claim again; it hears within seconds.

    What it has in work is finished, and what it has not begun goes back to the queue.
    """
    await ask_to_drain(connection, name, drain=command == "drain")
    actor = actor_of(who, request)
    await note(connection, actor, f"worker.{command}", f"process {name}")
    live = await live_processes(connection)
    return WorkerOut.model_validate(
        asdict(next(one for one in live if one.name == name))
    )
