"""Every fault run: what is done to a working fleet, and what the database says after.

A scenario starts a fleet of real worker processes on a durable server of its own,
injects faults while there is work left, waits for the end and lets the checker count.
"""

import asyncio
import contextlib
import dataclasses
import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from curation_sdk import migrate
from sdk_tests.rig.checker import (
    Findings,
    in_hand_now,
    inspect,
    unfinished,
    unfinished_of,
)
from sdk_tests.rig.cluster import Cluster, running_cluster
from sdk_tests.rig.connect import APPLICATION, connect
from sdk_tests.rig.fleet import Fleet, Member, running_fleet, wait_for
from sdk_tests.rig.orchard import Base, Weather
from sdk_tests.rig.pooler import running_pooler
from sdk_tests.rig.program import faketime_library
from sdk_tests.rig.proxy import FaultProxy, fault_proxy
from sdk_tests.rig.worker import Order

LEASE = 3.0
PLENTY = 200
WORKERS = 4
RECOVERY_TIMEOUT = 120.0
FROZEN = 5.0
"""Seconds for which a backend is idle and yet does not wait for its client."""
NOT_WAITING = (
    "SELECT pid, state_change FROM pg_stat_activity"
    " WHERE backend_type = 'client backend' AND state ^@ 'idle' AND wait_event IS NULL"
)
LEFT = {
    "claims": "SELECT * FROM curation.claim LIMIT 20",
    "rows": """SELECT 'seed', id, status FROM seed WHERE status IN ('queued', 'working')
        UNION ALL SELECT 'plant', id, status FROM plant
        WHERE status IN ('queued', 'working') LIMIT 20""",
    "attempts": """SELECT a.stage, a.item, a.fence, a.outcome, a.worker, a.settled_at
        FROM curation.attempt a JOIN curation.claim USING (stage, item)
        ORDER BY a.settled_at LIMIT 50""",
    "sessions": """SELECT pid, state, wait_event_type, wait_event, now() - xact_start,
        now() - state_change, left(query, 100) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()""",
}
"""What is asked of the database when work does not end."""
LOOK = 0.2
"""Seconds between two looks: each takes a connection of its own."""
# Random kills hit some items again and again; whether such an item is poison is
# another scenario's question.
INNOCENT = {"batch": 10, "concurrency": 10, "max_crashes": 1000}


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the fault table."""

    fault: str
    injected: int
    items: int
    lost: int
    doubled: int
    stuck: int
    recovery: float
    seconds: float
    note: str = ""
    findings: Findings | None = None
    slowest_exit: float = 0.0

    HEADER = (
        f"{'fault':<34}{'injected':>9}{'items':>8}{'lost':>6}{'doubled':>9}"
        f"{'stuck':>7}{'recovery s':>12}{'run s':>8}  note"
    )

    def __str__(self) -> str:
        return (
            f"{self.fault:<34}{self.injected:>9}{self.items:>8}{self.lost:>6}"
            f"{self.doubled:>9}{self.stuck:>7}{self.recovery:>12.1f}"
            f"{self.seconds:>8.1f}  {self.note}"
        )


@dataclass
class Field:
    """An orchard in a database, and the clock of its run."""

    cluster: Cluster
    database: str
    seeds: int = 0
    plenty: int = 0
    started: float = dataclasses.field(default_factory=time.monotonic)

    @property
    def dsn(self) -> str:
        return self.cluster.dsn(self.database)

    @property
    def url(self) -> str:
        return self.cluster.url(self.database)

    def order(self, *, pause: float, url: str | None = None, **changes: Any) -> Order:
        """Return what a worker of this field needs to know."""
        options = {**INNOCENT, **changes.pop("options", {})}
        return Order(
            url=url or self.url,
            log=str(self.cluster.home / "workers.log"),
            lease=changes.pop("lease", LEASE),
            weather=Weather(pause=pause, poison=changes.pop("poison", frozenset())),
            options=options,
            **changes,
        )

    def keep_busy(self) -> None:
        """Sow more seeds when few are left: a fault without work proves nothing."""
        if unfinished(self.dsn) < self.plenty:
            self.sow(self.plenty)

    def sow(self, seeds: int) -> None:
        """Queue so many more seeds."""
        with psycopg.connect(self.dsn) as connection:
            connection.execute(
                "INSERT INTO seed (id) SELECT generate_series(%s::bigint, %s::bigint)",
                [self.seeds + 1, self.seeds + seeds],
            )
        self.seeds += seeds
        # In a short run of few seeds, few are plenty.
        self.plenty = self.plenty or min(PLENTY, seeds // 3)

    def has_work(self) -> bool:
        """Whether some item has not come to its end."""
        return unfinished(self.dsn) > 0

    def print_left(self) -> None:
        """Print what has not come to its end, and who may be in its way."""
        with contextlib.suppress(psycopg.Error):
            for what, query in LEFT.items():
                print(f"{what}:")
                print(*self.cluster.execute(query, database=self.database), sep="\n")
        log = self.cluster.home / "workers.log"
        if log.exists():
            print(f"workers:\n{log.read_text(errors='replace')[-20_000:]}")

    def finish(self, fault: str, injected: int, *, note: str = "") -> Row:
        """Wait for the end, count, and write the line."""
        last_fault = time.monotonic()
        in_hand = in_hand_now(self.dsn)
        recovery = RECOVERY_TIMEOUT
        try:
            wait_for(
                lambda: not unfinished_of(self.dsn, in_hand),
                seconds=RECOVERY_TIMEOUT,
                every=LOOK,
                what="the end of what was in hand at the last fault",
            )
            recovery = time.monotonic() - last_fault
            wait_for(
                lambda: not self.has_work(),
                seconds=RECOVERY_TIMEOUT,
                every=LOOK,
                what="the end of all work",
            )
        except TimeoutError:
            self.print_left()
        # The last claims are deleted with the last settle; nothing runs after it.
        findings = inspect(self.dsn)
        return Row(
            fault,
            injected,
            findings.seeds * 2,
            findings.lost,
            findings.doubled + findings.unearned,
            findings.stuck,
            recovery,
            time.monotonic() - self.started,
            note,
            findings,
        )


@contextlib.contextmanager
def orchard(
    seeds: int, cluster: Cluster | None = None, **settings: Any
) -> Iterator[Field]:
    """Yield a planted orchard, on the server given or on one of its own."""
    with contextlib.ExitStack() as stack:
        server = cluster or stack.enter_context(running_cluster(**settings))
        name = server.create_database(f"orchard_{time.monotonic_ns()}")
        asyncio.run(lay_out(server.url(name)))
        field = Field(server, name)
        field.sow(seeds)
        yield field


async def lay_out(url: str) -> None:
    """Create the orchard's tables and the engine's."""
    database = connect(url)
    async with database.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)
    await migrate(database)
    await database.dispose()


def inject(
    field: Field, faults: int, every: float, fault: Callable[[int], None]
) -> int:
    """Inject faults one after the other, each into a fleet that has work to do."""
    for number in range(faults):
        time.sleep(every)
        field.keep_busy()
        fault(number)
    return faults


def kill_workers(
    *,
    seeds: int,
    kills: int,
    every: float,
    pause: float,
    seed: int = 1,
    workers: int = WORKERS,
) -> Row:
    """SIGKILL random workers."""
    with orchard(seeds) as field, fleet_of(field, pause, seed, workers) as fleet:

        def kill(_: int) -> None:
            fleet.kill_one()
            fleet.fill()

        injected = inject(field, kills, every, kill)
        return field.finish("kill -9 of a worker", injected)


def stop_workers(
    *, seeds: int, pauses: int, pause: float, seed: int = 2, workers: int = WORKERS
) -> Row:
    """SIGSTOP random workers for longer than their lease, then wake them."""
    with (
        orchard(seeds) as field,
        fleet_of(field, pause, seed, workers, lease=1.0) as fleet,
    ):

        def freeze(_: int) -> None:
            victim = pause_busy(field, fleet)
            time.sleep(4.0)
            fleet.resume(victim)

        injected = inject(field, pauses, 0.2, freeze)
        # On a busy machine nobody may have had the time to take the claims away.
        while not count_attempts(field, "rescued") and injected < 4 * pauses:
            injected += inject(field, 1, 0.2, freeze)
        row = field.finish("SIGSTOP for four leases", injected)
        rescued = count_attempts(field, "rescued")
        assert rescued > 0, "no claim was taken away: the pauses were too short"
        refused = count_attempts(field, "refused")
        return dataclasses.replace(row, note=f"{rescued} rescued, {refused} refused")


def restart_database(
    *, seeds: int, restarts: int, every: float, pause: float, workers: int = WORKERS
) -> Row:
    """Restart PostgreSQL in immediate mode, so that it recovers as from a crash."""
    with orchard(seeds) as field, fleet_of(field, pause, 3, workers):
        injected = inject(field, restarts, every, lambda _: field.cluster.restart())
        return field.finish("PostgreSQL immediate restart", injected)


def crash_database(
    *, seeds: int, crashes: int, every: float, pause: float, workers: int = WORKERS
) -> Row:
    """SIGKILL the postmaster and start it again."""

    def crash(field: Field) -> None:
        field.cluster.crash()
        field.cluster.start()

    with orchard(seeds) as field, fleet_of(field, pause, 4, workers):
        injected = inject(field, crashes, every, lambda _: crash(field))
        return field.finish("kill -9 of the postmaster", injected)


def terminate_backends(
    *, seeds: int, cuts: int, every: float, pause: float, workers: int = WORKERS
) -> Row:
    """Have the server end random sessions of the workers."""
    chance = random.Random(5)

    def cut(field: Field) -> None:
        found = field.cluster.execute(
            f"SELECT pid FROM pg_stat_activity WHERE application_name = '{APPLICATION}'"
        )
        if found:
            (pid,) = chance.choice(found)
            field.cluster.execute(f"SELECT pg_terminate_backend({pid})")

    with orchard(seeds) as field, fleet_of(field, pause, 5, workers):
        injected = inject(field, cuts, every, lambda _: cut(field))
        row = field.finish("pg_terminate_backend", injected)
        sessions = field.cluster.execute(
            "SELECT count(*) FROM pg_stat_activity "
            f"WHERE application_name = '{APPLICATION}'"
        )
        assert isinstance(sessions[0][0], int)
        held = f"{sessions[0][0]} connections of {workers} workers"
        assert sessions[0][0] <= workers * 3, held
        return row


def lose_answers(
    *, seeds: int, answers: int, chance: float, pause: float, workers: int = WORKERS
) -> Row:
    """Swallow the answer to a commit and cut the connection."""
    with orchard(seeds // 2) as field, proxy_before(field.cluster) as proxy:
        url = field.cluster.tcp_url(field.database, port=proxy.port)
        with fleet_of(field, pause, 6, workers, url=url):
            proxy.lose_commit_answer = chance
            # Only now: all else may be done before the first answer can be lost.
            field.sow(seeds - seeds // 2)
            wait_for(
                lambda: proxy.injected >= answers or not field.has_work(),
                seconds=RECOVERY_TIMEOUT,
                what=f"{answers} lost answers",
            )
            proxy.lose_commit_answer = 0.0
            return field.finish("commit answer lost", proxy.injected)


def hold_connections(
    *, seeds: int, holds: int, every: float, pause: float, workers: int = WORKERS
) -> Row:
    """Stop forwarding on random connections, both sockets left open."""
    with orchard(seeds) as field, proxy_before(field.cluster) as proxy:
        url = field.cluster.tcp_url(field.database, port=proxy.port)
        with fleet_of(field, pause, 7, workers, url=url):
            time.sleep(1)
            inject(field, holds, every, lambda _: hold_one(proxy))
            row = field.finish("connection held half-open", proxy.injected)
        spent = count_attempts(field, "retried")
        assert spent == 0, f"{spent} innocent items were charged with an attempt"
        return row


def hold_one(proxy: FaultProxy) -> None:
    """Hold one connection; the reconnected ones of the workers are held in turn."""
    proxy.hold_one()


def jump_clock(
    *, seeds: int, jumps: int, every: float, pause: float, workers: int = WORKERS
) -> Row:
    """Send the database's clock to and fro; skew two of the workers by a day."""
    library = faketime_library()
    chance = random.Random(8)
    with orchard(seeds, faketime=library) as field:
        leap = leap_by_library if library else leap_by_shift
        how = "by libfaketime" if library else "by shifting leases (no libfaketime)"
        with fleet_of(field, pause, 8, workers) as fleet, ending_frozen(field):
            for skew in (-86_400.0, 86_400.0):
                fleet.start(field.order(pause=pause, skew=skew))
            injected = inject(field, jumps, every, lambda _: leap(field, chance))
            return field.finish("database clock jumps", injected, note=how)


