"""`scrapersky upgrade`."""

import re
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Final

import orjson
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.cli.database import a_database
from scrapersky.cli.migrate import migrate
from scrapersky.cli.signals import raised_signals, run_stoppable
from scrapersky.configuration import load_settings
from scrapersky.db.connection import Target, check_server, connect
from scrapersky.db.revision import MIGRATIONS, current_revision, is_newer, revisions
from scrapersky.records import METADATA
from scrapersky.settings import Settings

TABLES: Final = {
    table.name: table.fullname
    for metadata in METADATA
    for table in metadata.sorted_tables
}
NEW: Final = re.compile(r'op\.create_table\(\s*"(\w+)"')
EFFECTS: Final = {
    "an index is built, writes wait meanwhile": re.compile(
        r'op\.create_index\(\s*"[^"]+",\s*"(\w+)"|CREATE (?:UNIQUE )?INDEX \w+ ON (\w+)'
    ),
    "rows are rewritten": re.compile(r"UPDATE (\w+)\b"),
    "its definition changes, locked for a moment": re.compile(
        r'op\.(?:add|drop|alter)_column\(\s*"(\w+)"|ALTER TABLE (\w+)'
    ),
}
SIZES: Final = text("""SELECT relname, greatest(reltuples, 0)::bigint,
  pg_total_relation_size(oid) FROM pg_class
  WHERE relkind IN ('r', 'p') AND relname = ANY(:names)""")


@dataclass(frozen=True, slots=True)
class Touched:
    """A table that a revision does something to."""

    table: str
    effect: str
    rows: int = 0
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class Step:
    """One revision that is missing."""

    revision: str
    does: str
    touches: tuple[Touched, ...]


def upgrade(*, check: bool = False, json: bool = False) -> int:
    """Bring the database to the schema this version needs, or only say what that would do."""
    if not check:
        migrate(json=json)
        return 0
    settings = load_settings().settings
    with raised_signals(), a_database(settings) as target:
        revision, steps = run_stoppable(missing(target))
        show(revision, steps, settings, as_json=json)
    return 1 if steps else 0


async def missing(target: Target) -> tuple[str | None, list[Step]]:
    """Return where the database is, and what is missing."""
    engine = connect(target, name="scrapersky-upgrade", pool_size=1)
    try:
        await check_server(engine)
        async with engine.connect() as connection:
            revision = await connection.run_sync(current_revision)
            known = revisions()
            if is_newer(revision):
                return revision, []
            applied = 0 if revision is None else known.index(revision) + 1
            return revision, [await step(connection, one) for one in known[applied:]]
    finally:
        await engine.dispose()


async def step(connection: AsyncConnection, revision: str) -> Step:
    """Say what one revision does, and to how large tables."""
    source = (MIGRATIONS / "versions" / f"{revision}.py").read_text(encoding="utf-8")
    effects = dict(effects_of(source))
    rows = await connection.execute(SIZES, {"names": list(effects)})
    sizes = {name: (count, size) for name, count, size in rows}
    touched = [
        Touched(TABLES[name], effect, *sizes[name])
        for name, effect in effects.items()
        if name in sizes
    ]
    summary = source.removeprefix('"""').partition('"""')[0].partition("\n")[0]
    return Step(revision, summary, tuple(touched))


def effects_of(source: str) -> Iterator[tuple[str, str]]:
    """Yield the tables that a revision names, with the heaviest thing it does to each."""
    body = source.partition("def downgrade")[0]
    new = set(NEW.findall(body))
    found: dict[str, str] = {}
    for effect, pattern in EFFECTS.items():
        for match in pattern.finditer(body):
            found.setdefault(next(filter(None, match.groups())), effect)
    for name in TABLES:
        if name in new:
            continue
        if name in found:
            yield name, found[name]
        elif re.search(rf'["\s.]{name}["\s(,]', body):
            yield name, "it is named, and perhaps locked for a moment"


def show(
    revision: str | None, steps: list[Step], settings: Settings, *, as_json: bool
) -> None:
    """Print what would change."""
    free = None
    if settings.database_url is None:
        free = shutil.disk_usage(settings.data_dir).free
    if as_json:
        found = {
            "revision": revision,
            "newest": revisions()[-1],
            "steps": [asdict(one) for one in steps],
            "free_bytes": free,
        }
        print(orjson.dumps(found).decode())
        return
    if not steps:
        print(f"Nothing to do: the database is at {revision}.")
        return
    print(
        f"The database is at {revision or 'nothing'}; `scrapersky migrate` would apply:"
    )
    for one in steps:
        print(f"  {one.revision}: {one.does}")
        for touched in one.touches:
            size = f"{touched.rows:,} rows, {touched.bytes / 1024**2:,.1f} MiB"
            print(f"    {touched.table} ({size}): {touched.effect}")
    print("All in one transaction: the tables stay locked until the last step is done.")
    if free is not None:
        print(f"{free / 1024**3:.1f} GiB are free.")
