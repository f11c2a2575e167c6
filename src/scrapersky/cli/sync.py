"""`scrapersky sync`."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal
from uuid import UUID

import orjson
from cyclopts import App, Parameter
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from scrapersky.cli.crm import (
    best_contacts,
    latest,
    lead_ids,
    noted,
    opened_by,
    row_of,
    show,
    switch,
    working,
)
from scrapersky.cli.options import RUN, AsJson, PathOrStream
from scrapersky.cli.table import print_done
from scrapersky.configuration import load_settings
from scrapersky.connectors.account import (
    CONNECTIONS,
    ConnectorTools,
    CrmConnection,
)
from scrapersky.connectors.control import (
    PAUSED,
    PREVIEWED_LEADS,
    SHOWN,
    NewConnection,
    change_credential,
    changing,
    checked_mapping,
    connect_account,
    connection_of,
    counts,
    forget_connection,
    learn_account,
    preview,
    queue_run,
    resume,
)
from scrapersky.connectors.difference import difference, whole_difference
from scrapersky.connectors.forecast import forecast
from scrapersky.connectors.outbox import open_problems
from scrapersky.connectors.protocol import CrmKind
from scrapersky.connectors.question import (
    DifferenceAnswer,
    answer_difference,
    open_differences,
)
from scrapersky.connectors.registry import infos
from scrapersky.connectors.undo import UndoResult, undo_next, writes_of
from scrapersky.records.status import LeadStatus
from scrapersky.scheduler.webhook import find_cipher

Kind = Literal["company", "person"]
Option = Annotated[tuple[str, ...], Parameter(name="--option", negative=())]

sync_commands = App(
    name="sync",
    group=RUN,
    help="""\
Keep leads in a CRM: connect it, look at the difference, run, pause, take back.

