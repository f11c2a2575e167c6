"""A pytest plugin that puts PgBouncer between the engine's own tests and PostgreSQL.

    pytest -p sdk_tests.rig.pooled packages/curation-sdk/tests/sdk_tests/test_worker.py ...

Every SQLAlchemy engine that a test makes goes through the pooler in transaction mode;
direct connections (LISTEN, a test's own second connection) stay direct.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy.ext.asyncio
from sqlalchemy import make_url
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from sdk_tests.rig.cluster import NOBODY
from sdk_tests.rig.connect import unprepared
from sdk_tests.rig.pooler import Pooler, pooler_before

POOLERS: dict[str, Pooler] = {}
STACK = contextlib.ExitStack()
MADE: list[str] = []


def pooled(url: str, **options: Any) -> AsyncEngine:
    """Make the engine as the product does behind a pooler."""
    target = make_url(url)
    # A test may ask for another engine to the address of its first one.
    socket = str(target.query.get("host", ""))
    if socket and socket not in POOLERS:
        port = int(str(target.query.get("port", 5432)))
        place = {"socket": socket, "port": port, "role": target.username}
        POOLERS[socket] = STACK.enter_context(
            pooler_before(place, owner=(NOBODY, NOBODY), size=20)
        )
    through = target
    if socket:
        through = make_url(POOLERS[socket].url(str(target.database)))
    MADE.append(str(target.database))
    arguments = {
        **options.pop("connect_args", {}),
        **unprepared(),
    }
    return create_async_engine(through, connect_args=arguments, **options)


# Before any test module is imported, so that all of them take this one.
sqlalchemy.ext.asyncio.create_async_engine = pooled  # type: ignore[assignment]


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    direct = [item for item in items if item.get_closest_marker("direct")]
    config.hook.pytest_deselected(items=direct)
    items[:] = [item for item in items if item not in direct]


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish() -> Iterator[None]:
    yield
    STACK.close()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    terminalreporter.write_line(f"{len(MADE)} engines went through PgBouncer")
