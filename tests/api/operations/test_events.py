"""The event stream: complete, only one's own, resumable, and never a burden."""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from sqlalchemy import text
from structlog.testing import capture_logs

from scrapersky.api.events.broker import (
    LONGEST_QUEUE,
    MOST_STREAMS,
    MOST_STREAMS_EACH,
    EventStream,
    ServerEvent,
)
from scrapersky.api.operations.state import OperationsState
from scrapersky.privacy.retention import RETENTION_RULES, purge_expired
from scrapersky.records import Contact
from sdk_tests.rig.waiting import HUNG, until
from tests.api.operations.rig import Listener, Served, new_key, serving
from tests.conftest import TestDatabase

pytestmark = pytest.mark.asyncio(loop_scope="module")
LOOKS = {
    "events.broker.POLL_SECONDS": 0.1,
    "refreshed.MIN_AGE_SECONDS": 0.1,
}


@pytest.fixture(autouse=True, scope="module")
def quick_looks() -> Iterator[None]:
    """Look ten times as often as in service: a test waits for looks, not for seconds."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in LOOKS.items():
            patch.setattr(f"scrapersky.api.{name}", value)
        yield


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def operations_of(served: Served) -> OperationsState:
    found: OperationsState = served.app.state.operations
    return found


MANY = """
WITH domain AS (INSERT INTO domains (tenant_id, domain, status)
    SELECT :tenant, g || :mark, 'completed' FROM generate_series(1, 1000) g
    RETURNING id, domain),
  page AS (INSERT INTO pages (tenant_id, domain_id, url)
    SELECT :tenant, id, 'http://' || domain FROM domain RETURNING id),
  place AS (INSERT INTO places_staging (tenant_id, source, source_place_id)
    SELECT :tenant, 'file', domain FROM domain RETURNING id),
  business AS (INSERT INTO local_businesses (tenant_id, name)
    SELECT :tenant, domain FROM domain RETURNING id),
  contact AS (INSERT INTO contacts (tenant_id, domain_id, email)
    SELECT :tenant, id, 'a@' || domain FROM domain RETURNING id)
