"""Other tenants' objects are absent ones: over every route the document names."""

import re
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
import pytest_asyncio

from scrapersky.records import KINDS
from tests.api.gateway.document import Operation, operations, properties, written
from tests.api.gateway.planted import picture, plant
from tests.api.gateway.rig import House, a_token

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.usefixtures("quiet"),
]

API = [
    found
    for found in operations(written())
    if found.path.startswith("/api/v3/") and not found.path.endswith("/events")
]
TAKE_IDS = [found for found in API if found.takes_id]
TAKE_BODIES = [found for found in API if found.body and found.method != "GET"]
LISTS = [found for found in API if found.method == "GET" and not found.takes_id]
ENDING = re.compile("ies$|(?<=ch)es$|s$")
ALSO = {"/api/v3/connections-of/{record_id}": {"contact", "company"}}
"""What a path takes beside what it names."""
MARK = "zebrafish"
OWN_MARK = "goldcrest"
UNKNOWN = (
    "tenant_id", "id", "created_by", "is_admin", "is_operator", "lease_token",
    "attempts", "password_hash", "processing_status", "__proto__", "$where",
)  # fmt: skip
ABOVE_TENANTS = {"/api/v3/tenants", "/api/v3/tenants/{tenant_id}"}
"""For operators only; whoever is none gets 403, which other tests hold."""


def words(name: str) -> set[str]:
    """Name the things in a path or of a table, each in the singular."""
    found = name.replace("/api/v3/", "").replace("-", "/").replace("_", "/").split("/")
    return {
        ENDING.sub(lambda end: "y" if end[0] == "ies" else "", one) for one in found
    }


def fitting(operation: Operation, ids: dict[str, UUID]) -> dict[str, UUID]:
    """Give the rows that an operation may take, or all where its path names none of them.

    A row of another table is as unknown to it as an id that nothing has.
    """
    wanted = words(operation.path) | ALSO.get(operation.path, set())
    found = {table: value for table, value in ids.items() if words(table) & wanted}
    return found or ids


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def ours(started: House) -> dict[str, UUID]:
    return await plant(started.engine, started.home, OWN_MARK)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def theirs(
    started: House, ours: dict[str, UUID]
) -> AsyncIterator[dict[str, UUID]]:
    """The other tenant's rows; at the end not one of them has changed."""
    ids = await plant(started.engine, started.other, MARK)
    before = await picture(started.engine, started.other)
    yield ids
    after = await picture(started.engine, started.other)
    assert {name: rows for name, rows in after.items() if rows != before[name]} == {}


async def call(
    house: House, operation: Operation, value: object, body: Any = None
) -> httpx.Response:
    return await house.client.request(
        operation.method,
        operation.address(value),
        headers={**house.admin.headers, "If-Match": "*"},
        json=operation.sample_body() if body is None else body,
    )


def gist(answer: httpx.Response) -> tuple[int, object, object]:
    problem = answer.json()
    return answer.status_code, problem.get("type"), problem.get("errors")


@pytest.mark.parametrize("operation", TAKE_IDS, ids=lambda found: found.id)
async def test_an_object_of_others_is_an_absent_one(
    house: House, theirs: dict[str, UUID], operation: Operation
) -> None:
    absent = await call(house, operation, uuid4())

    for table, value in fitting(operation, theirs).items():
        answer = await call(house, operation, value)
        assert answer.status_code >= 400, (table, answer.text)
        assert gist(answer) == gist(absent), (table, answer.text)
        assert MARK not in answer.text
    assert absent.status_code in {403, 404}, absent.text


READS = [found for found in TAKE_IDS if found.method == "GET"]


@pytest.mark.parametrize("operation", READS, ids=lambda found: found.id)
async def test_what_is_absent_of_others_is_there_of_ones_own(
    house: House, ours: dict[str, UUID], operation: Operation
) -> None:
    """Otherwise the rows that the test above asks for were not those that fit."""
    absent = gist(await call(house, operation, uuid4()))
    answers = [
        await call(house, operation, value)
        for value in fitting(operation, ours).values()
    ]
    # A story of a stage that no worker has begun is refused in words of its own.
    assert any(one.is_success or gist(one) != absent for one in answers), answers


