"""Hosts on one machine: each has its own network, processes, name and mounts.

They meet at a bridge in a namespace of its own, so nothing of this machine's network is
touched. A host's cable can be pulled, and ending a host ends all that runs on it.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import psutil

from sdk_tests.rig.cluster import NOBODY
from tests.zoo import namespace

ROOT = Path(__file__).parents[2]
INSIDE = "10.77.0"
PUBLIC = "93.184"
SETTLED_IN = "hostname {name} && ip link set lo up && echo ready && exec sleep infinity"


@cache
def why_not() -> str | None:
    """Return why this machine cannot have hosts, or nothing if it can."""
    if os.geteuid() != 0:
        return "hosts are made by root: PostgreSQL runs on them as somebody else"
    return namespace.why_not()


@dataclass
class Host:
    """A namespace of every kind that matters, held by a process that only sleeps."""

    name: str
    number: int
    holder: "subprocess.Popen[str]"
    running: "list[subprocess.Popen[bytes]]" = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"{INSIDE}.{self.number}"

    @property
    def first(self) -> int:
        """The first process of the host, as the machine counts."""
        (only,) = psutil.Process(self.holder.pid).children()
        return only.pid

    def enter(self, *kinds: str) -> list[str]:
        """Return the command before a command that runs it on this host."""
        return ["nsenter", "--target", str(self.first), *kinds, "--"]

    def as_server(self) -> tuple[str, ...]:
        """Return what runs a server in this host's network, as PostgreSQL's account."""
        account = ("--setuid", str(NOBODY), "--setgid", str(NOBODY))
        return tuple(self.enter("--net", *account))

    def ip(self, *words: str) -> None:
        run(*self.enter("--net"), "ip", *words)

    def knows(self, names: Mapping[str, str], folder: Path) -> None:
        """Give the host names that its resolver finds, and nobody else to ask."""
        hosts, resolver = folder / "hosts", folder / "resolv.conf"
        hosts.write_text("".join(f"{where} {name}\n" for name, where in names.items()))
        resolver.write_text("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
        for file in (hosts, resolver):
            bind = ("mount", "--bind", str(file), f"/etc/{file.name}")
            run(*self.enter("--mount"), *bind)

    def start(
        self, *words: str, log: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        """Run Python on the host, with these words, where this project can be imported."""
        with log.open("ab") as out:
            command = self.enter("--net", "--mount", "--uts", "--pid")
            self.running.append(
                subprocess.Popen(
                    [*command, sys.executable, *words],
                    cwd=ROOT,
                    env={
                        "PATH": os.environ["PATH"],
                        "PYTHONPATH": f"{ROOT}:{ROOT}/packages/curation-sdk/tests",
                        **(environment or {}),
                    },
                    stdout=out,
                    stderr=subprocess.STDOUT,
                )
            )

    def stop(self) -> None:
        """Ask everything on the host to end, and wait until it has."""
        for entered in self.running:
            for process in psutil.Process(entered.pid).children():
                process.terminate()
            entered.wait(60)
        self.running.clear()

    def end(self) -> None:
        """End the host and all that runs on it, as a power cut does."""
        self.holder.kill()
        self.holder.wait()
        if self.holder.stdout is not None:
            self.holder.stdout.close()
        for entered in self.running:
            entered.wait(60)
        self.running.clear()


@dataclass
class Network:
    """The hosts, and the switch between them."""

    switch: Host
    hosts: dict[str, Host]

    def __getitem__(self, name: str) -> Host:
        return self.hosts[name]

    def cut(self, name: str) -> None:
        """Pull the host's cable."""
        self.switch.ip("link", "set", name, "down")

    def join(self, name: str) -> None:
        """Put the host's cable back."""
        self.switch.ip("link", "set", name, "up")

    def move(self, address: str, host: str) -> None:
        """Give an address to another host, and let everybody know."""
        self[host].ip("addr", "add", f"{address}/32", "dev", "eth0")
        for other in self.hosts.values():
            other.ip("neigh", "flush", "dev", "eth0")


@contextmanager
def a_network(*names: str) -> Iterator[Network]:
    """Give hosts of these names that reach each other and nobody else."""
    with ExitStack() as stack:
        switch = stack.enter_context(a_host("switch", 0))
        switch.ip("link", "add", "bridge", "type", "bridge")
        switch.ip("link", "set", "bridge", "up")
        hosts = {
            name: stack.enter_context(a_host(name, number))
            for number, name in enumerate(names, start=11)
        }
        for host in hosts.values():
            plug_in(host, switch)
        yield Network(switch, hosts)


@contextmanager
def a_host(name: str, number: int) -> Iterator[Host]:
    kinds = ("--net", "--mount", "--uts", "--pid", "--fork", "--mount-proc")
    holder = subprocess.Popen(
        ["unshare", *kinds, "--kill-child", "sh", "-c", SETTLED_IN.format(name=name)],
        stdout=subprocess.PIPE,
        text=True,
    )
    host = Host(name, number, holder)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "ready\n", f"{name} did not come up"
        yield host
    finally:
        host.end()


def plug_in(host: Host, switch: Host) -> None:
    far = ("peer", "name", "eth0", "netns", str(host.first))
    switch.ip("link", "add", host.name, "type", "veth", *far)
    switch.ip("link", "set", host.name, "master", "bridge", "up")
    host.ip("addr", "add", f"{host.address}/24", "dev", "eth0")
    host.ip("link", "set", "eth0", "up")
    host.ip("route", "add", f"{PUBLIC}.0.0/16", "dev", "eth0")


def run(*command: str) -> None:
    """Run a program; raise with its own words when it fails."""
    done: subprocess.CompletedProcess[str] = subprocess.run(
        command, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise OSError(f"{' '.join(command)}: {done.stderr.strip()}")
