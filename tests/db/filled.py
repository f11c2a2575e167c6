"""A database of an old version with many rows, and who looks at it while it is migrated."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import asyncpg
import psycopg

from scrapersky.db.rows import INDEXES

OLD = "0022_tracebacks"
FILLED = ("domains", "pages", "contacts", "local_businesses", "places_staging")

FILL = (
    """INSERT INTO domains (tenant_id, domain)
    SELECT t.id, 'site' || i || '.test' FROM tenants t, generate_series(1, {rows} / 10) i""",
    """INSERT INTO pages (tenant_id, domain_id, url, title, contact_likelihood, bytes, fetched_at)
    SELECT tenant_id, id, 'https://' || domain || '/page-' || k || CASE k WHEN 3 THEN '?a=1'
      ELSE '' END, 'Page ' || k || ' of ' || domain, k / 10.0, 1000,
      CASE WHEN k < 6 THEN now() END
    FROM domains, generate_series(1, 10) k""",
    """INSERT INTO contacts (tenant_id, domain_id, email, name, phone, validation)
    SELECT tenant_id, id, 'person' || k || '@' || domain, 'Ábel Ødegård ' || k,
      '+44207946' || lpad(k::text, 4, '0'), '{"verdict": "risky"}'
    FROM domains, generate_series(1, 10) k""",
    """INSERT INTO local_businesses (tenant_id, name, city, phone, website)
    SELECT t.id, 'Straße ' || i, 'Łódź', CASE i % 10 WHEN 0 THEN '0' || i || ' 555' ELSE
      '+4316' || lpad(i::text, 7, '0') END, 'https://site' || i || '.test/'
    FROM tenants t, generate_series(1, {rows}) i""",
    """INSERT INTO places_staging (tenant_id, source, source_place_id, name, phone)
    SELECT t.id, 'osm', i::text, 'Straße ' || i, '+4316' || lpad(i::text, 7, '0')
    FROM tenants t, generate_series(1, {rows}) i""",
    """INSERT INTO login_sessions (token_hash, tenant_id, user_id, expires_at)
    SELECT sha256(i::text::bytea), u.tenant_id, u.id, now() + interval '1 day'
    FROM (SELECT * FROM users LIMIT 1) u, generate_series(1, {rows} / 10) i""",
    """INSERT INTO curation.attempt (stage, item, fence, tries, outcome)
    SELECT 'page_curation', i::text, i, 1, 'done' FROM generate_series(1, {rows}) i""",
)


async def fill(connection: asyncpg.Connection, rows: int) -> None:
    """Put about this many rows into each of the largest tables, as of revision 22."""
    # Row by row, the indexes would take most of the time.
    indexes = [(row[0], row[1]) for row in await connection.fetch(str(INDEXES))]
    for drop, _ in indexes:
        await connection.execute(drop)
    for statement in FILL:
        await connection.execute(statement.replace("{rows}", str(rows)), timeout=600)
    for _, make in indexes:
        await connection.execute(make, timeout=600)
    await connection.execute("ANALYZE")


LOCKS = """
SELECT (SELECT version_num FROM alembic_version), relname, mode, virtualtransaction,
  granted, pid = ANY(%(own)s), extract(epoch FROM clock_timestamp())::float,
  extract(epoch FROM clock_timestamp() - waitstart)::float
FROM pg_locks l JOIN pg_class c ON c.oid = relation
JOIN pg_namespace n ON n.oid = relnamespace
WHERE nspname IN ('public', 'curation') AND relkind = 'r' AND relname <> 'alembic_version'
  AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND (NOT granted OR mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock',
    'AccessExclusiveLock'))
"""


@dataclass
class Watched:
    """What was seen: locks that keep others out, and how long somebody waited."""

    locks: dict[tuple[str, str, str], float] = field(default_factory=dict)
    """By the revision before, table and mode: the seconds of the longest one."""
    waits: dict[str, float] = field(default_factory=dict)
    """By who waited: the seconds of the longest wait for a lock."""
    turns: dict[str, list[float]] = field(default_factory=dict)
    """By who worked: the seconds of everything done."""
    looks: int = 0

    def table(self) -> str:
        """Write the locks down, the longest last."""
        lines = [
            f"{after:28} {table:20} {mode:22} {seconds:6.3f} s"
            for (after, table, mode), seconds in sorted(
                self.locks.items(), key=lambda one: one[1]
            )
        ]
        waits = [f"{who} waited {s:.3f} s for a lock" for who, s in self.waits.items()]
        worst = [
            f"{who}: {len(all_)} times, the longest {max(all_):.3f} s"
            for who, all_ in self.turns.items()
        ]
        return "\n".join([*lines, *waits, *worst, f"looked {self.looks} times"])


@contextmanager
def watched(dsn: str) -> Iterator[Watched]:
    """Read, write and look at the locks without a pause, as long as the block lasts."""
    seen, stop = Watched(), threading.Event()
    readers = {
        "reader": "SELECT id, name FROM contacts ORDER BY id LIMIT 50",
        "writer": "UPDATE contacts SET name = name || '' WHERE id IN "
        "(SELECT id FROM contacts ORDER BY id LIMIT 5)",
        "page writer": "UPDATE pages SET title = title || '' WHERE id IN "
        "(SELECT id FROM pages ORDER BY id DESC LIMIT 5)",
    }
    threads = [
        threading.Thread(target=work, args=(dsn, name, query, seen, stop))
        for name, query in readers.items()
    ]
    threads.append(threading.Thread(target=look, args=(dsn, seen, stop)))
    for thread in threads:
        thread.start()
    try:
        yield seen
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def work(dsn: str, name: str, query: str, seen: Watched, stop: threading.Event) -> None:
    with psycopg.connect(dsn, autocommit=True, application_name=name) as connection:
        while not stop.is_set():
            began = time.monotonic()
            connection.execute(query.encode())
            seen.turns.setdefault(name, []).append(time.monotonic() - began)
            stop.wait(0.01)


def look(dsn: str, seen: Watched, stop: threading.Event) -> None:
    first: dict[tuple[str, str, str], float] = {}
    own: dict[int, str] = {}
    with psycopg.connect(dsn, autocommit=True, application_name="look") as connection:
        while not stop.is_set():
            if len(own) < 3:
                found = connection.execute(
                    "SELECT pid, application_name FROM pg_stat_activity WHERE"
                    " application_name IN ('reader', 'writer', 'page writer')"
                    " AND datname = current_database()"
                )
                own = dict(found.fetchall())
            seen.looks += 1
            rows = connection.execute(LOCKS, {"own": list(own)}).fetchall()
            for after, table, mode, holder, granted, is_ours, now, waited in rows:
                if not granted and is_ours and waited is not None:
                    seen.waits["somebody"] = max(seen.waits.get("somebody", 0), waited)
                elif granted and not is_ours:
                    key = (holder, table, mode)
                    held = now - first.setdefault(key, now)
                    name = (after, table, mode)
                    seen.locks[name] = max(seen.locks.get(name, 0), held)
            stop.wait(0.002)
