"""People's data in the API: the suppression list, one person, who is notified, the audit log."""

from fastapi import APIRouter

from scrapersky.api.privacy import (
    audit,
    notice_file,
    notices,
    people,
    retention,
    suppressions,
)

router = APIRouter(prefix="/api/v3", tags=["people's data"])
for part in (suppressions, people, notices, notice_file, audit, retention):
    router.include_router(part.router)

__all__ = ["router"]
