"""What is wrong with a request, said to people."""

import asyncio
from typing import Annotated

import pytest
from pydantic import AfterValidator, BaseModel, Field, ValidationError
from sqlalchemy.ext.asyncio import create_async_engine

from scrapersky.api.problem import in_words
from scrapersky.db.failure import explain
from scrapersky.errors import QueryTooSlow


def refused(value: str) -> str:
    """Refuse any value, in our own words."""
    raise ValueError(f"not a phone number, {len(value)} signs")


class Form(BaseModel):
    """Fields as the forms of the page have them."""

    name: str = Field("x", min_length=1, max_length=3)
    days: int = Field(1, ge=0)

    phone: Annotated[str, AfterValidator(refused)] = ""
    password: str


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"name": ""}, "Use at least 1 character(s)."),
        ({"name": "long"}, "Use at most 3 character(s)."),
        ({"days": -1}, "Must be at least 0."),
        ({"days": "x"}, "Must be a whole number."),
        ({"phone": "12"}, "Not a phone number, 2 signs."),
        ({"password": None}, "Must be a valid string."),
    ],
)
def test_a_validator_spoke_to_people(given: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError) as refusal:
        Form.model_validate({"password": "x", **given})

    assert [in_words(one) for one in refusal.value.errors()] == [said]


def test_a_missing_field_is_said_to_be_required() -> None:
    with pytest.raises(ValidationError) as refusal:
        Form.model_validate({})

    assert [in_words(one) for one in refusal.value.errors()] == ["Required."]


async def test_a_database_that_says_nothing_to_a_new_connection_was_a_bug_of_ours() -> (
    None
):
    async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # It may be accepted when the client has given up already.
        try:
            await reader.read()
        finally:
            writer.close()

    server = await asyncio.start_server(hold, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    engine = create_async_engine(
        f"postgresql+asyncpg://a@127.0.0.1:{port}/a", connect_args={"timeout": 0.1}
    )
    async with server:
        with pytest.raises(TimeoutError) as refusal:
            await engine.connect()

    assert isinstance(explain(refusal.value), QueryTooSlow)