@contextlib.contextmanager
def ending_frozen(field: Field) -> Iterator[None]:
    """End backends that libfaketime has frozen: they hold their locks for good.

    On a busy machine one was seen that was idle in a transaction for as long as anybody
    looked, and did not wait for its client. An alarm whose handler reads the clock while the
    library reads it would explain that.
    """
    is_over = threading.Event()

    def look() -> None:
        seen: set[tuple[object, ...]] = set()
        while not is_over.wait(FROZEN):
            with contextlib.suppress(psycopg.Error):
                now = set(field.cluster.execute(NOT_WAITING, database=field.database))
                for pid, _ in seen & now:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(int(str(pid)), signal.SIGKILL)
                seen = now

    watch = threading.Thread(target=look, daemon=True)
    watch.start()
    try:
        yield
    finally:
        is_over.set()
        watch.join(FROZEN)


def leap_by_library(field: Field, chance: random.Random) -> None:
    """Move the server's wall clock between ten minutes back and ten ahead."""
    seconds = chance.randint(-600, 600)
    (field.cluster.home / "faketime").write_text(f"{seconds:+d}")


def leap_by_shift(field: Field, chance: random.Random) -> None:
    """Do to every stored time what a jump of the clock would have done."""
    seconds = chance.randint(-600, 600)
    field.cluster.execute(
        "UPDATE curation.claim SET "
        f"lease_until = lease_until - interval '{seconds} seconds', "
        f"due_at = due_at - interval '{seconds} seconds'",
        database=field.database,
    )


