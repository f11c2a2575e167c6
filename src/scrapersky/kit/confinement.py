"""Give up, for good, what a process that parses strangers' bytes has no use for.

Every layer is there where the kernel has it: Landlock (which files can be reached),
seccomp (which system calls), limits, and another user than root. What is given up cannot
be taken back, so whoever takes the process over has no more than a parser needs.
"""

import ctypes
import errno
import os
import platform
import resource
import signal
import stat
import struct
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

NOBODY_UID: Final = 65534
CLONE_NEWNET, CLONE_NEWUSER, CLONE_THREAD = 0x4000_0000, 0x1000_0000, 0x1_0000
PR_SET_PDEATHSIG, PR_SET_KEEPCAPS, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 1, 8, 22, 38
CAPABILITIES_VERSION, CAP_DAC_READ_SEARCH = 0x2008_0522, 2
MAX_OPEN_FILES: Final = 64

SYSTEM_FILES: Final = ("/usr", "/lib", "/lib64", "/etc/localtime", "/dev/null",
                       "/dev/urandom")  # fmt: skip
"""What Python and the libraries read, beside their own directories."""


def confine(memory: int) -> list[str]:
    """Give up files, processes, the network and rights; return which layers hold."""
    libc = ctypes.CDLL(None, use_errno=True)
    held: list[str] = []
    if hasattr(libc, "prctl"):
        libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if hasattr(libc, "unshare"):
        # A network of its own, with nothing in it; some systems do not allow that.
        alone = CLONE_NEWNET if os.geteuid() == 0 else CLONE_NEWUSER | CLONE_NEWNET
        held += ["network"] if libc.unshare(alone) == 0 else []
    held += ["landlock"] if see_only(libc, readable()) else []
    held += ["user"] if leave_root(libc, sees_little="landlock" in held) else []
    if hasattr(libc, "prctl"):
        # Changing the user forgets it, so it comes after.
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    limit(memory)
    held += ["seccomp"] if filter_calls(libc) else []
    return held


def leave_root(libc: ctypes.CDLL, *, sees_little: bool) -> bool:
    """Become an ordinary user; say whether we are one.

    Root's own programs may lie in a directory that others may not enter. Then we keep
    the right to read there, and only where Landlock leaves nothing else to be read.
    """
    if os.geteuid() != 0:
        return True
    needs_right = not all(is_open_to_all(Path(place)) for place in sys.path if place)
    if needs_right and not sees_little:
        return False
    try:
        os.setgroups([])
        os.setresgid(NOBODY_UID, NOBODY_UID, NOBODY_UID)
        if needs_right:
            libc.prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0)
        os.setresuid(NOBODY_UID, NOBODY_UID, NOBODY_UID)
    except OSError:
        return False
    return not needs_right or keep_right(libc, CAP_DAC_READ_SEARCH)


def keep_right(libc: ctypes.CDLL, right: int) -> bool:
    """Keep one of root's rights and give up all others; say whether that worked."""
    head = struct.pack("=Ii", CAPABILITIES_VERSION, 0)
    kept = struct.pack("=6I", 1 << right, 1 << right, 0, 0, 0, 0)
    return bool(libc.capset(head, kept) == 0)


def is_open_to_all(path: Path) -> bool:
    """Say whether everyone may read in a directory, if it is there."""
    try:
        ways = [one.stat().st_mode for one in (path, *path.parents)]
    except OSError:
        return not path.exists()
    return bool(ways[0] & stat.S_IROTH) and all(way & stat.S_IXOTH for way in ways)


def limit(memory: int) -> None:
    """Limit memory, files and processes."""
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (MAX_OPEN_FILES, MAX_OPEN_FILES))
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))


# Landlock

LANDLOCK_CREATE, LANDLOCK_ADD, LANDLOCK_RESTRICT = 444, 445, 446
"""The same numbers on every architecture."""
READ_FILE, READ_DIR = 1 << 2, 1 << 3
FILE_RIGHTS: Final = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""How many rights each version of the interface knows; each refuses what it handles."""
NETWORK: Final = 0b11
SCOPES: Final = 0b11
"""No abstract sockets, no signals beyond our own domain."""


def readable() -> Iterator[str]:
    """Yield what may still be read: programs and libraries, and nothing of anyone's."""
    yield from SYSTEM_FILES
    yield from (sys.prefix, sys.base_prefix)
    yield from (place for place in sys.path if place)


