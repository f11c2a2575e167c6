"""What people name things with: one line, in which nothing is hidden."""

from typing import Annotated, Final

from pydantic import AfterValidator, Field

from scrapersky.kit.plain_text import HIDDEN_SIGNS, has_hidden

PATTERN: Final = {"pattern": f"^[^{HIDDEN_SIGNS}]*$"}


def one_line(text: str) -> str:
    """Return a text that can stand in a line, or raise ValueError."""
    if has_hidden(text):
        raise ValueError(
            "write one line, without control characters or signs that turn the direction"
        )
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("must be valid Unicode") from None
    return text


def a_title(text: str) -> str:
    """Return a title without blanks around it, or raise ValueError."""
    if not (found := one_line(text).strip()):
        raise ValueError("a title is made of signs one can see")
    return found


Title = Annotated[
    str,
    Field(min_length=1, max_length=100, json_schema_extra=PATTERN),
    AfterValidator(a_title),
]
"""The name of a column, a choice, a view, a tag."""
Line = Annotated[
    str,
    Field(min_length=1, max_length=200, json_schema_extra=PATTERN),
    AfterValidator(a_title),
]
"""A short text a person writes: the name of a rule, a file, a batch; a reason."""
Words = Annotated[
    str, Field(max_length=200, json_schema_extra=PATTERN), AfterValidator(one_line)
]
"""What is searched for; may be empty."""
