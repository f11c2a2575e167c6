"""One request, one transaction: the act, its audit line and its key commit together."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
import pytest_asyncio
from sqlalchemy import Connection, event

from scrapersky.api.middleware.route import routes_of
from scrapersky.records import KINDS
from tests.api.gateway.document import Operation, an_app, operations, written
from tests.api.gateway.planted import plant
from tests.api.gateway.rig import House, a_token
from tests.conftest import TestDatabase

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.usefixtures("quiet"),
]

API = [
    found
    for found in operations(written())
    if found.path.startswith("/api/v3/")
    # The one never ends, the other opens a town.
    and found.id not in {"listen", "start_demo"}
]
CHUNKS = {
    # Set a status on any number of records, or take that back.
    *(f"set_{kind.singular}_status" for kind in KINDS.values() if kind.decision),
    "undo_action", "lift_stopped_company", "steer_search",
    "find_contacts_of_companies", "find_contacts_of_search",
    # Store any number of lines, change any number of rows.
    *(f"submit_{kind.plural}" for kind in KINDS.values() if kind.submission),
    "create_batch", "replay_dead_letters", "discard_dead_letters", "mark_informed",
}  # fmt: skip
"""Routes that commit after each chunk of their work but the last."""
BULK = {
    # Neither a slow reader nor a slow writer holds a transaction open.
    *(f"export_{kind.plural}" for kind in KINDS.values()),
    *(f"export_chosen_{kind.plural}" for kind in KINDS.values()),
    *(f"import_{kind.plural}" for kind in KINDS.values() if kind.submission),
    "export_notices", "import_suppressions", "import_file",
    # An address is looked up, or posted to, between two transactions.
    "create_webhook", "test_webhook",
    # A CRM is asked between two transactions.
    "create_connection", "test_connection", "list_connection_fields", "map_connection",
    "preview_connection", "compare_connection", "undo_connection_run",
    "change_connection_credential",
    # A file is read before what it says is compared.
    "preview_file",
    # It waits for changes that come.
    "list_changes",
    # A password is hashed, or a provider asked, between two transactions; a run outlives
    # its request.
    "log_in", "accept_invitation", "change_password", "end_openid", "run_rule",
    # A person is on the list before every table is looked through for them.
    "erase_person",
}  # fmt: skip
"""Routes whose work waits for something else between its transactions."""
ENGINES = ("engine", "system_engine", "operations_engine")


async def test_the_routes_of_more_than_one_transaction_are_named() -> None:
    found = {route.operation_id for route in routes_of(an_app()) if route.in_chunks}

    assert found == CHUNKS | BULK


@contextmanager
def transactions(house: House) -> Iterator[list[str]]:
    """Note every transaction that the current task begins, with its engine."""
    begun: list[str] = []
    task = asyncio.current_task()
    listeners = []
    for name in ENGINES:
        # What is looked up once for many, as who someone is, is another task's.
        def note(_connection: Connection, name: str = name) -> None:
            if asyncio.current_task() is task:
                begun.append(name)

        engine = getattr(house.app.state, name).sync_engine
        event.listen(engine, "begin", note)
        listeners.append((engine, note))
    yield begun
    for engine, note in listeners:
        event.remove(engine, "begin", note)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def planted(started: House) -> AsyncIterator[dict[str, UUID]]:
    yield await plant(started.engine, started.home, "goldcrest")


TABLES = {
    "places": "places_staging", "searches": "place_searches", "batches": "batch_jobs",
    "rules": "selection_rules", "actions": "curation_actions", "views": "saved_views",
    "dead_letters": "pages", "tenants": "users",
    "connections": "sync_connections", "samples": "value_samples",
    "connections_of": "companies",
}  # fmt: skip
"""What an address calls otherwise than the table."""


def meant(operation: Operation, planted: dict[str, UUID]) -> UUID:
    """Return the id of the planted row that an address is about."""
    word = operation.path.split("/")[3].replace("-", "_")
    return planted.get(TABLES.get(word, word), uuid4())


async def call(
    house: House, operation: Operation, planted: dict[str, UUID]
) -> tuple[int, int]:
    """Call an operation; return its status and how many transactions it took."""
    headers = {"Authorization": f"Bearer {a_token(house.admin.id)}", "If-Match": "*"}
    with transactions(house) as begun:
        answer = await house.client.request(
            operation.method,
            operation.address(meant(operation, planted)),
            headers=headers,
            json=operation.sample_body(),
        )
    assert answer.status_code < 500, (operation.id, answer.text)
    return answer.status_code, len(begun)


@pytest.mark.slow
async def test_every_route_works_in_one_transaction(
    house: House, planted: dict[str, UUID]
) -> None:
    found = {}
    for operation in sorted(API, key=lambda one: one.method == "DELETE"):
        if operation.id not in BULK:
            found[operation.id] = await call(house, operation, planted)

    succeeded = {name for name, (status, _) in found.items() if status < 400}
    assert {name: many for name, (_, many) in found.items() if many > 1} == {}
    assert len(succeeded) > 0.75 * len(found), sorted(set(found) - succeeded)
    # Otherwise the count could not fail.
    assert found["list_contacts"] == found["list_users"] == (200, 1)


async def count(house: House, name: str) -> tuple[Any, Any]:
    """Count the rules of a name, and the audit lines about it."""
    return (
        await house.scalar(
            "SELECT count(*) FROM selection_rules WHERE name = :n", n=name
        ),
        await house.scalar(
            "SELECT count(*) FROM audit_log WHERE subject = :s", s=f"rule {name}"
        ),
    )


async def make_rule(house: House, name: str, key: str | None = None) -> int:
    body = {"name": name, "kind": "pages", "conditions": [], "status": "Selected"}
    headers = {"Idempotency-Key": key} if key else {}
    answer = await house.send(
        "POST", "/rules", house.curator, json=body, headers=headers
    )
    return answer.status_code


async def test_an_act_whose_audit_line_fails_is_not_done(house: House) -> None:
    name = uuid4().hex
    await house.run(
        "CREATE FUNCTION refuse_audit() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'no room'; END $$"
    )
    await house.run(
        "CREATE TRIGGER refuse_audit BEFORE INSERT ON audit_log FOR EACH ROW "
        "EXECUTE FUNCTION refuse_audit()"
    )

    status = await make_rule(house, name)

    await house.run("DROP FUNCTION refuse_audit() CASCADE")
    assert status >= 500
    assert await count(house, name) == (0, 0)


@contextmanager
def killed_before_commit(house: House, database: TestDatabase) -> Iterator[list[int]]:
    """Kill the server process of a request when it is about to commit, once."""
    killed: list[int] = []

    def kill(_connection: Connection) -> None:
        if killed:
            return
        with psycopg.connect(database.dsn, autocommit=True) as other:
            rows = other.execute(
                "SELECT pg_terminate_backend(pid, 5000), pid FROM pg_stat_activity "
                "WHERE application_name = 'scrapersky-api' "
                "AND datname = current_database() AND state = 'idle in transaction'"
            ).fetchall()
        killed.extend(pid for is_gone, pid in rows if is_gone)

    engine = house.app.state.engine.sync_engine
    event.listen(engine, "commit", kill)
    yield killed
    event.remove(engine, "commit", kill)


async def test_a_crash_before_the_commit_leaves_neither_act_nor_audit_nor_key(
    house: House, module_database: TestDatabase
) -> None:
    name, key = uuid4().hex, uuid4().hex

    with killed_before_commit(house, module_database) as killed:
        crashed = await make_rule(house, name, key)
        left = await count(house, name)
        keys = await house.scalar(
            "SELECT count(*) FROM idempotency_keys WHERE key = :key", key=key
        )
        # Other connections of the pool are as they were.
        again = await make_rule(house, name, key)

    assert len(killed) == 1
    assert crashed == 503
    assert (left, keys) == ((0, 0), 0)
    assert again == 201
    assert await count(house, name) == (1, 1)
    assert await make_rule(house, name, key) == 201
    assert await count(house, name) == (1, 1)


async def test_the_key_commits_with_what_it_stands_for(house: House) -> None:
    headers = {"Idempotency-Key": uuid4().hex}
    body = {"email": f"{uuid4().hex}@example.com"}

    with transactions(house) as begun:
        answer = await house.send(
            "POST", "/users", house.admin, json=body, headers=headers
        )

    assert answer.status_code == 201
    # One transaction, on whichever engine the route works.
    assert len(begun) == 1
