"""Say what the missing revisions would do, by trying them on samples of the tables.

In one transaction that is rolled back, a schema of its own gets every table with some of its
rows, and the revisions run in it as they are. What each statement took there is multiplied by
how much larger the real table is. So there is no second description of a revision that could
differ from what it does. The real tables are only read; a statement that would lock one ends
the trial.
"""
# ruff: noqa: S608 - built only from names that the catalogue gives

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from alembic import command
from alembic.runtime.migration import MigrationInfo
from sqlalchemy import Connection, event, text
from sqlalchemy.exc import DBAPIError

from scrapersky.db.migrate import alembic_config
from scrapersky.db.migrations.steps import IN_BATCHES
from scrapersky.db.revision import MIGRATIONS
from scrapersky.errors import SchemaMismatch

SAMPLE_ROWS: Final = 3_000
"""Rows of each table that are tried with."""
SCHEMAS: Final = {"public": "scrapersky_trial", "curation": "scrapersky_trial_curation"}
MOMENT_SECONDS: Final = 1.0
"""Seconds up to which a lock is a moment."""
CONCURRENT_BUILD_FACTOR: Final = 2.0
"""How much longer an index takes that is built beside others: the table is read twice."""
ACCESS_EXCLUSIVE, SHARE_ROW_EXCLUSIVE = "ACCESS EXCLUSIVE", "SHARE ROW EXCLUSIVE"
SHARE: Final = "SHARE"

TABLES: Final = text("""
SELECT nspname AS schema, relname AS name, pg_total_relation_size(c.oid) AS bytes,
  greatest(reltuples, 0)::bigint AS rows, reltuples < 0 AS is_unknown,
  coalesce((SELECT abs(correlation) FROM pg_stats WHERE schemaname = nspname
    AND tablename = relname AND attname = 'id'), 0) AS correlation,
  ARRAY(SELECT quote_ident(attname) FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0
    AND NOT attisdropped AND attgenerated = '') AS columns,
  ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = c.oid AND attidentity <> '')
    AS numbered,
  ARRAY(SELECT format('CONSTRAINT %I %s', conname, pg_get_constraintdef(o.oid))
    FROM pg_constraint o WHERE conrelid = c.oid AND contype IN ('p', 'u', 'c')) AS constraints,
  ARRAY(SELECT pg_get_indexdef(indexrelid) FROM pg_index i WHERE indrelid = c.oid
    AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)) AS indexes,
  ARRAY(SELECT pg_get_triggerdef(t.oid) FROM pg_trigger t WHERE tgrelid = c.oid
    AND NOT tgisinternal) AS triggers
FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
WHERE nspname IN ('public', 'curation') AND relkind = 'r' ORDER BY 1, 2""")
VERSIONS: Final = frozenset({"alembic_version", "version"})
"""Tables that hold nothing but how far the schema is."""
INDEX_TABLES: Final = text("""
SELECT i.relname AS name, t.relname AS of FROM pg_index x
JOIN pg_class i ON i.oid = indexrelid JOIN pg_class t ON t.oid = indrelid
JOIN pg_namespace n ON n.oid = t.relnamespace WHERE nspname = ANY(:schemas)""")
STATE: Final = text("""
SELECT relname, pg_relation_filenode(c.oid), pg_total_relation_size(c.oid)
FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
WHERE nspname = ANY(:schemas) AND relkind = 'r'""")
ESCAPED: Final = text("""
SELECT DISTINCT relation::regclass::text FROM pg_locks l JOIN pg_class c ON c.oid = relation
JOIN pg_namespace n ON n.oid = relnamespace
WHERE l.pid = pg_backend_pid() AND nspname IN ('public', 'curation')
  AND mode NOT IN ('AccessShareLock', 'RowShareLock')""")

NAME: Final = r'(?:IF NOT EXISTS |IF EXISTS |ONLY )?"?(?:[\w]+"?\.)?"?(\w+)'
KINDS: Final = {
    "index": re.compile(rf"CREATE (?:UNIQUE )?INDEX .*? ON {NAME}", re.DOTALL),
    "drop index": re.compile(rf"DROP INDEX {NAME}"),
    "alter": re.compile(rf"ALTER TABLE {NAME}"),
    "policy": re.compile(rf"(?:CREATE|DROP) POLICY .*? ON {NAME}", re.DOTALL),
    "trigger": re.compile(
        rf"(?:CREATE|DROP)(?: OR REPLACE)? TRIGGER .*? ON {NAME}", re.DOTALL
    ),
    "rows": re.compile(
        rf"(?:WITH .*)?(?:UPDATE|INSERT INTO|DELETE FROM) (?:/\*.*?\*/ )?{NAME}",
        re.DOTALL,
    ),
    "table": re.compile(rf"CREATE TABLE {NAME}"),
    "read": re.compile(rf"SELECT .*? FROM {NAME}", re.DOTALL),
}
READS_ALL: Final = re.compile(
    r"ADD (?:CONSTRAINT \S+ )?(?:CHECK|FOREIGN)(?!.*NOT VALID)|SET NOT NULL(?!, DROP)",
    re.DOTALL,
)
REFERENCES: Final = re.compile(r'REFERENCES "?(\w+)')


