"""Webhooks in the API: endpoints, what they were sent, tests and replays."""

from fastapi import APIRouter

from scrapersky.api.webhooks import delivery, endpoint

router = APIRouter(prefix="/api/v3", tags=["webhooks"])
router.include_router(endpoint.router)
router.include_router(delivery.router)

__all__ = ["router"]
