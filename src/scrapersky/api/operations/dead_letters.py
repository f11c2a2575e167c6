"""Dead letters: what failed for good, by cause, with its story; replay or discard."""

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request
from pydantic import AfterValidator, BaseModel, Field
from sqlalchemy.ext.asyncio import AsyncConnection

import curation_sdk
from scrapersky.api.auth.identity import Identity
from scrapersky.api.dependency import (
    Curator,
    OperationsChunkedConnection,
    OperationsTransaction,
    Reader,
    Transaction,
    actor_of,
)
from scrapersky.api.schema import (
    COUNTED_ROWS,
    NOT_FOUND,
    Limit,
    ListOut,
    RequestModel,
    Total,
    Word,
    storable,
)
from scrapersky.api.tenancy import BULK_TIMEOUT, statement_timeout
from scrapersky.api.time_list import PageAsked
from scrapersky.db.transaction import commit_chunk
from scrapersky.errors import ItemNotFound
from scrapersky.kit.cursor import read_cursor, write_cursor
from scrapersky.records import kind_of
from scrapersky.records.audit import note
from scrapersky.reporting.failures import (
    LONGEST_CAUSE,
    MOST_AT_ONCE,
    DeadLetterFilter,
    DeadLetterSummary,
    count_dead,
    dead_groups,
    dead_page,
    some_dead,
)
from scrapersky.stages import STAGES

router = APIRouter(prefix="/api/v3/dead-letters", tags=["dead letters"])

Kind = Literal["gave_up", "exhausted", "quarantined"]
Command = Literal["replay", "discard"]
Cause = Annotated[str, Field(max_length=2 * LONGEST_CAUSE), AfterValidator(storable)]
LetterId = Annotated[str, Field(max_length=120, pattern=r"^[a-z_]+:[0-9a-f-]{36}$")]


class DeadLetterOut(BaseModel):
    """An item that failed for good."""

    id: str = Field(examples=["page_curation:6f1c…"])
    stage: str = Field(examples=["page_curation"])
    title: str = Field(examples=["Page curation"])
    record_kind: str = Field(examples=["pages"])
    record_id: str
    label: str | None = Field(None, examples=["https://harbour-dental.example/contact"])
    kind: Kind = Field(
        description="Why no more is tried: it makes no sense, it was tried often "
        "enough, or its workers died."
    )
    cause: str = Field(examples=["the name does not exist or has no address"])
    why: str | None
    tries: int
    deaths: int
    died_at: datetime


class DeadGroupOut(BaseModel):
    """Dead letters of one stage that died of the same."""

    stage: str
    title: str
    kind: Kind
    cause: str
    count: int
    first_at: datetime
    last_at: datetime


class AttemptOut(BaseModel):
    """One claim of an item, and what became of it."""

    outcome: str = Field(examples=["retried"])
    why: str | None
    tries: int
    worker: str | None
    claimed_at: datetime | None
    settled_at: datetime
    due_at: datetime | None = Field(description="When it was to be tried again.")
    correlation_id: str = Field(
        description="The same in the log lines of this attempt.",
        examples=["48213-6f1c7a52-4c0e-4b6e-9d1a-2f3b5c7d9e01"],
    )


class DeadStoryOut(DeadLetterOut):
    """A dead letter with everything that happened to it."""

    attempts: list[AttemptOut]


class DeadChosen(RequestModel):
    """Which dead letters are meant: these, or all that match what is given."""

    ids: list[LetterId] | None = Field(None, min_length=1, max_length=10_000)
    stage: Word | None = None
    kind: Kind | None = None
    cause: Cause | None = None
    everything: bool = Field(
        default=False, description="Needed when nothing narrows it down."
    )
    dry_run: bool = False

    def chosen(self) -> DeadLetterFilter:
        """Return it as a filter."""
        return DeadLetterFilter(
            stage=self.stage,
            kind=self.kind,
            cause=self.cause,
            items=None if self.ids is None else [parts_of(one) for one in self.ids],
        )

    @property
    def is_narrowed(self) -> bool:
        """Say whether it means less than everything."""
        given = (self.ids, self.stage, self.kind, self.cause)
        return any(value is not None for value in given)


class DeadChanged(BaseModel):
    """What a replay or discard came to."""

    matched: int
    changed: int
    dry_run: bool


@router.get("", operation_id="list_dead_letters")
async def list_dead_letters(
    *,
    who: Reader,
    connection: OperationsTransaction,
    page: PageAsked,
    stage: Annotated[Word | None, Query()] = None,
    kind: Annotated[Kind | None, Query()] = None,
    cause: Annotated[Cause | None, Query()] = None,
) -> ListOut[DeadLetterOut]:
    """List what failed for good, the latest first."""
    chosen = DeadLetterFilter(stage=stage, kind=kind, cause=cause)
    scope = [str(who.tenant_id), "dead letters", stage, kind, cause]
    if page.cursor is None:
        after = None
        total = await count_dead(
            connection, who.tenant_id, chosen, at_most=COUNTED_ROWS + 1
        )
    else:
        at, *rest, total = read_cursor(page.key, scope, page.cursor)
        after = (datetime.fromisoformat(at), *rest)
    found = await dead_page(
        connection, who.tenant_id, chosen, after=after, limit=page.limit + 1
    )
    shown, more = found[: page.limit], found[page.limit :]
    following = None
    if more:
        last = shown[-1]
        place = [last.died_at.isoformat(), last.stage, last.item, total]
        following = write_cursor(page.key, scope, place)
    return ListOut(
        items=[letter(dead) for dead in shown],
        next_cursor=following,
        total=Total.up_to(total),
    )


