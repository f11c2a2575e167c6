"""The description of the API is one that generators and checkers of others understand."""

import re
from collections import Counter
from typing import Any

import httpx
import pytest

from tests.api.gateway.document import an_app, operations, written

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    found: dict[str, Any] = an_app().openapi()
    return found


def test_every_tag_is_declared_and_used(document: dict[str, Any]) -> None:
    used = {
        tag
        for methods in document["paths"].values()
        for operation in methods.values()
        for tag in operation["tags"]
    }

    assert used == {tag["name"] for tag in document["tags"]}
    assert all(tag["description"] for tag in document["tags"])


def test_it_says_where_the_server_is_and_whom_to_ask(document: dict[str, Any]) -> None:
    assert document["servers"][0]["url"] == "/"
    assert document["info"]["contact"]["url"]
    assert document["info"]["license"]["identifier"] == "MIT"


def test_titles_of_schemas_were_used_twice(document: dict[str, Any]) -> None:
    titles = Counter(
        schema.get("title", name)
        for name, schema in document["components"]["schemas"].items()
    )

    assert [title for title, count in titles.items() if count > 1] == []


def test_two_paths_were_equivalent(document: dict[str, Any]) -> None:
    shapes = Counter(re.sub(r"\{\w+\}", "{}", path) for path in document["paths"])

    assert [shape for shape, count in shapes.items() if count > 1] == []


def test_a_word_of_openapi_3_2_stood_in_a_document_of_3_1(
    document: dict[str, Any],
) -> None:
    assert document["openapi"].startswith("3.1.")
    assert "itemSchema" not in str(document)


def taken_by(address: str) -> set[str]:
    """Return the methods that some operation takes at an address."""
    return {
        operation.method
        for operation in operations(written())
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", operation.path), address)
    }


async def test_a_wrong_method_was_answered_with_the_methods_of_one_route() -> None:
    addresses = {
        operation.address("0b6f3f0e-8f0a-4a57-9a57-2f9f0d6e7c11")
        for operation in operations(written())
    }
    wrong = {}
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(an_app()), base_url="http://127.0.0.1:8000"
    ) as client:
        for address in addresses:
            taken = taken_by(address)
            method = next(one for one in METHODS if one not in taken)
            answer = await client.request(method, address)
            allowed = set(answer.headers.get("allow", "").split(", ")) - {"HEAD"}
            if answer.status_code != 405 or allowed != taken:
                wrong[address] = (answer.status_code, method, allowed)

    assert wrong == {}