def poison(
    *,
    seeds: int,
    poisons: int,
    pause: float,
    lease: float = 2.0,
    workers: int = WORKERS,
) -> Row:
    """Mix seeds that kill their worker among good ones."""
    chance = random.Random(9)
    bad = frozenset(chance.sample(range(1, seeds + 1), poisons))
    with orchard(seeds) as field:
        order = field.order(
            pause=pause, poison=bad, lease=lease, options={"max_crashes": 3}
        )
        with running_fleet(order, size=workers, seed=9) as fleet:
            # Every crash costs a start: on a busy machine, thirty of them take minutes.
            ended = time.monotonic() + 5 * RECOVERY_TIMEOUT
            while field.has_work() and time.monotonic() < ended:
                fleet.fill()
                time.sleep(0.05)
        row = field.finish("item that kills its worker", poisons)
        dead = field.cluster.execute(
            "SELECT stage, item::bigint FROM curation.dead_letter",
            database=field.database,
        )
        guilty = {("sow", seed) for seed in bad}
        assert set(dead) - guilty == set(), "others were blamed"
        assert guilty - set(dead) == set(), "not all were found in time"
        assert row.findings is not None
        assert row.findings.fruits == seeds - poisons
        # The poisoned ones are dead letters by design, not lost.
        note = f"{poisons} quarantined, nobody else"
        return dataclasses.replace(row, lost=row.lost - poisons, note=note)


