"""Sessions, users, API keys and tenants: who may come in."""

from scrapersky.api.account.router import router

__all__ = ["router"]
