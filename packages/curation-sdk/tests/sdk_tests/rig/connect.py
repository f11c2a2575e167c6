"""Engines as a stranger would make them: plain, small, or behind a pooler."""

from typing import Any

from sqlalchemy import make_url
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

APPLICATION = "curation-sdk-test"


def connect(
    url: str, *, pooler: bool = False, pool_size: int = 5, pool_timeout: float = 5
) -> AsyncEngine:
    """Make an engine; behind a transaction-mode pooler, without prepared statements."""
    return create_async_engine(
        make_url(url),
        connect_args=unprepared() if pooler else named(),
        pool_size=pool_size,
        max_overflow=0,
        pool_timeout=pool_timeout,
    )


def named() -> dict[str, Any]:
    """Return what tells our sessions from others in pg_stat_activity."""
    return {"timeout": 5, "server_settings": {"application_name": APPLICATION}}


def unprepared() -> dict[str, Any]:
    """Return what the driver needs where the next transaction may meet another server."""
    return {
        "timeout": 5,
        "statement_cache_size": 0,
        "prepared_statement_cache_size": 0,
        "prepared_statement_name_func": str,
    }