def terminate_workers(
    *, seeds: int, stops: int, every: float, pause: float, workers: int = WORKERS
) -> Row:
    """SIGTERM workers under load; nobody may wait for a lease to expire."""
    slowest = 0.0
    with orchard(seeds) as field:
        # With a lease this long, one item left behind would hang the run.
        order = field.order(pause=pause, lease=RECOVERY_TIMEOUT)
        with running_fleet(order, size=workers, seed=10) as fleet:

            def stop(_: int) -> None:
                nonlocal slowest
                victim = fleet.choose()
                slowest = max(slowest, fleet.ask_to_stop(victim))
                fleet.fill()

            injected = inject(field, stops, every, stop)
            row = field.finish(
                "SIGTERM under load", injected, note=f"slowest exit {slowest:.1f} s"
            )
        spent = field.cluster.execute(
            "SELECT count(*) FROM curation.attempt "
            "WHERE tries > 1 OR outcome IN ('rescued', 'quarantined')",
            database=field.database,
        )
        assert spent == [(0,)], f"{spent} attempts were spent by stops"
        return dataclasses.replace(row, slowest_exit=slowest)


def through_pooler(
    *, seeds: int, kills: int, every: float, pause: float, workers: int = WORKERS
) -> Row:
    """Kill workers that talk to the database through PgBouncer only."""
    with (
        orchard(seeds) as field,
        running_pooler(field.cluster, size=6) as pooler,
        fleet_of(
            field, pause, 11, workers, url=pooler.url(field.database), pooler=True
        ) as fleet,
    ):

        def kill(_: int) -> None:
            fleet.kill_one()
            fleet.fill()

        injected = inject(field, kills, every, kill)
        return field.finish("kill -9 behind PgBouncer", injected)


