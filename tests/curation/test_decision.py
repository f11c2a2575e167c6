"""Decisions: exact in what they change, queue and skip, and undone as a whole."""

import asyncio
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import func, insert, select, text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from scrapersky.curation.action import ActionResult
from scrapersky.curation.clause import where
from scrapersky.curation.condition import Comparison, Condition, read_conditions
from scrapersky.curation.decision import Selection, count_selected, decide
from scrapersky.curation.rule import (
    apply_rules,
    delete_rule,
    preview,
    save_rule,
)
from scrapersky.curation.undo import undo
from scrapersky.errors import InvalidCondition, InvalidDecision, UnknownAction
from scrapersky.records import (
    CURATED,
    AuditEntry,
    CurationAction,
    Kind,
    Place,
    Tenant,
    kind_named,
)
from scrapersky.records.audit import Actor
from sdk_tests.rig.waiting import HUNG

PLACES = kind_named("places")


async def some_places(
    engine: AsyncEngine, tenant_id: UUID, count: int, **values: Any
) -> list[UUID]:
    rows = [
        {
            "tenant_id": tenant_id,
            "source": "test",
            "source_place_id": str(uuid4()),
            **values,
        }
        for _ in range(count)
    ]
    async with engine.begin() as connection:
        result = await connection.execute(insert(Place).returning(Place.id), rows)
        return list(result.scalars())


async def statuses(engine: AsyncEngine) -> set[tuple[str, str | None, str | None]]:
    query = text("SELECT DISTINCT status::text, deep_scan_status::text, deep_scan_error "
                 "FROM places_staging")  # fmt: skip
    async with engine.connect() as connection:
        return {tuple(row) for row in await connection.execute(query)}


