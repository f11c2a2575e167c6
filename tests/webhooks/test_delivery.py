"""Deliveries over real sockets: each change once, in order, whatever the receiver does."""

import asyncio
import random
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from sqlalchemy import NullPool, text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from scrapersky.changes.cursor import parse_cursor
from scrapersky.changes.reader import read_changes
from scrapersky.changes.watch import Follower
from scrapersky.crawler import CrawlerPolicy
from scrapersky.webhooks import outbox, schedule
from scrapersky.webhooks.delivery import webhook_subscriber
from scrapersky.webhooks.schedule import PAUSES, REFUSAL_PAUSES, next_pause
from scrapersky.webhooks.sender import DeliveryAttempt, WebhookSender
from sdk_tests.rig.waiting import HUNG, until
from tests.webhooks.conftest import CIPHER, LOOPBACK, Office
from tests.webhooks.receiver import Posted, receiving

DOMAINS = text(
    "INSERT INTO domains (tenant_id, domain, status)"
    " SELECT :t, 'd' || n || substr(md5(random()::text), 1, 9) || '.bv',"
    " 'completed' FROM generate_series(1, :n) n RETURNING id"
)
NOW = datetime(2026, 11, 18, tzinfo=UTC)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try again at once, where a schedule has minutes and hours."""
    for name in ("PAUSES", "REFUSAL_PAUSES"):
        pauses = [timedelta(seconds=0.05)] * len(getattr(schedule, name))
        monkeypatch.setattr(schedule, name, pauses)


async def test_every_chosen_change_arrives_once_in_order_and_signed(
    office: Office,
) -> None:
    async with receiving() as all_of_it, receiving() as some, office.delivering():
        one = await office.add_endpoint(all_of_it.url, schemes=["v1", "v1a"])
        await office.add_endpoint(
            some.url,
            events=["domain.changed"],
            format="batch",
            ignored_actors=["echo"],
        )
        domains = await office.add_domains(3)
        for number in range(4):
            await office.rename(domains[0], f"title {number}")
            await office.rename(domains[1], f"title {number}", actor="echo")

        await until(lambda: len(all_of_it.events) == 11 and len(some.events) == 4)

        first = all_of_it.posted[0]
        assert first.is_signed_with(office.secrets[one].shared)
        assert not first.is_signed_with("whsec_" + "A" * 32)
        assert "v1a," in first.headers["webhook-signature"]
        assert first.content["type"] == "domain.created"
        assert len({posted.id for posted in all_of_it.posted}) == 11
        assert [e["data"]["id"] for e in all_of_it.events] == sorted(
            (e["data"]["id"] for e in all_of_it.events), key=int
        )
        assert set(some.records) == {domains[0]}
        assert {tuple(e["data"]["fields"]) for e in some.events} == {("title",)}
        await until_settled(office, one, ["delivered"] * 11)
        assert {row.body for row in await office.deliveries(one)} == {None}


async def test_a_message_that_is_not_taken_comes_again_with_its_id_before_the_next(
    office: Office, quick: None
) -> None:
    statuses = ["500 No", "302 Found\r\nLocation: /elsewhere", "", "429 Slow"]

    def answer(_: Posted) -> str:
        return statuses.pop(0) if statuses else "200 OK"

    async with receiving(answer) as receiver, office.delivering():
        endpoint = await office.add_endpoint(receiver.url)
        first, second = await office.add_domains(2)

        await until(lambda: len(receiver.posted) == 6)

        ids = [posted.id for posted in receiver.posted]
        assert len(set(ids[:5])) == 1
        assert ids[5] != ids[0]
        assert len({posted.body for posted in receiver.posted[:5]}) == 1
        assert receiver.records[4:] == [first, second]
        await until_settled(office, endpoint, ["delivered"] * 2)
        tried, _ = await office.deliveries(endpoint)
        # Of a connection that was used before, another attempt is made at once.
        assert [one["status"] for one in tried.attempts] == [500, 302, 429, 200]
        assert (await office.endpoint(endpoint)).failing_since is None


async def test_a_dead_and_a_slow_endpoint_do_not_keep_others_waiting(
    office: Office,
) -> None:
    async with receiving() as well, receiving() as slow, office.delivering():
        slow.delay = 60
        await office.add_endpoint("http://127.0.0.1:1/")
        await office.add_endpoint(slow.url)
        await office.add_endpoint(well.url)
        domains = await office.add_domains(20)

        await until(lambda: len(well.events) == 20)

        assert well.records == domains
        assert len(slow.posted) == 1


@pytest.mark.slow
async def test_thousands_of_changes_arrive_though_their_transactions_end_late(
    office: Office,
) -> None:
    randomly = random.Random(48)
    changed: list[str] = []

    async with (
        receiving() as batches,
        receiving() as singles,
        receiving() as slow,
        engine_of(office) as behind,
        office.delivering(),
    ):

        async def write(first: int) -> None:
            """Create and rename in transactions of which some stay open for long."""
            for turn in range(12):
                async with behind.begin() as connection:
                    ids = await created(connection, office, 20)
                    await asyncio.sleep(randomly.choice((0, 0, 0.01, 0.4)))
                    ids += await created(connection, office, 10)
                    if (turn + first) % 5 == 0:
                        await connection.rollback()
                        continue
                changed.extend(ids)

        slow.delay = 1
        await office.add_endpoint("http://127.0.0.1:1/")
        await office.add_endpoint(slow.url, format="batch")
        followers = [
            await office.add_endpoint(batches.url, format="batch"),
            await office.add_endpoint(batches.url, format="batch"),
            await office.add_endpoint(singles.url, format="event"),
        ]
        async with behind.begin() as connection:
            # Positions before all others, and after them when it ends.
            last = await created(connection, office, 150)
            await asyncio.gather(*map(write, range(8)))
            assert len(changed) > 2_000
            await until_at_head(office, followers, len(changed))
            last += await created(connection, office, 5)
        await until_at_head(office, followers, len(changed) + len(last))

    expected = Counter(changed + last)
    assert Counter(singles.records) == expected
    assert Counter(batches.records) == expected + expected
    for receiver in (batches, singles, slow):
        bodies: dict[str, set[bytes]] = defaultdict(set)
        for posted in receiver.posted:
            bodies[posted.id].add(posted.body)
        assert {len(one) for one in bodies.values()} == {1}


async def created(connection: AsyncConnection, office: Office, count: int) -> list[str]:
    """Create domains in a transaction that goes on."""
    found = await connection.scalars(DOMAINS, {"t": office.tenant, "n": count})
    return [str(one) for one in found]


@asynccontextmanager
async def engine_of(office: Office) -> AsyncIterator[AsyncEngine]:
    """Give connections beside those of whoever delivers."""
    engine = create_async_engine(office.engine.url, poolclass=NullPool)
    yield engine
    await engine.dispose()


async def until_at_head(office: Office, endpoints: Sequence[UUID], events: int) -> None:
    """Wait until endpoints were sent so many events, and nothing is left to read."""
    async with asyncio.timeout(HUNG):
        while True:
            told = [await events_told(office, one) for one in endpoints]
            if told == [events] * len(endpoints):
                return
            await asyncio.sleep(0.2)


async def events_told(office: Office, endpoint: UUID) -> int | None:
    """Count what an endpoint has taken; None while something is left to read or send."""
    cursor = parse_cursor((await office.endpoint(endpoint)).cursor)
    async with office.engine.connect() as connection:
        page = await read_changes(connection, office.tenant, cursor, 1)
    ((told, waiting),) = await office.run(
        "SELECT coalesce(sum(event_count), 0), count(*) FILTER (WHERE"
        " state <> 'delivered') FROM webhook_deliveries WHERE endpoint_id = :e",
        e=endpoint,
    )
    return None if page.entries or waiting else told


async def test_an_endpoint_whose_turn_ended_during_a_look_heard_of_changes_late(
    office: Office,
) -> None:
    endpoint = await office.add_endpoint("http://127.0.0.1:1/")
    sender = WebhookSender(CrawlerPolicy(), LOOPBACK)
    subscriber = webhook_subscriber(office.engine, sender, lambda: CIPHER)
    at_work = asyncio.create_task(asyncio.sleep(HUNG))
    subscriber._tasks[endpoint] = at_work
    subscriber._followers[endpoint] = Follower(office.tenant)
    subscriber._waiting = {office.tenant}

    async with office.engine.begin() as connection:
        await connection.execute(text("LOCK TABLE webhook_endpoints"))
        look = asyncio.create_task(subscriber._claim())
        while not await connection.scalar(BLOCKED):  # noqa: ASYNC110 - there is no event
            await asyncio.sleep(0.01)
        subscriber._end(endpoint)
    await look
    at_work.cancel()
    await sender.close()

    assert subscriber._waiting == {office.tenant}, "so that the next look takes it"


BLOCKED = text(
    "SELECT count(*) FROM pg_locks WHERE NOT granted"
    " AND relation = 'webhook_endpoints'::regclass"
)


async def test_410_ends_an_endpoint_at_once_and_what_was_not_taken_waits(
    office: Office,
) -> None:
    async with receiving(lambda _: "410 Gone") as receiver, office.delivering():
        endpoint = await office.add_endpoint(receiver.url)
        await office.add_domains(2)

        while (row := await office.endpoint(endpoint)).is_active:  # noqa: ASYNC110 - there is no event
            await asyncio.sleep(0.02)
        assert (row.problem, row.lease) == ("answered 410", None)
        assert [one.state for one in await office.deliveries(endpoint)] == [
            "pending"
        ] * 2
        assert len(receiver.posted) == 1


async def test_a_message_that_is_refused_is_given_up_and_the_next_one_is_sent(
    office: Office, quick: None
) -> None:
    async with receiving() as receiver, office.delivering():
        endpoint = await office.add_endpoint(receiver.url)
        receiver.answer = lambda posted: (
            "400 Bad" if posted.id == receiver.posted[0].id else "200 OK"
        )
        domains = await office.add_domains(2)

        await until_settled(office, endpoint, ["failed", "delivered"])

        given_up, _ = await office.deliveries(endpoint)
        assert len(given_up.attempts) == len(REFUSAL_PAUSES) + 1
        assert receiver.records[-1] == domains[1]


async def test_an_endpoint_that_refuses_everything_is_switched_off(
    office: Office, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "MAX_FAILED_IN_A_ROW", 3)
    monkeypatch.setattr(schedule, "REFUSAL_PAUSES", [])
    async with receiving(lambda _: "422 No") as receiver, office.delivering():
        endpoint = await office.add_endpoint(receiver.url)
        await office.add_domains(5)

        while (await office.endpoint(endpoint)).is_active:  # noqa: ASYNC110 - there is no event
            await asyncio.sleep(0.02)

        states = [one.state for one in await office.deliveries(endpoint)]
        assert states == ["failed"] * 3 + ["pending"] * 2


async def test_whoever_takes_over_after_a_crash_sends_what_was_stored_with_its_id(
    office: Office,
) -> None:
    async with receiving() as receiver:
        receiver.delay = 60
        endpoint = await office.add_endpoint(receiver.url)
        async with office.delivering():
            await office.add_domains(1)
            await until(lambda: bool(receiver.posted))
        receiver.delay = 0
        # As if its process had been killed: nobody gave the lease back.
        await office.run(
            "UPDATE webhook_endpoints SET lease = gen_random_uuid(),"
            " leased_until = clock_timestamp() + interval '0.3 s'"
        )
        async with office.delivering():
            await until_settled(office, endpoint, ["delivered"])

        first, *again = receiver.posted
        assert {one.id for one in again} == {first.id}
        assert again[0].body == first.body


async def test_two_processes_deliver_each_message_once(office: Office) -> None:
    async with receiving() as receiver, office.delivering(), office.delivering():
        await office.add_endpoint(receiver.url)
        domains = [one for _ in range(10) for one in await office.add_domains(5)]

        await until(lambda: len(receiver.events) >= 50)

        assert receiver.records == domains


async def test_an_endpoint_that_is_too_far_behind_is_told_to_start_over(
    office: Office,
) -> None:
    async with receiving() as receiver:
        await office.add_domains(1)
        endpoint = await office.add_endpoint(receiver.url)
        await office.add_domains(2)
        await office.run(
            "DELETE FROM record_changes WHERE tenant_id = :t", t=office.tenant
        )
        async with office.delivering():
            await until(lambda: bool(receiver.posted))
            (domain,) = await office.add_domains(1)
            await until_settled(office, endpoint, ["delivered"] * 2)

        assert receiver.posted[0].content["type"] == "changes.forgotten"
        assert receiver.posted[1].content["data"]["record_id"] == domain


class ChangingNames:
    """A name server that answers with another address each time."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        return self.answers.pop(0)


