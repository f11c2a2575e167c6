"""A server that keeps what was written, as releases ask for, and databases on it."""

from tests.durable import bare_database, durable_server, installed

__all__ = ["bare_database", "durable_server", "installed"]
