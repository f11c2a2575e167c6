"""A dashboard: an ASGI application to mount, or `python -m curation_sdk.dashboard`.

    app.mount("/queues", Dashboard(engine))

It shows every stage, what failed, and the history of one item. It changes nothing unless it
is made with `actions=True`; then stages can be paused and resumed, and failed items queued
again or dismissed. It asks nobody for a password: mount it behind your own.
"""

import argparse
import asyncio
import importlib
import os
import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from datetime import UTC, datetime, timedelta
from html import escape
from typing import Any
from urllib.parse import parse_qs, quote, unquote

import asyncpg
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from curation_sdk import dead_letters, statements
from curation_sdk.connection import engine_of, why_not_asked
from curation_sdk.control import (
    StageState,
    depth,
    execute,
    oldest,
    pause,
    rate,
    resume,
    states,
)
from curation_sdk.errors import CurationSdkError, UnknownItem, UnknownStage
from curation_sdk.history import History, history

__all__ = ["Dashboard"]

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Action = Callable[[AsyncEngine, str, str], Awaitable[object]]

MAX_COUNTED_ROWS = 100_000
MAX_LISTED_ITEMS = 100
MAX_FORM_BYTES = 10_000
REFRESH = '<meta http-equiv="refresh" content="10">'
"""Of the page of all stages; elsewhere it would take away what somebody types or copies."""
PACE_WINDOWS = (timedelta(seconds=1), timedelta(seconds=15))
"""The shorter one is enough for a quick stage: each look counts what was finished in it."""
QUICK_PER_SECOND = 1_000
COUNTING_SHARE = 0.004
"""The share of the time that is spent on counting, at most.

With all else that a page asks, that is under a hundredth of what 10,000 items a second cost.
"""
CONTENT_POLICY = (
    b"default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; "
    b"frame-ancestors 'none'; base-uri 'none'"
)
STYLE = """
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 14%, transparent);
  --soft: color-mix(in srgb, currentColor 6%, transparent); --link: light-dark(#0b57d0, #8ab4f8);
  --bad: light-dark(#b3261e, #f2938c); --late: light-dark(#8a5200, #f0b45a); }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 72rem;
  padding: 1rem 1.5rem 3rem; }
nav { display: flex; gap: .5rem; padding-bottom: .8rem; border-bottom: 1px solid var(--line); }
nav span { opacity: .6; }
a { color: var(--link); text-decoration: none; }
a:hover { text-decoration: underline; }
h1 { font-size: 1.4rem; margin: 1.2rem 0 .8rem; }
h2 { font-size: 1rem; margin: 1.4rem 0 .4rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .45rem 1rem .45rem 0; vertical-align: top;
  border-bottom: 1px solid var(--line); }
main { overflow-x: auto; }
.why { min-width: 14rem; overflow-wrap: anywhere; }
th { font-weight: 600; font-size: 13px; opacity: .7; white-space: nowrap; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
td:last-child, time { white-space: nowrap; }
pre { overflow-x: auto; margin: 0; padding: .6rem; font-size: 13px; border-radius: 6px;
  background: var(--soft); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1.2rem; }
dt { opacity: .7; }
dd { margin: 0; }
form { display: inline; }
button, input { font: inherit; font-size: 14px; padding: .15rem .6rem; border-radius: 6px;
  border: 1px solid var(--line); background: var(--soft); color: inherit; }
button { cursor: pointer; }
.bad { color: var(--bad); font-weight: 600; }
.late { color: var(--late); font-weight: 600; }
.find { display: block; margin: 0 0 1rem; }
"""


async def dismiss(engine: AsyncEngine, stage: str, item: str) -> None:
    """Forget a dead letter."""
    await dead_letters.discard(engine, stage, item)


async def retry(engine: AsyncEngine, stage: str, item: str) -> None:
    """Queue a dead letter again."""
    await dead_letters.replay(engine, stage, item)


async def pause_stage(engine: AsyncEngine, stage: str, _item: str) -> None:
    """Pause a stage until somebody resumes it."""
    await pause(engine, stage, "paused on the dashboard")


