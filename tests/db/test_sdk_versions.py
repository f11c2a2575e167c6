"""The SDK's own tests on every PostgreSQL that there is for this machine."""

import sys

import pytest

from sdk_tests.test_versions import run_tests
from tests.db.other_servers import VERSIONS, programs_of


@pytest.mark.long
@pytest.mark.parametrize("version", VERSIONS)
def test_the_sdk_works_on_every_postgresql(version: int) -> None:
    run_tests(sys.executable, programs_of(version))