@dataclass(frozen=True, slots=True)
class TableEffect:
    """What a revision does to a table that has rows."""

    table: str
    effect: str
    rows: int = 0
    """How many rows the table has, about."""
    bytes: int = 0
    """How large it is, with its indexes."""
    seconds: float = 0
    """How long it takes, about."""
    disk: int = 0
    """How much larger the table and its indexes become, about, in bytes."""
    lock: str | None = None
    """The lock that keeps others out meanwhile, if any."""
    locked: float = 0
    """For how many seconds, about."""


@dataclass(frozen=True, slots=True)
class MissingRevision:
    """One revision that is missing."""

    revision: str
    does: str
    touches: tuple[TableEffect, ...] = ()
    seconds: float = 0
    disk: int = 0


@dataclass(frozen=True, slots=True)
class Table:
    """A table as it is."""

    full_name: str
    rows: int
    bytes: int
    sample: int
    correlation: float = 0
    """How far its rows lie in the order of their keys, from 0 to 1."""

    @property
    def scale(self) -> float:
        """How many times as many rows it has as were tried with."""
        return max(self.rows / self.sample, 1.0) if self.sample else 1.0


def describe(revision: str) -> MissingRevision:
    """Say what a revision is for."""
    source = (MIGRATIONS / "versions" / f"{revision}.py").read_text(encoding="utf-8")
    summary = source.removeprefix('"""').partition('"""')[0].partition("\n")[0]
    return MissingRevision(revision, summary)


def try_revisions(
    connection: Connection, missing: Sequence[str]
) -> list[MissingRevision]:
    """Run the missing revisions on samples, roll back, and say what they would do."""
    try:
        trial = Trial(connection, copy_samples(connection))
        return [*trial.run(missing)]
    finally:
        connection.rollback()


def copy_samples(connection: Connection) -> dict[str, Table]:
    """Make every table again in a schema of its own, with some of its rows."""
    for schema in SCHEMAS.values():
        connection.exec_driver_sql(f"CREATE SCHEMA {schema}")
    tables = {}
    for row in connection.execute(TABLES).all():
        real, ours = f"{row.schema}.{row.name}", f"{SCHEMAS[row.schema]}.{row.name}"
        rows = row.rows
        if row.is_unknown:
            rows = connection.scalar(text(f"SELECT count(*) FROM {real}"))
        columns = ", ".join(row.columns)
        share = min(100.0, 150.0 * SAMPLE_ROWS / max(rows, 1))
        some = f"TABLESAMPLE SYSTEM ({share})" if share < 50 else ""  # noqa: PLR2004
        connection.exec_driver_sql(
            f"CREATE TABLE {ours} (LIKE {real}"
            " INCLUDING DEFAULTS INCLUDING GENERATED INCLUDING IDENTITY)"
        )
        done = connection.exec_driver_sql(
            f"INSERT INTO {ours} ({columns}) OVERRIDING SYSTEM VALUE"
            f" SELECT {columns} FROM {real} {some} LIMIT {SAMPLE_ROWS}"
        )
        for column in row.numbered:
            connection.exec_driver_sql(
                f"SELECT setval(pg_get_serial_sequence('{ours}', '{column}'),"
                f" (SELECT coalesce(max({column}), 0) + 1 FROM {ours}))"
            )
        for constraint in row.constraints:
            connection.exec_driver_sql(f"ALTER TABLE {ours} ADD {constraint}")
        for made in (*row.indexes, *row.triggers):
            connection.exec_driver_sql(made.replace(f" ON {real} ", f" ON {ours} ", 1))
        name = row.name if row.schema == "public" else real
        tables[row.name] = Table(name, rows, row.bytes, done.rowcount, row.correlation)
    path = ", ".join([*SCHEMAS.values(), "public"])
    connection.exec_driver_sql(f"SET LOCAL search_path = {path}")
    return tables


