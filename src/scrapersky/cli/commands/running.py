"""What starts things and puts work in."""

from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from scrapersky.cli.commands.options import Source
from scrapersky.cli.garbage import without_collector


def up(
    *, workers: Annotated[int | None, Parameter(validator=Number(gte=0))] = None
) -> None:
    """Start everything on this machine.

    The embedded PostgreSQL is created on the first start, under your data directory or
    `SCRAPERSKY_DATA_DIR`; `DATABASE_URL` selects another. Migrations are applied, the
    application listens on `HOST`:`PORT` (127.0.0.1:8000). Ctrl-C stops all of it.
    The stages are worked in a process of their own where there are two cores or more.

    Parameters
    ----------
    workers
        How many processes work the stages: up to as many as there are cores. With 0 the
        process that serves the application works them, too.
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
    file: Annotated[Path, Parameter(allow_leading_hyphen=True)],
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


def serve() -> None:
    """Serve the API and the page, without the stages.

    For a fleet: the stages run in `scrapersky worker`, here or on other hosts, on the database that
    `DATABASE_URL` names. Restarting one disturbs no work in the other.
    """
    with without_collector():
        from scrapersky.cli.serve import serve as work

    work()


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
