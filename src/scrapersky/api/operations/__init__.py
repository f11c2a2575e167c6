"""Operations: the stages and their scheduler, decisions by rule, batches, live events."""

from fastapi import APIRouter

from scrapersky.api.operations import (
    actions,
    batches,
    dead_letters,
    events,
    rules,
    schedule,
    stages,
)

router = APIRouter()
for part in (stages, dead_letters, schedule, rules, actions, batches, events):
    router.include_router(part.router)