SELECT id FROM domain UNION ALL SELECT id FROM page UNION ALL SELECT id FROM place
UNION ALL SELECT id FROM business UNION ALL SELECT id FROM contact
"""


@pytest.mark.slow
async def test_two_tenants_hear_of_ten_thousand_changes_each_of_their_own(
    clean: Served,
) -> None:
    async with (
        clean.listening() as ours,
        clean.listening(clean.other_key) as others,
    ):
        made = [
            {str(row.id) for row in await clean.run(MANY, tenant=tenant, mark=".bv")}
            for tenant in (clean.tenant, clean.other)
        ]
        await ours.until(lambda one: made[0] <= one.ids)
        await others.until(lambda one: made[1] <= one.ids)
        # Whatever else there was to tell comes before what changes now.
        for tenant, ids, listener in (
            (clean.tenant, made[0], ours),
            (clean.other, made[1], others),
        ):
            ids |= {str(one) for one in await clean.add_places(1, tenant)}
            await listener.until(lambda one, ids=ids: ids <= one.ids)

    assert [len(ids) for ids in made] == [5_001, 5_001]
    assert (ours.ids, others.ids) == (made[0], made[1])
    assert len(ours.changes) == 5_001, "each is reported once"
    assert not ours.of("reset") + others.of("reset")


async def test_what_commits_late_is_told_too(clean: Served) -> None:
    async with clean.listening() as listener:
        async with clean.engine.begin() as late:
            early = await late.scalar(
                text(
                    "INSERT INTO places_staging (tenant_id, source, source_place_id)"
                    " VALUES (:tenant, 'file', 'late') RETURNING id"
                ),
                {"tenant": clean.tenant},
            )
            (soon,) = await clean.add_places(1)
            await listener.until(lambda one: str(soon) in one.ids)
            await asyncio.sleep(0.5)
            assert str(early) not in listener.ids

        await listener.until(lambda one: str(early) in one.ids)


async def test_a_client_that_left_while_events_waited_was_logged_as_a_crash(
    clean: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = 0

    async def always(_stream: EventStream, _seconds: float) -> ServerEvent:
        nonlocal made
        made += 1
        return ServerEvent("records", "x" * 1_000_000)

    monkeypatch.setattr(EventStream, "next", always)
    host, port = clean.client.base_url.host, clean.client.base_url.port
    with capture_logs() as lines:
        reader, writer = await asyncio.open_connection(host, port)
        head = f"GET /api/v3/events HTTP/1.1\r\nHost: {host}\r\nX-API-Key: {clean.key}"
        writer.write(f"{head}\r\n\r\n".encode())
        await reader.readuntil(b"\r\n\r\n")
        # It reads no further: the server goes on until all buffers between them are full.
        before = 0
        while before == 0 or made > before:
            before = made
            await asyncio.sleep(0.2)
        writer.transport.abort()
        await until(lambda: operations_of(clean).broker.streams == 0)

    assert [line["event"] for line in lines if line["log_level"] == "error"] == []


async def test_who_comes_back_hears_what_was_missed(clean: Served) -> None:
    async with clean.listening() as listener:
        (first,) = await clean.add_places(1)
        await listener.until(lambda one: str(first) in one.ids and one.last_id)
    missed = await clean.add_places(3)

    async with clean.listening(last_id=listener.last_id) as again:
        await again.until(lambda one: {str(one) for one in missed} <= one.ids)
    async with clean.listening(last_id="nonsense") as lost:
        assert lost.of("reset")
    async with clean.listening(last_id="1000000") as ancient:
        assert ancient.of("reset")

    assert not again.of("reset")


def reported_of(listener: Listener, kind: str) -> list[dict[str, object]]:
    return [reported for reported in listener.of("records") if reported["kind"] == kind]


async def test_a_flood_is_told_as_one(clean: Served) -> None:
    domain = await clean.add_domain()
    async with clean.listening() as listener:
        await clean.run(
            "INSERT INTO pages (tenant_id, domain_id, url) SELECT :tenant, :domain,"
            " 'http://a.bv/' || g FROM generate_series(1, 5000) g",
            tenant=clean.tenant, domain=domain,
        )  # fmt: skip
        (last,) = await clean.add_places(1)
        await listener.until(lambda one: str(last) in one.ids)

    reported = reported_of(listener, "pages")
    assert reported == [{"kind": "pages", "changes": [], "many": True}]


async def forget_contacts(served: Served) -> None:
    """Let the time be over that every contact is kept for."""
    await served.run("ALTER TABLE contacts DISABLE TRIGGER USER")
    await served.run("UPDATE contacts SET updated_at = now() - interval '2 days'")
    await served.run("ALTER TABLE contacts ENABLE TRIGGER USER")
    days = dict.fromkeys((kind.setting for kind in RETENTION_RULES), 0) | {
        "CONTACT_DAYS": 1
    }
    assert (await purge_expired(served.engine, days))["contacts"] == 1


async def test_what_is_deleted_is_told_as_something_to_fetch_anew(
    clean: Served,
) -> None:
    def is_reported(one: Listener, kind: str = "contacts") -> bool:
        return any(r["many"] and r["kind"] == kind for r in one.of("records"))

    domain = await clean.add_domain()
    anyway = {"If-Match": "*"}
    async with clean.listening() as listener:
        contact = await clean.add(Contact, domain_id=domain, email="a@b.bv")
        await clean.add(Contact, domain_id=domain, email="c@b.bv")
        old = await clean.add(Contact, domain_id=domain, email="d@b.bv")
        await listener.until(lambda one: str(contact) in one.ids and one.last_id)
        before = listener.last_id
        await clean.call("DELETE", f"/contacts/{contact}", headers=anyway, status=204)
        await listener.until(is_reported)
        listener.events.clear()
        await clean.post("/suppressions", {"values": ["c@b.bv"]}, status=201)
        await listener.until(is_reported)
        await clean.post("/notices/informed", {"contact_ids": [str(old)]})
        await listener.until(lambda one: is_reported(one, "notices"))
        listener.events.clear()
        await forget_contacts(clean)
        await listener.until(is_reported)

    async with clean.listening(last_id=before) as again:
        await again.until(is_reported)


async def test_stages_batches_and_decisions_are_told_as_they_go(clean: Served) -> None:
    places = await clean.add_places(3)
    async with clean.listening() as listener:
        await clean.post("/stages/domain_metadata/pause", {"reason": "a test"})
        submitted = await clean.post(
            "/batches", {"kind": "domains", "items": ["a.bv", "b.bv", "-"]}, status=201
        )
        rule = await clean.post(
            "/rules",
            {"name": "All", "kind": "places", "conditions": [], "status": "Maybe"},
            status=201,
        )
        await clean.post(f"/rules/{rule['id']}/run")
        await listener.until(
            lambda one: any(b["progress"]["pending"] == 2 for b in one.of("batch"))
        )
        await listener.until(
            lambda one: any(action["changed"] == 3 for action in one.of("action"))
        )
        await listener.until(lambda one: {str(p) for p in places} <= one.ids)
        await listener.until(
            lambda one: (
                {s["stage"]: s for s in one.of("stages")[-1]}["domain_metadata"][
                    "queued"
                ]
                == 2
            )
        )

    last = {s["stage"]: s for s in listener.of("stages")[-1]}
    assert last["domain_metadata"]["paused"] == "a test"
    assert listener.of("batch")[-1]["id"] == submitted["batch_id"]
    assert listener.of("batch")[-1]["progress"]["pending"] == 2
    assert listener.of("action")[-1]["changed"] == 3


@pytest.mark.slow
async def test_nobody_listens_more_than_five_times(clean: Served) -> None:
    streams = [clean.listening() for _ in range(MOST_STREAMS_EACH)]
    for stream in streams:
        await stream.__aenter__()
    try:
        async with clean.listening() as refused:
            assert refused.status == 429
        async with clean.listening(clean.other_key) as other:
            assert other.status == 200
    finally:
        for stream in streams:
            await stream.__aexit__(None, None, None)
    async with clean.listening() as again:
        assert again.status == 200


async def test_loading_a_page_again_and_again_used_up_the_streams(
    clean: Served,
) -> None:
    broker = operations_of(clean).broker
    async with AsyncExitStack() as pages:
        listeners = []
        for count in range(2 * MOST_STREAMS_EACH):
            names = {"stream": f"page-{count:04}"}
            if count:
                names["instead_of"] = f"page-{count - 1:04}"
            page = clean.listening(**names)
            listeners.append(await pages.enter_async_context(page))
            assert broker.streams == 1

        assert {one.status for one in listeners} == {200}
        for gone in listeners[:-1]:
            await asyncio.wait_for(gone.ended.wait(), HUNG)


async def test_a_process_serves_two_hundred_at_most(clean: Served) -> None:
    broker = operations_of(clean).broker
    streams = [broker.open(clean.tenant, f"person {n}") for n in range(MOST_STREAMS)]

    async with clean.listening() as refused:
        assert refused.status == 429
    for stream in streams:
        stream.close()

    assert broker.streams == 0


async def test_a_stop_does_not_wait_for_who_listens(database: TestDatabase) -> None:
    grace = 10 * int(HUNG)
    async with (
        serving(database, grace=grace) as served,
        served.listening() as listener,
    ):
        served.server.should_exit = True

        await asyncio.wait_for(listener.ended.wait(), HUNG)


async def test_a_stream_ends_when_its_key_does(
    clean: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scrapersky.api.operations.events.POLL_SECONDS", 0.2)
    monkeypatch.setattr("scrapersky.api.operations.events.HEARTBEAT_SECONDS", 0.2)
    key = await new_key(clean.engine, clean.tenant)
    async with clean.listening(key) as listener:
        await clean.run("UPDATE api_keys SET revoked_at = now() WHERE prefix = :p",
                        p=key[:14])  # fmt: skip
        clean.app.state.authenticator.forget()

        await asyncio.wait_for(listener.ended.wait(), HUNG)

    assert operations_of(clean).broker.streams == 0


@pytest.mark.parametrize("where", ["here", "in another process"])
async def test_a_stream_outlived_the_logout_of_its_listener(
    clean: Served, where: str
) -> None:
    key = await new_key(clean.engine, clean.tenant)
    async with clean.listening(key) as listener:
        before = listener.comments
        await clean.run(
            "UPDATE api_keys SET revoked_at = now() WHERE prefix = :p", p=key[:14]
        )
        if where == "here":
            clean.app.state.authenticator.forget()

        await asyncio.wait_for(listener.ended.wait(), 30)

    # It ends before the next sign of life, which comes after ten seconds of silence.
    assert listener.comments == before
    assert operations_of(clean).broker.streams == 0


async def test_a_slow_client_is_told_to_fetch_anew(clean: Served) -> None:
    stream = operations_of(clean).broker.open(clean.tenant, "slow")

    for number in range(3 * LONGEST_QUEUE):
        stream.offer([ServerEvent("records", "{}", str(number))])
    first = await stream.next(1)
    stream.close()

    assert first is not None
    assert first.name == "reset"
    assert first.id == str(2 * LONGEST_QUEUE)


@pytest.mark.slow
async def test_listening_holds_no_connection(clean: Served) -> None:
    pools = [
        operations_of(clean).engine.sync_engine.pool,
        clean.app.state.engine.sync_engine.pool,
    ]

    def are_free() -> bool:
        return not any(pool.checkedout() for pool in pools)

    async with clean.listening() as one, clean.listening() as other:
        for _ in range(5):
            (place,) = await clean.add_places(1)
            for listener in (one, other):
                await listener.until(
                    lambda heard, reported=str(place): reported in heard.ids
                )
            # Between two looks nothing is held, however many listen.
            await until(are_free)


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [30, pytest.param(100, marks=pytest.mark.long)])
async def test_ten_times_as_many_clients_come_and_go_without_a_trace(
    clean: Served, rounds: int
) -> None:
    keys = [await new_key(clean.engine, clean.tenant) for _ in range(10)]
    port = clean.client.base_url.port

    async def visit(key: str) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        head = f"GET /api/v3/events HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key: {key}"
        writer.write(f"{head}\r\n\r\n".encode())
        assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        writer.transport.abort()

    await asyncio.gather(*map(visit, keys))
    await until(lambda: operations_of(clean).broker.streams == 0)
    before = open_files(), len(asyncio.all_tasks())
    for _ in range(rounds):
        await asyncio.gather(*map(visit, keys))

    await until(lambda: operations_of(clean).broker.streams == 0)
    await until(lambda: open_files() <= before[0] + 5)
    await until(lambda: len(asyncio.all_tasks()) <= before[1] + 2)
