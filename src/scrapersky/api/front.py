"""The web page: files made when the package was built, served from memory as they were."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import PurePosixPath
from typing import Final

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

FOR_EVER: Final = "public, max-age=31536000, immutable"
ASK_AGAIN: Final = "no-cache"
START: Final = "index.html"
NO_SCREEN: Final = ("/api/", "/assets/", "/health/", "/docs/", "/metrics/")
"""Below these nobody looks for a screen: the page is not an answer there."""
TYPES: Final = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
TWINS: Final = {".br": "br", ".gz": "gzip"}
"""How compressed twins are named, and how their encoding is; the smallest first."""
NOT_BUILT: Final = b"""<!doctype html><html lang="en"><title>ScraperSky</title>
<h1>The web page is not built</h1>
<p>This ScraperSky was installed without its page. In a clone, <code>./scrapersky up</code>
builds it; the API (<a href="/docs">its reference</a>) and the commands work without.</p></html>
"""


@dataclass(frozen=True, slots=True)
class PageFile:
    """One file of the page, ready to be sent."""

    content: bytes
    compressed: dict[str, bytes]
    """By encoding, the best first."""
    media_type: str
    tag: str
    caching: str


def serve_page(app: FastAPI, place: Traversable | None = None) -> None:
    """Let the page answer what no route does.

    It is asked last of all, so it can hide no route, and a wrong method stays one. All
    files are read now: a build meanwhile cannot mix two pages.
    """
    parts = dict(parts_in(place if place is not None else files("scrapersky") / "ui"))
    start = parts.get(START) or part(START, NOT_BUILT, {})
    not_found = app.router.default

    async def page(scope: Scope, receive: Receive, send: Send) -> None:
        found = part_for(scope, parts, start)
        if found is None:
            await not_found(scope, receive, send)
        else:
            await answer(found, Request(scope))(scope, receive, send)

    app.router.default = page


def part_for(
    scope: Scope, parts: dict[str, PageFile], start: PageFile
) -> PageFile | None:
    """Choose the file that answers; an address without one is a screen of the page."""
    if scope["type"] != "http" or scope["method"] not in {"GET", "HEAD"}:
        return None
    path: str = scope["path"]
    found = parts.get(path.removeprefix("/"))
    if found is not None:
        return found
    is_file = "." in PurePosixPath(path).name
    return None if is_file or f"{path}/".startswith(NO_SCREEN) else start


def parts_in(place: Traversable, prefix: str = "") -> Iterator[tuple[str, PageFile]]:
    """Read every file of the built page; a compressed twin goes with its file."""
    if not place.is_dir():
        return
    entries = {entry.name: entry for entry in place.iterdir()}
    for name, entry in entries.items():
        if entry.is_dir():
            yield from parts_in(entry, f"{prefix}{name}/")
        elif not name.startswith(".") and PurePosixPath(name).suffix not in TWINS:
            compressed = {
                encoding: entries[name + suffix].read_bytes()
                for suffix, encoding in TWINS.items()
                if name + suffix in entries
            }
            yield f"{prefix}{name}", part(prefix + name, entry.read_bytes(), compressed)


def part(name: str, content: bytes, compressed: dict[str, bytes]) -> PageFile:
    """Prepare one file: what has its digest in its name never changes."""
    media_type = TYPES.get(PurePosixPath(name).suffix, "application/octet-stream")
    tag = f'"{hashlib.sha256(content).hexdigest()[:20]}"'
    caching = FOR_EVER if name.startswith("assets/") else ASK_AGAIN
    return PageFile(content, compressed, media_type, tag, caching)


def answer(found: PageFile, request: Request) -> Response:
    """Send the file, compressed where that is understood, or say that it is unchanged."""
    headers = {
        "Cache-Control": found.caching,
        "ETag": found.tag,
        "Vary": "Accept-Encoding",
    }
    if request.headers.get("if-none-match") == found.tag:
        return Response(status_code=304, headers=headers)
    accepted = request.headers.get("accept-encoding", "").split(",")
    taken = {encoding.strip() for encoding in accepted}
    for encoding, content in found.compressed.items():
        if encoding in taken:
            headers["Content-Encoding"] = encoding
            return Response(content, media_type=found.media_type, headers=headers)
    return Response(found.content, media_type=found.media_type, headers=headers)
