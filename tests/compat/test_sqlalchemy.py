"""What we use of SQLAlchemy's inside does what we need of it."""

from sqlalchemy import select

from scrapersky.compat.sqlalchemy import Explain, moved_to
from scrapersky.db.connection import connect, parse_target
from scrapersky.records import Domain
from tests.conftest import TestDatabase


def test_a_plan_is_a_statement_of_its_own_in_the_cache() -> None:
    first, second = (
        Explain(select(Domain.id).where(Domain.domain == name))._generate_cache_key()
        for name in ("a.example", "b.example")
    )
    other = Explain(select(Domain.id))._generate_cache_key()

    assert first is not None
    assert second is not None
    assert other is not None
    assert first.key == second.key != other.key
    assert [one.value for one in second.bindparams] == ["b.example"]


async def test_a_plan_is_read_again_from_the_cache(database: TestDatabase) -> None:
    engine = connect(parse_target(database.url))
    query = select(Domain.id).where(Domain.domain == "a.example").limit(1)

    async with engine.connect() as connection:
        plans = [await connection.scalar(Explain(query)) for _ in range(2)]
    await engine.dispose()

    assert plans[0] == plans[1]
    assert plans[0][0]["Plan"]["Node Type"] == "Limit"


def test_a_clause_about_a_table_becomes_one_about_a_subquery() -> None:
    near = select(Domain.id, Domain.domain).subquery("near")

    moved = moved_to(near, Domain.domain == "a.example")

    assert str(moved).startswith("near.domain = ")
