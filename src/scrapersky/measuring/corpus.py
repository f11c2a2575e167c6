"""A directory of annotated websites: `truth.jsonl`, and one directory of files a site.

The format is explained in docs/explanation/real-sites.md.
"""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from contact_extraction.host_kind import site_name
from scrapersky.demo.sites.reply import TEXT, XML, Reply, Site, redirect
from scrapersky.errors import ConfigurationError

TRUTH: Final = "truth.jsonl"
PLAIN_HTML: Final = "text/html"
"""Without a charset: the page itself says how it is written, or does not."""
CLOSED_ENDING: Final = "bv"
"""Where a site is served whose directory is not called by a domain."""
HOMES: Final = ("index.html", "index.htm", "home.html", "default.html", "pindex.html")
MISSING: Final = Reply(
    b"<html><head><title>404 Not Found</title></head>"
    b"<body><h1>404 Not Found</h1></body></html>",
    status=404,
)

Facts = dict[str, Any]


@dataclass(frozen=True, slots=True)
class TrueSite:
    """One website and what is true about its business."""

    name: str
    """The name of its directory."""
    root: Path
    organisation: str | None
    also_named: tuple[str, ...] = ()
    emails: tuple[Facts, ...] = ()
    phones: tuple[Facts, ...] = ()
    people: tuple[Facts, ...] = ()
    addresses: tuple[Facts, ...] = ()
    contact_pages: tuple[str, ...] = ()
    decision_maker: str | None = None
    third_party: frozenset[str] = field(default_factory=frozenset)
    """Values on its pages that belong to somebody else, in lower case."""

    @property
    def host(self) -> str:
        """Return the host it is served at."""
        bare = self.name.lower().removeprefix("www.")
        return bare if "." in bare else f"{bare}.{CLOSED_ENDING}"

    @property
    def domain(self) -> str:
        """Return the domain under which the pipeline keeps it."""
        return site_name(f"http://{self.host}/") or self.host


def read_corpus(directory: Path) -> list[TrueSite]:
    """Read what is true about every site; raise ConfigurationError if it cannot be."""
    file = directory / TRUTH
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
        described = [json.loads(line) for line in lines if line.strip()]
        return [_site(directory, each) for each in described]
    except OSError as error:
        raise ConfigurationError(f"{file} cannot be read: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(
            f"{file} is not one JSON object a line, each with its site: {error}.",
            hint="The format is explained in docs/explanation/real-sites.md.",
        ) from error


def _site(directory: Path, described: Facts) -> TrueSite:
    def many(name: str) -> tuple[Any, ...]:
        return tuple(described.get(name) or ())

    name = str(described["site"])
    return TrueSite(
        name=name,
        root=directory / name,
        organisation=described.get("organisation"),
        also_named=many("also_named"),
        emails=many("emails"),
        phones=many("phones"),
        people=many("people"),
        addresses=many("addresses"),
        contact_pages=many("contact_pages"),
        decision_maker=described.get("decision_maker"),
        third_party=frozenset(str(value).lower() for value in many("third_party")),
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
