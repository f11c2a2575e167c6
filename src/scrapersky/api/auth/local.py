"""Local mode: on a laptop, whoever sits at the machine is its admin."""

import re
from functools import lru_cache
from ipaddress import ip_address
from typing import Final

from fastapi import Request

from scrapersky.errors import NotAllowed

PROXY_HEADERS: Final = frozenset(
    {
        "cf-connecting-ip",
        "forwarded",
        "true-client-ip",
        "via",
        "x-client-ip",
        "x-real-ip",
    }
)
SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
HOST: Final = re.compile(
    r"(?:\[(?P<address>[0-9A-Fa-f:.]+)\]|(?P<name>[^:@/?#\[\]\s]+))(?::[0-9]{0,5})?"
)


def is_from_this_machine(request: Request) -> bool:
    """Say whether a request was sent on this machine, to this machine's own name.

    The name keeps out pages that had their own name resolve to 127.0.0.1; a proxy's
    headers show that somebody else is behind it.
    """
    client = request.client
    return (
        client is not None
        and is_loopback(client.host)
        and is_loopback(host_of(request.headers.get("host", "")))
        and not any(
            name in PROXY_HEADERS or name.startswith("x-forwarded-")
            for name in request.headers
        )
    )


@lru_cache(1_000)
def is_loopback(host: str) -> bool:
    """Say whether a name or address means this machine."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def is_address(host: str) -> bool:
    """Say whether a host is an address and not a name."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def host_of(header: str) -> str:
    """Return the host of a Host header without its port; empty if it is malformed."""
    found = HOST.fullmatch(header)
    return (found["address"] or found["name"]).lower() if found else ""


def refuse_other_sites(request: Request) -> None:
    """Raise if another web page had the browser send this."""
    fetched_by = request.headers.get("sec-fetch-site", "none")
    origin = request.headers.get("origin")
    own = f"{request.url.scheme}://{request.headers.get('host', '')}"
    is_foreign = origin is not None and origin.lower() != own.lower()
    if fetched_by not in {"same-origin", "none"} or (
        is_foreign and request.method not in SAFE_METHODS
    ):
        raise NotAllowed(
            "Another web page sent this request.",
            hint="Use the page that this server shows, or an access token.",
        )
