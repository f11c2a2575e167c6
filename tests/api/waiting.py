"""An API that waits for what is busy, where it refuses people after a second."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest

from sdk_tests.rig.waiting import HUNG


@contextmanager
def waiting_for_connections() -> Iterator[None]:
    """Have applications that are made meanwhile wait for a connection to the database.

    How long one takes to be free depends on the machine, not on what is tested.
    """
    with pytest.MonkeyPatch.context() as patch:
        for module in ("api.app", "api.middleware.tenancy"):
            patch.setattr(f"scrapersky.{module}.POOL_TIMEOUT", timedelta(seconds=HUNG))
        yield
