"""Politeness shared by all workers, through the database."""

from scrapersky.politeness.ledger import PostgresLedger

__all__ = ["PostgresLedger"]
