"""An address that was found, with what stands around it."""

from collections.abc import Iterable, Iterator

from contact_extraction.contacts.email.syntax import is_plausible
from contact_extraction.contacts.model import Method, Sighting
from contact_extraction.html.sight import SEEN


def as_found(
    addresses: Iterable[str | None],
    method: Method,
    line: int,
    context: str,
    certainty: float = SEEN,
) -> Iterator[Sighting]:
    """Yield a sighting for each address that may be one."""
    for address in addresses:
        if address and is_plausible(address):
            yield sighting(address, method, line, context, certainty)


def sighting(
    address: str, method: Method, line: int, context: str, certainty: float = SEEN
) -> Sighting:
    """Make a sighting of an address in a line, or nowhere in the text (-1)."""
    return Sighting(
        key=address,
        value=address,
        method=method,
        line=line,
        snippet=snippet_with(context, address),
        certainty=certainty,
    )


def snippet_with(context: str, address: str) -> str:
    """Cut a text to at most 200 characters, the address inside."""
    if address in context.lower():
        return context[:200]
    room = max(0, 197 - len(address))
    return f"{context[:room]} <{address}>".strip()[:200]
