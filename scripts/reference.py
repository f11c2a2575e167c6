"""The pages of the documentation that are made from the code."""

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import groupby
from pathlib import Path

from scrapersky import errors
from scrapersky.api.app import create_app
from scrapersky.api.middleware.route import routes_of
from scrapersky.cli import app as command_line
from scrapersky.configuration import (
    FINE_TUNING,
    Variable,
    load_settings,
    setting_text,
    variables_by_rank,
)
from scrapersky.db.connection import parse_target
from scrapersky.db.releases import Release, releases
from scrapersky.errors import ScraperSkyError
from scrapersky.pipeline.declaration import AnyPipelineStage
from scrapersky.records import KINDS as RECORD_KINDS
from scrapersky.records import Kind, kind_of
from scrapersky.scheduler.overrides import CHANGEABLE
from scrapersky.settings import MATCHING, PURGE, REAP
from scrapersky.stages import PIPELINE
from scripts import pipeline_graph, sdk_reference, workflow_reference

MADE = "<!-- Made by `./check --regenerate`; edit the code, not this page. -->\n\n"


def settings_page() -> str:
    """List every setting."""
    essential, others = variables_by_rank()
    lines = [
        "# Settings",
        "",
        (
            "The environment beats `.env`, which beats the default. A misspelt or invalid "
            "variable stops the start. One of several words may be written in large or "
            "small letters. A "
            "secret may lie in a file, as containers are handed them: `DATABASE_URL_FILE`, "
            "`JWT_SECRET_FILE` and so on name it. A `.env` in the current directory is "
            "read only if it is yours or root's and nobody else may write it (`chmod 600 "
            ".env`); any other stops the start."
        ),
        "",
        (
            f"{len(essential)} settings are to know; the other {len(others)} are for "
            "[fine tuning](#fine-tuning), and `scrapersky config` shows of those only what "
            "was set, unless `--all` is given."
        ),
        "",
        "## What was changed while it runs",
        "",
        (
            f"{len(CHANGEABLE)} settings of a stage ({', '.join(CHANGEABLE)}) can be changed "
            "without a restart: by the clock on the stage's card, `scrapersky stages set` or "
            "`PATCH /api/v3/stages/{stage}`. Such a change is stored in the database, beats "
            "the environment in every process, and holds after a restart until it is "
            "cleared: by Reset all on the card, `scrapersky stages reset STAGE [SETTING]`, "
            "or `null` in the `PATCH`."
        ),
        "",
        (
            "Where a value comes from is said by `scrapersky config`: `default`, `.env`, "
            "`environment`, or `changed by NAME on DATE`. The same stands on the "
            "stage's card, in `overrides` of `GET /api/v3/stages`, under Settings > System "
            "on the page, and in the log of every process that starts (`settings.override`). "
            "A stored change has no effect if a process could not have been started with it: "
            "it contradicts another setting, is out of today's bounds, or its stage is gone. "
            "The process starts without it, and each of these places says why and how to "
            "clear it (`settings.change_refused` in the log)."
        ),
        "",
        "## Settings to know",
        "",
        *setting_tables(essential),
        "## Fine tuning",
        "",
        FINE_TUNING,
        "",
        *setting_tables(others),
        (
            "`SITEMAP_SCHEDULER_*`, of the retired three-in-one scheduler, is recognised only "
            "to warn which settings replaced it; `_MISFIRE_GRACE_SECONDS`, which every job "
            "says itself now, to warn that it is ignored."
        ),
        "",
    ]
    return MADE + "\n".join(lines)


def setting_tables(wanted: Iterable[Variable]) -> Iterator[str]:
    """Write some settings: general ones, then those of every stage and job."""
    for _, found in groupby(wanted, key=lambda one: one.path[:-1]):
        yield from ("| variable | default | meaning |", "|---|---|---|")
        yield from map(setting_row, found)
        yield ""


