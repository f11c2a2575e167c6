"""Sessions, users, API keys and tenants: who may come in."""

from fastapi import APIRouter

from scrapersky.api.account import (
    api_key,
    invitation,
    open_id,
    open_session,
    session,
    tenant,
    user,
)

router = APIRouter(prefix="/api/v3")
router.include_router(session.router)
router.include_router(open_id.router)
router.include_router(open_session.router)
router.include_router(user.router)
router.include_router(invitation.router)
router.include_router(api_key.router)
router.include_router(tenant.router)

__all__ = ["router"]
