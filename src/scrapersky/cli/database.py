"""The database a command works on: the embedded one, or the one DATABASE_URL names."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from scrapersky.db.connection import Target, parse_target
from scrapersky.db.embedded import EmbeddedPostgres, ignore
from scrapersky.settings import Settings


@contextmanager
def a_database(
    settings: Settings,
    report: Callable[[str], None] = ignore,
    *,
    supervise: bool = False,
) -> Iterator[Target]:
    """Give the database; an embedded one runs as long as it is needed.

    For what runs long, `supervise` starts an embedded one again that ends by itself.
    """
    if settings.database_url is not None:
        yield parse_target(
            settings.database_url.get_secret_value(), pooler=settings.pooler
        )
        return
    with EmbeddedPostgres(
        settings.data_dir, report=report, supervise=supervise
    ) as server:
        yield parse_target(server.url, pooler=False)
