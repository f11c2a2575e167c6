"""An API that waits for what is busy, where it refuses people after seconds."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest

from sdk_tests.rig.waiting import HUNG

LIMITS = (
    "app.POOL_TIMEOUT",
    "middleware.tenancy.POOL_TIMEOUT",
    "middleware.tenancy.STATEMENT_TIMEOUT",
)


@contextmanager
def long_timeouts() -> Iterator[None]:
    """Have the API wait for connections and statements until they hang.

    How long both take depends on the machine, not on what is tested. Applications that are
    made meanwhile wait for connections, and requests of that time for statements.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name in LIMITS:
            patch.setattr(f"scrapersky.api.{name}", timedelta(seconds=HUNG))
        yield