async def resume_stage(engine: AsyncEngine, stage: str, _item: str) -> None:
    """Let a paused stage go on."""
    await resume(engine, stage)


ACTIONS: dict[str, Action] = {
    "dismiss": dismiss,
    "retry": retry,
    "pause": pause_stage,
    "resume": resume_stage,
}


class Dashboard:
    """Pages about all stages that a database knows, as an ASGI application."""

    def __init__(self, engine: AsyncEngine, *, actions: bool = False) -> None:
        self._engine = engine
        self._has_actions = actions
        self._figures: dict[str, tuple[int, float]] = {}
        self._figures_due = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        root = str(scope.get("root_path", ""))
        parts = parts_of(scope, root)
        try:
            if scope["method"] == "POST":
                await self._act(scope, receive, send, root)
                return
            title, body = await self._page(root, parts, asked_for(scope))
        except (SQLAlchemyError, asyncpg.PostgresError, OSError) as error:
            why = escape(why_not_asked(error))
            await respond(send, 503, page(root, "Not available", [why]))
            return
        except (UnknownItem, UnknownStage, CurationSdkError) as error:
            await respond(send, 404, page(root, "Not found", [escape(str(error))]))
            return
        await respond(send, 200, page(root, title, body, *parts))

    async def _page(
        self, root: str, parts: list[str], item_asked: str
    ) -> tuple[str, list[str]]:
        match [*parts, item_asked] if item_asked else parts:
            case []:
                return "Stages", await self._stages(root)
            case [stage]:
                return stage, await self._failures(root, stage)
            case [stage, item]:
                known = await history(self._engine, stage, item)
                return f"{stage} {item}", item_page(known)
        raise UnknownItem("This page does not exist.", hint="Begin at All stages.")

    async def _act(self, scope: Scope, receive: Receive, send: Send, root: str) -> None:
        if not self._has_actions or not is_same_origin(scope):
            await respond(send, 403, page(root, "Refused", ["Nothing was changed."]))
            return
        form = parse_qs((await read_body(receive)).decode("utf-8", "replace"))
        action, stage, item = (
            form.get(n, [""])[0] for n in ("action", "stage", "item")
        )
        if action not in ACTIONS:
            raise UnknownItem(
                "This action does not exist.", hint=f"There is {', '.join(ACTIONS)}."
            )
        await ACTIONS[action](self._engine, stage, item)
        back = f"{root}/{quote(stage, safe='')}" if item else f"{root}/"
        await respond(send, 303, "", location=back)

    async def _stages(self, root: str) -> list[str]:
        async with self._engine.connect() as connection:
            rows = (await execute(connection, statements.COUNT_CLAIMS)).all()
            now = (await execute(connection, statements.NOW)).scalar_one()
        claims = {row.stage: row for row in rows}
        known = await states(self._engine)
        figures = await self._figures_now(state.name for state in known)
        found = []
        for state in known:
            claim = claims.get(state.name)
            numbers = [
                *figures.get(state.name, (0, 0.0)),
                claim.working if claim else 0,
                claim.waiting if claim else 0,
            ]
            found.append(await self._stage_row(root, state, numbers, now))
        counts = ("queued", "in work", "waiting", "finished/s", "failed")
        heads = ("stage", *counts, "first in the queue", "state", "")
        listed = table(heads, found, numbers=range(1, 6))
        return [listed if found else "No worker has started yet."]

    async def _stage_row(
        self, root: str, state: StageState, numbers: list[Any], now: datetime
    ) -> list[str]:
        name, (queued, pace, in_work, waiting) = state.name, numbers
        failed = await dead_letters.list(self._engine, name, limit=MAX_LISTED_ITEMS)
        command = "resume" if state.paused else "pause"
        return [
            link(root, name),
            counted(queued, MAX_COUNTED_ROWS),
            f"{in_work:,}",
            f"{waiting:,}",
            f"{pace:.1f}",
            f'<span class="bad">{counted(len(failed), MAX_LISTED_ITEMS)}</span>'
            if failed
            else "0",
            html_of(await oldest(self._engine, name), now=now),
            f'<span class="late">{escape(f"paused: {state.paused_why}")}</span>'
            if state.paused
            else "open",
            self._button(root, command, name),
        ]

    async def _figures_now(self, stages: Iterable[str]) -> dict[str, tuple[int, float]]:
        """Return how many rows of each stage are queued, and finished in a second.

        Counting them takes the longer, the more there are. So they are counted again
        once 250 times as long has passed, whatever number of pages is open.
        """
        began = time.monotonic()
        if began >= self._figures_due:
            self._figures = {
                name: (
                    await depth(self._engine, name, at_most=MAX_COUNTED_ROWS),
                    await self._pace(name),
                )
                for name in stages
            }
            now = time.monotonic()
            self._figures_due = now + (now - began) / COUNTING_SHARE
        return self._figures

    async def _pace(self, stage: str) -> float:
        short, long = PACE_WINDOWS
        pace = await rate(self._engine, stage, over=short)
        if pace < QUICK_PER_SECOND:
            pace = await rate(self._engine, stage, over=long)
        return pace

    async def _failures(self, root: str, stage: str) -> list[str]:
        letters = await dead_letters.list(self._engine, stage, limit=MAX_LISTED_ITEMS)
        rows = [
            [
                link(root, stage, each.item),
                escape(worded(each.kind)),
                because(each.why),
                str(each.tries),
                html_of(each.died_at),
                self._button(root, "retry", stage, each.item)
                + self._button(root, "dismiss", stage, each.item),
            ]
            for each in letters
        ]
        heads = ("item", "kind", "why", "attempts", "failed at", "")
        found = table(heads, rows, numbers=(3,)) if rows else "Nothing has failed."
        return [find_form(root, stage), found]

    def _button(self, root: str, action: str, stage: str, item: str = "") -> str:
        if not self._has_actions:
            return ""
        fields = {"action": action, "stage": stage, "item": item}
        hidden = "".join(
            f'<input type="hidden" name="{name}" value="{escape(value)}">'
            for name, value in fields.items()
        )
        label = f"{action} {item or stage}"
        return (
            f'<form method="post" action="{escape(root)}/">{hidden}'
            f'<button aria-label="{escape(label)}">{action}</button></form> '
        )


