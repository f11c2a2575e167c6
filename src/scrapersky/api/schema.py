"""What requests, lists and refusals have in common, all over the API."""

from typing import Annotated, Any, Final, Generic, Self, TypeVar

from fastapi import Query
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from scrapersky.api.problem import Problem

COUNTED_ROWS: Final = 10_000
"""Rows that are counted exactly; beyond, nobody reads to the end."""
MAX_LIMIT: Final = 200
"""Rows on one page of a list."""
MAX_CURSOR: Final = 4_096
"""Characters of a cursor."""
ItemT = TypeVar("ItemT")
Responses = dict[int | str, dict[str, Any]]

REFUSALS: Final[Responses] = {
    401: {"model": Problem, "description": "Not authenticated"},
    403: {"model": Problem, "description": "Not allowed"},
    422: {"model": Problem, "description": "Invalid request"},
}
NOT_FOUND: Final[Responses] = {
    404: {"model": Problem, "description": "There is no such record"}
}
CONFLICT: Final[Responses] = {
    409: {"model": Problem, "description": "Conflict with the present state"}
}
VERSIONS: Final[Responses] = {
    412: {"model": Problem, "description": "The record has changed since"},
    428: {"model": Problem, "description": "If-Match is missing"},
}


class RequestModel(BaseModel):
    """A request: what it does not know, it refuses."""

    model_config = ConfigDict(extra="forbid")


class Total(BaseModel):
    """How many there are in all."""

    count: int = Field(examples=[1234])
    is_exact: bool = Field(description="Otherwise it is an estimate.")

    @classmethod
    def up_to(cls, count: int) -> Self:
        """Return what was counted to no more than one row beyond `COUNTED_ROWS`."""
        return cls(count=min(count, COUNTED_ROWS), is_exact=count <= COUNTED_ROWS)


class ListOut(BaseModel, Generic[ItemT]):
    """One page of a list."""

    items: list[ItemT]
    next_cursor: str | None = Field(description="Send it as `cursor` for more.")
    total: Total


def whole_list(items: list[ItemT]) -> ListOut[ItemT]:
    """Return a list that is short enough to be given whole."""
    total = Total(count=len(items), is_exact=True)
    return ListOut(items=items, next_cursor=None, total=total)


def storable(text: str) -> str:
    """Return a text that PostgreSQL can hold, or raise ValueError."""
    if "\x00" in text:
        raise ValueError("must not contain a NUL character")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("must be valid Unicode") from None
    return text


Word = Annotated[str, Field(min_length=1, max_length=60), AfterValidator(storable)]
"""The name of a stage, a kind, a status."""
Limit = Annotated[int, Query(ge=1, le=MAX_LIMIT)]
Cursor = Annotated[str | None, Query(max_length=MAX_CURSOR)]
