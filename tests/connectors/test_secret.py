"""A key is sent in one place and shown in none, whatever is written into it or around it."""

import json
from typing import Any
from uuid import UUID

import pytest

from scrapersky.connectors.control import NewConnection, connect_account
from scrapersky.connectors.generic import GenericConnector
from scrapersky.errors import ConfigurationError, CrmError
from tests.connectors.desk import CIPHER, CrmDesk
from tests.connectors.plain_crm import Fault


async def connect(crm_desk: CrmDesk, credential: str, **changes: Any) -> UUID:
    desk = crm_desk.desk
    await desk.run("DELETE FROM sync_connections")
    return await connect_account(
        desk.engine,
        desk.tools,
        NewConnection(
            connector="http",
            name=None,
            credential=credential,
            options={"description": crm_desk.crm.description(**changes)},
        ),
        cipher=CIPHER,
        tenant_id=desk.tenant,
        user_id=None,
    )


@pytest.mark.parametrize(
    "key", ["the-token\r\nX-Evil: 1", "the-\ttoken\n\nGET", "ключ"]
)
async def test_a_key_that_no_header_can_hold_was_not_sent(
    crm_desk: CrmDesk, key: str
) -> None:
    with pytest.raises(CrmError) as refused:
        await connect(crm_desk, key)

    assert key not in str(refused.value)
    assert crm_desk.crm.calls == []
    assert await crm_desk.desk.run("SELECT id FROM sync_connections") == []


async def test_what_was_pasted_around_a_key_is_not_of_it(crm_desk: CrmDesk) -> None:
    sync_id = await connect(crm_desk, "\n  the-token\t\n")

    found = await crm_desk.desk.connection(sync_id)
    assert CIPHER.decrypt(found.secret, str(sync_id)) == b"the-token"


@pytest.mark.parametrize(
    "changes",
    [
        {"value": "Bearer sk-live-1234"},
        {"header": "Host"},
        {"header": "Transfer-Encoding"},
        {"header": "X-Key: 1\r\nX-Other"},
        {"account": "GET\r\nX: /me"},
        {"account": "TRACE /me"},
        {"account": "GET @elsewhere.example/me"},
        {"base_url": "https://ann:secret@crm.example.com"},
    ],
    ids=str,
)
async def test_a_description_that_holds_a_key_or_sends_something_else_is_refused(
    crm_desk: CrmDesk, changes: dict[str, str]
) -> None:
    with pytest.raises((CrmError, ConfigurationError)):
        await connect(crm_desk, "the-token", **changes)

    assert crm_desk.crm.calls == []
    assert await crm_desk.desk.run("SELECT id FROM sync_connections") == []


class RawConnector(GenericConnector):
    """One that does not understand an answer, and quotes it."""

    async def read_own(self, *given: Any, **more: Any) -> Any:
        msg = f"not a date: {self._session.secrets[0]}"
        raise ValueError(msg)


async def test_a_key_that_the_crm_repeats_is_nowhere_to_be_read(
    crm_desk: CrmDesk, capsys: pytest.CaptureFixture[str]
) -> None:
    desk, crm = crm_desk.desk, crm_desk.crm
    key = crm.token = "a-key-of-37-characters-and-of-no-words"
    sync_id = await connect(crm_desk, key)
    await desk.run("UPDATE sync_connections SET is_active = true, paused_at = NULL")
    companies, _ = await crm_desk.leads(2)
    told = json.dumps({"message": f"Bearer {key} is out of order", "error": key})
    crm.faults = [
        Fault("POST", "status", status=status, body=told.encode())
        for status in (400, 403, 409, 422, 429, 500, 200)
    ]
    for _ in range(4):
        await desk.push(sync_id, *companies)
        await desk.work_until_idle(sync_id)
    desk.connectors["http"] = RawConnector
    await desk.push(sync_id, await desk.add_company("Late Ltd"))
    with pytest.raises(ValueError, match=r"\*\*\*") as raised:
        await desk.work_until_idle(sync_id)
    crm.token = "another"
    desk.connectors["http"] = GenericConnector
    await desk.work_until_idle(sync_id)

    assert key not in str(raised.value)
    assert key not in capsys.readouterr().out
    stopped = await desk.connection(sync_id)
    assert not stopped.is_active
    tables = await desk.run(
        "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
    )
    for table in tables:
        query = f'SELECT count(*) AS n FROM "{table.tablename}" t WHERE t::text LIKE :k'
        found = await desk.one(query, k=f"%{key}%")
        assert found.n == 0, table