def setting_row(found: Variable) -> str:
    """Describe one setting."""
    default = setting_text(found.default)
    if found.name == "SCRAPERSKY_DATA_DIR":
        default = "your data directory; `/var/lib/scrapersky` for root"
    elif default:
        default = f"`{default}`"
    return f"| `{found.name}` | {default} | {found.description} |"


def commands_page() -> str:
    """Describe every command."""
    # Cyclopts writes into the usage lines how the running program was called.
    called, sys.argv = sys.argv, ["scrapersky"]
    try:
        page = command_line.generate_docs()
    finally:
        sys.argv = called
    return f"{MADE}{page.rstrip()}\n\n{command_line.help_epilogue}"


def errors_page() -> str:
    """List every error with what it means."""
    lines = [
        "# Errors",
        "",
        (
            "Every error ScraperSky raises on purpose says what happened and, where there "
            "is something to do, what to do. *Tried again*: the SDK retries the same "
            "work later."
        ),
        "",
        "| error | kind of | meaning | tried again | HTTP |",
        "|---|---|---|---|---|",
    ]
    for name, found in inspect.getmembers(errors, inspect.isclass):
        if issubclass(found, ScraperSkyError):
            parent = found.__mro__[1].__name__
            meaning = (inspect.getdoc(found) or "").splitlines()[0]
            again = "yes" if found.retryable else ""
            lines.append(
                f"| `{name}` | {parent} | {meaning} | {again} | {found.status_code} |"
            )
    return MADE + "\n".join(lines) + "\n"


def routes_page() -> str:
    """List every route of the API with what it asks of its caller."""
    settings = load_settings({}, dotenv=None).settings
    app = create_app(settings, parse_target("postgresql://nobody@/nothing"))
    lines = [
        "# Routes of the API",
        "",
        (
            "Every route and the permission it asks for; a test compares this page with "
            "the code, so a new route does not go unseen. `public` needs no identity. "
            "The roles: a viewer may `read`; a curator also `export` and `curate`; an "
            "admin also `administer`; an admin of the installation's own tenant also "
            '`operate`. *Hidden*: whoever may not gets "not found".'
        ),
        "",
        "| method | path | permission | operation |",
        "|---|---|---|---|",
    ]
    rows = sorted(
        (route.path, method, route)
        for route in routes_of(app)
        for method in route.methods
        if method != "HEAD"
    )
    for path, method, route in rows:
        asked = route.permission or "NOT DECLARED"
        hidden = ", hidden" if route.is_hidden else ""
        name = route.operation_id or route.name
        lines.append(f"| {method} | `{path}` | {asked}{hidden} | {name} |")
    return MADE + "\n".join(lines) + "\n"


def sdk_page() -> str:
    """Describe everything public in the Curation SDK."""
    return MADE + sdk_reference.page()


def workflow_page(number: int) -> str:
    """Describe one workflow."""
    return MADE + workflow_reference.page_of(number)


def stages_page() -> str:
    """Describe every stage as it declares itself."""
    lines = [
        "# Stages",
        "",
        (
            "Every stage claims the rows of one status column, works on them, and writes "
            "its results in the transaction that also writes the row's new status. Who "
            "sets the status column to its queued value, with whatever tool, has queued "
            "the row."
        ),
        "",
        "![Which stage feeds which](../images/pipeline-graph.svg)",
        "",
        "![The statuses of every stage](../images/status-map.svg)",
        "",
        (
            "| stage | title | claims | queued -> processing -> done / failed "
            "| hands over | next | job id | settings prefix |"
        ),
        "|---|---|---|---|---|---|---|---|",
        *(stage_row(stage) for stage in PIPELINE),
        "",
        (
            f"Three more jobs run by the clock: `reap_expired_claims` (`{REAP.prefix}`) "
            f"gives back the items of workers that died, `purge_old_history` "
            f"(`{PURGE.prefix}`) forgets old attempts and runs, and `match_companies` "
            f"(`{MATCHING.prefix}`) puts companies together from what was stored."
        ),
        "",
        (
            "The settings under each prefix, with their defaults, are in "
            "[settings](settings.md)."
        ),
        "",
        "## Where each is found",
        "",
        "| stage | workflow | code | table | routes | screen | logger |",
        "|---|---|---|---|---|---|---|",
        *(place_row(stage) for stage in PIPELINE),
        "",
        "## How else an item can end",
        "",
        "| stage | nothing to find | fails for good | is tried again |",
        "|---|---|---|---|",
        *(endings_row(stage) for stage in PIPELINE),
        "",
        (
            "`sitemap_files.dropped` counts what an import left out, by reason, and `new`, "
            "`changed` and `gone` pages."
        ),
    ]
    return MADE + "\n".join(lines) + "\n"


