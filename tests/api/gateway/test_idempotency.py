"""However often a request is sent with one key, it has one effect."""

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from uuid import uuid4

import pytest

from scrapersky.api.middleware import idempotency
from scrapersky.records import Company
from sdk_tests.rig.waiting import HUNG
from tests.api.gateway.rig import House, Person

pytestmark = pytest.mark.asyncio(loop_scope="module")


def a_user() -> dict[str, str]:
    return {"email": f"{uuid4().hex}@example.com"}


async def create(house: House, key: str, body: object, who: Person | None = None):  # type: ignore[no-untyped-def]
    return await house.send(
        "POST",
        "/users",
        who or house.admin,
        json=body,
        headers={"Idempotency-Key": key},
    )


async def count(house: House, email: str) -> object:
    return await house.scalar("SELECT count(*) FROM users WHERE email = :e", e=email)


async def test_the_same_request_gets_the_same_answer(house: House) -> None:
    key, body = uuid4().hex, a_user()

    first = await create(house, key, body)
    second = await create(house, key, body)

    assert first.status_code == second.status_code == 201
    assert first.content == second.content
    assert second.headers["idempotency-replayed"] == "true"
    assert second.headers["content-type"] == "application/json"
    assert second.headers["cache-control"] == "no-store"
    assert await count(house, body["email"]) == 1


async def test_an_edit_sent_again_was_refused_as_someone_elses(house: House) -> None:
    path = f"/companies/{await house.add(Company, house.home, name='Edited twice')}"
    etag = (await house.send("GET", path, house.admin)).json()["etag"]
    headers = {"If-Match": etag, "Idempotency-Key": uuid4().hex}

    first, second = [
        await house.send(
            "PATCH", path, house.admin, json={"notes": "seen"}, headers=headers
        )
        for _ in range(2)
    ]

    assert (first.status_code, second.status_code) == (200, 200), second.text
    assert first.json() == second.json()


async def test_another_body_is_refused(house: House) -> None:
    key, body = uuid4().hex, a_user()
    await create(house, key, body)

    other = await create(house, key, a_user())

    assert other.status_code == 422
    assert other.json()["type"].endswith("/key-reused")


async def test_twenty_at_once_have_one_effect(house: House) -> None:
    key, body = uuid4().hex, a_user()

    answers = await asyncio.gather(*(create(house, key, body) for _ in range(20)))

    assert {answer.status_code for answer in answers} <= {201, 503}
    made = {answer.json()["id"] for answer in answers if answer.status_code == 201}
    assert len(made) == 1
    assert await count(house, body["email"]) == 1


async def test_keys_of_tenants_are_their_own(house: House) -> None:
    key, body = uuid4().hex, a_user()

    mine = await create(house, key, body)
    theirs = await create(house, key, body, house.stranger)

    assert (mine.status_code, theirs.status_code) == (201, 201)
    assert mine.json()["id"] != theirs.json()["id"]


async def test_a_person_does_not_get_anothers_answer(house: House) -> None:
    key, body = uuid4().hex, {"name": "x"}
    headers = {"Idempotency-Key": key}
    await house.send("POST", "/api-keys", house.admin, json=body, headers=headers)

    answer = await house.send(
        "POST", "/api-keys", house.viewer, json=body, headers=headers
    )

    assert answer.status_code in {403, 409, 422}
    assert "secret" not in answer.json()


async def test_a_request_that_failed_may_be_tried_again(house: House) -> None:
    key, body = uuid4().hex, a_user()

    bad = await create(house, key, {**body, "role": "emperor"})
    good = await create(house, key, body)

    assert (bad.status_code, good.status_code) == (422, 201)


async def test_a_secret_is_not_kept_to_be_told_again(house: House) -> None:
    headers = {"Idempotency-Key": uuid4().hex}
    body = {"name": "nightly"}

    first = await house.send(
        "POST", "/api-keys", house.admin, json=body, headers=headers
    )
    second = await house.send(
        "POST", "/api-keys", house.admin, json=body, headers=headers
    )
    kept = await house.scalar(
        "SELECT count(*) FROM idempotency_keys WHERE position(:secret IN body) > 0",
        secret=first.json()["secret"].encode(),
    )

    assert (first.status_code, second.status_code) == (201, 409)
    assert second.json()["type"].endswith("/answer-not-kept")
    assert kept == 0


async def test_a_key_is_good_again_after_a_day(house: House) -> None:
    key, body, other = uuid4().hex, a_user(), a_user()
    await create(house, key, body)
    await house.run("UPDATE idempotency_keys SET expires_at = now() - interval '1 s'")

    answer = await create(house, key, other)

    assert answer.status_code == 201
    left = await house.scalar(
        "SELECT count(*) FROM idempotency_keys WHERE tenant_id = :id", id=house.home
    )
    assert left == 1


async def test_a_request_whose_process_died_is_taken_over(house: House) -> None:
    key, body = uuid4().hex, a_user()
    await house.run(
        "INSERT INTO idempotency_keys (tenant_id, route, key, holder, held_until, "
        "expires_at) VALUES (:tenant, 'POST /api/v3/users', :key, gen_random_uuid(), "
        "now() - interval '1 s', now() + interval '1 day')",
        tenant=house.home,
        key=key,
    )

    answer = await create(house, key, body)

    assert answer.status_code == 201


async def test_a_killed_request_kept_its_key_for_minutes(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(idempotency, "HOLD_RENEWAL_SECONDS", 0.05)
    key = uuid4().hex
    holds: list[object] = []

    async def hold() -> object:
        return await house.scalar(
            "SELECT held_until FROM idempotency_keys WHERE key = :key", key=key
        )

    async def lines() -> AsyncIterator[bytes]:
        yield f"{key}1.example\n".encode()
        holds.append(await hold())
        async with asyncio.timeout(HUNG):
            while (renewed := await hold()) == holds[0]:  # noqa: ASYNC110 - it tells nobody
                await asyncio.sleep(0.02)
        holds.append(renewed)
        yield f"{key}2.example\n".encode()

    answer = await house.send(
        "POST",
        "/domains/import",
        house.admin,
        headers={"Idempotency-Key": key, "Content-Type": "text/csv"},
        content=lines(),
    )

    assert answer.status_code == 200, answer.text
    assert [type(each) for each in holds] == [datetime, datetime]
    assert timedelta(seconds=30) >= idempotency.HOLD_TIMEOUT


@pytest.mark.parametrize("key", ["", " ", "x" * 201, "a b", "\t", "é"])
async def test_a_strange_key_is_refused(house: House, key: str) -> None:
    answer = await house.client.post(
        "/api/v3/users",
        json=a_user(),
        headers=[
            (b"Authorization", house.admin.headers["Authorization"].encode()),
            (b"Idempotency-Key", key.encode()),
        ],
    )

    assert answer.status_code == 400


async def test_a_streamed_body_is_compared_too(house: House) -> None:
    key = uuid4().hex
    headers = {"Idempotency-Key": key, "Content-Type": "text/csv"}
    name = uuid4().hex

    async def lines(ending: str) -> AsyncIterator[bytes]:
        for number in range(20):
            yield f"{name}{number}.{ending}\n".encode()

    first, same, other = [
        await house.send(
            "POST", "/domains/import", house.admin, headers=headers, content=lines(end)
        )
        for end in ("example", "example", "test")
    ]

    assert first.status_code == same.status_code == 200, first.text
    assert first.json() == same.json()
    assert other.status_code == 422
