"""The demo's own workspace: the whole application, on a database of its own, in the town.

`POST /api/v3/demo` starts it as a process of its own, which ends with the one that started
it. It has the default settings, whatever those of the real workspace are: nothing that is
set there, no key and no network, is of use in the town.
"""

import argparse
import asyncio
import os
import socket
import sys
import tempfile
from typing import Any

from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.cli.demo import begin, serving
from scrapersky.configuration import load_settings
from scrapersky.curation.condition import Comparison, Condition
from scrapersky.curation.rule import apply_rules, save_rule
from scrapersky.db.connection import Target, connect, parse_target
from scrapersky.demo.services import town_services
from scrapersky.demo.source import NAME as SOURCE
from scrapersky.observability.log import configure_logs
from scrapersky.records.audit import Actor
from scrapersky.records.contact import CONTACTS
from scrapersky.records.status import ContactCurationStatus, CurationStatus
from scrapersky.scheduler.prepare import upgrade
from scrapersky.settings import Settings
from simulated_town.locale import LOCALES, load_locale
from simulated_town.process import town_process, until_stopped

DSN = "SCRAPERSKY_DEMO_DSN"
"""Not an argument: those of a process can be read by everyone on the machine."""

VERIFYING_SECONDS = 2.0


def main() -> None:
    """Serve the workspace until standard input closes."""
    parser = argparse.ArgumentParser(prog="python -m scrapersky.cli.demo_workspace")
    parser.add_argument("--size", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--decide", action="store_true")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="scrapersky-demo-") as directory,
        socket.create_server(("127.0.0.1", 0)) as listener,
    ):
        given = {
            "DATABASE_URL": os.environ[DSN],
            "SCRAPERSKY_DATA_DIR": directory,
            "PORT": str(listener.getsockname()[1]),
            "SHUTDOWN_GRACE_SECONDS": "1",
        }
        settings = load_settings(given, dotenv=None).settings
        configure_logs("ERROR", settings.log_format)
        target = parse_target(given["DATABASE_URL"], pooler=False)
        asyncio.run(serve(settings, target, listener, options))


async def serve(
    settings: Settings,
    target: Target,
    listener: socket.socket,
    options: argparse.Namespace,
) -> None:
    """Open the town, search it, say on which port the workspace is, and wait."""
    # Loaded here: it is most of the application.
    from scrapersky.api.app import create_app  # noqa: PLC0415

    # Nothing else is checked: the server is the one that the real workspace is on.
    engine = connect(target, name="scrapersky-demo", statement_timeout=None)
    await upgrade(engine)
    async with (
        town_process(size=options.size, seed=options.seed) as town,
        town_services(town.endpoint) as services,
        serving(create_app(settings, target, services=services), listener, settings),
    ):
        run = await begin(engine, settings)
        if options.decide:
            for rule in rules():
                await save_rule(engine, run.actor, **rule)
        sys.stdout.write(f"{settings.port}\n")
        sys.stdout.flush()
        verifying = asyncio.create_task(verify(engine, run.actor))
        await until_stopped()
        verifying.cancel()
        await engine.dispose()


async def verify(engine: AsyncEngine, actor: Actor) -> None:
    """Let rules decide about new contacts: no stage does, where they are found."""
    while True:
        async with engine.begin() as connection:
            await apply_rules(
                connection, actor.tenant_id, CONTACTS, user_id=actor.user_id
            )
        await asyncio.sleep(VERIFYING_SECONDS)


def rules() -> list[dict[str, Any]]:
    """Say what a person would decide in the town, as rules that anyone can look at."""
    towns = dict.fromkeys(load_locale(name).town for name in LOCALES)
    return [
        rule("place", "places", Condition(field="source", value=SOURCE)),
        rule(
            "business",
            "businesses",
            Condition(field="city", comparison=Comparison.ONE_OF, value=[*towns]),
        ),
        rule(
            "sitemap",
            "sitemap_files",
            Condition(
                field="sitemap_type", comparison=Comparison.NOT_EQUAL, value="index"
            ),
        ),
        rule(
            "page like a contact page",
            "pages",
            Condition(
                field="contact_likelihood", comparison=Comparison.AT_LEAST, value=0.3
            ),
        ),
        rule(
            "e-mail address",
            "contacts",
            Condition(field="email", comparison=Comparison.KNOWN),
            status=ContactCurationStatus.QUEUED,
        ),
    ]


def rule(
    what: str, kind: str, condition: Condition, status: str = CurationStatus.SELECTED
) -> dict[str, Any]:
    """Return a rule that selects records of a kind."""
    return {
        "name": f"Demo town: every {what}",
        "kind": kind,
        "status": status,
        "conditions": [condition],
    }


if __name__ == "__main__":
    main()
