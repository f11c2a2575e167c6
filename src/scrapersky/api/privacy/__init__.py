"""People's data through the API: the suppression list, one person, the audit log."""

from fastapi import APIRouter

from scrapersky.api.privacy import audit, people, retention, suppressions

router = APIRouter(prefix="/api/v3", tags=["people's data"])
for part in (suppressions, people, audit, retention):
    router.include_router(part.router)

__all__ = ["router"]
