"""The MCP server with the official client, in both eras, against a served application."""

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

import aiohttp
import httpx
import orjson
import pytest
import pytest_asyncio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp_types import ElicitResult

from scrapersky.mcp.answer import DEFAULT_TOKENS, MAX_TOKENS, OPENING, tokens_of
from scrapersky.mcp.server import make_server
from scrapersky.records import Company, Contact
from scrapersky.records.status import Role
from sdk_tests.rig.port import free_port
from sdk_tests.rig.waiting import until
from tests.api.operations.rig import Served, new_key, serving
from tests.conftest import TestServer, a_database
from tests.mcp.test_answer import HOSTILE

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("mcp_verbs"),
]
Era = Literal["auto", "legacy"]
COMMAND = str(Path(sys.executable).with_name("scrapersky"))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served(postgres_server: TestServer, template: str) -> AsyncIterator[Served]:
    for database in a_database(postgres_server, template):
        async with serving(database) as found:
            yield found


@asynccontextmanager
async def client_of(
    served: Served, mode: Era, key: str | None = None, **more: Any
) -> AsyncIterator[Client]:
    url = str(served.client.base_url).rstrip("/")
    async with aiohttp.ClientSession() as session:
        server = make_server(session, url, key=key or served.key)
        async with Client(server, mode=mode, **more) as client:
            yield client


async def call(client: Client, verb: str, **given: Any) -> dict[str, Any]:
    result = await client.call_tool(verb, given)
    text = result.content[0].text  # type: ignore[union-attr]
    assert not result.is_error, text
    assert tokens_of(text) <= MAX_TOKENS
    found: dict[str, Any] = orjson.loads(text)
    return found


async def all_leads(client: Client, limit: int) -> AsyncIterator[dict[str, Any]]:
    """Go on from the cursor, as a model does."""
    cursor = None
    while True:
        found = await call(client, "leads", limit=limit, cursor=cursor)
        assert "left_out" not in found
        for one in found["items"]:
            yield one
        if (cursor := found.get("next_cursor")) is None:
            return


