"""The SDK's tables as sources for queries of your own, such as those of a dashboard.

Each function returns a subquery to put after FROM or JOIN, with an alias of your own; `item`
is the primary key of the stage's row as text. Read the tables through these functions: the
names and columns of the tables may change, those of the subqueries do not.
"""
# ruff: noqa: S608 - stages are written as quoted literals

from curation_sdk.queue import literal

__all__ = [
    "ATTEMPTS",
    "CLAIMS",
    "DEAD_LETTERS",
    "ITEM_TABLES",
    "PURGE_DEAD_LETTERS",
    "SHARED_TABLES",
    "attempts",
    "claims",
    "dead_letters",
    "forget_items",
    "literal",
]

CLAIMS = "curation.claim"
"""The table of items in work or waiting."""

ATTEMPTS = "curation.attempt"
"""The table of every claim and what became of it."""

DEAD_LETTERS = "curation.dead_letter"
"""The table of dead letters, for what concerns all stages at once."""

ITEM_TABLES = (CLAIMS, ATTEMPTS, DEAD_LETTERS)
"""The tables that hold a row per item, for grants and row-level security."""

SHARED_TABLES = ("curation.stage", "curation.version")
"""The tables that hold nothing about items."""

PURGE_DEAD_LETTERS = """DELETE FROM curation.dead_letter WHERE (stage, item) IN (
    SELECT stage, item FROM curation.dead_letter
    WHERE died_at < clock_timestamp() - CAST(:age AS interval)
    LIMIT :chunk FOR UPDATE SKIP LOCKED)"""
"""Delete dead letters older than `age`, at most `chunk` of them."""


def claims(stage: str) -> str:
    """Items in work or waiting: item, is_working, due_at (null while in work), claimed_at."""
    return f"""(SELECT item, fence IS NOT NULL AS is_working, due_at, claimed_at
      FROM curation.claim WHERE stage = {literal(stage)})"""


def attempts(stage: str) -> str:
    """Every claim and what became of it: item, outcome, why, settled_at."""
    return f"""(SELECT item, outcome, why, settled_at
      FROM curation.attempt WHERE stage = {literal(stage)})"""


def dead_letters(stage: str) -> str:
    """Items that failed for good: item, kind, why, tries, crashes, died_at."""
    return f"""(SELECT item, kind, why, tries, deaths AS crashes, died_at
      FROM curation.dead_letter WHERE stage = {literal(stage)})"""


def forget_items(statement: str, tables: tuple[str, ...] = ITEM_TABLES) -> str:
    """Write a statement that also deletes what these tables hold about the rows it names.

    `statement` deletes or updates rows and returns their keys as text, called `item`. A worker
    that has one of them in hand can settle it no more.
    """
    parts = ", ".join(
        f"of_{number} AS (DELETE FROM {table} USING gone WHERE {table}.item = gone.item)"
        for number, table in enumerate(tables)
    )
    return f"WITH gone AS ({statement}), {parts} SELECT item FROM gone"
