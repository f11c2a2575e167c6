"""What the doctor says of the key under which people on the suppression list are kept."""

import pytest
from sqlalchemy import text

from scrapersky.cli.doctor import list_finding
from scrapersky.configuration import load_settings
from scrapersky.db.connection import connect, parse_target
from scrapersky.errors import ConfigurationError
from scrapersky.privacy.key import KeyExposure, count_exposed, load_suppression_keys
from scrapersky.settings import Settings
from tests.conftest import TestDatabase

KEY = "Zq3vT8-rX5yWm2Kc9Lp7Nb4Hf6Jd1Gs0AeUiOo_QzVx"


def settings(**given: str) -> Settings:
    return load_settings(given, dotenv=None).settings


@pytest.mark.parametrize(
    ("given", "list_", "is_warned", "said"),
    [
        ({}, KeyExposure(0, 0), False, "lies in the database"),
        (
            {"ENVIRONMENT": "production"},
            KeyExposure(3, 3),
            True,
            "lies in the database",
        ),
        ({"DATABASE_URL": "postgresql://a/b"}, KeyExposure(3, 3), True, "lies in the"),
        ({"SUPPRESSION_KEY": KEY}, KeyExposure(3, 0), False, "kept outside"),
        (
            {"SUPPRESSION_KEY": KEY, "ENVIRONMENT": "production"},
            KeyExposure(5, 3),
            True,
            "3 of them from before",
        ),
        (
            {"SUPPRESSION_KEY": "change-me, please, as soon as you can"},
            KeyExposure(0, 0),
            True,
            "from examples",
        ),
        ({"SUPPRESSION_KEY": "a" * 40}, KeyExposure(0, 0), True, "repeats"),
    ],
    ids=str,
)
def test_a_key_that_protects_nobody_is_warned_of(
    given: dict[str, str], list_: KeyExposure, is_warned: bool, said: str
) -> None:
    finding = list_finding(settings(**given), list_)

    assert (finding.ok, finding.warning) == (True, is_warned)
    assert said in finding.found
    assert KEY not in finding.found + finding.fix


def test_a_weak_key_that_can_be_changed_was_said_to_have_to_stay() -> None:
    finding = list_finding(settings(SUPPRESSION_KEY="a" * 40), KeyExposure(3, 0))

    assert "must stay" not in finding.fix
    assert "SUPPRESSION_OTHER_KEYS" in finding.fix


async def test_the_entries_under_each_key_are_counted(database: TestDatabase) -> None:
    engine = connect(parse_target(database.url))
    key = settings(SUPPRESSION_KEY=KEY).suppression_key
    add = text(
        "INSERT INTO suppressions (tenant_id, kind, value_hash)"
        " SELECT id, 'email', :hash FROM tenants"
    )
    async with engine.begin() as connection:
        await connection.execute(add, {"hash": b"before"})
    await load_suppression_keys(engine, secret=key)
    async with engine.begin() as connection:
        await connection.execute(add, {"hash": b"after"})

        assert await count_exposed(connection, key) == KeyExposure(2, 1)
        with pytest.raises(ConfigurationError, match="another SUPPRESSION_KEY"):
            await count_exposed(connection, None)
    await engine.dispose()
