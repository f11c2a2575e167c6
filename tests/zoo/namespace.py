"""Two network namespaces joined by one cable, and no way out of either.

The crawler lives in the first, the hostile web in the second: it holds addresses that
look public, so the guard judges them as it would in production. `enter` re-executes
a command in the first; `Cable` makes the second reachable from it.
"""

import os
import shutil
import socket
import subprocess
import sys
from functools import cache
from pathlib import Path

CRAWLER_SIDE = "crawl0"
ZOO_SIDE = "zoo0"
INSIDE_V4 = ("10.0.0.7", "192.168.1.1", "100.64.0.1", "169.254.169.254")
INSIDE_V6 = ("fd00::1", "fd00:ec2::254", "64:ff9b::a9fe:a9fe", "2002:7f00:1::")
ROUTED_V4 = ("93.184.0.0/16", *INSIDE_V4)
REACHABLE_BY_MISTAKE = ("198.41.0.4", "8.8.8.8", "2001:500:2::c")


class NotIsolated(Exception):
    """The namespace has a way out: hostile cases must not run in it."""


@cache
def why_not() -> str | None:
    """Return why this machine cannot have the rig, or nothing if it can."""
    if sys.platform != "linux":
        return "network namespaces are a thing of Linux"
    for tool in ("unshare", "ip"):
        if shutil.which(tool) is None:
            return f"{tool} is not installed"
    probe = [*unshare(), "sh", "-c", "ip link add a0 type veth peer name b0"]
    done = subprocess.run(probe, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else done.stderr.strip() or "unshare failed"


def unshare() -> list[str]:
    """Return the command before a command that gives it a network of its own."""
    rootless = [] if os.geteuid() == 0 else ["--map-root-user"]
    return ["unshare", *rootless, "--net", "--mount", "--"]


def ip(*words: str) -> None:
    """Run ip; raise with its own words when it fails."""
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise OSError(f"ip {' '.join(words)}: {done.stderr.strip()}")


def lay_cable(zoo_process: int) -> None:
    """Join this namespace with that of another process, and route only to it."""
    ip("link", "set", "lo", "up")
    far = ["peer", "name", ZOO_SIDE, "netns", str(zoo_process)]
    ip("link", "add", CRAWLER_SIDE, "type", "veth", *far)
    ip("link", "set", CRAWLER_SIDE, "up")
    ip("addr", "add", "93.184.255.2/32", "dev", CRAWLER_SIDE)
    ip("-6", "addr", "add", "fd00::2/128", "dev", CRAWLER_SIDE, "nodad")
    for network in ROUTED_V4:
        ip("route", "add", network, "dev", CRAWLER_SIDE, "src", "93.184.255.2")
    for address in INSIDE_V6:
        ip("-6", "route", "add", address, "dev", CRAWLER_SIDE, "src", "fd00::2")


def hold_addresses() -> None:
    """Take every address of the hostile web, in the namespace that is to have it."""
    ip("link", "set", "lo", "up")
    ip("link", "set", ZOO_SIDE, "up")
    ip("route", "add", "local", "93.184.0.0/17", "dev", "lo")
    ip("route", "add", "93.184.255.2/32", "dev", ZOO_SIDE)
    for address in INSIDE_V4:
        ip("addr", "add", f"{address}/32", "dev", ZOO_SIDE)
    for address in INSIDE_V6:
        ip("-6", "addr", "add", f"{address}/128", "dev", ZOO_SIDE, "nodad")
    ip("-6", "route", "add", "fd00::2/128", "dev", ZOO_SIDE)


def verify_isolation() -> None:
    """Raise NotIsolated unless nothing beyond our own cable can be reached."""
    interfaces = {name for _, name in socket.if_nameindex()}
    if strange := interfaces - {"lo", CRAWLER_SIDE}:
        raise NotIsolated(f"there are other interfaces: {sorted(strange)}")
    for family in ("-4", "-6"):
        done = subprocess.run(
            ["ip", family, "route", "show", "default"],
            capture_output=True,
            text=True,
            check=True,
        )
        if done.stdout.strip():
            raise NotIsolated(f"there is a default route: {done.stdout.strip()}")
    for address in REACHABLE_BY_MISTAKE:
        family_of = socket.AF_INET6 if ":" in address else socket.AF_INET
        with socket.socket(family_of, socket.SOCK_DGRAM) as probe:
            try:
                probe.connect((address, 53))
            except OSError:
                continue
            raise NotIsolated(f"{address} has a route")


def use_nameserver(address: str, directory: Path) -> None:
    """Make the system's resolver ask our DNS server, in this mount namespace only."""
    file = directory / "resolv.conf"
    file.write_text(f"nameserver {address}\noptions timeout:1 attempts:2\n")
    for command in (
        ["mount", "--make-rprivate", "/"],
        ["mount", "--bind", str(file), "/etc/resolv.conf"],
    ):
        subprocess.run(command, check=True, capture_output=True)
