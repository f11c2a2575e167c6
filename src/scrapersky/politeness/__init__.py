"""Politeness shared by all workers, through the database."""

from scrapersky.politeness.ledger import PostgresLedger
from scrapersky.politeness.pace import LedgerPace

__all__ = ["LedgerPace", "PostgresLedger"]