def stage_row(stage: AnyPipelineStage) -> str:
    """Write the row of one stage."""
    cells = (
        f"`{stage.name}`",
        f"{stage.title}: {stage.does}",
        f"`{stage.model.__tablename__}.{stage.claims.key}`",
        f"`{stage.queued}` -> `{stage.processing}` -> `{stage.done}` / `{stage.failed}`",
        stage.hands_over,
        ", ".join(f"`{name}`" for name in stage.feeds) or "-",
        f"`{stage.job.id}`",
        f"`{stage.settings.prefix}`",
    )
    return f"| {' | '.join(cells)} |"


def place_row(stage: AnyPipelineStage) -> str:
    """Write where one stage is in the code, in the API, on the page and in the log."""
    kind, number = kind_of(stage.model), (stage.workflow or "").removeprefix("wf")
    cells = (
        f"`{stage.name}`",
        f"[{number}](workflow-{number}.md)" if number else "-",
        f"`{workflow_reference.file_of(stage)}`",
        f"`{kind.table}`",
        f"`/api/v3{kind.path}`",
        workflow_reference.screen_of(kind),
        f"`{stage.logger_name}`",
    )
    return f"| {' | '.join(cells)} |"


def endings_row(stage: AnyPipelineStage) -> str:
    """Write how else the work of one stage can end."""
    ends = stage.endings
    cells = (f"`{stage.name}`", ends.empty, ends.fails, ends.retries)
    return f"| {' | '.join(cell or '-' for cell in cells)} |"


def kinds_page() -> str:
    """Describe every kind of record as it declares itself."""
    lines = [
        "# Kinds of records",
        "",
        (
            "What people look at and decide about, in the order of the pipeline. Setting a "
            "record to the status in the column *starts* queues it for that stage, in the "
            "same transaction, unless the stage has it or has had it. `GET /api/v3/kinds` "
            "serves the same declarations to the page; "
            "[add a kind of record](../how-to/add-a-record-kind.md) says how to write one."
        ),
        "",
        "| kind | table | address | decided in | statuses to set | starts | keys |",
        "|---|---|---|---|---|---|---|",
        *(kind_row(kind) for kind in RECORD_KINDS.values()),
        "",
        "| kind | looked for in | counted by | belongs together with | submitted as |",
        "|---|---|---|---|---|",
        *(reach_row(kind) for kind in RECORD_KINDS.values()),
    ]
    return MADE + "\n".join(lines) + "\n"


def kind_row(kind: Kind) -> str:
    """Write what one kind is and what is decided about it."""
    decision = kind.decision
    cells = [f"`{kind.name}`", f"`{kind.table}`", f"`/api/v3{kind.path}`"]
    if decision is None:
        return f"| {' | '.join([*cells, '-', '-', '-', '-'])} |"
    cells += [
        f"`{decision.column.key}`",
        listed(decision.settable),
        f"`{decision.on.value}`: `{decision.starts}`" if decision.on else "-",
        ", ".join(f"`{choice.key}`" for choice in decision.choices),
    ]
    return f"| {' | '.join(cells)} |"


