"""Where places can come from, and what each source needs."""

from typing import Final

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from scrapersky.api.dependency import Reader
from scrapersky.api.schema import REFUSALS
from scrapersky.providers.registry import Sources
from scrapersky.providers.source import PAID

FILES: Final = "file"

router = APIRouter(tags=["records"])


class SourceOut(BaseModel):
    """A source of places: whether it can be asked, and what it needs."""

    name: str = Field(examples=["osm"])
    is_ready: bool
    why: str | None = Field(description="Why it cannot be asked.")
    needs: str | None = Field(description="What to do to use it.")
    needs_budget: bool
    takes: list[str] = Field(description="The fields of a search it reads.")
    licence: str | None
    attribution: str | None


def sources_of(request: Request) -> Sources:
    """Return the sources this process can ask."""
    found: Sources = request.app.state.background.tools.sources
    return found


@router.get(
    "/api/v3/sources",
    operation_id="list_sources",
    summary="List sources of places",
    responses=REFUSALS,
)
async def list_sources(request: Request, who: Reader) -> list[SourceOut]:
    """List where places can come from, and what each source needs."""
    sources = sources_of(request)
    ready = [
        SourceOut(
            name=name,
            is_ready=True,
            why=None,
            needs=None,
            needs_budget=name in PAID,
            takes=takes(name),
            licence=source.licence,
            attribution=source.attribution,
        )
        for name, source in sources.items()
        if name != FILES or who.is_operator
    ]
    missing = [
        SourceOut(
            name=name,
            is_ready=False,
            why=error.why,
            needs=error.hint,
            needs_budget=name in PAID,
            takes=takes(name),
            licence=None,
            attribution=None,
        )
        for name, error in sources.missing.items()
    ]
    return sorted(ready + missing, key=lambda source: source.name)


def takes(source: str) -> list[str]:
    """Return the fields of a search that a source reads."""
    if source == FILES:
        return ["file", "dataset", "licence", "business_type", "area", "limit"]
    common = ["business_type", "location", "area", "radius_m", "limit", "region"]
    return [*common, "language", "budget"] if source in PAID else common
