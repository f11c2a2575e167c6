"""Python's collector of garbage does not look through what stays."""

import gc
from contextlib import suppress

from scrapersky.cli.garbage import without_collector


def test_what_was_made_meanwhile_is_never_looked_through() -> None:
    try:
        with without_collector():
            assert not gc.isenabled()
            kept = [object() for _ in range(10)]
        assert gc.isenabled()
        assert not any(one is kept for one in gc.get_objects())
    finally:
        gc.unfreeze()


def test_a_failure_meanwhile_leaves_the_collector_on() -> None:
    with suppress(LookupError), without_collector():
        raise LookupError
    gc.unfreeze()

    assert gc.isenabled()
