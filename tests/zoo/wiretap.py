"""Counts what leaves for addresses nobody may talk to, packet by packet."""

import ipaddress
import socket
import threading
from collections import Counter
from collections.abc import Sequence
from types import TracebackType
from typing import Self

ALL_PROTOCOLS = 3
IPV4, IPV6 = 0x0800, 0x86DD
TCP, UDP = 6, 17
OUTGOING = 4
"""The kernel's mark of a packet that this namespace sends."""


class Wiretap:
    """Listens on every interface of the namespace while it is open.

    A canary only notices a finished handshake; this notices the first packet, also
    towards addresses where nobody listens.
    """

    def __init__(self, allowed: Sequence[str]) -> None:
        self.allowed = [ipaddress.ip_network(network) for network in allowed]
        self.forbidden: Counter[str] = Counter()
        self.packets = 0
        self._socket = socket.socket(
            socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ALL_PROTOCOLS)
        )
        self._socket.settimeout(0.2)
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._listen, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closed.set()
        self._thread.join()
        self._socket.close()

    def _listen(self) -> None:
        while not self._closed.is_set():
            try:
                data, (_, protocol, direction, *_rest) = self._socket.recvfrom(128)
            except TimeoutError:
                continue
            if direction == OUTGOING and (place := destination(protocol, data)):
                self.packets += 1
                address, port = place
                if not any(address in network for network in self.allowed):
                    self.forbidden[f"{address} port {port}"] += 1


Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def destination(protocol: int, data: bytes) -> tuple[Address, int] | None:
    """Return where a TCP or UDP packet goes; nothing for any other packet."""
    if protocol == IPV4:
        start = (data[0] & 15) * 4
        kind, address = data[9], ipaddress.ip_address(data[16:20])
    elif protocol == IPV6:
        start, kind, address = 40, data[6], ipaddress.ip_address(data[24:40])
    else:
        return None
    if kind not in {TCP, UDP}:
        return None
    return address, int.from_bytes(data[start + 2 : start + 4], "big")