`scrapersky sync connect folder` connects the simplest target; `scrapersky sync run NAME` writes
the lead list to it. A worker (`scrapersky up` or `worker`) does the writing.
""",
)


@sync_commands.command
def connectors(*, json: AsJson = False) -> None:
    """List the CRMs that can be connected, and what each asks for."""
    rows = [
        asdict(one) | {"batch": {}, "mapping": {}, "key_fields": {}} for one in infos()
    ]
    show(rows, ("name", "title", "credential", "unit"), as_json=json)


@sync_commands.command
def connect(
    connector: str,
    *,
    name: str | None = None,
    credential_file: PathOrStream | None = None,
    option: Option = (),
    daily_budget: int | None = None,
    json: AsJson = False,
) -> None:
    """Connect an account: its credential is tried, and fields of ours are made there.

    Nothing is written before the first run.

    Parameters
    ----------
    connector
        Which CRM: see `scrapersky sync connectors`.
    name
        What to call the connection.
    credential_file
        The file with the key or token; - is standard input, so that no list of processes and
        no history of a shell has it.
    option
        NAME=VALUE of what the connector asks for; @FILE as the value reads a file.
    daily_budget
        How many calls or tokens of a day may be spent.
    """
    given = NewConnection(
        connector=connector,
        name=name,
        credential=read_credential(credential_file),
        options=dict(map(read_option, option)),
        daily_budget=daily_budget,
    )

    async def act(engine: AsyncEngine, tools: ConnectorTools, tenant: UUID) -> Any:  # noqa: ANN401 - a row
        cipher = find_cipher(load_settings().settings, make=True)
        sync_id = await connect_account(
            engine, tools, given, cipher=cipher, tenant_id=tenant, user_id=None
        )
        await noted(engine, tenant, "created", sync_id)
        return await row_of(engine, tenant, str(sync_id))

    show([working(act)], LISTED, as_json=json)


LISTED = ("id", "name", "connector", "account_name", "is_active", "problem")


@sync_commands.command(name="list")
def list_all(*, json: AsJson = False) -> None:
    """List the connections, and how many records of each are where."""

    async def act(
        engine: AsyncEngine, tools: ConnectorTools, tenant: UUID
    ) -> list[Any]:
        async with engine.connect() as connection:
            query = SHOWN.where(CONNECTIONS.c.tenant_id == tenant)
            rows = (await connection.execute(query)).all()
            shown = []
            for row in rows:
                seen = asdict(await forecast(connection, row, tools))
                counted = await counts(connection, row.id)
                shown.append({**row._asdict(), **counted, **seen})
            return shown

    columns = (*LISTED, "queued", "done", "refused", "unlinked", "finish_at")
    show(working(act), columns, as_json=json)


@sync_commands.command(name="test")
def try_credential(connection: str, *, json: AsJson = False) -> None:
    """Try the credential again, and make fields of ours that are missing there.

    Parameters
    ----------
    connection
        Its name or ID.
    """

    async def act(engine: AsyncEngine, tools: ConnectorTools, tenant: UUID) -> Any:  # noqa: ANN401 - a value
        row = await row_of(engine, tenant, connection)
        return await learn_account(engine, tools, tenant, row["id"])

    show([working(act)], ("id", "name", "missing"), as_json=json)


@sync_commands.command
def fields(connection: str, *, kind: Kind = "company", json: AsJson = False) -> None:
    """List the fields of the CRM, and which value of ours goes into which.

    Parameters
    ----------
    connection
        Its name or ID.
    kind
        company or person.
    """

    async def act(opened: CrmConnection, _engine: AsyncEngine) -> list[Any]:
        ours = {rule.theirs: rule.ours for rule in opened.rules(CrmKind(kind))}
        schema = await opened.schema(CrmKind(kind))
        return [asdict(one) | {"ours": ours.get(one.name)} for one in schema.values()]

    columns = ("name", "label", "type", "ours", "is_read_only", "is_required")
    show(opened_by(connection, act), columns, as_json=json)


@sync_commands.command(name="map")
def map_fields(connection: str, mapping: Path, *, json: AsJson = False) -> None:
    """Say by a JSON file which value goes into which field, and who wins.

    Parameters
    ----------
    connection
        Its name or ID.
    mapping
        {"company": {"city": {"field": "town", "rule": "fill"}}}; rules are fill, ours,
        theirs and ask.
    """
    given = orjson.loads(mapping.read_bytes())

    async def act(opened: CrmConnection, engine: AsyncEngine) -> None:
        kept = await checked_mapping(opened, given)
        async with engine.begin() as session:
            statement = changing(opened.row.tenant_id, opened.row.id)
            await session.execute(statement.values(mapping=kept))
        await noted(engine, opened.row.tenant_id, "mapped", opened.row.id)

    opened_by(connection, act)
    print_done("Mapped.", {"connection": connection, "done": "mapped"}, as_json=json)


@sync_commands.command(name="preview")
def preview_leads(
    connection: str, *, search: UUID | None = None, json: AsJson = False
) -> None:
    """Show ten companies as they would stand in the CRM.

    Parameters
    ----------
    connection
        Its name or ID.
    search
        Only companies that this search found.
    """

    async def act(opened: CrmConnection, engine: AsyncEngine) -> list[Any]:
        ids = await lead_ids(
            engine, opened.row.tenant_id, search, None, PREVIEWED_LEADS
        )
        shown = await preview(engine, opened, CrmKind.COMPANY, ids)
        return [
            {
                "id": lead["id"],
                "refusal": lead["refusal"],
                "unmatched": lead["unmatched"],
            }
            | {one["label"]: one["value"] for one in lead["values"]}
            for lead in shown
        ]

    rows = opened_by(connection, act)
    names = list(dict.fromkeys(name for row in rows for name in row))
    show(rows, names, as_json=json)


@sync_commands.command(name="difference")
def show_difference(
    connection: str,
    *,
    kind: Kind = "company",
    search: UUID | None = None,
    status: LeadStatus | None = None,
    json: AsJson = False,
) -> None:
    """Compare up to 1,000 leads with what the CRM has now; nothing is written.

    Parameters
    ----------
    connection
        Its name or ID.
    kind
        company or person: the companies, or their best contacts.
    search
        Only companies that this search found.
    status
        Only those of this status.
    """

    async def act(opened: CrmConnection, engine: AsyncEngine) -> Any:  # noqa: ANN401 - a value
        tenant = opened.row.tenant_id
        ids = await lead_ids(engine, tenant, search, status, None)
        if CrmKind(kind) is CrmKind.PERSON:
            ids = await best_contacts(engine, tenant, ids)
            return await difference(engine, opened, CrmKind(kind), ids)
        return await whole_difference(engine, opened, CrmKind(kind), ids)

    columns = (
        "total",
        "compared",
        "creates",
        "updates",
        "matched",
        "unchanged",
        "refused",
        "price",
        "seconds",
    )
    show([opened_by(connection, act)], columns, as_json=json)


@sync_commands.command
def run(
    connection: str,
    *,
    search: UUID | None = None,
    status: LeadStatus | None = None,
    again: Annotated[bool, Parameter(negative=())] = False,
    json: AsJson = False,
) -> None:
    """Write the lead list to the CRM: queued at once, written by a worker.

    Parameters
    ----------
    connection
        Its name or ID.
    search
        Only companies that this search found.
    status
        Only those of this status; Do Not Contact never leaves.
    again
        Make anew what was deleted there.
    """

    async def act(engine: AsyncEngine, _tools: ConnectorTools, tenant: UUID) -> Any:  # noqa: ANN401 - a value
        row = await row_of(engine, tenant, connection)
        ids = await lead_ids(engine, tenant, search, status, None)
        stored = await connection_of(engine, tenant, row["id"])
        async with engine.begin() as session:
            queued = await queue_run(session, stored, CrmKind.COMPANY, ids, again=again)
        await noted(engine, tenant, "run", row["id"])
        return {"connection": row["name"], "queued": queued}

    show([working(act)], ("connection", "queued"), as_json=json)


@sync_commands.command
def pause(connection: str, *, json: AsJson = False) -> None:
    """Write and read nothing more until it goes on; what waits is kept.

    Parameters
    ----------
    connection
        Its name or ID.
    """

    async def act(session: AsyncConnection, row: Any) -> None:  # noqa: ANN401 - a row
        await session.execute(changing(row.tenant_id, row.id).values(PAUSED))

    switch(connection, act, "paused", as_json=json)


@sync_commands.command(name="resume")
def resume_connection(connection: str, *, json: AsJson = False) -> None:
    """Go on with what waits.

    Parameters
    ----------
    connection
        Its name or ID.
    """
    switch(connection, resume, "resumed", as_json=json)


@sync_commands.command
def undo(connection: str, *, json: AsJson = False) -> None:
    """Take the last run back; pause the connection first.

    What it made is deleted there, what it changed gets its values back; what somebody has
    changed there since is left.

    Parameters
    ----------
    connection
        Its name or ID.
    """

    async def act(opened: CrmConnection, engine: AsyncEngine) -> UndoResult:
        total = UndoResult()
        while True:
            one = await undo_next(engine, opened)
            total.deleted += one.deleted
            total.restored += one.restored
            total.kept += one.kept
            if not one.left:
                break
        await noted(engine, opened.row.tenant_id, "undone", opened.row.id)
        return total

    show([opened_by(connection, act)], ("deleted", "restored", "kept"), as_json=json)


@sync_commands.command(name="log")
def show_log(connection: str, *, json: AsJson = False) -> None:
    """List the last hundred writes, with what they replaced.

    Parameters
    ----------
    connection
        Its name or ID.
    """
    columns = ("created_at", "kind", "record_id", "their_id", "is_new", "after")
    show(latest(connection, writes_of), columns, as_json=json)


@sync_commands.command
def problems(connection: str, *, json: AsJson = False) -> None:
    """List records that were refused, deleted there, or could not be erased there.

    Parameters
    ----------
    connection
        Its name or ID.
    """
    columns = ("updated_at", "kind", "record_id", "state", "their_id", "problem")
    show(latest(connection, open_problems), columns, as_json=json)


@sync_commands.command
def differences(connection: str, *, json: AsJson = False) -> None:
    """List records that hold another value there, which was left as it is.

    Parameters
    ----------
    connection
        Its name or ID.
    """
    columns = ("updated_at", "kind", "record_id", "their_id", "differs")
    show(latest(connection, open_differences), columns, as_json=json)


@sync_commands.command
def answer(
    connection: str,
    record: UUID,
    field: str,
    whose: Literal["ours", "theirs"],
    *,
    json: AsJson = False,
) -> None:
    """Say whose value stands in one field of a record there.

    Parameters
    ----------
    connection
        Its name or ID.
    record
        The company or contact, as `sync differences` lists it.
    field
        The field there.
    whose
        ours is written; theirs is left, and not asked about until one of the two changes.
    """

    async def act(session: AsyncConnection, row: Any) -> None:  # noqa: ANN401 - a row
        given = DifferenceAnswer(whose)
        await answer_difference(session, row.id, record, field, given)

    switch(connection, act, "answered", as_json=json)


@sync_commands.command
def credential(
    connection: str, credential_file: PathOrStream, *, json: AsJson = False
) -> None:
    """Give a connection another key or token, which is tried first.

    Parameters
    ----------
    connection
        Its name or ID.
    credential_file
        The file with the key or token; - is standard input.
    """

    async def act(engine: AsyncEngine, tools: ConnectorTools, tenant: UUID) -> None:
        row = await row_of(engine, tenant, connection)
        cipher = find_cipher(load_settings().settings, make=True)
        secret = read_credential(credential_file)
        await change_credential(
            engine, tools, cipher, tenant_id=tenant, sync_id=row["id"], secret=secret
        )
        await noted(engine, tenant, "changed", row["id"])

    working(act)
    facts = {"connection": connection, "done": "changed"}
    print_done(f"{connection} has another credential.", facts, as_json=json)


@sync_commands.command
def remove(connection: str, *, json: AsJson = False) -> None:
    """Forget an account, and which of its records is which of ours; it keeps its records.

    Parameters
    ----------
    connection
        Its name or ID.
    """

    async def act(engine: AsyncEngine, _tools: ConnectorTools, tenant: UUID) -> str:
        row = await row_of(engine, tenant, connection)
        await noted(engine, tenant, "deleted", row["id"])
        async with engine.begin() as session:
            return await forget_connection(session, row["id"])

    left = working(act)
    facts = {"connection": connection, "done": "forgotten", "left": left or None}
    said = f"Forgotten; {left}." if left else "Forgotten."
    print_done(said, facts, as_json=json)


def read_credential(path: Path | None) -> str:
    """Read a key from a file or standard input."""
    if path is None:
        return ""
    text = sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8")
    return text.strip()


def read_option(given: str) -> tuple[str, str]:
    """Read NAME=VALUE; @FILE stands for what is in it."""
    name, _, value = given.partition("=")
    if value.startswith("@"):
        value = Path(value[1:]).read_text(encoding="utf-8")
    return name, value
