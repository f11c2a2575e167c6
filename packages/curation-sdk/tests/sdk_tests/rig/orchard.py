"""Two stages of a model that is not ours, built so that every fault leaves a trace.

Seeds are sown and become plants; plants grow and bear fruit. Neither `plant.seed_id`
nor `fruit.plant_id` is unique: a doubled effect must show, not vanish in a conflict.
"""

import asyncio
import os
import random
import signal
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import BigInteger, DateTime, Identity, Text, func, insert
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from curation_sdk import (
    Done,
    Outcome,
    Stage,
    Transaction,
    queue_index,
    stage,
)

QUEUED, WORKING, DONE, FAILED = "queued", "working", "done", "failed"


class Base(DeclarativeBase):
    """The tables of the orchard."""


class Seed(Base):
    """What stage one claims."""

    __tablename__ = "seed"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    status: Mapped[str] = mapped_column(Text, server_default=QUEUED)
    error: Mapped[str | None] = mapped_column(Text)
    queued_at: Mapped[datetime] = mapped_column(
        DateTime(timezone=True), server_default=func.clock_timestamp()
    )


class Plant(Base):
    """What stage one hands over and stage two claims."""

    __tablename__ = "plant"
    id: Mapped[int] = mapped_column(BigInteger, Identity(), primary_key=True)
    seed_id: Mapped[int] = mapped_column(BigInteger)
    status: Mapped[str] = mapped_column(Text, server_default=QUEUED)
    error: Mapped[str | None] = mapped_column(Text)
    queued_at: Mapped[datetime] = mapped_column(
        DateTime(timezone=True), server_default=func.clock_timestamp()
    )


class Fruit(Base):
    """The effect of stage two."""

    __tablename__ = "fruit"
    id: Mapped[int] = mapped_column(BigInteger, Identity(), primary_key=True)
    plant_id: Mapped[int] = mapped_column(BigInteger)
    worker: Mapped[int]


queue_index(Seed.status, QUEUED, order_by=Seed.queued_at)
queue_index(Plant.status, QUEUED, order_by=Plant.queued_at)


@dataclass(frozen=True, slots=True)
class Weather:
    """How the work behaves: how long it takes, and which seeds kill their worker."""

    pause: float = 0.0
    poison: frozenset[int] = frozenset()


async def sow(seed: Seed, weather: Weather) -> Outcome:
    """Turn a seed into a queued plant."""
    await take_time(weather)
    if seed.id in weather.poison:
        os.kill(os.getpid(), signal.SIGKILL)
    seed_id = seed.id

    async def plant(transaction: Transaction) -> None:
        await transaction.execute(insert(Plant).values(seed_id=seed_id))
        transaction.wake("grow")

    return Done(plant)


async def grow(plant: Plant, weather: Weather) -> Outcome:
    """Bear one fruit."""
    await take_time(weather)
    plant_id = plant.id

    async def bear(transaction: Transaction) -> None:
        await transaction.execute(
            insert(Fruit).values(plant_id=plant_id, worker=os.getpid())
        )

    return Done(bear)


async def take_time(weather: Weather) -> None:
    """Let the others run, for as long as real work would take."""
    await asyncio.sleep(random.uniform(0, 2 * weather.pause))


def stages(*, lease: timedelta, **options: Any) -> list[Stage[Any, Weather]]:
    """Return both stages with this lease."""
    common = {
        "queued": QUEUED,
        "processing": WORKING,
        "done": DONE,
        "failed": FAILED,
        "lease": lease,
        **options,
    }
    return [
        stage(
            "sow",
            claims=Seed.status,
            error=Seed.error,
            order_by=Seed.queued_at,
            **common,
        )(sow),
        stage(
            "grow",
            claims=Plant.status,
            error=Plant.error,
            order_by=Plant.queued_at,
            **common,
        )(grow),
    ]
