"""`scrapersky docs`."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from scrapersky.errors import ConfigurationError

CLONE = Path(__file__).parents[3]


def docs(*, port: int = 8001, build: Path | None = None) -> int:
    """Serve the documentation as a site with a search.

    Parameters
    ----------
    port
        Where it listens, on this machine only.
    build
        Write the site into this directory instead.
    """
    settings = CLONE / "mkdocs.yml"
    if not settings.exists() or find_spec("mkdocs") is None:
        raise ConfigurationError(
            "The documentation is not installed here.",
            hint="Run ./scrapersky docs in a clone of ScraperSky.",
        )
    if build is None:
        words = ["serve", "--quiet", "--dev-addr", f"127.0.0.1:{port}"]
        print(
            f"The documentation is at http://127.0.0.1:{port}/ until Ctrl-C.",
            flush=True,
        )
    else:
        words = ["build", "--quiet", "--strict", "--site-dir", str(build.absolute())]
    command = [sys.executable, "-m", "mkdocs", *words, "--config-file", str(settings)]
    # The theme warns on every start of a MkDocs that is not out yet.
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    try:
        return subprocess.run(
            command, check=False, cwd=CLONE, env=environment
        ).returncode
    except KeyboardInterrupt:
        return 0
