"""`scrapersky docs`."""

import os
import signal
import sys
from importlib.util import find_spec
from pathlib import Path
from runpy import run_module

from click import Abort

from scrapersky.cli.options import PortNumber
from scrapersky.cli.up import a_listener
from scrapersky.cli.worker_processes import end_with
from scrapersky.errors import ConfigurationError

CLONE = Path(__file__).parents[3]


def docs(*, port: PortNumber = 8001, build: Path | None = None) -> int:
    """Serve the documentation as a site with a search.

    Tutorials, how-to guides, explanations, decisions, and a reference with the API and the SDK.
    It ends with the terminal it was started in.
    Needs a clone; `--build DIR` writes the site instead.

    Parameters
    ----------
    port
        Where it listens, on this machine only.
    build
        Write the site into this directory instead.
    """
    # Before anything is said: who reads it may be gone a moment later.
    end_with(os.getppid())
    settings = CLONE / "mkdocs.yml"
    if not settings.exists() or find_spec("mkdocs") is None:
        raise ConfigurationError(
            "The documentation is not installed here.",
            hint="Run ./scrapersky docs in a clone of ScraperSky.",
        )
    if build is None:
        with a_listener("127.0.0.1", port, setting="--port"):
            pass  # it is free
        words = ["serve", "--quiet", "--dev-addr", f"127.0.0.1:{port}"]
        print(
            f"The documentation is at http://127.0.0.1:{port}/ until Ctrl-C.",
            flush=True,
        )
    else:
        words = ["build", "--quiet", "--strict", "--site-dir", str(build.absolute())]
    # The theme warns on every start of a MkDocs that is not out yet.
    os.environ["NO_MKDOCS_2_WARNING"] = "1"
    os.chdir(CLONE)
    # Ctrl-C is what MkDocs ends on in order. In a process of its own it would outlive this one.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.argv = ["mkdocs", *words, "--config-file", str(settings)]
    try:
        # As `python -m mkdocs` does: it is a part of a clone's environment only.
        run_module("mkdocs", run_name="__main__")
    except SystemExit as ended:
        is_stopped = isinstance(ended.__context__, Abort | KeyboardInterrupt)
        return 0 if is_stopped else int(ended.code or 0)
    return 0
