"""A database moves to any PostgreSQL that we support, and back, and can be written there."""

import pytest
from tests.db.other_servers import VERSIONS, running_server

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("version", VERSIONS)
def test_start(version: int) -> None:
    with running_server(version) as server:
        print(server.execute("select version()"))
