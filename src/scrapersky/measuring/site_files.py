"""The files of an annotated website, answered as a plain web server would."""

import re
from pathlib import Path
from typing import Final
from urllib.parse import quote

from contact_extraction.measuring.corpus import TrueSite
from simulated_town.sites.reply import TEXT, XML, Reply, Site, redirect

PLAIN_HTML: Final = "text/html"
"""Without a charset: the page itself says how it is written, or does not."""
HOMES: Final = ("index.html", "index.htm", "home.html", "default.html", "pindex.html")
MISSING: Final = Reply(
    b"<html><head><title>404 Not Found</title></head>"
    b"<body><h1>404 Not Found</h1></body></html>",
    status=404,
)


def site_of(true: TrueSite) -> Site:
    """Make what serves a site's files as a plain web server would."""
    replies: dict[str, Reply] = {}
    for path in sorted(true.root.rglob("*")):
        if path.is_file():
            name = path.relative_to(true.root).as_posix()
            _add(replies, name, Reply(_body(path, true.host), _type(name)))
    for name in HOMES:
        if f"/{name}" in replies:
            replies.setdefault("/", replies[f"/{name}"])

    def invent(path: str) -> Reply | None:
        """Find a page without its ending, or a directory without its slash."""
        bare = path.rstrip("/")
        if f"{bare}/" in replies and not path.endswith("/"):
            return redirect(f"{bare}/")
        return replies.get(f"{bare}.html") or replies.get(f"{bare}.htm")

    return Site(replies, invent=invent, missing=MISSING)


def _add(replies: dict[str, Reply], name: str, reply: Reply) -> None:
    folder = _INDEX.sub(r"\1", name)
    for path in {name, quote(name), folder, quote(folder)}:
        replies[f"/{path}"] = reply


def _body(path: Path, host: str) -> bytes:
    """Read a file; the server speaks no TLS, so the site's own links go by http."""
    own = rb"https://((?:www\.)?" + re.escape(host.encode()) + rb"(?![\w.-]))"
    return re.sub(own, rb"http://\1", path.read_bytes())


def _type(name: str) -> str:
    ending = name.rpartition(".")[2].lower()
    if ending in {"html", "htm"}:
        return PLAIN_HTML
    return XML if ending == "xml" else TEXT


_INDEX: Final = re.compile(r"(^|/)index\.html?$", re.IGNORECASE)