def see_only(libc: ctypes.CDLL, paths: Iterable[str]) -> bool:
    """Let nothing but these be read, and nothing be written; say whether it holds."""
    if sys.platform != "linux":
        return False
    version = libc.syscall(LANDLOCK_CREATE, None, 0, 1)
    if version < 1:
        return False
    rights = (1 << FILE_RIGHTS.get(version, 16)) - 1
    parts = [rights, NETWORK, SCOPES][: 1 + (version >= 4) + (version >= 6)]  # noqa: PLR2004
    wanted = struct.pack(f"={len(parts)}Q", *parts)
    rules = libc.syscall(LANDLOCK_CREATE, wanted, len(wanted), 0)
    if rules < 0:
        return False
    try:
        for path in dict.fromkeys(paths):
            with suppress(OSError):
                allow_reading(libc, rules, path)
        return bool(libc.syscall(LANDLOCK_RESTRICT, rules, 0) == 0)
    finally:
        os.close(rules)


def allow_reading(libc: ctypes.CDLL, rules: int, path: str) -> None:
    """Let a file, or all below a directory, be read."""
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        is_directory = stat.S_ISDIR(os.fstat(place).st_mode)
        rights = READ_FILE | READ_DIR if is_directory else READ_FILE
        libc.syscall(LANDLOCK_ADD, rules, 1, struct.pack("=Qi", rights, place), 0)
    finally:
        os.close(place)


# seccomp

ARCHITECTURES: Final = {"x86_64": (0xC000_003E, 0), "aarch64": (0xC000_00B7, 1)}
NEWEST_SYSTEM_CALL: Final = 470
"""System calls that we do not know are not there."""
OTHER_ABI: Final = 0x4000_0000

ALLOW, KILL, REFUSE = 0x7FFF_0000, 0x8000_0000, 0x0005_0000
LOAD, RETURN, EQUAL, GREATER, ANY_BIT = 0x20, 0x06, 0x15, 0x25, 0x45
NUMBER_AT, ARCHITECTURE_AT, ARGUMENTS_AT = 0, 4, 16
WRITING: Final = (
    os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND | 0o20000000
)
"""Flags with which a file is opened for more than reading."""

# Numbers on x86_64 and aarch64; a dash where there is none.
REFUSED: Final = """
    fork 57 - vfork 58 - execve 59 221 execveat 322 281
    socket 41 198 connect 42 203 bind 49 200 listen 50 201 accept 43 202
    accept4 288 242 socketpair 53 199
    ptrace 101 117 process_vm_readv 310 270 process_vm_writev 311 271 kcmp 312 272
    pidfd_open 434 434 pidfd_send_signal 424 424 pidfd_getfd 438 438
    process_madvise 440 440 tkill 200 130 rt_sigqueueinfo 129 138
    rt_tgsigqueueinfo 297 240
    creat 85 - mkdir 83 - mkdirat 258 34 rmdir 84 - unlink 87 - unlinkat 263 35
    rename 82 - renameat 264 38 renameat2 316 276 link 86 - linkat 265 37
    symlink 88 - symlinkat 266 36 mknod 133 - mknodat 259 33 chmod 90 - fchmod 91 52
    fchmodat 268 53 fchmodat2 452 452 chown 92 - lchown 94 - fchown 93 55
    fchownat 260 54 truncate 76 45 ftruncate 77 46 fallocate 285 47 setxattr 188 5
    lsetxattr 189 6 fsetxattr 190 7 removexattr 197 14 lremovexattr 198 15
    fremovexattr 199 16 utimensat 280 88 utime 132 - utimes 235 -
    memfd_create 319 279 memfd_secret 447 447
    mount 165 40 umount2 166 39 pivot_root 155 41 chroot 161 51 move_mount 429 429
    open_tree 428 428 fsopen 430 430 fsconfig 431 431 fsmount 432 432 fspick 433 433
    mount_setattr 442 442 unshare 272 97 setns 308 268 open_by_handle_at 304 265
    bpf 321 280 perf_event_open 298 241 userfaultfd 323 282 io_uring_setup 425 425
    io_uring_enter 426 426 io_uring_register 427 427 add_key 248 217
    request_key 249 218 keyctl 250 219 init_module 175 105 finit_module 313 273
    delete_module 176 106 kexec_load 246 104 reboot 169 142 swapon 167 224
    swapoff 168 225 setuid 105 146 setgid 106 144 setreuid 113 145 setregid 114 143
    setresuid 117 147 setresgid 119 149 setgroups 116 159 setfsuid 122 151
    setfsgid 123 152 capset 126 91 shmget 29 194 shmat 30 196 msgget 68 186
    semget 64 190 mq_open 240 180 inotify_init 253 - inotify_init1 294 26
    fanotify_init 300 262 personality 135 92 acct 163 89 quotactl 179 60
    sethostname 170 161 setdomainname 171 162 syslog 103 116 iopl 172 - ioperm 173 -
    prctl 157 167 seccomp 317 277 settimeofday 164 170 clock_settime 227 112
    adjtimex 159 171
"""
MISSING: Final = "clone3 435 435 openat2 437 437"
"""Their arguments cannot be looked at: whoever calls them falls back to older ones."""

