"""One database for many lines, put back before each to what it was when it was new."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import psycopg
from psycopg import sql
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.db.connection import connect, parse_target
from tests.conftest import TestDatabase

TABLES = """
SELECT n.nspname, c.relname, array_agg(a.attname::text ORDER BY a.attnum)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
  AND NOT a.attisdropped AND a.attgenerated = ''
WHERE c.relkind = 'r' AND n.nspname !~ '^pg_|^information_schema$|^kept$'
GROUP BY c.oid, n.nspname, c.relname
"""


SHAPE = """
SELECT (SELECT count(*) FROM pg_class), (SELECT count(*) FROM pg_constraint),
  (SELECT count(*) FROM pg_attribute), (SELECT count(*) FROM pg_proc),
  (SELECT count(*) FROM pg_trigger), (SELECT count(*) FROM pg_policy)
"""
"""What a test changes that lays out tables anew."""


@dataclass(slots=True)
class SharedDatabase:
    """A database whose sessions know it already: to learn it anew costs more than a test."""

    database: TestDatabase
    admin: psycopg.Connection
    engine: AsyncEngine
    clear: sql.Composed = field(init=False)
    shape: object = field(init=False)

    def __post_init__(self) -> None:
        """Keep a copy of what a new database holds."""
        self.admin.execute("SET session_replication_role = replica")
        self.admin.execute("CREATE SCHEMA kept")
        steps: list[sql.Composable] = []
        for schema, name, columns in self.admin.execute(TABLES).fetchall():
            table, copy = sql.Identifier(schema, name), sql.Identifier("kept", name)
            steps.append(sql.SQL("DELETE FROM {}").format(table))
            held = sql.SQL("SELECT FROM {} LIMIT 1").format(table)
            if self.admin.execute(held).fetchone() is None:
                continue
            self.admin.execute(
                sql.SQL("CREATE TABLE {} AS TABLE {}").format(copy, table)
            )
            named = sql.SQL(", ").join(map(sql.Identifier, columns))
            steps.append(
                sql.SQL(
                    "INSERT INTO {} ({named}) OVERRIDING SYSTEM VALUE"
                    " SELECT {named} FROM {}"
                ).format(table, copy, named=named)
            )
        body = sql.SQL("; ").join(steps)
        self.clear = sql.SQL("BEGIN; {}; COMMIT").format(body)
        self.shape = self.admin.execute(SHAPE).fetchone()

    def reset(self) -> None:
        """Take away what a test left, and bring back what it took."""
        self.admin.execute(self.clear)

    def check_schema(self) -> None:
        """See that no test has changed what all of them stand on."""
        shape = self.admin.execute(SHAPE).fetchone()
        assert shape == self.shape, "a test of a line must use `line_apart`"


@contextmanager
def open_shared_database(database: TestDatabase) -> Iterator[SharedDatabase]:
    """Give a database to many tests, one after another."""
    engine = connect(parse_target(database.url), pool_size=10)
    with psycopg.connect(database.dsn, autocommit=True) as admin:
        yield SharedDatabase(database, admin, engine)
