"""A page for each workflow: its statuses, table, settings, job, routes, screen and logs."""

from collections.abc import Iterator

from scrapersky.configuration import setting_text, variables_by_rank
from scrapersky.pipeline.declaration import AnyPipelineStage
from scrapersky.records import KINDS, Kind, kind_of
from scrapersky.records.place_search import SEARCHES
from scrapersky.stages import PIPELINE

BY_PEOPLE = {5: "sitemap_files"}
"""Workflows in which only people work, and the kind of record they decide about."""
NUMBERS = sorted(
    {int(stage.workflow[2:]) for stage in PIPELINE if stage.workflow} | BY_PEOPLE.keys()
)


def page_of(number: int) -> str:
    """Describe one workflow."""
    stages = [stage for stage in PIPELINE if stage.workflow == f"wf{number}"]
    if not stages:
        return "\n".join(decided_by_people(number, KINDS[BY_PEOPLE[number]])) + "\n"
    titles = " and ".join(stage.title.lower() for stage in stages)
    lines = [f"# Workflow {number}: {titles}", ""]
    for stage in stages:
        lines += about_stage(stage)
    return "\n".join(lines).rstrip() + "\n"


def about_stage(stage: AnyPipelineStage) -> Iterator[str]:
    """Describe one stage of a workflow."""
    kind = kind_of(stage.model)
    column = f"`{stage.model.__tablename__}.{stage.claims.key}`"
    yield f"## {stage.title}"
    yield ""
    yield f"It {stage.does}. When it is done there is: {stage.hands_over}."
    yield ""
    yield "| | |"
    yield "|---|---|"
    yield f"| code | `{file_of(stage)}` |"
    yield f"| status column | {column} |"
    yield (
        f"| statuses | `{stage.queued}` -> `{stage.processing}` -> `{stage.done}` "
        f"/ `{stage.failed}` |"
    )
    yield f"| queued by | {'; '.join(queued_by(stage, kind))} |"
    yield f"| feeds | {', '.join(f'`{name}`' for name in stage.feeds) or '-'} |"
    yield f"| job | `{stage.job.id}` ({stage.job.name}) |"
    yield f"| screen | {screen_of(kind)} |"
    yield f"| logger | `{stage.logger_name}` |"
    yield f"| nothing to find | {stage.endings.empty or '-'} |"
    yield f"| fails for good | {stage.endings.fails or '-'} |"
    yield f"| is tried again | {stage.endings.retries or '-'} |"
    yield ""
    yield from settings_of(stage)
    yield from routes_of(stage, kind)
    yield from logs_of(stage)


def file_of(stage: AnyPipelineStage) -> str:
    """Return where a stage is declared."""
    return f"src/{stage.work.__module__.replace('.', '/')}.py"


def queued_by(stage: AnyPipelineStage, kind: Kind) -> Iterator[str]:
    """Report who sets the queued status."""
    for other in PIPELINE:
        if stage.name in other.feeds:
            yield f"`{other.name}`"
    for each in KINDS.values():
        decision = each.decision
        if decision and decision.on and decision.starts == stage.name:
            decided = f"`{decision.column.key}` to `{decision.on.value}`"
            yield f"a person or a rule that sets {decided}"
    if kind is SEARCHES:
        yield "a new search"
    if kind.submission is not None and kind.submission.stage == stage.name:
        yield f"a submission of {kind.submission.name}"
    yield "plain SQL"


def screen_of(kind: Kind) -> str:
    """Name the screen of the page."""
    return "Search" if kind is SEARCHES else f"Curate: {kind.title}"


def settings_of(stage: AnyPipelineStage) -> Iterator[str]:
    """List the settings of a stage with their defaults."""
    for rank, wanted in zip(
        ("setting", "for fine tuning"), variables_by_rank(), strict=True
    ):
        yield f"| {rank} | default |"
        yield "|---|---|"
        for variable in wanted:
            if variable.path[:2] == ("stages", stage.name):
                default = setting_text(variable.default)
                yield f"| `{variable.name}` | {f'`{default}`' if default else 'none'} |"
        yield ""
    yield "What each means is in [settings](settings.md)."
    yield ""


def routes_of(stage: AnyPipelineStage, kind: Kind) -> Iterator[str]:
    """List the calls that an operator makes about a stage."""
    yield "```console"
    yield f"$ curl $API{kind.path}  # its records"
    yield "$ curl $API/stages  # how it stands"
    yield f'$ curl "$API/dead-letters?stage={stage.name}"'
    yield f"$ curl -X POST $API/stages/{stage.name}/pause"
    yield f"$ curl -X POST $API/stages/{stage.name}/resume"
    yield f'$ curl -X POST "$API/dev-tools/trigger/{stage.job.id}?limit=1"'
    yield "```"
    yield ""


def logs_of(stage: AnyPipelineStage) -> Iterator[str]:
    """List the log lines that concern a stage."""
    yield f"Log lines of `{stage.logger_name}`:"
    yield ""
    yield "| level | line | when |"
    yield "|---|---|---|"
    yield "| `INFO` | `scheduler.run` | every run of the job, with its counts |"
    yield "| `INFO` | `item.failed` | an item failed for good, and why |"
    yield "| `ERROR` | `item.crashed` | an exception that nobody foresaw, with its traceback |"
    yield "| `WARNING` | `item.rescued`, `items.requeued` | rows that no worker holds any more |"
    yield "| `WARNING` | `stage.paused` | the stage claims nothing, and why |"
    yield "| `INFO` | `stage.resumed` | it claims again |"
    yield "| `DEBUG` | `item.settled`, `item.retried` | every item |"
    yield ""


def decided_by_people(number: int, kind: Kind) -> Iterator[str]:
    """Describe a workflow in which people decide and no stage works."""
    decision = kind.deciding
    yield f"# Workflow {number}: curation of {kind.title.lower()}"
    yield ""
    yield (
        "People and rules decide here; no job runs. Setting "
        f"`{kind.table}.{decision.column.key}` to `{decision.on}` queues the record "
        f"for `{decision.starts}` in the same transaction."
    )
    yield ""
    yield "| | |"
    yield "|---|---|"
    yield f"| statuses | {', '.join(f'`{status}`' for status in decision.settable)} |"
    yield f"| screen | {screen_of(kind)} |"
    yield f"| routes | `/api/v3{kind.path}`, `/api/v3{kind.path}/status` |"