@router.get("/groups", operation_id="group_dead_letters")
async def group_dead_letters(
    who: Reader,
    connection: OperationsTransaction,
    stage: Annotated[Word | None, Query()] = None,
    limit: Limit = 50,
) -> list[DeadGroupOut]:
    """Group what failed for good by its cause, the most frequent first."""
    found = await dead_groups(
        connection, who.tenant_id, DeadLetterFilter(stage=stage), limit=limit
    )
    return [
        DeadGroupOut.model_validate(
            {"title": STAGES[group.stage].title, **asdict(group)}
        )
        for group in found
    ]


@router.get("/{letter_id}", operation_id="read_dead_letter", responses=NOT_FOUND)
async def read_dead_letter(
    who: Reader,
    connection: Transaction,
    letter_id: Annotated[LetterId, Path()],
) -> DeadStoryOut:
    """Show the whole history of one dead letter."""
    chosen = DeadLetterFilter(items=[parts_of(letter_id)])
    found = await dead_page(connection, who.tenant_id, chosen, after=None, limit=1)
    if not found:
        raise ItemNotFound("There is no such failed record.")
    history = await curation_sdk.history(connection, *parts_of(letter_id))
    return DeadStoryOut(
        **letter(found[0]).model_dump(),
        attempts=[
            AttemptOut.model_validate(attempt, from_attributes=True)
            for attempt in history.attempts
        ],
    )


@router.post("/replay", operation_id="replay_dead_letters")
async def replay_dead_letters(
    who: Curator,
    request: Request,
    connection: OperationsChunkedConnection,
    body: DeadChosen,
) -> DeadChanged:
    """Queue dead letters again with all their attempts. `dry_run` counts only."""
    return await change_chosen(who, request, connection, body, "replay")


@router.post("/discard", operation_id="discard_dead_letters")
async def discard_dead_letters(
    who: Curator,
    request: Request,
    connection: OperationsChunkedConnection,
    body: DeadChosen,
) -> DeadChanged:
    """Forget dead letters; their records keep the failed status. `dry_run` counts only."""
    return await change_chosen(who, request, connection, body, "discard")


async def change_chosen(
    who: Identity,
    request: Request,
    connection: AsyncConnection,
    body: DeadChosen,
    command: Command,
) -> DeadChanged:
    """Count the dead letters that are meant, and replay or discard them unless it is a dry run."""
    if not (body.is_narrowed or body.everything):
        raise ItemNotFound(
            "Choose which failed records you mean.",
            hint="Give ids, stage, kind or cause, or say everything: true.",
        )
    chosen = body.chosen()
    matched = await count_dead(connection, who.tenant_id, chosen, at_most=1_000_000_000)
    if body.dry_run:
        return DeadChanged(matched=matched, changed=0, dry_run=True)
    async with statement_timeout(BULK_TIMEOUT, connection):
        changed = await carry_out(connection, who.tenant_id, chosen, command)
    if changed:
        done = {"replay": "replayed", "discard": "discarded"}[command]
        details = {**body.model_dump(exclude_none=True), "changed": changed}
        details["ids"] = len(body.ids or [])
        await note(connection, actor_of(who, request), done, "dead letters", details)
    return DeadChanged(matched=matched, changed=changed, dry_run=False)


async def carry_out(
    connection: AsyncConnection,
    tenant_id: UUID,
    chosen: DeadLetterFilter,
    command: Command,
) -> int:
    """Replay or discard all that is meant, some at a time; return how many.

    Each part of up to 5,000 is a transaction, the last one is left to the request.
    """
    act = getattr(curation_sdk.dead_letters, command)
    total = 0
    while True:
        some = await some_dead(connection, tenant_id, chosen)
        changed = 0
        for stage, items in some.items():
            changed += int(await act(connection, stage, *items))
        total += changed
        if changed < MOST_AT_ONCE:
            return total
        await commit_chunk(connection)


def letter(dead: DeadLetterSummary) -> DeadLetterOut:
    """Show one dead letter."""
    facts: dict[str, Any] = asdict(dead)
    item = facts.pop("item")
    return DeadLetterOut(
        id=f"{dead.stage}:{item}",
        title=STAGES[dead.stage].title,
        record_kind=kind_of(STAGES[dead.stage].model).name,
        record_id=item,
        **facts,
    )


def parts_of(letter_id: str) -> tuple[str, str]:
    """Return the stage and the item that an id names."""
    stage, _, item = letter_id.partition(":")
    return stage, item
