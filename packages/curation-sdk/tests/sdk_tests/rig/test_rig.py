"""The rig itself: a fault that is not injected proves nothing."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import asyncpg
import pytest

from sdk_tests.rig.cluster import Cluster, running_cluster
from sdk_tests.rig.pooler import running_pooler
from sdk_tests.rig.proxy import Answers, FaultProxy, fault_proxy


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with running_cluster() as server:
        server.execute("CREATE TABLE note (said text)")
        yield server


@pytest.fixture
async def proxy(cluster: Cluster) -> AsyncIterator[FaultProxy]:
    async with fault_proxy(port=cluster.port) as running:
        yield running


async def test_a_lost_answer_leaves_the_commit_in_place(
    cluster: Cluster, proxy: FaultProxy
) -> None:
    connection = await asyncpg.connect(cluster.tcp_dsn(port=proxy.port))
    proxy.lose_commit_answer = 1.0

    with pytest.raises((asyncpg.PostgresConnectionError, OSError)):
        await connection.execute("INSERT INTO note VALUES ('lost answer')")

    assert proxy.injected == 1
    assert cluster.execute("SELECT 1 FROM note WHERE said = 'lost answer'") == [(1,)]


async def test_a_lost_commit_inside_a_transaction_is_the_commit(
    cluster: Cluster, proxy: FaultProxy
) -> None:
    connection = await asyncpg.connect(cluster.tcp_dsn(port=proxy.port))
    proxy.lose_commit_answer = 1.0
    transaction = connection.transaction()
    await transaction.start()
    await connection.execute("INSERT INTO note VALUES ('committed')")

    with pytest.raises((asyncpg.PostgresConnectionError, OSError)):
        await transaction.commit()

    assert cluster.execute("SELECT 1 FROM note WHERE said = 'committed'") == [(1,)]


async def test_a_held_connection_is_silent_and_flows_again(
    cluster: Cluster, proxy: FaultProxy
) -> None:
    connection = await asyncpg.connect(cluster.tcp_dsn(port=proxy.port))
    assert proxy.hold_one()

    answer = asyncio.ensure_future(connection.fetchval("SELECT 7"))
    done, _ = await asyncio.wait([answer], timeout=0.3)

    assert not done
    proxy.release()
    assert await answer == 7
    await connection.close()


async def test_a_cut_connection_is_an_error_at_once(
    cluster: Cluster, proxy: FaultProxy
) -> None:
    connection = await asyncpg.connect(cluster.tcp_dsn(port=proxy.port))
    proxy.cut_after = 0

    with pytest.raises((asyncpg.PostgresConnectionError, OSError)):
        await connection.fetchval("SELECT 1")

    assert proxy.injected == 1


def test_only_a_transaction_that_ends_counts() -> None:
    answers = Answers()
    begin, insert, commit = b"BEGIN\0", b"INSERT 0 1\0", b"COMMIT\0"

    ended = [
        answers.feed(b"N"),
        answers.feed(message(b"Z", b"I")),
        answers.feed(message(b"C", begin) + message(b"Z", b"T")),
        answers.feed(message(b"C", insert) + message(b"Z", b"T")),
        answers.feed(message(b"C", commit) + message(b"Z", b"I")),
        answers.feed(message(b"C", b"ROLLBACK\0") + message(b"Z", b"I")),
        answers.feed(message(b"C", insert)[:4]),
        answers.feed(message(b"C", insert)[4:] + message(b"Z", b"I")),
    ]

    assert ended == [0, 0, 0, 0, 1, 0, 0, 1]


def test_a_committed_row_survives_a_crash_of_the_server(cluster: Cluster) -> None:
    cluster.execute("INSERT INTO note VALUES ('before the crash')")

    cluster.crash()
    cluster.start()

    assert cluster.execute("SELECT 1 FROM note WHERE said = 'before the crash'")


async def test_the_pooler_shares_server_connections(cluster: Cluster) -> None:
    with running_pooler(cluster, size=1) as pooler:
        clients = [
            await asyncpg.connect(pooler.dsn("postgres"), statement_cache_size=0)
            for _ in range(3)
        ]
        pids = {await client.fetchval("SELECT pg_backend_pid()") for client in clients}
        for client in clients:
            await client.close()

    assert len(pids) == 1


def message(kind: bytes, body: bytes) -> bytes:
    """Frame one message of the server."""
    return kind + (len(body) + 4).to_bytes(4, "big") + body