def with_ids(operation: Operation, ids: list[str]) -> Any:
    """Put others' ids wherever a body has room for ids."""
    assert operation.body is not None
    filled = operation.sample_body()
    for name, kind in properties(operation.body, operation.document).items():
        if name == "ids" or name.endswith("_ids"):
            filled[name] = ids
        elif name.endswith("_id") or name in {"into", "id"}:
            filled[name] = ids[0]
        elif kind == "array" and name == "items":
            filled[name] = ids
    return filled


@pytest.mark.parametrize("operation", TAKE_BODIES, ids=lambda found: found.id)
async def test_ids_of_others_in_a_body_do_nothing(
    house: House, theirs: dict[str, UUID], operation: Operation
) -> None:
    ids = [str(value) for value in theirs.values()]
    body = with_ids(operation, ids)

    answer = await call(house, operation, uuid4(), body)

    assert answer.status_code < 500, answer.text
    assert MARK not in answer.text
    if answer.is_success and answer.headers["content-type"] == "application/json":
        assert not answer.json().get("changed", 0), answer.text


@pytest.mark.parametrize("operation", LISTS, ids=lambda found: found.id)
async def test_lists_counts_and_exports_show_nothing_of_others(
    house: House, theirs: dict[str, UUID], operation: Operation
) -> None:
    if operation.path in ABOVE_TENANTS:
        pytest.skip("for operators, who see all tenants")
    asked = [{}, {"q": MARK}, {"field": "status", "filter": f"name:contains:{MARK}"}]

    for params in asked:
        answer = await house.client.get(
            operation.address(uuid4()), params=params, headers=house.admin.headers
        )
        assert answer.status_code < 500, answer.text
        assert MARK not in answer.text.replace(f"q={MARK}", "")
        for value in theirs.values():
            assert str(value) not in answer.text


async def test_lists_that_are_read_as_the_owner_show_nothing_of_others(
    house: House, theirs: dict[str, UUID], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no superuser let indexes be used under policies, lists name their tenant."""
    monkeypatch.setattr(house.app.state, "is_slow_under_policies", True)

    for kind in KINDS.values():
        for path in (kind.path, f"{kind.path}/facets"):
            for params in ({}, {"q": MARK}, {"q": OWN_MARK}):
                answer = await house.get(path, house.admin, params=params)
                assert answer.status_code == 200, answer.text
                assert MARK not in answer.text
                assert not any(str(value) in answer.text for value in theirs.values())
    assert OWN_MARK in (await house.get("/domains", house.admin)).text


async def test_the_planted_rows_can_be_seen_by_their_owner(
    house: House, theirs: dict[str, UUID]
) -> None:
    """Otherwise the tests above could not fail."""
    token = {"Authorization": f"Bearer {a_token(house.stranger.id)}"}
    seen = [
        (await house.get(path, headers=token)).text
        for path in ("/domains", "/pages", "/contacts", "/batches", "/rules", "/users")
    ]

    assert all(MARK in text for text in seen[:5]), seen
    assert str(theirs["users"]) in seen[5]


@pytest.mark.parametrize("operation", TAKE_BODIES, ids=lambda found: found.id)
async def test_what_a_request_does_not_know_it_refuses(
    house: House, operation: Operation
) -> None:
    body = {**operation.sample_body(), **dict.fromkeys(UNKNOWN, str(house.other))}

    answer = await call(house, operation, uuid4(), body)

    assert answer.status_code in {403, 404, 422}, answer.text
    if answer.status_code == 422:
        # Each of them for itself, not the whole for the first of them.
        refused = {
            error["where"].rpartition(".")[2] for error in answer.json()["errors"]
        }
        assert refused >= set(UNKNOWN), answer.text
