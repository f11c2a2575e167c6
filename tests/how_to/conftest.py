"""A durable server, a home and a town in which guides for operators are followed."""

from tests.durable import durable_server, home, installed

__all__ = ["durable_server", "home", "installed"]