async def refused(client: Client, verb: str, **given: Any) -> str:
    result = await client.call_tool(verb, given)
    assert result.is_error
    return str(result.content[0].text)  # type: ignore[union-attr]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_ten_verbs_are_listed_within_their_budget(
    served: Served, mode: Era
) -> None:
    async with client_of(served, mode) as client:
        listed = (await client.list_tools()).tools

    sizes = {
        one.name: tokens_of(one.model_dump_json(by_alias=True, exclude_none=True))
        for one in listed
    }
    print(sizes, sum(sizes.values()))
    assert len(listed) == 10
    assert sum(sizes.values()) <= 2_500


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_leads_are_counted_read_explained_and_decided_within_the_budgets(
    served: Served, mode: Era
) -> None:
    await served.run("DELETE FROM companies")
    companies = [
        await served.add(Company, name=f"{HOSTILE} {n} {'x' * 2_000}", website="a.bv")
        for n in range(60)
    ]
    async with client_of(served, mode) as client:
        count = await call(client, "leads", count_only=True)
        some = await call(client, "leads")
        every = [one["id"] async for one in all_leads(client, limit=50)]
        one = await call(client, "lead", company_id=str(companies[0]), evidence=True)
        why = await call(
            client, "explain", kind="company", record_id=str(companies[0]), field="name"
        )
        key = str(uuid4())
        given = {"kind": "company", "ids": [str(companies[0])], "status": "Contacted"}
        for _ in range(2):
            await call(client, "decide", **given, idempotency_key=key)
        stages = await call(client, "stages")
        export = await call(client, "export")
        crms = await call(client, "sync")
        price = await refused(client, "search", what="dentists", where="", source="osm")
        searches = await call(client, "search_state")

    assert count["total"]["count"] == 60
    for answer in (count, some, one, why, stages, export, crms, searches):
        assert tokens_of(orjson.dumps(answer)) <= DEFAULT_TOKENS or answer is one
    assert 0 < len(some["items"]) <= 10
    assert sorted(every) == sorted(map(str, companies))  # each of them, once
    assert some["items"][0]["name"].count(OPENING) == 1
    assert why["value"].startswith(OPENING)
    assert export["total"]["count"] == 60
    assert "Refused" in price
    done = await served.scalar(
        "SELECT count(*) FROM curation_actions WHERE status = 'Contacted'"
        " AND changed_count = 1"
    )
    assert done >= 1
    (status,) = await served.run(
        "SELECT lead_status::text AS s FROM companies WHERE id = :id", id=companies[0]
    )
    assert status.s == "Contacted"


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_nothing_is_deleted_without_a_confirmed_dry_run_of_exactly_that(
    served: Served, mode: Era
) -> None:
    domain = await served.add_domain()
    email = f"{uuid4().hex}@a.bv"
    await served.add(Contact, domain_id=domain, email=email)
    key = str(uuid4())
    asked: list[str] = []

    async def answer(_: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        agree = len(asked) > 1
        return ElicitResult(action="accept", content={"agree": agree})

    async def left() -> int:
        found = "SELECT count(*) FROM contacts WHERE email = :e"
        return int(await served.scalar(found, e=email))

    async with client_of(served, mode) as client:
        dry = await call(client, "do_not_contact", values=[email])
        assert dry["would_remove_contacts"] == 1
        for wrong in (
            {"values": [email], "confirm": "1-2"},
            {"values": ["other@a.bv"], "confirm": dry["confirm"]},
        ):
            said = await refused(client, "do_not_contact", **wrong, idempotency_key=key)
            assert "dry run" in said
        given = {"values": [email], "confirm": dry["confirm"]}
        assert "idempotency_key" in await refused(client, "do_not_contact", **given)
        assert await left() == 1
    async with client_of(served, mode, elicitation_callback=answer) as client:
        said = await refused(client, "do_not_contact", **given, idempotency_key=key)
        assert "did not agree" in said
        assert await left() == 1
        done = await call(client, "do_not_contact", **given, idempotency_key=key)
        again = await call(client, "do_not_contact", **given, idempotency_key=key)

    assert done == again
    assert done["contacts_removed"] == 1
    assert await left() == 0
    assert len(asked) == 3


async def test_a_key_does_no_more_than_it_may_and_sees_its_tenant_alone(
    served: Served,
) -> None:
    await served.add(Company, name="Mine")
    viewer = await new_key(served.engine, served.tenant, Role.VIEWER, scopes=["read"])
    async with client_of(served, "auto", viewer) as client:
        said = await refused(
            client, "decide", kind="company", ids=[str(uuid4())], status="Contacted",
            idempotency_key=str(uuid4()),
        )  # fmt: skip
    async with client_of(served, "auto", served.other_key) as client:
        count = await call(client, "leads", count_only=True)

    assert "403" in said
    assert count["total"]["count"] == 0


async def test_over_http_each_request_brings_its_key_and_strangers_learn_where_to_ask(
    served: Served,
) -> None:
    url = str(served.client.base_url).rstrip("/")
    resource = "http://127.0.0.1:8010/mcp"
    async with aiohttp.ClientSession() as session:
        server = make_server(session, url, resource=resource, issuer="https://id.test")
        app = server.streamable_http_app(stateless_http=True, json_response=True)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(
                transport=httpx.ASGITransport(app), base_url="http://127.0.0.1:8010"
            ) as http,
        ):
            request = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
            headers = {"Accept": "application/json, text/event-stream"}
            nobody = await http.post("/mcp", json=request, headers=headers)
            headers["Authorization"] = f"Bearer {served.key}"
            somebody = await http.post("/mcp", json=request, headers=headers)
            place = "/.well-known/oauth-protected-resource/mcp"
            metadata = (await http.get(place)).json()

    assert nobody.status_code == 401
    assert "resource_metadata" in nobody.headers["www-authenticate"]
    assert somebody.status_code == 200, somebody.text
    assert len(somebody.json()["result"]["tools"]) == 10
    assert metadata["resource"] == resource
    assert metadata["authorization_servers"] == ["https://id.test"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_leads_are_written_to_a_crm_after_a_confirmed_dry_run_once(
    served: Served, mode: Era
) -> None:
    await served.run("DELETE FROM companies")
    company = await served.add(Company, name=f"Sync {HOSTILE}")
    given = {"connector": "folder", "name": f"MCP {mode}"}
    made = await served.post("/connections", given, status=201)
    key = str(uuid4())
    async with client_of(served, mode) as client:
        listed = await call(client, "sync")
        asked = {"connection_id": made["id"], "company_ids": [str(company)]}
        dry = await call(client, "sync", **asked)
        confirmed = asked | {"confirm": dry["confirm"]}
        assert "idempotency_key" in await refused(client, "sync", **confirmed)
        others = {**confirmed, "company_ids": [str(uuid4())], "idempotency_key": key}
        assert "dry run" in await refused(client, "sync", **others)
        done = [
            await call(client, "sync", **confirmed, idempotency_key=key) for _ in "ab"
        ]

    assert made["id"] in {one["id"] for one in listed["items"]}
    assert (dry["compared"], dry["creates"]) == (1, 1)
    assert done[0] == done[1]
    assert done[0]["queued"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_command_serves_the_official_client_over_http_with_its_own_key(
    served: Served, mode: Era
) -> None:
    port = free_port()
    asked: list[str] = []

    async def agree(_: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="accept", content={"agree": True})

    email = f"{uuid4().hex}@a.bv"
    domain = await served.add_domain()
    await served.add(Contact, domain_id=domain, email=email)
    process = await asyncio.create_subprocess_exec(
        *(COMMAND, "mcp", "--transport", "http", "--port", str(port)),
        *("--url", str(served.client.base_url).rstrip("/")),
    )
    try:
        await until(lambda: answers(port))
        async with http_client(port, served.other_key, mode) as client:
            count = await call(client, "leads", count_only=True)
            assert count["total"]["count"] == 0
        async with http_client(
            port, served.key, mode, elicitation_callback=agree
        ) as client:
            assert len((await client.list_tools()).tools) == 10
            dry = await call(client, "do_not_contact", values=[email])
            given = {"values": [email], "confirm": dry["confirm"]}
            done = await call(
                client, "do_not_contact", **given, idempotency_key=str(uuid4())
            )
    finally:
        process.terminate()
        await process.wait()

    assert dry["would_remove_contacts"] == 1
    assert done["contacts_removed"] == 1
    # Without sessions, only the newer era has a way to ask a person.
    assert len(asked) == (1 if mode == "auto" else 0)


def answers(port: int) -> bool:
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0


@asynccontextmanager
async def http_client(
    port: int, key: str, mode: Era, **more: Any
) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {key}"}
    address = f"http://127.0.0.1:{port}/mcp"
    async with (
        asyncio.timeout(120),
        create_mcp_http_client(headers=headers) as http,
        Client(
            streamable_http_client(address, http_client=http), mode=mode, **more
        ) as client,
    ):
        yield client


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_command_speaks_over_standard_input_and_output(
    served: Served, mode: Era
) -> None:
    parameters = StdioServerParameters(
        command=COMMAND,
        args=["mcp", "--url", str(served.client.base_url).rstrip("/")],
        env={**os.environ, "SCRAPERSKY_API_KEY": served.key},
    )
    async with (
        asyncio.timeout(120),
        Client(stdio_client(parameters), mode=mode) as client,
    ):
        assert len((await client.list_tools()).tools) == 10
        assert "total" in await call(client, "leads", count_only=True)
