"""What the documentation's site holds besides docs/: a hook of MkDocs, named in mkdocs.yml."""

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
FOLDERS = {
    "tutorial": "Tutorials",
    "how-to": "How-to guides",
    "explanation": "Explanation",
    "reference": "Reference",
    "adr": "Decisions",
}
PROJECT = {
    "README.md": "project/readme.md",
    "ARCHITECTURE.md": "project/architecture.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "CHANGELOG.md": "project/changelog.md",
    "packages/curation-sdk/README.md": "project/curation-sdk.md",
}
"""Pages that lie beside the code, and where they stand in the site."""
DESCRIPTION = "reference/openapi.json"
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """List the pages by kind, in the order of their names."""
    config.nav = [{"Home": "README.md"}, *sections(Path(config.docs_dir))]
    return config


def sections(docs: Path) -> Iterator[dict[str, Any]]:
    """Return the parts of the navigation."""
    for folder, title in FOLDERS.items():
        yield {
            title: sorted(
                f"{folder}/{page.name}" for page in (docs / folder).glob("*.md")
            )
        }
    yield {"The project": list(PROJECT.values())}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what lies elsewhere in the repository."""
    for source, place in PROJECT.items():
        files.append(File.generated(config, place, content=(ROOT / source).read_text()))
    description = (ROOT / "frontend" / "openapi.json").read_text()
    files.append(File.generated(config, DESCRIPTION, content=description))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Let links between pages lead to where the pages stand in the site."""
    sources = {place: source for source, place in PROJECT.items()}
    uri = page.file.src_uri
    source = sources.get(uri, f"docs/{uri}")

    def moved(link: re.Match[str]) -> str:
        label, target, anchor = link[1], link[2], link[3] or ""
        if re.match(r"[a-z]+:", target):
            return link[0]
        place = place_of(
            posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        )
        if place is None:
            return label
        start = posixpath.dirname(uri) or "."
        return f"[{label}]({posixpath.relpath(place, start)}{anchor})"

    return LINK.sub(moved, markdown)


def place_of(path: str) -> str | None:
    """Return where a file of the repository stands in the site; None for code."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return PROJECT.get(path)
