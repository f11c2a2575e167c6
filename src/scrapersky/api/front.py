"""What a browser sees first: the pipeline as it stands, from the package alone."""

from importlib.resources import files
from typing import Final

from fastapi import APIRouter, Response
from starlette.exceptions import HTTPException

router = APIRouter(include_in_schema=False)

FILES: Final = {
    "index.html": "text/html",
    "page.css": "text/css",
    "page.js": "text/javascript",
}
POLICY: Final = {
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
}


@router.get("/")
async def front() -> Response:
    """Show how the pipeline stands."""
    return packaged("index.html")


@router.get("/welcome/{name}")
async def part(name: str) -> Response:
    """Serve what the first page needs."""
    if name not in FILES:
        raise HTTPException(404)
    return packaged(name)


def packaged(name: str) -> Response:
    """Read a file of the package."""
    content = (files("scrapersky.api") / "welcome" / name).read_bytes()
    return Response(content, media_type=FILES[name], headers=POLICY)
