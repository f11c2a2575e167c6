"""Who holds something: a signature that says which process made it.

A lease says when the silence of its holder counts as death, which takes a while. Whoever
runs on the same machine can know it at once: a process that no longer exists holds nothing,
and its connections were closed by the system. Of all others a signature says nothing, so
their leases are waited for: another machine, another container, a system without `/proc`.
"""

import os
import secrets
from hashlib import blake2b
from pathlib import Path
from uuid import UUID

__all__ = ["is_dead", "sign"]

RANDOM_BITS = 24
START_BITS = 40
PROCESS_BITS = 24
MACHINE_BYTES = 5
GONE = frozenset("ZX")
"""States of a process that has ended, though nobody has asked how."""


def sign() -> UUID:
    """Return a new signature of this process; no two are the same."""
    return sign_for(os.getpid())


def sign_for(pid: int) -> UUID:
    """Return a new signature of any process of this machine."""
    machine, started = this_machine(), started_at(pid)
    if machine is None or started is None:
        # Of nobody's machine, so that nobody can say.
        machine = started = 0
    place = (machine << PROCESS_BITS | pid) << START_BITS | started
    return UUID(int=place << RANDOM_BITS | secrets.randbits(RANDOM_BITS))


def is_dead(signature: UUID) -> bool:
    """Return whether the process that signed has certainly ended."""
    place = signature.int >> RANDOM_BITS
    started = place & (1 << START_BITS) - 1
    pid = place >> START_BITS & (1 << PROCESS_BITS) - 1
    machine = place >> START_BITS + PROCESS_BITS
    if not pid or machine != this_machine():
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass  # someone else's: there is such a process, perhaps another one by now
    now = started_at(pid)
    return now is not None and now != started


def this_machine() -> int | None:
    """Return a number for this boot of this machine, as its processes see each other."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_bytes()
        seen = Path("/proc/self/ns/pid").stat().st_ino
    except OSError:
        return None
    known = blake2b(b"%b %d" % (boot.strip(), seen), digest_size=MACHINE_BYTES)
    return int.from_bytes(known.digest()) or 1


def started_at(pid: int) -> int | None:
    """Return when a process began, in ticks since the machine did; 0 if it has ended."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    # Its name stands in brackets and may hold anything, brackets and spaces included.
    state, *rest = stat.rpartition(")")[2].split()
    return 0 if state in GONE else int(rest[18]) & (1 << START_BITS) - 1
