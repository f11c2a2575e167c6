"""Reads what really happened out of the database, with no help from any worker."""

import functools
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

import psycopg

from sdk_tests.rig.waiting import HUNG

P = ParamSpec("P")
T = TypeVar("T")

COUNTS = {
    "seeds": "SELECT count(*) FROM seed",
    # Every item ends: done, failed (a dead letter), or cancelled by a person.
    "stuck": """
        SELECT (SELECT count(*) FROM seed WHERE status IN ('queued', 'working'))
             + (SELECT count(*) FROM plant WHERE status IN ('queued', 'working'))
    """,
    # Done without its effect, or dead without ever having failed on its own account.
    "lost": """
        SELECT (SELECT count(*) FROM seed s WHERE status = 'done'
                AND NOT EXISTS (SELECT FROM plant WHERE seed_id = s.id))
             + (SELECT count(*) FROM plant p WHERE status = 'done'
                AND NOT EXISTS (SELECT FROM fruit WHERE plant_id = p.id))
             + (SELECT count(*) FROM seed WHERE status = 'failed')
             + (SELECT count(*) FROM plant WHERE status = 'failed')
    """,
    "doubled": """
        SELECT (SELECT coalesce(sum(n - 1), 0) FROM
                (SELECT count(*) n FROM plant GROUP BY seed_id) each)
             + (SELECT coalesce(sum(n - 1), 0) FROM
                (SELECT count(*) n FROM fruit GROUP BY plant_id) each)
    """,
    # An effect whose item does not say done: written outside the settling transaction.
    "unearned": """
        SELECT (SELECT count(*) FROM plant p JOIN seed s ON s.id = p.seed_id
                WHERE s.status <> 'done')
             + (SELECT count(*) FROM fruit f JOIN plant p ON p.id = f.plant_id
                WHERE p.status <> 'done')
             + (SELECT count(*) FROM plant p
                WHERE NOT EXISTS (SELECT FROM seed WHERE id = p.seed_id))
    """,
    "dead_letters": "SELECT count(*) FROM curation.dead_letter",
    "claims_left": "SELECT count(*) FROM curation.claim",
    "fruits": "SELECT count(*) FROM fruit",
    "rescues": """
        SELECT count(*) FROM curation.attempt
        WHERE outcome NOT IN ('done', 'retried', 'dead', 'skipped')
    """,
}


@dataclass(frozen=True, slots=True)
class Findings:
    """The state of the orchard at one moment."""

    seeds: int
    stuck: int
    lost: int
    doubled: int
    unearned: int
    dead_letters: int
    claims_left: int
    fruits: int
    rescues: int

    @property
    def is_exact(self) -> bool:
        """Whether every seed bore exactly one fruit and nothing is left over."""
        wrong = self.stuck + self.lost + self.doubled + self.unearned
        left = self.claims_left + self.dead_letters
        return wrong == 0 and left == 0 and self.fruits == self.seeds


def once_it_answers(ask: Callable[P, T]) -> Callable[P, T]:
    """Ask again as long as the server restarts: who counts is not who is tested."""

    @functools.wraps(ask)
    def insist(*args: P.args, **kwargs: P.kwargs) -> T:
        deadline = time.monotonic() + HUNG
        while True:
            try:
                return ask(*args, **kwargs)
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    return insist


@once_it_answers
def inspect(dsn: str) -> Findings:
    """Count everything in one snapshot."""
    with psycopg.connect(dsn) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        counts = {}
        for name, sql in COUNTS.items():
            row = connection.execute(sql.encode()).fetchone()
            assert row is not None
            counts[name] = int(row[0])
    return Findings(**counts)


@once_it_answers
def unfinished(dsn: str) -> int:
    """Return how many items have not come to their end yet."""
    with psycopg.connect(dsn, connect_timeout=5) as connection:
        row = connection.execute(COUNTS["stuck"].encode()).fetchone()
    assert row is not None
    return int(row[0])


@once_it_answers
def in_hand_now(dsn: str) -> dict[str, list[int]]:
    """Return what workers hold, or did when they died, by stage."""
    with psycopg.connect(dsn, connect_timeout=5) as connection:
        rows = connection.execute(
            b"SELECT stage, array_agg(item::bigint) FROM curation.claim GROUP BY stage"
        ).fetchall()
    return dict(rows)


@once_it_answers
def unfinished_of(dsn: str, items: dict[str, list[int]]) -> int:
    """Return how many of these have not come to their end yet."""
    with psycopg.connect(dsn, connect_timeout=5) as connection:
        row = connection.execute(
            b"SELECT (SELECT count(*) FROM seed WHERE id = ANY(%s)"
            b"   AND status IN ('queued', 'working'))"
            b" + (SELECT count(*) FROM plant WHERE id = ANY(%s)"
            b"   AND status IN ('queued', 'working'))",
            [items.get("sow", []), items.get("grow", [])],
        ).fetchone()
    assert row is not None
    return int(row[0])
