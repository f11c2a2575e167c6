"""Records: lists, details, decisions, submissions and exports of every kind."""

from fastapi import APIRouter

from scrapersky.api.records import contact, search, source, view
from scrapersky.api.records.resource import RESOURCES, SEARCHES
from scrapersky.api.records.router import (
    add_deciding,
    add_detail,
    add_history,
    add_listing,
)
from scrapersky.api.records.submission import add_submitting

router = APIRouter(tags=["records"])

for each in RESOURCES.values():
    add_listing(router, each)
    add_detail(router, each)
    add_history(router, each)
    add_deciding(router, each)
    if each.submits is not None:
        add_submitting(router, each, each.submits)
add_listing(router, SEARCHES)
add_history(router, SEARCHES)
for part in (contact, search, source, view):
    router.include_router(part.router)
