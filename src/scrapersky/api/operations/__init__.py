"""Operations: the stages and their scheduler, decisions by rule, batches."""

from fastapi import APIRouter

from scrapersky.api.operations import (
    actions,
    alerts,
    batches,
    dead_letters,
    demo,
    rules,
    schedule,
    stages,
    system,
    workers,
)

router = APIRouter()
PARTS = (
    stages,
    dead_letters,
    schedule,
    rules,
    actions,
    batches,
    demo,
    system,
    workers,
    alerts,
)

for part in PARTS:
    router.include_router(part.router)
