"""How much time and memory one fetch may take."""

from dataclasses import dataclass
from datetime import timedelta

KIB = 1024
MIB = 1024 * KIB


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchLimits:
    """The budgets of one fetch; beyond any of them it ends with a typed error."""

    dns: timedelta = timedelta(seconds=3)
    connect: timedelta = timedelta(seconds=5)
    tls: timedelta = timedelta(seconds=5)
    headers: timedelta = timedelta(seconds=10)
    """From the request sent to the last header received."""
    total: timedelta = timedelta(seconds=30)
    """All hops together, without the time spent waiting for a host's turn."""
    rate_grace: timedelta = timedelta(seconds=5)
    """After this much of a body its average rate must reach `bytes_per_second`."""
    bytes_per_second: int = KIB
    header_bytes: int = 64 * KIB
    header_lines: int = 100
    interim_answers: int = 10
    """How many 1xx answers may come before the real one."""
    wire_bytes: int = 5 * MIB
    inflated_bytes: int = 10 * MIB
    inflation_ratio: int = 100
    """How many times larger than sent a body may become, once past `ratio_from`."""
    ratio_from: int = MIB
    encodings: int = 2
    """How many layers of Content-Encoding are undone."""
    redirects: int = 5
    """HTTP redirects and meta refreshes together."""
    addresses: int = 4
    """How many addresses of a name are tried."""
    robots_bytes: int = 500 * KIB