@dataclass(slots=True)
class Statement:
    """One statement of a revision, with what it took in the trial."""

    written: str
    kind: str
    table: str
    seconds: float = 0
    is_rewrite: bool = False
    disk: int = 0


@dataclass(slots=True)
class Trial:
    """Runs revisions on the samples, and keeps what their statements would take."""

    connection: Connection
    tables: Mapping[str, Table]
    ended_at: float = 0
    began_at: float = 0
    overhead: float = 0
    files: dict[str, tuple[int, int]] = field(default_factory=dict)
    indexes: dict[str, str] = field(default_factory=dict)
    step: list[Statement] = field(default_factory=list)
    found: list[TableEffect] = field(default_factory=list)
    total: float = 0
    steps: list[MissingRevision] = field(default_factory=list)
    written: str = ""
    is_looking: bool = False

    def run(self, missing: Sequence[str]) -> Iterator[MissingRevision]:
        """Run them, and yield what each would do."""
        self.look()
        self.overhead = self.least()
        event.listen(self.connection, "before_cursor_execute", self.before, retval=True)
        event.listen(self.connection, "after_cursor_execute", self.after)
        self.ended_at = time.perf_counter()
        config = alembic_config(
            self.connection, trial=self, on_version_apply=self.end_revision
        )
        try:
            command.upgrade(config, missing[-1])
        finally:
            event.remove(self.connection, "before_cursor_execute", self.before)
            event.remove(self.connection, "after_cursor_execute", self.after)
        yield from self.steps

    def least(self) -> float:
        """Measure what any statement about a table takes, however few rows there are."""
        self.connection.exec_driver_sql(
            "CREATE TABLE scrapersky_trial.nothing (id uuid)"
        )
        began = time.perf_counter()
        for number in range(5):
            self.connection.exec_driver_sql(
                f"CREATE INDEX nothing_{number} ON scrapersky_trial.nothing (id)"
            )
        return (time.perf_counter() - began) / 5

    def look(self) -> None:
        """Read where the samples are stored, and how large they are."""
        self.is_looking = True
        schemas = {"schemas": [*SCHEMAS.values()]}
        rows = self.connection.execute(STATE, schemas)
        self.files = {name: (file, size) for name, file, size in rows}
        found = self.connection.execute(INDEX_TABLES, schemas)
        self.indexes |= {row.name: row.of for row in found}
        self.is_looking = False

    def before(self, *given: Any) -> tuple[str, Any]:  # noqa: ANN401 - of SQLAlchemy
        """Turn a statement to the samples."""
        _, _, statement, parameters, _, _ = given
        self.began_at = time.perf_counter()
        if self.is_looking:
            return statement, parameters
        self.written = statement.strip()
        here = SCHEMAS["curation"] + "."
        if isinstance(parameters, tuple):
            parameters = tuple(
                one.replace("curation.", here) if isinstance(one, str) else one
                for one in parameters
            )
        plain = statement.replace("CONCURRENTLY ", "").replace("curation.", here)
        return plain, parameters

    def after(self, *_: object) -> None:
        """Keep what a statement took."""
        if self.is_looking:
            return
        now = time.perf_counter()
        for kind, pattern in KINDS.items():
            if match := pattern.match(self.written):
                table = match[1]
                if kind == "drop index":
                    table = self.indexes.get(table, table)
                done = Statement(self.written, kind, table)
                # Rows that are changed one by one were also thought about.
                began = self.ended_at if kind == "rows" else self.began_at
                done.seconds = now - began
                self.weigh(done)
                self.step.append(done)
                break
        self.ended_at = time.perf_counter()

    def weigh(self, done: Statement) -> None:
        """Say what a statement would take with all rows."""
        if done.kind in {"read", "policy", "trigger", "table"}:
            if done.kind == "read":
                self.enlarge(done)
            return
        before = self.files
        self.look()
        file, size = self.files.get(done.table, (0, 0))
        old_file, old_size = before.get(done.table, (file, 0))
        done.is_rewrite = done.kind == "alter" and file != old_file
        done.disk = int(max(size - old_size, 0) * self.scale_of(done))
        if IN_BATCHES in done.written and done.table in self.tables:
            done.disk = int(done.disk * left_behind(self.tables[done.table]))
        is_catalogue = done.kind == "drop index" or (
            done.kind == "alter"
            and not done.is_rewrite
            and "VALIDATE" not in done.written
            and not READS_ALL.search(done.written)
        )
        if not is_catalogue:
            self.enlarge(done)

    def enlarge(self, done: Statement) -> None:
        """Multiply what grows with the rows."""
        grows = max(done.seconds - self.overhead, 0) * self.scale_of(done)
        factor = CONCURRENT_BUILD_FACTOR if "CONCURRENTLY" in done.written else 1.0
        done.seconds = min(done.seconds, self.overhead) + grows * factor

    def scale_of(self, done: Statement) -> float:
        """How many times as much a statement has to do as in the trial."""
        if done.table in self.tables:
            return self.tables[done.table].scale
        named = set(re.findall(r"\w+", done.written)) & self.tables.keys()
        return max((self.tables[one].scale for one in named), default=1.0)

    def end_step(self) -> None:
        """Weigh what was done since the last commit: its locks were held until now."""
        left = sum(one.seconds for one in self.step)
        self.total += left
        for one in self.step:
            for table, effect, lock in effects(one):
                if table in VERSIONS:
                    continue
                if table in self.tables and self.tables[table].rows:
                    self.found.append(self.touched(one, table, effect, lock, left))
            left -= one.seconds
        self.step = []

    def touched(
        self, one: Statement, name: str, effect: str, lock: str | None, left: float
    ) -> TableEffect:
        """Describe what one statement does to a table."""
        table = self.tables[name]
        return TableEffect(
            table.full_name,
            effect,
            table.rows,
            table.bytes,
            one.seconds if name == one.table else 0,
            one.disk if name == one.table else 0,
            lock,
            left if lock else 0,
        )

    def end_revision(self, step: MigrationInfo, **_: object) -> None:
        """Sum up a revision."""
        self.end_step()
        self.is_looking = True
        escaped = self.connection.scalars(ESCAPED).all()
        self.is_looking = False
        if escaped:
            raise SchemaMismatch(
                f"{step.up_revision_id} cannot be tried: it names {', '.join(escaped)} "
                "with its schema."
            )
        touches = tuple(summary_lines(self.found))
        disk = sum(one.disk for one in touches)
        about = describe(str(step.up_revision_id))
        self.steps.append(
            replace(about, touches=touches, seconds=self.total, disk=disk)
        )
        self.found, self.total = [], 0