def item_page(known: History) -> list[str]:
    """Write everything that happened to one item."""
    facts = {
        "status": known.status,
        "worker": known.worker,
        "lease until": known.lease_until,
        "next attempt": known.next_try_at,
        "dead letter": known.dead and worded(known.dead),
    }
    lines = [
        f"<dt>{escape(name)}</dt><dd>{html_of(value)}</dd>"
        for name, value in facts.items()
        if value is not None
    ]
    rows = [
        [
            str(each.tries),
            escape(worded(each.outcome)),
            because(each.why),
            html_of(each.claimed_at),
            html_of(each.settled_at),
        ]
        for each in known.attempts
    ]
    heads = ("attempt", "outcome", "why", "claimed", "settled")
    traces = [
        f"<h2>Traceback of attempt {each.tries}</h2><pre>{escape(each.traceback)}</pre>"
        for each in known.attempts
        if each.traceback
    ]
    return ["<dl>", *lines, "</dl>", table(heads, rows), *traces]


def table(
    heads: Iterable[str], rows: Iterable[list[str]], *, numbers: Iterable[int] = ()
) -> str:
    """Write a table of cells that are HTML already."""
    right = set(numbers)

    def cells(kind: str, row: Iterable[str]) -> str:
        return "".join(
            f"<{kind}{' class=number' if n in right else ''}>{cell}</{kind}>"
            for n, cell in enumerate(row)
        )

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return f"<table><thead><tr>{cells('th', heads)}</tr></thead><tbody>{body}</tbody></table>"


def link(root: str, *parts: str) -> str:
    """Write a link to a stage or an item."""
    path = "/".join(quote(part, safe="") for part in parts)
    return f'<a href="{escape(root)}/{path}">{escape(parts[-1])}</a>'


def find_form(root: str, stage: str) -> str:
    """Write the form that shows one item, whatever has become of it."""
    path = f"{escape(root)}/{quote(stage, safe='')}"
    return (
        f'<form class="find" action="{path}"><label>Item <input name="item" required>'
        "</label> <button>show</button></form>"
    )


