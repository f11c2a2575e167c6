"""The application on a port of this machine, in a thread with a loop of its own."""

import asyncio
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import text

from scrapersky.api.account.people import add_tenant
from scrapersky.api.app import create_app
from scrapersky.api.http_protocol import HttpProtocol
from scrapersky.api.server import Server
from scrapersky.configuration import load_settings
from scrapersky.db.connection import connect, parse_target
from scrapersky.records.status import Role
from tests.api.gateway.planted import plant
from tests.api.gateway.rig import WITH_TOKENS, Person, a_person
from tests.conftest import TestDatabase

ALONE = {
    **WITH_TOKENS,
    "OPENSTREETMAP_ENABLED": "false",
    "NOMINATIM_ENABLED": "false",
    "GOOGLE_PLACES_ENABLED": "false",
    "DATABASE_POOL_SIZE": "5",
}
"""Nothing is fetched from anywhere."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where the application is, and who may come in."""

    url: str
    admin: Person
    stranger: Person
    theirs: Mapping[str, UUID]


async def furnish(
    database: TestDatabase, mark: str
) -> tuple[Person, Person, Mapping[str, UUID]]:
    engine = connect(parse_target(database.url))
    async with engine.begin() as connection:
        home = await connection.scalar(
            text("SELECT id FROM tenants ORDER BY created_at LIMIT 1")
        )
        other = (await add_tenant(connection, name=mark, slug="other")).id
    admin = await a_person(engine, UUID(str(home)), Role.ADMIN)
    stranger = await a_person(engine, other, Role.ADMIN)
    await plant(engine, UUID(str(home)), "goldcrest")
    theirs = await plant(engine, other, mark)
    await engine.dispose()
    return admin, stranger, theirs


@contextmanager
def serving(
    database: TestDatabase,
    mark: str,
    settings: Mapping[str, str] = ALONE,
    protocol: type[HttpProtocol] = HttpProtocol,
) -> Iterator[Address]:
    """Serve until the block ends."""
    admin, stranger, theirs = asyncio.run(furnish(database, mark))
    loaded = load_settings(settings, dotenv=None).settings
    app = create_app(loaded, parse_target(database.url))
    listener = socket.create_server(("127.0.0.1", 0))
    server = Server(app, grace=2, protocol=protocol)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the application did not start"
            thread.join(0.05)
        port = listener.getsockname()[1]
        yield Address(f"http://127.0.0.1:{port}", admin, stranger, theirs)
    finally:
        server.should_exit = True
        thread.join(20)
        listener.close()
