"""Records: lists, details, decisions, submissions and exports of every kind."""

from fastapi import APIRouter

from scrapersky.api.records import (
    budget,
    company,
    company_column,
    completeness,
    contact,
    imported,
    kinds,
    lead,
    lead_map,
    people,
    place_file,
    proof,
    sample,
    search,
    search_schedule,
    source,
    view,
    what_changed,
)
from scrapersky.api.records.priority import add_priority
from scrapersky.api.records.router import (
    BASE,
    add_deciding,
    add_detail,
    add_exports,
    add_history,
    add_listing,
)
from scrapersky.api.records.submission import add_submitting
from scrapersky.compat.fastapi import RouterBelow
from scrapersky.records import KINDS
from scrapersky.records.place_search import SEARCHES

routers: list[APIRouter] = []

for each in KINDS.values():
    below = RouterBelow(f"{BASE}{each.path}", tags=["records"])
    add_listing(below, each)
    add_exports(below, each)
    add_history(below, each)
    if each is not SEARCHES:
        # A search is read together with its map, and started by its own routes.
        add_detail(below, each)
    if each.decision is not None:
        add_deciding(below, each)
    if each.submission is not None:
        add_submitting(below, each, each.submission)
    if "priority" in each.fields:
        add_priority(below, each)
    routers.append(below)
routers.extend(
    part.router
    for part in (
        # Before the routes of searches, which end in a step of any name.
        imported, lead, lead_map, budget, company, company_column, completeness, contact, kinds,
        people, place_file, proof, sample, search, search_schedule, source, view,
        what_changed,
    )
)  # fmt: skip