@pytest.mark.parametrize(
    ("url", "answers", "why"),
    [
        ("http://127.0.0.1:{port}/", [], "blocked"),
        ("http://localhost/", [], "blocked"),
        ("http://169.254.169.254/latest/meta-data", [], "blocked"),
        ("http://[::ffff:10.0.0.1]/", [], "blocked"),
        ("http://hook.test:{port}/", [["93.184.215.14"]], "blocked"),
        ("http://hook.test/", [["93.184.215.14", "10.0.0.1"]], "blocked"),
        ("ftp://hook.test/", [], "url"),
    ],
)
async def test_addresses_that_are_not_public_are_refused(
    url: str, answers: list[list[str]], why: str
) -> None:
    async with receiving() as receiver:
        port = receiver.url.rpartition(":")[2].split("/")[0]
        sender = WebhookSender(CrawlerPolicy(), resolver=ChangingNames(*answers))
        found = await sender.post(url.format(port=port), {}, b"{}", NOW)
        await sender.close()

    assert not found.is_delivered
    assert why in (found.why or "")
    assert receiver.posted == []


async def test_a_name_that_leads_elsewhere_the_second_time_is_refused_then() -> None:
    async with receiving() as receiver:
        receiver.answer = lambda _: "200 OK\r\nConnection: close"
        names = ChangingNames(["127.0.0.1"], ["10.1.2.3"])
        sender = WebhookSender(CrawlerPolicy(), LOOPBACK, names)
        url = receiver.url.replace("127.0.0.1", "hook.test")
        first = await sender.post(url, {}, b"{}", NOW)
        second = await sender.post(url, {}, b"{}", NOW)
        await sender.close()

    assert (first.is_delivered, second.is_delivered) == (True, False)
    assert "10.1.2.3" in (second.why or "") or "blocked" in (second.why or "")


def test_the_pauses_grow_have_jitter_and_obey_retry_after() -> None:
    failure = DeliveryAttempt(NOW, 1, 500, "answered 500")
    asked = DeliveryAttempt(NOW, 1, 429, "answered 429", timedelta(hours=3))
    refusal = DeliveryAttempt(NOW, 1, 400, "answered 400")

    found = {next_pause(2, failure) for _ in range(20)}
    assert len(found) > 1
    assert all(one and 0.8 <= one / PAUSES[1] <= 1.2 for one in found)
    assert next_pause(1, asked) == timedelta(hours=3)
    assert next_pause(len(PAUSES), failure)
    assert next_pause(len(PAUSES) + 1, failure) is None
    assert next_pause(len(REFUSAL_PAUSES) + 1, refusal) is None


async def until_settled(office: Office, endpoint: UUID, states: list[str]) -> None:
    async with asyncio.timeout(30):
        while [o.state for o in await office.deliveries(endpoint)] != states:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