def reach_row(kind: Kind) -> str:
    """Write how records of one kind are found, and what they lead to."""
    cells = (
        f"`{kind.name}`",
        listed(column.key for column in kind.words),
        listed(kind.facets),
        listed(relation.kind for relation in kind.related),
        f"`{kind.submission.name}`" if kind.submission else "-",
    )
    return f"| {' | '.join(cells)} |"


def releases_page() -> str:
    """List every release, and the schema that it needs."""
    lines = [
        "# Releases",
        "",
        (
            "What changed in each, and what an operator does to upgrade to it, is in the "
            "[changelog](../../CHANGELOG.md). `scrapersky version` says which release and "
            "which build of it is installed, `scrapersky workers` which one each process is."
        ),
        "",
        "| version | date | schema | runs on it | commit |",
        "|---|---|---|---|---|",
        *map(release_row, releases()),
        "",
        (
            "*Runs on it*: the oldest release that starts and works on this one's schema as it "
            "is. Before an older one starts, the newest takes the schema back, from 0.4.0 on: "
            "`scrapersky migrate --to VERSION` ([how to](../how-to/upgrade.md#going-back)). "
            "Tests upgrade the database that each release left behind "
            "(`tests/db/releases/`), work on it, take it back, and let the old release's own "
            "code work on it again. How a release is made is in "
            "[CONTRIBUTING](../../CONTRIBUTING.md#making-a-release)."
        ),
        "",
    ]
    return MADE + "\n".join(lines)


def release_row(release: Release) -> str:
    """Describe one release."""
    changes = (DOCS.parent / "CHANGELOG.md").read_text(encoding="utf-8")
    found = re.search(
        rf"^## \[{re.escape(release.version)}\] - (\S+)$", changes, re.MULTILINE
    )
    date = found[1] if found else "not yet"
    commit = f"`{release.commit[:8]}`" if release.commit else "this one"
    return (
        f"| {release.version} | {date} | `{release.revision}` | {release.runs} "
        f"| {commit} |"
    )


def listed(names: Iterable[str]) -> str:
    """Write some names one after the other."""
    return ", ".join(f"`{name}`" for name in names) or "-"


DOCS = Path(__file__).parents[1] / "docs"
KINDS = {
    "tutorial": "Tutorial: learn by doing",
    "how-to": "How-to: get one thing done",
    "reference": "Reference: look it up",
    "explanation": "Explanation: understand why",
    "adr": "Decisions, one page each",
}


def contents_page() -> str:
    """List every page of the documentation, by kind."""
    lines = ["# Documentation", ""]
    for folder, heading in KINDS.items():
        pages = sorted((DOCS / folder).glob("*.md"))
        lines += [f"## {heading}", ""]
        lines += [f"- [{title_of(page)}]({folder}/{page.name})" for page in pages]
        lines += [""]
    return MADE + "\n".join(lines)


def title_of(page: Path) -> str:
    """Return the heading of a page."""
    first = page.read_text().partition("# ")[2]
    return first.partition("\n")[0].strip()


PAGES: dict[str, Callable[[], str]] = {
    "../README.md": contents_page,
    "settings.md": settings_page,
    "stages.md": stages_page,
    **{
        f"workflow-{number}.md": partial(workflow_page, number)
        for number in workflow_reference.NUMBERS
    },
    "kinds.md": kinds_page,
    "releases.md": releases_page,
    "commands.md": commands_page,
    "errors.md": errors_page,
    "api-routes.md": routes_page,
    "curation-sdk.md": sdk_page,
    "../images/pipeline-graph.svg": lambda: pipeline_graph.dependency_graph(PIPELINE),
    "../images/status-map.svg": lambda: pipeline_graph.status_map(PIPELINE),
}
FILES = {(DOCS / "reference" / name).resolve(): page for name, page in PAGES.items()}