@contextlib.contextmanager
def fleet_of(
    field: Field, pause: float, seed: int, workers: int = WORKERS, **changes: Any
) -> Iterator[Fleet]:
    """Yield so many workers, counted from the moment they work."""
    order = field.order(pause=pause, **changes)
    with running_fleet(order, size=workers, seed=seed) as fleet:
        try:
            yield fleet
        except BaseException:
            log = Path(order.log)
            if log.exists():
                print(log.read_text(errors="replace")[-5000:])
            raise


@contextlib.contextmanager
def proxy_before(cluster: Cluster) -> Iterator[FaultProxy]:
    """Yield a proxy that runs in a thread of its own."""
    ready = threading.Event()
    box: list[FaultProxy] = []
    loop = asyncio.new_event_loop()
    done = asyncio.Event()

    async def serve() -> None:
        async with fault_proxy(port=cluster.port, seed=7) as proxy:
            box.append(proxy)
            ready.set()
            await done.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    ready.wait(10)
    try:
        yield box[0]
    finally:
        loop.call_soon_threadsafe(done.set)
        thread.join(20)
        loop.close()


def pause_busy(field: Field, fleet: Fleet) -> Member:
    """Stop a worker that has items in hand: from others nothing can be taken away."""
    for _ in range(200):
        victim = fleet.pause_one()
        held = field.cluster.execute(
            "SELECT 1 FROM curation.claim WHERE fence IS NOT NULL"
            f" AND worker LIKE '%-{victim.pid}-%' LIMIT 1",
            database=field.database,
        )
        if held:
            return victim
        fleet.resume(victim)
        field.keep_busy()
        time.sleep(0.02)
    raise TimeoutError("no worker has anything in hand")


def count_attempts(field: Field, outcome: str) -> int:
    """Count the attempts that ended this way."""
    found = field.cluster.execute(
        f"SELECT count(*) FROM curation.attempt WHERE outcome = '{outcome}'",
        database=field.database,
    )
    assert isinstance(found[0][0], int)
    return found[0][0]
