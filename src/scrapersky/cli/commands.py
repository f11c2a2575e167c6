"""What the commands take, apart from what they do: `--help` loads nothing else.

A command is loaded when it is run. To load one takes a second or two: every stage says what
its settings are, so that most commands load what the stages need.
"""

from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Group, Parameter
from cyclopts.validators import Number

from scrapersky.cli.garbage import without_collector

RUN = Group("Run it", sort_key=1)
CARE = Group("Look after it", sort_key=2)
Role = Literal["viewer", "curator", "admin"]
Scope = Literal["read", "export", "curate", "administer", "operate", "metrics"]
Source = Literal["osm", "google", "file"]


def up(*, workers: Annotated[int, Parameter(validator=Number(gte=1))] = 1) -> None:
    """Start everything on this machine.

    The embedded PostgreSQL is created on the first start, under your data directory or
    `SCRAPERSKY_DATA_DIR`; `DATABASE_URL` selects another. Migrations are applied, the
    application listens on `HOST`:`PORT` (127.0.0.1:8000). Ctrl-C stops all of it.
    `--workers N` works the stages in N processes.

    Parameters
    ----------
    workers
        How many processes work the stages, this one among them: as many as there are cores.
    """
    with without_collector():
        from scrapersky.cli.up import up as work

    work(workers=workers)


def demo(*, size: int = 300, seed: int = 1, once: bool = False) -> int:
    """Run the whole pipeline over a simulated town, and compare with the truth.

    Business websites of many kinds on this machine's loopback; no internet, no key. The
    application stays open on the result until Ctrl-C.

    Parameters
    ----------
    size
        How many businesses the town has.
    seed
        Another number is another town.
    once
        End with the result, instead of keeping the application open on it.
    """
    with without_collector():
        from scrapersky.cli.demo import demo as work

    return work(size=size, seed=seed, once=once)


def run(
    search: str,
    *,
    source: Source = "osm",
    limit: int | None = None,
    budget: Decimal | None = None,
    out: Path = Path("contacts.csv"),
    file: str | None = None,
) -> int:
    """Search, follow every place to its contacts, and write them to a file.

    `scrapersky run "dentists in Austin, TX"` does it all without a person. Ctrl-C keeps what is
    done, and the same command goes on.

    Parameters
    ----------
    search
        What and where: "dentists in Austin, TX".
    source
        Where places come from.
    limit
        At most this many places.
    budget
        Spend at most this much, in US dollars; Google needs it.
    out
        The CSV file to write.
    file
        The file of places, in the data directory's `imports`, for `--source file`.
    """
    with without_collector():
        from scrapersky.cli.run import run as work

    return work(search, source=source, limit=limit, budget=budget, out=out, file=file)


def submit(
    file: Path,
    *,
    kind: Literal["domains", "sitemaps", "pages"] = "domains",
    priority: Annotated[int, Parameter(validator=Number(gte=-1000, lte=1000))] = 0,
) -> int:
    """Submit a list of domains, sitemaps or pages.

    A line that is invalid or already in your list is reported; the others still go through.

    Parameters
    ----------
    file
        A text file with one domain or URL a line, or a CSV whose first row names the
        column (domain, url, website ...); - reads standard input.
    kind
        What the lines are.
    priority
        New records of a higher priority are taken first, from -1000 to 1000.
    """
    with without_collector():
        from scrapersky.cli.submit import submit as work

    return work(file, kind=kind, priority=priority)


def worker(*, beside: int | None = None) -> None:
    """Run the stages and the scheduler, without the application.

    As many as you like, on any number of hosts: they share the work through the database that
    `DATABASE_URL` names. Ctrl-C finishes what is in hand and hands the rest back. How it stands is
    served at `WORKER_HOST`:`WORKER_PORT` (`/metrics`, `/health/live`, `/health/ready`).

    Parameters
    ----------
    beside
        The process that started this one, with which it ends; `up --workers` gives it.
    """
    with without_collector():
        from scrapersky.cli.worker import worker as work

    work(beside=beside)