def because(why: str | None) -> str:
    """Write a reason, which may be long and without a blank."""
    return f'<div class="why">{escape(why or "")}</div>'


def worded(name: str) -> str:
    """Write the name of an outcome as words."""
    return name.replace("_", " ")


def counted(count: int, at_most: int) -> str:
    """Write a number of rows that were counted up to a limit."""
    return f"{count:,}{'+' if count >= at_most else ''}"


def html_of(value: object, *, now: datetime | None = None) -> str:
    """Write a value as people read it, as HTML; given `now`, a time by how long ago it was."""
    if not isinstance(value, datetime):
        return "" if value is None else escape(str(value))
    if value.tzinfo is None:
        return f"<time>{value:%Y-%m-%d %H:%M:%S}</time>"
    full = f"{value.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
    if now is None:
        return f"<time>{full}</time>"
    return f'<time title="{full}">{age(now - value)}</time>'


def age(passed: timedelta) -> str:
    """Write how long ago something was, in its largest unit."""
    seconds = passed.total_seconds()
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit} ago"
    return f"{max(seconds, 0):.0f} s ago"


def page(root: str, title: str, body: Iterable[str], *parts: str) -> str:
    """Write a whole page."""
    above = [link(root, *parts[: n + 1]) for n in range(len(parts) - 1)]
    way = " <span>/</span> ".join([f'<a href="{escape(root)}/">All stages</a>', *above])
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"{'' if parts else REFRESH}"
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>"
        f"<nav>{way}</nav><main><h1>{escape(title)}</h1>"
        f"{''.join(body)}</main></body></html>"
    )


def parts_of(scope: Scope, root: str) -> list[str]:
    """Return the parts of the path below the root; one may hold a slash, quoted."""
    raw = scope.get("raw_path") or quote(scope["path"]).encode()
    path = raw.decode("ascii", "replace").partition("?")[0].removeprefix(quote(root))
    return [unquote(part) for part in path.split("/") if part]


def asked_for(scope: Scope) -> str:
    """Return the item that the form of a stage's page asks for."""
    query: bytes = scope.get("query_string", b"")
    return parse_qs(query.decode("ascii", "replace")).get("item", [""])[0]


def is_same_origin(scope: Scope) -> bool:
    """Return whether a form was sent by a page of this dashboard, and by no other."""
    headers = {
        name.decode().lower(): value.decode() for name, value in scope["headers"]
    }
    origin = headers.get("origin", "").partition("://")[2]
    return bool(origin) and origin == headers.get("host")


async def read_body(receive: Receive) -> bytes:
    """Read a form, up to a size that no form of ours has."""
    body = b""
    while len(body) < MAX_FORM_BYTES:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    return body[:MAX_FORM_BYTES]


async def respond(send: Send, status: int, body: str, *, location: str = "") -> None:
    """Send a page, or where to go instead."""
    headers = [
        (b"content-type", b"text/html; charset=utf-8"),
        (b"cache-control", b"no-store"),
        (b"content-security-policy", CONTENT_POLICY),
    ]
    if location:
        headers.append((b"location", location.encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body.encode()})


def main() -> None:
    """Serve the dashboard to this machine alone."""
    parser = argparse.ArgumentParser(prog="python -m curation_sdk.dashboard")
    parser.add_argument("--url", default=os.environ.get("DATABASE_URL"), required=False)
    parser.add_argument("--port", type=int, default=8300)
    parser.add_argument("--actions", action="store_true", help="allow changes")
    asked = parser.parse_args()
    if not asked.url:
        parser.error("say where the database is: --url or DATABASE_URL")
    try:
        uvicorn = importlib.import_module("uvicorn")
    except ImportError:
        parser.error("uvicorn is missing: pip install 'curation-sdk[dashboard]'")
    dashboard = Dashboard(engine_of(asked.url), actions=asked.actions)
    config = uvicorn.Config(dashboard, host="127.0.0.1", port=asked.port)
    asyncio.run(uvicorn.Server(config).serve())


if __name__ == "__main__":
    main()
