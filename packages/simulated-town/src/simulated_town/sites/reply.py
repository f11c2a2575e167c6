"""What a site of the town answers: values only, the server speaks them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

HTML: Final = "text/html; charset=utf-8"
XML: Final = "application/xml; charset=utf-8"
TEXT: Final = "text/plain; charset=utf-8"


class Conduct(StrEnum):
    """How an answer is given."""

    PLAIN = "plain"
    ENDLESS = "endless"
    """The body is repeated without end and without a length."""
    SILENT = "silent"
    """The connection is kept open and nothing is said."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer to one request."""

    body: bytes = b""
    type: str = HTML
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    delay: float = 0.0
    """Seconds before the answer begins."""
    conduct: Conduct = Conduct.PLAIN


def no_reply(_path: str) -> Reply | None:
    """Know no path beyond those that are listed."""
    return None


@dataclass(frozen=True, slots=True)
class Site:
    """All answers of one host."""

    replies: Mapping[str, Reply]
    """By path, without the query."""
    missing: Reply
    invent: Callable[[str], Reply | None] = no_reply
    """Pages made up on the way, for sites that have no end."""
    stumbles: Mapping[str, tuple[Reply, ...]] = field(default_factory=dict)
    """What a path answers the first times it is asked for, before it behaves."""
    is_restless: bool = False
    """Whether its pages are written anew for every visitor."""


def redirect(location: str, status: int = 301) -> Reply:
    """Send the visitor elsewhere."""
    return Reply(status=status, headers=(("Location", location),))


def html(text: str, status: int = 200) -> Reply:
    """Answer with a page."""
    return Reply(text.encode(), status=status)
