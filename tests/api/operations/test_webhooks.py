"""Webhooks in the API: secrets shown once, tests, the log, rotation and replay."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from scrapersky.webhooks import schedule
from tests.api.operations.rig import Served, serving
from tests.conftest import TestDatabase
from tests.webhooks.receiver import receiving

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served(
    module_database: TestDatabase, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Served]:
    home = tmp_path_factory.mktemp("webhooks")
    given = {"WEBHOOK_NETWORKS": "127.0.0.0/8", "SCRAPERSKY_DATA_DIR": str(home)}
    async with serving(module_database, given) as found:
        yield found


@pytest_asyncio.fixture(loop_scope="module")
async def clean(served: Served) -> Served:
    await served.empty()
    await served.run("DELETE FROM webhook_endpoints")
    return served


def key_file(served: Served) -> Path:
    home: Path = served.app.state.settings.data_dir
    return home / "encryption.key"


async def until_told(served: Served, webhook: str, states: list[str]) -> None:
    async with asyncio.timeout(60):
        while True:
            found = await served.get(f"/webhooks/{webhook}/deliveries")
            if [one["state"] for one in reversed(found["items"])] == states:
                return
            await asyncio.sleep(0.05)


async def test_a_webhook_is_made_tested_told_rotated_replayed_and_deleted(
    clean: Served,
) -> None:
    async with receiving() as receiver:
        given = {"url": receiver.url, "events": ["place.*"], "schemes": ["v1", "v1a"]}
        made = await clean.post("/webhooks", given, status=201)
        path = f"/webhooks/{made['id']}"
        shown = await clean.get(path)
        assert made["secret"].startswith("whsec_")
        assert "secret" not in shown
        assert shown["public_key"].startswith("whpk_")
        stored = await clean.scalar("SELECT secrets FROM webhook_endpoints")
        assert made["secret"].removeprefix("whsec_").encode() not in bytes(stored)
        assert key_file(clean).stat().st_mode & 0o777 == 0o600

        tested = await clean.post(f"{path}/test", {})
        assert (tested["is_delivered"], tested["attempt"]["status"]) == (True, 204)
        assert receiver.posted[0].content["type"] == "webhook.test"
        assert receiver.posted[0].is_signed_with(made["secret"])

        places = await clean.add_places(2)
        await until_told(clean, made["id"], ["delivered"] * 3)
        assert receiver.records == [str(one) for one in places]

        rotated = await clean.post(f"{path}/secret", {"overlap_hours": 1})
        await clean.post(f"{path}/test", {})
        for secret in (made["secret"], rotated["secret"]):
            assert receiver.posted[-1].is_signed_with(secret)

        since = (await clean.get(path))["created_at"]
        replay = {"since": since, "failed_only": False}
        assert (await clean.post(f"{path}/replay", replay))["starts_at"]
        async with asyncio.timeout(60):
            while len(receiver.posted) < 6:  # noqa: ASYNC110 - there is no event
                await asyncio.sleep(0.05)
        told = [one.content["data"].get("id") for one in receiver.posted]
        assert told[4:6] == told[1:3]

        await clean.call("DELETE", path, status=204)
        await clean.get(path, status=404)
    actions = await clean.run(
        "SELECT action FROM audit_log WHERE action LIKE 'webhook.%'"
    )
    assert {row.action for row in actions} == {
        "webhook.created", "webhook.tested", "webhook.secret_rotated",
        "webhook.replayed", "webhook.deleted",
    }  # fmt: skip


@pytest.mark.slow
async def test_what_was_given_up_within_a_time_is_sent_again_as_it_was(
    clean: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses = [timedelta(seconds=0.05)] * len(schedule.REFUSAL_PAUSES)
    monkeypatch.setattr(schedule, "REFUSAL_PAUSES", pauses)
    async with receiving(lambda _: "422 No") as receiver:
        given = {"url": receiver.url, "events": ["place.created"]}
        made = await clean.post("/webhooks", given, status=201)
        path = f"/webhooks/{made['id']}"
        moments, places = [], []
        for number in range(3):
            moments.append((await clean.scalar("SELECT clock_timestamp()")).isoformat())
            places += await clean.add_places(1)
            await until_told(clean, made["id"], ["failed"] * (number + 1))
        bodies = {posted.id: posted.body for posted in receiver.posted}
        assert len(bodies) == 3
        refused = len(receiver.posted)

        receiver.answer = lambda _: "200 OK"
        between = {"since": moments[1], "until": moments[2], "failed_only": True}
        assert (await clean.post(f"{path}/replay", between))["messages"] == 1
        await until_told(clean, made["id"], ["failed", "delivered", "failed"])
        rest = {"since": moments[0], "failed_only": True}
        assert (await clean.post(f"{path}/replay", rest))["messages"] == 2
        await until_told(clean, made["id"], ["delivered"] * 3)

        again = receiver.posted[refused:]
        assert [one.content["data"]["record_id"] for one in again] == [
            str(places[number]) for number in (1, 0, 2)
        ]
        assert {posted.id: posted.body for posted in again} == bodies
        assert (await clean.post(f"{path}/replay", rest))["messages"] == 0
        await clean.call("DELETE", path, status=204)


@pytest.mark.slow
async def test_an_endpoint_that_was_switched_off_goes_on_with_what_it_missed(
    clean: Served,
) -> None:
    async with receiving(lambda _: "410 Gone") as receiver:
        given = {"url": receiver.url, "events": ["place.created"]}
        made = await clean.post("/webhooks", given, status=201)
        path = f"/webhooks/{made['id']}"
        await clean.add_places(1)
        async with asyncio.timeout(60):
            while (await clean.get(path))["is_active"]:  # noqa: ASYNC110 - there is no event
                await asyncio.sleep(0.05)
        row = await clean.get(path)
        assert (row["problem"], row["pending"]) == ("answered 410", 1)
        await clean.add_places(1)

        receiver.answer = lambda _: "200 OK"
        await clean.call("PATCH", path, {"is_active": True})

        await until_told(clean, made["id"], ["delivered"] * 2)
        assert receiver.posted[0].id == receiver.posted[1].id
        await clean.call("DELETE", path, status=204)


async def test_webhooks_are_their_tenant_s_own_and_have_bounds(clean: Served) -> None:
    given = {"url": "https://example.com/hook"}
    made = await clean.post("/webhooks", given, status=201)

    await clean.get(f"/webhooks/{made['id']}", status=404, key=clean.other_key)
    assert (await clean.get("/webhooks", key=clean.other_key))["items"] == []
    wrongs: tuple[dict[str, Any], ...] = (
        {"url": "javascript:alert(1)"},
        {"url": "/relative"},
        {"url": "https://ada:secret@example.com/hook"},
        given | {"events": ["company.eaten"]},
        given | {"events": []},
        given | {"format": "xml"},
        given | {"schemes": ["none"]},
    )
    for wrong in wrongs:
        await clean.post("/webhooks", wrong, status=422)
    for _ in range(19):
        await clean.post("/webhooks", given, status=201)
    refused = await clean.post("/webhooks", given, status=409)
    assert "20 webhooks" in refused["detail"]


async def test_a_webhook_that_leads_back_to_us_is_refused_as_a_loop(
    clean: Served,
) -> None:
    url = f"{clean.client.base_url}/api/v3/domains"
    made = await clean.post("/webhooks", {"url": url}, status=201)

    tested = await clean.post(f"/webhooks/{made['id']}/test", {})

    assert tested["attempt"]["status"] == 508
