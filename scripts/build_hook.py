"""Put the built web page into every package: wheel, source archive, editable install."""

import importlib.util
import os
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PageHook(BuildHookInterface):  # type: ignore[type-arg, unused-ignore]
    """Build the page before anything is packed."""

    PLUGIN_NAME = "page"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Build the page, unless what is there was made from the same sources."""
        page = page_module(Path(self.root))
        if os.environ.get(page.WITHOUT):
            self.app.display_warning("The web page is left out, as asked.")
            return
        try:
            page.build(Path(self.root), self.app.display_info)
        except page.PageError as error:
            raise SystemExit(f"{error}") from None


def page_module(root: Path) -> ModuleType:
    """Load scripts/page.py, which stands on no path while a package is built."""
    place = root / "scripts" / "page.py"
    spec = importlib.util.spec_from_file_location("scrapersky_page", place)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
