"""Records: lists, details, decisions, submissions and exports of every kind."""

from fastapi import APIRouter

from scrapersky.api.records.resource import RESOURCES
from scrapersky.api.records.router import add_deciding, add_reading
from scrapersky.api.records.submission import add_submitting

router = APIRouter(tags=["records"])

for each in RESOURCES.values():
    add_reading(router, each)
    add_deciding(router, each)
    if each.submits is not None:
        add_submitting(router, each, each.submits)
