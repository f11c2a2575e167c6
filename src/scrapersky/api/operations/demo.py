"""The demo town in a workspace of its own: for the first look at an empty page."""

from datetime import datetime
from typing import Any, Final

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from scrapersky.api.auth.identity import Identity, Permission
from scrapersky.api.auth.local import is_from_this_machine
from scrapersky.api.dependency import (
    PUBLIC,
    HiddenOperator,
    Reader,
    Transaction,
    actor_of,
    after_commit,
)
from scrapersky.api.operations.demo_gateway import COOKIE, is_visitor
from scrapersky.api.operations.state import Operations, OperationsState
from scrapersky.api.operations.workspace import OpenDemo
from scrapersky.api.problem import Problem
from scrapersky.api.schema import RequestModel
from scrapersky.demo.source import NAME as SOURCE
from scrapersky.errors import AlreadyRunning
from scrapersky.records.audit import note
from simulated_town.town import DEFAULT_SIZE

router = APIRouter(prefix="/api/v3/demo", tags=["demo"])

PLACE: Final = "Seven Quays"
NOT_HERE: Final[dict[int | str, dict[str, Any]]] = {
    404: {"model": Problem, "description": "It may not be started here, or not by you"},
}
DEMO_REFUSALS: Final = NOT_HERE | {
    409: {"model": Problem, "description": "It is not open"},
}


class DemoIn(RequestModel):
    """How the town shall be."""

    size: int = Field(DEFAULT_SIZE, ge=10, le=1_000, description="Businesses in it.")
    seed: int = Field(1, ge=1, le=1_000_000, description="Another is another town.")
    decide: bool = Field(
        default=False,
        description="Let rules decide what a person would, so that it runs to its end.",
    )


class DemoOut(BaseModel):
    """Whether there is a demo, and where."""

    is_available: bool = Field(description="Whether it may be started here.")
    is_here: bool = Field(description="Whether this workspace is the demo itself.")
    is_opening: bool = Field(description="Whether it will be open in a moment.")
    is_running: bool
    is_visited: bool = Field(description="Whether this browser is in it.")
    place: str = Field(examples=[PLACE])
    address: str | None = Field(
        None, description="Where its workspace is.", examples=["http://127.0.0.1:40123"]
    )
    size: int | None = None
    seed: int | None = None
    started_at: datetime | None = None
    problem: str | None = Field(None, description="Why it is not open.")


@router.get("", operation_id="read_demo")
async def read_demo(
    who: Reader,
    request: Request,
    operations: Operations,
) -> DemoOut:
    """Say whether the demo can be started, and where it is."""
    return state(operations, who, request)


@router.post("", operation_id="start_demo", responses=NOT_HERE)
async def start_demo(
    who: HiddenOperator,
    request: Request,
    operations: Operations,
    connection: Transaction,
    body: DemoIn | None = None,
) -> DemoOut:
    """Open a workspace with the demo town, and search it.

    From this machine, in development and on a laptop only. It has a database and a
    process of its own: nothing of the town is seen here, and no packet of the town
    leaves the machine. It is open a few seconds later; `GET /demo` says where.
    """
    if not may_start(operations, who, request):
        raise HTTPException(404)
    wanted = body or DemoIn()
    await note(connection, actor_of(who, request), "started", "demo town",
               wanted.model_dump())  # fmt: skip
    demo = OpenDemo(wanted.size, wanted.seed, wanted.decide)
    after_commit(request, lambda: operations.demo.open(demo))
    found = state(operations, who, request)
    return found.model_copy(update={"is_opening": not found.is_running})


@router.post("/reset", operation_id="reset_demo", responses=DEMO_REFUSALS)
async def reset_demo(
    who: HiddenOperator,
    request: Request,
    operations: Operations,
    connection: Transaction,
) -> DemoOut:
    """Close the demo's workspace, and open the same town anew."""
    if not may_start(operations, who, request):
        raise HTTPException(404)
    if operations.demo.demo is None or operations.demo.is_closing:
        raise AlreadyRunning(
            "The demo is not open.", hint="Open it with POST /api/v3/demo."
        )
    await note(connection, actor_of(who, request), "reset", "demo town", {})
    after_commit(request, operations.demo.begin_again)
    found = state(operations, who, request)
    return found.model_copy(
        update={"is_opening": True, "is_running": False, "address": None}
    )


@router.post(
    "/visit", operation_id="visit_demo", status_code=204, responses=DEMO_REFUSALS
)
async def visit_demo(
    who: HiddenOperator, request: Request, response: Response, operations: Operations
) -> None:
    """Let this browser see the demo at this address, in place of the real workspace.

    Everything but `/api/v3/demo` is answered by the demo from now on, until
    `DELETE /api/v3/demo/visit`, or until it is closed.
    """
    if not may_start(operations, who, request):
        raise HTTPException(404)
    if operations.demo.address is None:
        raise AlreadyRunning(
            "The demo is not open.", hint="Open it with POST /api/v3/demo."
        )
    response.set_cookie(
        COOKIE, operations.demo.token, path="/", httponly=True, samesite="strict"
    )


@router.delete(
    "/visit", operation_id="leave_demo", status_code=204, dependencies=[PUBLIC]
)
async def leave_demo(response: Response) -> None:
    """Let this browser see the real workspace again."""
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")


@router.delete("", operation_id="close_demo", status_code=204, responses=NOT_HERE)
async def close_demo(
    who: HiddenOperator,
    request: Request,
    operations: Operations,
    connection: Transaction,
) -> None:
    """Close the demo's workspace, and drop its database."""
    if not may_start(operations, who, request):
        raise HTTPException(404)
    await note(connection, actor_of(who, request), "closed", "demo town", {})
    after_commit(request, operations.demo.begin_to_close)


def may_start(operations: OperationsState, who: Identity, request: Request) -> bool:
    """Say whether someone may start the demo here: it is at this machine's loopback."""
    is_home = operations.settings.environment.is_development or who.via == "local"
    return (
        is_home
        and operations.demo.is_possible
        and who.may(Permission.OPERATE)
        and is_from_this_machine(request)
        and not is_here(operations)
    )


def is_here(operations: OperationsState) -> bool:
    """Say whether this whole process is a demo."""
    return SOURCE in operations.background.tools.sources


def state(operations: OperationsState, who: Identity, request: Request) -> DemoOut:
    """Report how the demo is."""
    workspace, demo = operations.demo, operations.demo.demo
    return DemoOut(
        is_available=may_start(operations, who, request),
        is_here=is_here(operations),
        is_opening=demo is not None
        and workspace.address is None
        and not workspace.is_closing,
        is_running=workspace.address is not None,
        is_visited=workspace.address is not None
        and is_visitor(workspace, request.headers),
        place=PLACE,
        address=workspace.address,
        size=demo.size if demo else None,
        seed=demo.seed if demo else None,
        started_at=demo.started_at if demo else None,
        problem=workspace.problem,
    )