def migrate(*, json: bool = False) -> None:
    """Bring the database to the schema this version needs.

    `scrapersky up` does this by itself on the embedded database; on any other this is a step of
    its own, before new processes start. Many may do it at once, and it is all or nothing.

    Parameters
    ----------
    json
        Print the result as JSON.
    """
    with without_collector():
        from scrapersky.cli.migrate import migrate as work

    work(json=json)


def upgrade(*, check: bool = False, json: bool = False) -> int:
    """Tell what migrating would do (`--check`), or do it.

    Which revisions are missing, which tables they touch and how large those are, and the free disk.
    `--check` changes nothing and exits with 1 if something is missing.

    Parameters
    ----------
    check
        Tell what would change and change nothing; exits with 1 if anything would.
    json
        Print it as JSON.
    """
    with without_collector():
        from scrapersky.cli.upgrade import upgrade as work

    return work(check=check, json=json)


def backup(file: Path) -> None:
    """Write the whole database and the files to import into one file, while everything goes on.

    It is one snapshot. `SUPPRESSION_KEY` is not in it, and neither are logins.

    Parameters
    ----------
    file
        Where to; one that is there is replaced once the new one is whole.
    """
    with without_collector():
        from scrapersky.cli.backup import backup as work

    work(file)


def restore(file: Path, *, replace: bool = False) -> None:
    """Put a backup into the database that the settings name.

    All of it or nothing. Processes must be stopped; what was erased since the backup is
    erased again.

    Parameters
    ----------
    file
        The backup.
    replace
        Replace what is in the database. What was erased since the backup is erased again.
    """
    with without_collector():
        from scrapersky.cli.backup import restore as work

    work(file, replace=replace)


def move(url: str) -> None:
    """Copy the whole database to another PostgreSQL, such as from the embedded one to a server.

    `scrapersky move postgresql://user:password@host/scrapersky` in one step; the old one stays.

    Parameters
    ----------
    url
        Where to: postgresql://user:password@host/database, empty.
    """
    with without_collector():
        from scrapersky.cli.backup import move as work

    work(url)


def serve() -> None:
    """Serve the API and the page, without the stages.

    For a fleet: the stages run in `scrapersky worker`, here or on other hosts, on the database that
    `DATABASE_URL` names. Restarting one disturbs no work in the other.
    """
    with without_collector():
        from scrapersky.cli.serve import serve as work

    work()


def doctor(*, json: bool = False, watch: bool = False) -> int:
    """Check what ScraperSky needs, and say how to fix it.

    Settings, data directory, disk, database, clock, schema, system user. Changes nothing;
    exits with 1 if something is wrong. `--watch` goes on looking at the whole installation: stages
    that stall, workers that vanish, jobs that keep missing.

    Parameters
    ----------
    json
        Print the findings as JSON.
    watch
        Look at the alerts every ten seconds instead, until Ctrl-C.
    """
    with without_collector():
        from scrapersky.cli.doctor import doctor as work

    return work(json=json, watch=watch)


def score_sites(
    directory: Path,
    *,
    quick: bool = False,
    only: str | None = None,
    misses: int = 20,
    out: Path | None = None,
) -> int:
    """Measure the whole pipeline on annotated websites.

    Serves a directory of sites on this machine's loopback, submits their domains, and compares what
    is stored in the end with the truth: shares by kind, every miss, one line of JSON. The format is
    explained in docs/explanation/real-sites.md.

    Parameters
    ----------
    directory
        Holds `truth.jsonl` and one directory a site.
    quick
        Measure a few sites only, evenly spread over the list.
    only
        Measure only the sites of this comma-separated list.
    misses
        How many misses of each kind to list.
    out
        A JSON file for what was stored and every miss, by site.
    """
    with without_collector():
        from scrapersky.cli.score_sites import score_sites as work

    return work(directory, quick=quick, only=only, misses=misses, out=out)


workers = App(
    name="workers",
    group=CARE,
    help="""\
List the processes that serve and work: host, version, last sign of life, why one rests.

`scrapersky workers drain NAME` lets one finish what it has and claim nothing more;
`resume NAME` lets it claim again.
""",
)


