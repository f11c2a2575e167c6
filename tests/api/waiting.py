"""An API that waits for what is busy, where it refuses people after seconds."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta

import pytest

from scrapersky.api.auth import key_set, open_id
from sdk_tests.rig.waiting import HUNG

LIMITS = (
    "app.POOL_TIMEOUT",
    "tenancy.POOL_TIMEOUT",
    "tenancy.STATEMENT_TIMEOUT",
)


@contextmanager
def long_timeouts() -> Iterator[None]:
    """Have the API wait for connections, statements and issuers until they hang.

    How long they take depends on the machine, not on what is tested. Applications that are
    made meanwhile wait for connections and issuers, and requests of that time for statements.
    """
    hung = timedelta(seconds=HUNG)
    with pytest.MonkeyPatch.context() as patch:
        for name in LIMITS:
            patch.setattr(f"scrapersky.api.{name}", hung)
        for issuer in (key_set, open_id):
            waits = replace(issuer.POLICY, timeout=hung, connect_timeout=hung)
            patch.setattr(issuer, "POLICY", waits)
        yield
