"""Connections to CRMs in the API: connect, map, look at the difference, run, undo."""

from fastapi import APIRouter

from scrapersky.api.connections import account, run

router = APIRouter(prefix="/api/v3", tags=["connections"])
router.include_router(account.router)
router.include_router(run.router)

__all__ = ["router"]