@workers.default
def show_workers(*, json: bool = False) -> None:
    """List the processes that serve and work on the database.

    Parameters
    ----------
    json
        Print it as JSON.
    """
    with without_collector():
        from scrapersky.cli.workers import show as work

    work(json=json)


@workers.command
def drain(name: str) -> None:
    """Let one process finish what it has in work, and claim nothing more.

    Parameters
    ----------
    name
        The process's name, as `scrapersky workers` prints it.
    """
    with without_collector():
        from scrapersky.cli.workers import drain as work

    work(name)


@workers.command(name="resume")
def resume_worker(name: str) -> None:
    """Let a process that was asked to drain claim again.

    Parameters
    ----------
    name
        The process's name, as `scrapersky workers` prints it.
    """
    with without_collector():
        from scrapersky.cli.workers import resume as work

    work(name)


stages = App(
    name="stages",
    group=CARE,
    help="""\
Print depth, rate, oldest item, failures and pauses of every stage.

`scrapersky stages pause NAME` and `resume NAME` stop a stage and let it go on.
""",
)


@stages.default
def show_stages(*, json: bool = False) -> None:
    """Print depth, rate, oldest item, failures, limits and pauses of every stage.

    Parameters
    ----------
    json
        Print it as JSON.
    """
    with without_collector():
        from scrapersky.cli.stages import show as work

    work(json=json)


@stages.command
def pause(stage: str, *, why: str = "paused by hand") -> None:
    """Stop a stage from taking more work, in every process.

    Parameters
    ----------
    stage
        The stage's name, as `scrapersky stages` prints it.
    why
        The reason that everyone sees.
    """
    with without_collector():
        from scrapersky.cli.stages import pause as work

    work(stage, why=why)


@stages.command
def resume(stage: str) -> None:
    """Let a paused stage go on.

    Parameters
    ----------
    stage
        The stage's name, as `scrapersky stages` prints it.
    """
    with without_collector():
        from scrapersky.cli.stages import resume as work

    work(stage)


@stages.command(name="set")
def change_stage(
    stage: str,
    *,
    pace: Literal["eager", "interval"] | None = None,
    interval_minutes: float | None = None,
    batch_size: int | None = None,
    max_instances: int | None = None,
    rate_per_minute: int | None = None,
    high_water: int | None = None,
) -> None:
    """Change the pace and the limits of a stage in every process, without a restart.

    Parameters
    ----------
    stage
        The stage's name, as `scrapersky stages` prints it.
    pace
        When it works: the moment a row is queued, or only when its job runs.
    interval_minutes
        Minutes between two runs of its job.
    batch_size
        Rows claimed at once; at the pace `interval`, in one run.
    max_instances
        Runs of its job at the same time.
    rate_per_minute
        Items begun within any 60 seconds at most.
    high_water
        Rows that may be queued for it; 0 means no limit.
    """
    with without_collector():
        from scrapersky.cli.stages import change as work

    work(
        stage,
        {
            "pace": pace,
            "interval_minutes": interval_minutes,
            "batch_size": batch_size,
            "max_instances": max_instances,
            "rate_per_minute": rate_per_minute,
            "high_water": high_water,
        },
    )


@stages.command
def reset(stage: str) -> None:
    """Take back what was changed by `set`: each process has its own settings again.

    Parameters
    ----------
    stage
        The stage's name, as `scrapersky stages` prints it.
    """
    with without_collector():
        from scrapersky.cli.stages import reset as work

    work(stage)


dead_letters = App(
    name="dead-letters",
    group=CARE,
    help="""\
List the items that failed for good; inspect, replay or discard them.
""",
)


@dead_letters.default
def show_dead_letters(
    stage: str | None = None, *, limit: int = 50, json: bool = False
) -> None:
    """List the items that failed for good, the latest first.

    Parameters
    ----------
    stage
        Only of this stage.
    limit
        How many at the most.
    json
        Print them as JSON.
    """
    with without_collector():
        from scrapersky.cli.dead_letters import show as work

    work(stage, limit=limit, json=json)


