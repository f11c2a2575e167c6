"""What the SDK uses of SQLAlchemy and Python that they do not document.

The dependency on SQLAlchemy has an upper bound for its sake.
"""

import sys
from collections.abc import Callable, Collection, Hashable
from types import FrameType
from typing import Any

import asyncpg
from sqlalchemy import AssertionPool, Pool, QueuePool, StaticPool
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.orm import Mapper
from sqlalchemy.util import greenlet_spawn


def instance_maker(mapper: Mapper[Any]) -> Callable[[], Any]:
    """Return what makes an instance without calling the model's constructor."""
    make: Callable[[], Any] = mapper.class_manager.new_instance
    return make


def pool_capacity(pool: Pool) -> int | None:
    """Return how many connections a pool can have in use at once; None: any number."""
    if isinstance(pool, AssertionPool | StaticPool):
        return 1
    if not isinstance(pool, QueuePool) or pool._max_overflow < 0:  # noqa: SLF001 - no accessor
        return None
    return pool.size() + pool._max_overflow  # noqa: SLF001 - as above


def frame_of_thread(thread: int) -> FrameType | None:
    """Return what a thread is doing now."""
    return sys._current_frames().get(thread)  # noqa: SLF001 - no accessor


async def connect_apart(engine: AsyncEngine) -> "asyncpg.Connection[Any]":
    """Open a connection as the engine does, outside its pool, in the loop that calls."""
    opened: Any = await greenlet_spawn(engine.sync_engine.pool._creator)  # noqa: SLF001
    driver: asyncpg.Connection[Any] = opened.driver_connection
    return driver


def detach(
    instance: Any,  # noqa: ANN401 - of a mapped class
    mapper: Mapper[Any],
    identity: Hashable,
    missing: Collection[str],
) -> None:
    """Make of a new instance a detached one whose missing attributes are not loaded.

    As `make_transient_to_detached` does, at a fifth of the cost.
    """
    state = instance._sa_instance_state  # noqa: SLF001 - SQLAlchemy's own name
    state.key = (mapper.class_, (identity,), None)
    if missing:
        state.expired_attributes.update(missing)