async def until_waiting(watcher: AsyncConnection) -> None:
    waits = text("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                 " AND datname = current_database()")  # fmt: skip
    async with asyncio.timeout(HUNG):
        while not await watcher.scalar(waits):
            # Within one transaction PostgreSQL shows the same picture for ever.
            await watcher.rollback()
            await asyncio.sleep(0.01)


async def test_selecting_queues_the_stage_in_the_same_breath(
    engine: AsyncEngine, actor: Actor
) -> None:
    ids = await some_places(engine, actor.tenant_id, 3, deep_scan_error="old")

    decided = await decide(engine, actor, PLACES, "Selected", Selection(ids=tuple(ids)))

    assert (decided.changed, decided.queued, decided.skipped) == (3, 3, {})
    assert await statuses(engine) == {("Selected", "Queued", None)}


async def test_other_statuses_queue_nothing(engine: AsyncEngine, actor: Actor) -> None:
    ids = await some_places(engine, actor.tenant_id, 2)

    decided = await decide(
        engine, actor, PLACES, "Not a Fit", Selection(ids=tuple(ids))
    )

    assert (decided.changed, decided.queued) == (2, 0)
    assert await statuses(engine) == {("Not a Fit", None, None)}


@pytest.mark.parametrize("busy", ["Queued", "Processing", "Completed"])
async def test_what_the_stage_has_is_left_alone_unless_forced(
    engine: AsyncEngine, actor: Actor, busy: str
) -> None:
    (place,) = await some_places(
        engine, actor.tenant_id, 1, deep_scan_status=busy, status="Selected"
    )
    chosen = Selection(ids=(place,))

    gentle = await decide(engine, actor, PLACES, "Selected", chosen)
    forced = await decide(engine, actor, PLACES, "Selected", chosen, force=True)

    assert (gentle.changed, gentle.skipped) == (0, {"the stage has it already": 1})
    assert (forced.changed, forced.queued) == (1, 1)


async def test_a_failed_row_is_queued_again_by_selecting_it_again(
    engine: AsyncEngine, actor: Actor
) -> None:
    (place,) = await some_places(
        engine, actor.tenant_id, 1, deep_scan_status="Error", deep_scan_error="x",
        status="Selected",
    )  # fmt: skip

    decided = await decide(engine, actor, PLACES, "Selected", Selection(ids=(place,)))

    assert decided.queued == 1
    assert await statuses(engine) == {("Selected", "Queued", None)}


async def test_a_decision_by_conditions_takes_exactly_what_they_count(
    engine: AsyncEngine, actor: Actor
) -> None:
    await some_places(engine, actor.tenant_id, 4, rating=4.5, website="https://a.test")
    await some_places(engine, actor.tenant_id, 3, rating=3.0, website="https://a.test")
    await some_places(engine, actor.tenant_id, 2, rating=4.9)
    good = Selection(
        conditions=(
            Condition(field="rating", comparison=Comparison.AT_LEAST, value=4),
            Condition(field="website", comparison=Comparison.KNOWN),
        )
    )

    assert await count_selected(engine, actor.tenant_id, PLACES, good) == 4
    assert (await decide(engine, actor, PLACES, "Selected", good)).changed == 4


async def test_more_rows_than_a_chunk_are_all_decided_once(
    engine: AsyncEngine, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scrapersky.curation.decision.CHUNK_ROWS", 10)
    await some_places(engine, actor.tenant_id, 35)
    new = Selection(conditions=(Condition(field="status", value="New"),))

    decided = await decide(engine, actor, PLACES, "Maybe", new)

    assert decided.changed == 35
    assert await statuses(engine) == {("Maybe", None, None)}


async def test_what_someone_else_changes_meanwhile_is_left_to_them(
    engine: AsyncEngine, actor: Actor
) -> None:
    ids = await some_places(engine, actor.tenant_id, 3)
    new = Selection(conditions=(Condition(field="status", value="New"),))
    async with engine.connect() as other, engine.connect() as watcher:
        await other.execute(
            text("UPDATE places_staging SET status = 'Archived' WHERE id = :id"),
            {"id": ids[1]},
        )
        deciding = asyncio.create_task(decide(engine, actor, PLACES, "Maybe", new))
        await until_waiting(watcher)
        await other.commit()
        decided = await deciding

    assert (decided.changed, decided.skipped) == (2, {"changed meanwhile": 1})
    assert await statuses(engine) == {("Archived", None, None), ("Maybe", None, None)}


async def test_another_tenants_rows_are_never_touched(
    engine: AsyncEngine, actor: Actor
) -> None:
    async with engine.begin() as connection:
        other = await connection.scalar(
            insert(Tenant).values(name="Other", slug="other").returning(Tenant.id)
        )
    assert other is not None
    foreign = await some_places(engine, other, 2)
    everything = Selection(conditions=())

    by_id = await decide(
        engine, actor, PLACES, "Archived", Selection(ids=tuple(foreign))
    )
    by_filter = await decide(engine, actor, PLACES, "Archived", everything)

    assert (by_id.changed, by_filter.changed) == (0, 0)
    assert await statuses(engine) == {("New", None, None)}


async def test_undo_gives_everything_back(engine: AsyncEngine, actor: Actor) -> None:
    await some_places(engine, actor.tenant_id, 2, status="Maybe")
    await some_places(
        engine, actor.tenant_id, 2, deep_scan_status="Error", deep_scan_error="x"
    )
    before = await statuses(engine)
    decided = await decide(engine, actor, PLACES, "Selected", Selection(conditions=()))
    assert decided.action_id is not None

    undone = await undo(engine, actor, decided.action_id)

    assert undone.changed == 4
    assert await statuses(engine) == before


async def test_undo_leaves_what_has_moved_on(engine: AsyncEngine, actor: Actor) -> None:
    ids = await some_places(engine, actor.tenant_id, 2)
    decided = await decide(engine, actor, PLACES, "Selected", Selection(ids=tuple(ids)))
    assert decided.action_id is not None
    async with engine.begin() as connection:
        await connection.execute(
            text("UPDATE places_staging SET status = 'Archived' WHERE id = :id"),
            {"id": ids[0]},
        )
        await connection.execute(
            text(
                "UPDATE places_staging SET deep_scan_status = 'Completed' WHERE id = :id"
            ),
            {"id": ids[1]},
        )

    undone = await undo(engine, actor, decided.action_id)

    assert (undone.changed, undone.skipped) == (1, {"changed again since": 1})
    assert await statuses(engine) == {
        ("Archived", "Queued", None),
        ("New", "Completed", None),
    }


async def test_an_action_is_undone_once_and_only_by_its_tenant(
    engine: AsyncEngine, actor: Actor
) -> None:
    await some_places(engine, actor.tenant_id, 1)
    decided = await decide(engine, actor, PLACES, "Maybe", Selection(conditions=()))
    assert decided.action_id is not None

    with pytest.raises(UnknownAction):
        await undo(engine, Actor(uuid4(), None, "Eve"), decided.action_id)
    await undo(engine, actor, decided.action_id)
    with pytest.raises(UnknownAction):
        await undo(engine, actor, decided.action_id)


async def test_the_audit_says_who_decided_and_who_undid(
    engine: AsyncEngine, actor: Actor
) -> None:
    await some_places(engine, actor.tenant_id, 1)
    decided = await decide(engine, actor, PLACES, "Maybe", Selection(conditions=()))
    assert decided.action_id is not None
    await undo(engine, actor, decided.action_id)

    async with engine.connect() as connection:
        rows = (
            await connection.execute(
                select(AuditEntry.actor, AuditEntry.action).order_by(
                    AuditEntry.created_at
                )
            )
        ).all()
    assert [tuple(row) for row in rows] == [("Ada", "decided"), ("Ada", "undone")]


async def test_unknown_words_are_refused_with_the_known_ones(
    engine: AsyncEngine, actor: Actor
) -> None:
    with pytest.raises(InvalidDecision) as refusal:
        await decide(engine, actor, PLACES, "selected", Selection(conditions=()))
    assert "Not a Fit" in str(refusal.value.hint)
    with pytest.raises(InvalidDecision):
        kind_named("planets")


@pytest.mark.parametrize(
    "kind",
    [kind for kind in CURATED.values() if kind.deciding.queue],
    ids=lambda kind: kind.name,
)
async def test_every_kind_follows_the_dual_status_rule(
    engine: AsyncEngine, actor: Actor, kind: Kind
) -> None:
    decision = kind.deciding
    assert decision.on
    assert decision.queue
    decided = await decide(
        engine, actor, kind, decision.on.value, Selection(conditions=())
    )

    assert (decided.changed, decided.queued) == (0, 0)
    assert decision.queue.queued in decision.queue.busy


@pytest.mark.parametrize(
    "bad",
    [
        {"field": "tenant_id", "value": str(uuid4())},
        {"field": "nothing", "value": 1},
        {"field": "rating", "comparison": "contains", "value": "4"},
        {"field": "rating", "value": "abc"},
        {"field": "rating", "value": [1]},
        {"field": "name", "value": "a\x00b"},
        {"field": "name", "comparison": "contains", "value": "\ud800"},
        {"field": "reviews_count", "value": 10**30},
        {"field": "status", "value": "Nope"},
        {"field": "raw", "comparison": "known"},
        {"field": "created_at", "value": "2026-01-01T00:00:00"},
        {"field": "id", "comparison": "one_of", "value": "x"},
        {"field": "name", "comparison": "like", "value": "x"},
        {"field": "name", "value": "x", "extra": 1},
        "not an object",
    ],
)
def test_a_condition_that_makes_no_sense_is_refused(bad: Any) -> None:
    with pytest.raises(InvalidCondition):
        where(PLACES, read_conditions([bad]))


@pytest.mark.parametrize(
    ("condition", "matches"),
    [
        (Condition(field="name", comparison=Comparison.CONTAINS, value="ENT"), True),
        (Condition(field="name", comparison=Comparison.CONTAINS, value="%"), False),
        (Condition(field="name", comparison=Comparison.STARTS_WITH, value="den"), True),
        (Condition(field="categories", value="dentist"), True),
        (
            Condition(field="categories", comparison=Comparison.CONTAINS, value="tis"),
            True,
        ),
        (Condition(field="website", comparison=Comparison.UNKNOWN), True),
        (Condition(field="categories", comparison=Comparison.KNOWN), True),
        (Condition(field="rating", comparison=Comparison.AT_MOST, value=4.5), True),
        (Condition(field="rating", comparison=Comparison.ONE_OF, value=[4.5, 1]), True),
        (Condition(field="website", comparison=Comparison.NOT_EQUAL, value="x"), True),
    ],
)
async def test_conditions_mean_what_they_say(
    engine: AsyncEngine, actor: Actor, condition: Condition, matches: bool
) -> None:
    await some_places(
        engine, actor.tenant_id, 1, name="Dentists", categories=["dentist"], rating=4.5
    )

    count = await count_selected(
        engine, actor.tenant_id, PLACES, Selection(conditions=(condition,))
    )

    assert bool(count) is matches


RULE: dict[str, Any] = {
    "name": "good dentists",
    "kind": "places",
    "conditions": [
        {"field": "rating", "comparison": "at_least", "value": 4},
        {"field": "categories", "comparison": "contains", "value": "dentist"},
    ],
    "status": "Selected",
}


async def rules_run(engine: AsyncEngine, actor: Actor) -> ActionResult:
    async with engine.begin() as connection:
        return await apply_rules(connection, actor.tenant_id, PLACES, user_id=None)


async def decided_by(engine: AsyncEngine, rule_id: UUID) -> int:
    query = select(func.coalesce(func.sum(CurationAction.changed_count), 0)).where(
        CurationAction.rule_id == rule_id, CurationAction.undone_at.is_(None)
    )
    async with engine.connect() as connection:
        return int(await connection.scalar(query) or 0)


async def test_a_rule_previews_decides_and_is_undone(
    engine: AsyncEngine, actor: Actor
) -> None:
    await some_places(engine, actor.tenant_id, 3, rating=4.5, categories=["dentist"])
    await some_places(engine, actor.tenant_id, 2, rating=4.5, categories=["baker"])
    await some_places(
        engine, actor.tenant_id, 1, rating=5, categories=["dentist"], status="Archived"
    )
    rule_id = await save_rule(engine, actor, **RULE)

    seen = await preview(
        engine, actor.tenant_id, PLACES, read_conditions(RULE["conditions"])
    )
    decided = await rules_run(engine, actor)

    assert seen.count == decided.changed == decided.queued == 3
    assert await decided_by(engine, rule_id) == 3
    assert decided.action_id is not None
    await undo(engine, actor, decided.action_id)
    assert await decided_by(engine, rule_id) == 0
    assert ("Archived", None, None) in await statuses(engine)


async def test_a_rule_switched_off_decides_nothing(
    engine: AsyncEngine, actor: Actor
) -> None:
    await some_places(engine, actor.tenant_id, 3, rating=4.5, categories=["dentist"])
    first = await save_rule(engine, actor, **RULE)
    again = await save_rule(engine, actor, **RULE, is_enabled=False)

    assert first == again
    assert (await rules_run(engine, actor)).changed == 0
    assert await delete_rule(engine, actor, first)
    assert not await delete_rule(engine, actor, first)


async def test_a_rule_that_makes_no_sense_is_not_saved(
    engine: AsyncEngine, actor: Actor
) -> None:
    with pytest.raises(InvalidCondition):
        await save_rule(engine, actor, **{**RULE, "conditions": [{"field": "no"}]})
    with pytest.raises(InvalidDecision):
        await save_rule(engine, actor, **{**RULE, "status": "Chosen"})


async def test_a_decision_that_lost_a_deadlock_is_made_all_the_same(
    engine: AsyncEngine, actor: Actor
) -> None:
    first, second = sorted(await some_places(engine, actor.tenant_id, 2))
    lock = text("SELECT 1 FROM places_staging WHERE id = :id FOR UPDATE")
    async with engine.connect() as stage, engine.connect() as watcher:
        # The other one is patient, so that it is the decision that is rolled back.
        await stage.execute(text("SET LOCAL deadlock_timeout = '60s'"))
        await stage.execute(lock, {"id": second})
        chosen = Selection(ids=(first, second))
        deciding = asyncio.create_task(
            decide(engine, actor, PLACES, "Selected", chosen)
        )
        await until_waiting(watcher)
        await stage.execute(lock, {"id": first})
        await stage.commit()
        decided = await deciding

    assert (decided.changed, decided.queued) == (2, 2)
    assert await statuses(engine) == {("Selected", "Queued", None)}