Rule = list[tuple[int, int, int, int]]


def filter_calls(libc: ctypes.CDLL) -> bool:
    """Refuse the system calls that a parser has no use for; say whether it holds."""
    known = ARCHITECTURES.get(platform.machine())
    if known is None or sys.platform != "linux":
        return False
    program = b"".join(struct.pack("=HBBI", *line) for line in filter_program(*known))
    lines = ctypes.create_string_buffer(program, len(program))
    head = struct.pack("@HP", len(program) // 8, ctypes.addressof(lines))
    return bool(libc.prctl(PR_SET_SECCOMP, 2, head, 0, 0) == 0)


def filter_program(architecture: int, column: int) -> Rule:
    """Write the filter: each call is compared in turn, and the first match decides."""
    refuse = [return_instruction(REFUSE | errno.EPERM)]
    numbers = table(REFUSED, column)
    special = table(SPECIAL, column)
    own = os.getpid()
    program = [
        (LOAD, 0, 0, ARCHITECTURE_AT),
        (EQUAL, 1, 0, architecture),
        return_instruction(KILL),
        (LOAD, 0, 0, NUMBER_AT),
        (GREATER, 0, 1, OTHER_ABI - 1),
        return_instruction(KILL),
    ]
    for number in numbers.values():
        program += on(number, refuse)
    for number in table(MISSING, column).values():
        program += on(number, [return_instruction(REFUSE | errno.ENOSYS)])
    blocks: dict[str, Rule] = {
        "clone": has_bit(0, CLONE_THREAD, then=ALLOW, other=REFUSE | errno.EPERM),
        "open": has_bit(1, WRITING, then=REFUSE | errno.EPERM, other=ALLOW),
        "openat": has_bit(2, WRITING, then=REFUSE | errno.EPERM, other=ALLOW),
        "kill": is_one_of(0, own),
        "tgkill": is_one_of(0, own),
        "prlimit64": is_one_of(0, 0, own),
    }
    for name, number in special.items():
        program += on(number, blocks[name])
    return [
        *program,
        (GREATER, 0, 1, NEWEST_SYSTEM_CALL),
        return_instruction(REFUSE | errno.ENOSYS),
        return_instruction(ALLOW),
    ]


SPECIAL: Final = (
    "clone 56 220 open 2 - openat 257 56 kill 62 129 tgkill 234 131 prlimit64 302 261"
)


def table(written: str, column: int) -> dict[str, int]:
    """Read names and numbers for one architecture."""
    words = written.split()
    rows = zip(words[::3], words[1 + column :: 3], strict=True)
    return {name: int(number) for name, number in rows if number != "-"}


def return_instruction(what: int) -> tuple[int, int, int, int]:
    """End the filter with a decision."""
    return (RETURN, 0, 0, what)


def on(number: int, block: Rule) -> Rule:
    """Go through a block for one system call, and past it for all others."""
    return [(EQUAL, 0, len(block), number), *block]


def has_bit(argument: int, bits: int, *, then: int, other: int) -> Rule:
    """Decide by whether an argument has one of some bits."""
    place = ARGUMENTS_AT + 8 * argument
    return [
        (LOAD, 0, 0, place),
        (ANY_BIT, 0, 1, bits),
        return_instruction(then),
        return_instruction(other),
    ]


def is_one_of(argument: int, *values: int) -> Rule:
    """Allow only some values of an argument."""
    block: Rule = [(LOAD, 0, 0, ARGUMENTS_AT + 8 * argument)]
    for value in values:
        block += on(value, [return_instruction(ALLOW)])
    return [*block, return_instruction(REFUSE | errno.EPERM)]