@dead_letters.command
def inspect(stage: str, item: str) -> None:
    """Tell the whole story of one dead letter.

    Parameters
    ----------
    stage
        The stage it died in.
    item
        Its id.
    """
    with without_collector():
        from scrapersky.cli.dead_letters import inspect as work

    work(stage, item)


@dead_letters.command
def replay(stage: str, *items: str) -> None:
    """Queue dead letters again with all their attempts; none named: the stage's all.

    Parameters
    ----------
    stage
        The stage they died in.
    items
        Their ids.
    """
    with without_collector():
        from scrapersky.cli.dead_letters import replay as work

    work(stage, *items)


@dead_letters.command
def discard(stage: str, *items: str) -> None:
    """Dismiss failed records from the list; they keep their failed status.

    Parameters
    ----------
    stage
        The stage they died in.
    items
        Their ids; none named: the stage's all.
    """
    with without_collector():
        from scrapersky.cli.dead_letters import discard as work

    work(stage, *items)


user = App(
    name="user",
    group=CARE,
    help="""\
Manage accounts: create, list, deactivate, set a password.

`scrapersky user create YOU@EXAMPLE.COM --role admin` creates the first administrator.
""",
)
tenant = App(
    name="tenant", group=CARE, help="Create and list tenants, each with its own data."
)
key = App(name="key", group=CARE, help="Create an API key for a program.")


@user.command(name="create")
def create_user(
    email: str,
    *,
    role: Role = "viewer",
    tenant: str | None = None,
    subject: str | None = None,
) -> None:
    """Let a person in.

    Asks for a password on a terminal; elsewhere one is made and printed once.

    Parameters
    ----------
    email
        The e-mail address to log in with.
    role
        viewer, curator or admin.
    tenant
        The short name of the tenant; without it, the installation's own.
    subject
        Who they are to the issuer of access tokens; then they need no password.
    """
    with without_collector():
        from scrapersky.cli.user import create_user as work

    work(email, role=role, tenant=tenant, subject=subject)


@user.command(name="list")
def list_users() -> None:
    """List everyone who may come in."""
    with without_collector():
        from scrapersky.cli.user import list_users as work

    work()


@user.command(name="disable")
def disable_user(email: str, *, tenant: str | None = None) -> None:
    """Shut a person out, everywhere and at once.

    Parameters
    ----------
    email
        Whom.
    tenant
        The short name of their tenant; without it, the installation's own.
    """
    with without_collector():
        from scrapersky.cli.user import disable_user as work

    work(email, tenant=tenant)


@user.command(name="password")
def set_password(email: str, *, tenant: str | None = None) -> None:
    """Set a new password; every session of that person ends.

    Parameters
    ----------
    email
        Whose.
    tenant
        The short name of their tenant; without it, the installation's own.
    """
    with without_collector():
        from scrapersky.cli.user import set_password as work

    work(email, tenant=tenant)


@tenant.command(name="create")
def create_tenant(name: str, *, slug: str | None = None) -> None:
    """Make a tenant: its data is invisible to every other.

    Parameters
    ----------
    name
        Its name.
    slug
        Its short name; without it, made out of the name.
    """
    with without_collector():
        from scrapersky.cli.user import create_tenant as work

    work(name, slug=slug)


@tenant.command(name="list")
def list_tenants() -> None:
    """List all tenants."""
    with without_collector():
        from scrapersky.cli.user import list_tenants as work

    work()


@key.command(name="create")
def create_key(
    name: str,
    *,
    role: Role = "viewer",
    tenant: str | None = None,
    scope: list[Scope] | None = None,
) -> None:
    """Make an API key; its secret is printed once.

    Parameters
    ----------
    name
        What it is for.
    role
        viewer, curator or admin.
    tenant
        The short name of the tenant; without it, the installation's own.
    scope
        What it is limited to (may be given several times).
    """
    with without_collector():
        from scrapersky.cli.user import create_key as work

    work(name, role=role, tenant=tenant, scope=scope)
