"""A rolling upgrade: workers of revision 1 and of today, while the schema grows."""

import time
from multiprocessing.context import ForkServerProcess

import psycopg
import pytest

from sdk_tests.faults.scenario import LEASE, Field, fleet_of, orchard
from sdk_tests.rig.fleet import prepared_context, wait_for
from sdk_tests.rig.revision_1 import work_as_revision_1
from sdk_tests.rig.size import size
from sdk_tests.rig.waiting import HUNG

# What a later release may do to the engine's tables while old workers run: add, never
# rename or remove. Each step must get its lock within a second, or try again later.
ADDITIONS = (
    "ALTER TABLE curation.claim ADD COLUMN added_later text",
    "ALTER TABLE curation.attempt ADD COLUMN added_later jsonb",
    "ALTER TABLE curation.dead_letter ADD COLUMN added_later timestamptz",
    "ALTER TABLE curation.stage ADD COLUMN added_later int NOT NULL DEFAULT 1",
    "CREATE INDEX CONCURRENTLY claim_added ON curation.claim (added_later)",
)


@pytest.mark.slow
def test_old_and_new_workers_drain_one_queue_while_the_schema_grows() -> None:
    with orchard(size(300, 1000)) as field:
        # The old ones first: today's would leave them nothing to begin with.
        old = start_old_workers(field, 2)
        try:
            with fleet_of(field, 0.02, 12):
                for statement in ADDITIONS:
                    time.sleep(0.2)
                    field.keep_busy()
                    add_patiently(field, statement)
                row = field.finish("old and new side by side", len(ADDITIONS))
        finally:
            for process in old:
                process.kill()
                process.join()
                process.close()
        by_whom = field.cluster.execute(
            "SELECT worker = 'revision 1', count(*) FROM curation.attempt"
            " WHERE outcome = 'done' GROUP BY 1",
            database=field.database,
        )

    print(row, by_whom)
    assert (row.lost, row.doubled, row.stuck) == (0, 0, 0)
    assert {who for who, _ in by_whom} == {True, False}, "one of them did nothing"


def start_old_workers(field: Field, count: int) -> list[ForkServerProcess]:
    context = prepared_context()
    processes = [
        context.Process(target=work_as_revision_1, args=(field.dsn, LEASE, 0.02))
        for _ in range(count)
    ]
    for process in processes:
        process.start()
    wait_for(
        lambda: (
            field.cluster.execute(
                "SELECT 1 FROM curation.attempt WHERE worker = 'revision 1' LIMIT 1",
                database=field.database,
            )
            != []
        ),
        seconds=HUNG,
        what="the first item of an old worker",
    )
    return processes


def add_patiently(field: Field, statement: str) -> None:
    with psycopg.connect(field.dsn, autocommit=True) as connection:
        connection.execute("SET lock_timeout = '1s'")
        for _ in range(20):
            try:
                connection.execute(statement.encode())
            except psycopg.errors.LockNotAvailable:
                time.sleep(0.1)
            else:
                return
    pytest.fail(f"no lock within 20 tries: {statement}")
