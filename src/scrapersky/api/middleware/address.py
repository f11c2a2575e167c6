"""Where a request comes from, when a proxy that we trust has brought it."""

from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from starlette.datastructures import Headers
from starlette.types import Scope

Networks = tuple[IPv4Network | IPv6Network, ...]

MOST_HOPS = 20


def parse_proxies(texts: Sequence[str]) -> Networks:
    """Read TRUSTED_PROXIES."""
    return tuple(ip_network(text, strict=False) for text in texts)


def is_trusted(host: str, proxies: Networks) -> bool:
    """Say whether an address is one of our proxies."""
    if not proxies:
        return False
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return any(address in network for network in proxies)


def client_address(scope: Scope, proxies: Networks) -> str:
    """Return the address that sent the request, as far as we can believe it.

    The list in X-Forwarded-For grows to the right: what a trusted proxy added is
    true, and whatever stands left of the first stranger, that stranger may have made up.
    """
    client = scope.get("client")
    address = str(client[0]) if client else "unknown"
    if not is_trusted(address, proxies):
        return address
    header = ",".join(Headers(scope=scope).getlist("x-forwarded-for"))
    hops = [hop.strip() for hop in header.split(",") if hop.strip()][-MOST_HOPS:]
    for hop in reversed(hops):
        try:
            address = str(ip_address(hop))
        except ValueError:
            return address
        if not is_trusted(address, proxies):
            return address
    return address


def scheme_of(scope: Scope, proxies: Networks) -> str:
    """Return http or https, as the caller sees it."""
    client = scope.get("client")
    if client and is_trusted(str(client[0]), proxies):
        scheme = Headers(scope=scope).get("x-forwarded-proto", "").strip().lower()
        if scheme in {"http", "https"}:
            return scheme
    return str(scope.get("scheme", "http"))
