"""How often a caller may ask, and where a request comes from."""

from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio

from scrapersky.api.auth.rate_limit import MOST_CALLERS, Limiter, counted_as
from scrapersky.api.middleware.address import client_address, parse_proxies, scheme_of
from tests.api.gateway.rig import PASSWORD, WITH_TOKENS, House, a_house
from tests.conftest import TestDatabase

pytestmark = pytest.mark.asyncio(loop_scope="module")

PROXIES = parse_proxies(["10.0.0.0/8", "::1"])


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def started(module_database: TestDatabase) -> AsyncIterator[House]:
    limited = {**WITH_TOKENS, "API_RATE_PER_SECOND": "0.5", "API_RATE_BURST": "5"}
    async with a_house(module_database, limited) as house:
        yield house


async def test_a_burst_is_let_through_and_then_told_to_wait(house: House) -> None:
    answers = [await house.get("/session", house.viewer) for _ in range(7)]

    assert [answer.status_code for answer in answers] == [200] * 5 + [429] * 2
    assert answers[0].headers["ratelimit-limit"] == "5"
    assert answers[0].headers["ratelimit-remaining"] == "4"
    assert int(answers[-1].headers["retry-after"]) >= 1
    assert answers[-1].json()["type"].endswith("/too-many-requests")


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Forwarded-For": "198.51.100.1"},
        {"X-Real-IP": "198.51.100.1"},
        {"Forwarded": "for=198.51.100.1"},
    ],
    ids=str,
)
async def test_another_address_buys_nothing(
    house: House, headers: dict[str, str]
) -> None:
    for _ in range(5):
        await house.get("/session", house.viewer)

    answer = await house.get("/session", house.viewer, headers=headers)
    path = await house.client.get("/API/v3/session", headers=house.viewer.headers)

    assert answer.status_code == 429
    assert path.status_code in {200, 404}
    assert b"tenant" not in path.content


async def test_another_key_of_the_same_person_buys_nothing(house: House) -> None:
    made = await house.send("POST", "/api-keys", house.admin, json={"name": "second"})
    second = {"Authorization": f"Bearer {made.json()['secret']}"}

    answers = [await house.get("/session", headers=second) for _ in range(6)]

    assert [answer.status_code for answer in answers] == [200] * 4 + [429] * 2


async def test_one_caller_does_not_use_up_anothers(house: House) -> None:
    for _ in range(7):
        await house.get("/session", house.viewer)

    assert (await house.get("/session", house.curator)).status_code == 200


async def test_guessing_keys_ends_in_waiting(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures = house.app.state.authenticator.failures
    failures._buckets.clear()
    # Nobody gains a guess while a slow machine answers.
    monkeypatch.setattr(failures, "per_second", 1e-6)

    answers = [
        await house.get("/session", headers={"X-API-Key": f"ssk_guess{n}"})
        for n in range(105)
    ]

    codes = [answer.status_code for answer in answers]
    assert codes[:100] == [401] * 100
    assert codes[-1] == 429
    # Whoever has a good key is let in all the same.
    assert (await house.get("/session", house.curator)).status_code == 200


async def test_bad_tokens_locked_correct_logins_out(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(house.app.state.authenticator.failures, "per_second", 1e-6)
    for number in range(105):
        await house.get("/session", headers={"X-API-Key": f"ssk_guess{number}"})
    wrong = await house.get("/session", headers={"X-API-Key": "ssk_guess"})

    login = await house.send(
        "POST", "/session", json={"email": house.admin.email, "password": PASSWORD}
    )
    house.client.cookies.clear()

    assert (wrong.status_code, login.status_code) == (429, 201)


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::1", "2001:db8:1:3::/64"),
        ("::ffff:198.51.100.7", "198.51.100.7"),
        ("198.51.100.7", "198.51.100.7"),
        ("fe80::1%eth0", "fe80::/64"),
        ("unknown", "unknown"),
    ],
)
async def test_an_ipv6_address_is_counted_with_its_network(
    address: str, counted: str
) -> None:
    assert counted_as(address) == counted


async def test_each_address_of_an_ipv6_network_had_its_own_hundred_guesses(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nobody gains a guess while a slow machine answers.
    monkeypatch.setattr(house.app.state.authenticator.failures, "per_second", 1e-6)

    async def guess(number: int, network: str = "2001:db8:0:7") -> int:
        transport = httpx.ASGITransport(house.app, client=(f"{network}::{number:x}", 1))
        async with httpx.AsyncClient(
            transport=transport, base_url="http://app.test"
        ) as client:
            answer = await client.get(
                "/api/v3/session", headers={"X-API-Key": f"ssk_wrong_{number}"}
            )
        return answer.status_code

    statuses = [await guess(number) for number in range(101)]

    assert statuses == [401] * 100 + [429]
    assert await guess(1, "2001:db8:0:8") == 401


async def test_a_bucket_fills_again() -> None:
    now = 0.0
    limiter = Limiter(burst=2, per_second=1, clock=lambda: now)
    assert [limiter.take("a").is_granted for _ in range(3)] == [True, True, False]

    now = 1.5

    assert [limiter.take("a").is_granted for _ in range(2)] == [True, False]
    now = 1_000
    assert [limiter.take("a").is_granted for _ in range(3)] == [True, True, False]


async def test_buckets_do_not_fill_the_memory() -> None:
    limiter = Limiter(burst=2, per_second=1)

    for number in range(MOST_CALLERS + 500):
        limiter.take(str(number))

    assert len(limiter._buckets) == MOST_CALLERS


@pytest.mark.parametrize(
    ("peer", "forwarded", "found"),
    [
        ("192.0.2.1", "1.1.1.1", "192.0.2.1"),
        ("10.0.0.1", "1.1.1.1", "1.1.1.1"),
        ("10.0.0.1", "9.9.9.9, 1.1.1.1", "1.1.1.1"),
        ("10.0.0.1", "1.1.1.1, 10.0.0.7", "1.1.1.1"),
        ("10.0.0.1", "10.0.0.7", "10.0.0.7"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("10.0.0.1", "rubbish", "10.0.0.1"),
        ("10.0.0.1", "1.1.1.1, rubbish, 10.0.0.7", "10.0.0.7"),
        ("::1", "2001:db8::1", "2001:db8::1"),
        ("unix", "1.1.1.1", "unix"),
    ],
)
async def test_only_our_proxies_are_believed(
    peer: str, forwarded: str, found: str
) -> None:
    headers = [(b"x-forwarded-for", forwarded.encode())]
    scope = {"type": "http", "client": (peer, 1), "headers": headers}

    assert client_address(scope, PROXIES) == found


@pytest.mark.parametrize(
    ("peer", "reported", "found"),
    [("10.0.0.1", "https", "https"), ("192.0.2.1", "https", "http"),
     ("10.0.0.1", "gopher", "http")],
)  # fmt: skip
async def test_only_our_proxies_say_https(peer: str, reported: str, found: str) -> None:
    headers = [(b"x-forwarded-proto", reported.encode())]
    scope = {"type": "http", "client": (peer, 1), "headers": headers, "scheme": "http"}

    assert scheme_of(scope, PROXIES) == found
