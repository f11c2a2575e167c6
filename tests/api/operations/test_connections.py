"""Connections in the API: connected, mapped, compared, run, looked at, paused and taken back."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tests.api.operations.rig import Served, serving
from tests.conftest import TestDatabase
from tests.connectors.fakes.hubspot import FakeHubSpot
from tests.connectors.fakes.trouble import bad_gateway
from tests.connectors.plain_crm import PlainCrm

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served(
    module_database: TestDatabase, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Served]:
    home = tmp_path_factory.mktemp("connections")
    given = {"CRM_NETWORKS": "127.0.0.0/8", "SCRAPERSKY_DATA_DIR": str(home)}
    async with serving(module_database, given) as found:
        yield found


@pytest_asyncio.fixture(loop_scope="module")
async def crm(served: Served) -> AsyncIterator[PlainCrm]:
    await served.run("DELETE FROM sync_connections")
    await served.run("DELETE FROM companies")
    crm = PlainCrm()
    server = await crm.start()
    yield crm
    server.close()


def asked(crm: PlainCrm, **changes: Any) -> dict[str, Any]:
    options = {"description": crm.description()}
    return {"connector": "http", "credential": crm.token, "options": options, **changes}


async def add_companies(served: Served, count: int) -> list[str]:
    rows = await served.run(
        "INSERT INTO companies (tenant_id, name, city) SELECT :t, 'Company ' || n, 'Austin'"
        " FROM generate_series(1, :n) n RETURNING id",
        t=served.tenant,
        n=count,
    )
    return [str(row.id) for row in rows]


async def until_counted(served: Served, path: str, counts: dict[str, int]) -> None:
    async with asyncio.timeout(60):
        while (await served.get(path))["counts"] != counts:  # noqa: ASYNC110
            await asyncio.sleep(0.05)


@pytest.mark.slow
async def test_a_connection_is_made_compared_run_paused_and_taken_back(
    served: Served, crm: PlainCrm
) -> None:
    made = await served.post("/connections", asked(crm), status=201)
    path = f"/connections/{made['id']}"
    assert made["is_active"] is False
    assert crm.token not in json.dumps(await served.get(path))
    stored = await served.scalar("SELECT secret FROM sync_connections")
    assert crm.token.encode() not in bytes(stored)

    fields = await served.get(f"{path}/fields?kind=company")
    assert fields["mapping"]["name"] == "name"
    assert "scrapersky_id" in fields["locked"]
    assert {"name": "name", "label": "Company name"}.items() <= fields["fields"][
        0
    ].items()

    ids = await add_companies(served, 3)
    there = crm.add("company", name="Another")
    shown = await served.post(f"{path}/preview", {"ids": ids})
    assert shown["items"][0]["values"][0]["label"] == "Company name"
    compared = await served.post(f"{path}/difference", {"filter": []})
    assert (compared["compared"], compared["creates"]) == (3, 3)
    assert compared["samples"][0]["changes"]["city"] == {"from": None, "to": "Austin"}
    assert [*crm.rows["company"]] == [there]

    assert await served.post(f"{path}/run", {"filter": []}, status=202) == {"queued": 3}
    await until_counted(served, path, {"done": 3})
    assert [len(crm.of("company", one)) for one in ids] == [1, 1, 1]
    log = await served.get(f"{path}/log")
    assert [one["is_new"] for one in log["items"]] == [True] * 3
    of_one = await served.get(f"/connections-of/{ids[0]}")
    assert of_one["items"][0]["state"] == "done"

    await served.post(f"{path}/pause", {})
    edited = crm.of("company", ids[0])[0]["id"]
    crm.edit("company", edited, city="By hand")
    undone = await served.post(f"{path}/undo", {})
    assert undone == {"deleted": 2, "restored": 0, "kept": 1, "left": 0}
    assert sorted(crm.rows["company"]) == sorted([there, edited])


async def test_the_fields_of_a_crm_that_counts_calls_could_not_be_read(
    served: Served, crm: PlainCrm
) -> None:
    """What is counted is written down, and the request was one that writes nothing."""
    async with FakeHubSpot() as hubspot:
        given = {
            "connector": "hubspot",
            "credential": hubspot.token,
            "options": {"base_url": hubspot.url},
        }
        made = await served.post("/connections", given, status=201)

        for kind in ("company", "person"):
            fields = await served.get(f"/connections/{made['id']}/fields?kind={kind}")
            assert fields["fields"], kind
        assert made["account_name"] == "Hub ID 4711"


async def test_a_connection_was_listed_before_its_account_was_known(
    served: Served, crm: PlainCrm
) -> None:
    """A CRM that answers slowly and then refuses left for minutes what nobody could use."""
    listed: list[int] = []

    async def look(_method: str, _path: str) -> None:
        listed.append(len((await served.get("/connections"))["items"]))

    crm.on_call = look
    await served.post("/connections", asked(crm), status=201)

    assert {*listed} == {0}
    assert len((await served.get("/connections"))["items"]) == 1


async def test_a_wrong_credential_connects_nothing(
    served: Served, crm: PlainCrm
) -> None:
    refused = await served.post(
        "/connections", asked(crm, credential="wrong"), status=422
    )

    assert "401" in refused["detail"]
    assert await served.scalar("SELECT count(*) FROM sync_connections") == 0


async def test_whoever_connected_a_crm_that_is_down_waited_for_it_to_come_back(
    served: Served, crm: PlainCrm
) -> None:
    """A minute and a half, to read at last what its first answer had said."""
    async with FakeHubSpot() as hubspot:
        hubspot.troubles.append(bad_gateway(times=1))
        given = {
            "connector": "hubspot",
            "credential": hubspot.token,
            "options": {"base_url": hubspot.url},
        }

        refused = await served.post("/connections", given, status=424)

    assert refused["detail"].endswith("answered 502.")
    assert len(hubspot.calls) == 1


async def test_an_account_is_connected_once(served: Served, crm: PlainCrm) -> None:
    await served.post("/connections", asked(crm), status=201)

    refused = await served.post("/connections", asked(crm), status=409)

    assert "connected already" in refused["detail"]
    assert await served.scalar("SELECT count(*) FROM sync_connections") == 1


async def test_a_mapping_to_a_field_that_is_not_there_is_refused(
    served: Served, crm: PlainCrm
) -> None:
    made = await served.post("/connections", asked(crm), status=201)
    path = f"/connections/{made['id']}"

    wrong = {"company": {"name": {"field": "no_such_field"}}}
    locked = {"company": {"name": {"field": "scrapersky_id"}}}
    for given in (wrong, locked):
        refused = await served.call("PUT", f"{path}/mapping", given, status=422)
        assert "no field that can be written" in refused["detail"]
    right = {"company": {"city": {"field": "phone", "rule": "theirs"}}}
    await served.call("PUT", f"{path}/mapping", right)
    fields = await served.get(f"{path}/fields?kind=company")
    assert fields["mapping"]["city"] == "phone"


async def test_another_tenant_sees_no_connection(served: Served, crm: PlainCrm) -> None:
    made = await served.post("/connections", asked(crm), status=201)

    path, key = f"/connections/{made['id']}", served.other_key
    await served.get(path, key=key, status=404)
    await served.post(f"{path}/test", {}, key=key, status=404)
    await served.post(f"{path}/run", {"filter": []}, key=key, status=404)
    assert (await served.get("/connections", key=key))["items"] == []


async def test_a_private_address_is_not_asked(served: Served, crm: PlainCrm) -> None:
    given = json.loads(crm.description()) | {"base_url": "https://10.0.0.1"}
    options = {"description": json.dumps(given)}

    refused = await served.post("/connections", asked(crm, options=options), status=424)

    assert "10.0.0.0/8" in refused["detail"]


async def test_whoever_is_still_to_be_erased_there_is_named_when_an_account_is_forgotten(
    served: Served, crm: PlainCrm
) -> None:
    made = await served.post("/connections", asked(crm), status=201)
    await served.run(
        "INSERT INTO sync_records (tenant_id, connection_id, kind, record_id, their_id, state)"
        " VALUES (:t, :c, 'person', gen_random_uuid(), '4711', 'erasing')",
        t=served.tenant,
        c=made["id"],
    )

    await served.call("DELETE", f"/connections/{made['id']}", None, status=204)

    details = await served.scalar(
        "SELECT details ->> 'about' FROM audit_log WHERE action = 'connection.deleted'"
    )
    assert details == "still to be erased there: person 4711"