def left_behind(table: Table) -> float:
    """Say how much of the growth in the trial is left if batches are committed.

    What one batch leaves is used again by the next that meets the same pages: by all of
    them if the keys are random, and by few if the rows lie in the order of their keys.
    Measured on tables of 20,000 rows, as was how much better their indexes are packed.
    """
    return 0.27 + 0.33 * table.correlation


def effects(one: Statement) -> Iterator[tuple[str, str, str | None]]:
    """Yield the tables that a statement touches, what it does, and under which lock."""
    match one.kind:
        case "index" if "CONCURRENTLY" in one.written:
            yield one.table, "an index is built, nobody waits", None
        case "index":
            yield one.table, "an index is built, writes wait", SHARE
        case "rows" if IN_BATCHES in one.written:
            yield one.table, "rows are changed in batches, nobody waits", None
        case "rows":
            yield one.table, "rows are changed at once", None
        case "alter" if one.is_rewrite:
            yield one.table, "it is REWRITTEN, nobody reads or writes", ACCESS_EXCLUSIVE
        case "alter" if "VALIDATE" in one.written:
            yield one.table, "rows are checked, nobody waits", None
        case "alter" | "policy" | "drop index":
            yield one.table, "its definition changes", ACCESS_EXCLUSIVE
        case "trigger":
            yield one.table, "its triggers change", SHARE_ROW_EXCLUSIVE
        case "table":
            for name in sorted(set(REFERENCES.findall(one.written))):
                yield name, "a new table refers to it", SHARE_ROW_EXCLUSIVE
        case _:
            return


def summary_lines(found: Sequence[TableEffect]) -> Iterator[TableEffect]:
    """Yield one line for each table and effect."""
    for table, effect in dict.fromkeys((one.table, one.effect) for one in found):
        same = [one for one in found if (one.table, one.effect) == (table, effect)]
        yield replace(
            same[0],
            seconds=sum(one.seconds for one in same),
            disk=sum(one.disk for one in same),
            locked=max(one.locked for one in same),
        )


def is_forbidden(error: DBAPIError) -> bool:
    """Say whether this user may not make the schema that a trial needs."""
    return getattr(error.orig, "sqlstate", None) == "42501"
