"""All routes of this package."""

from fastapi import APIRouter

from scrapersky.api.account import api_key, invitation, session, tenant, user

router = APIRouter(prefix="/api/v3")
router.include_router(session.router)
router.include_router(user.router)
router.include_router(invitation.router)
router.include_router(api_key.router)
router.include_router(tenant.router)
