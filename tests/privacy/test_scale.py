"""Erasing among many: what happens at once is found by indexes, the rest in short steps."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import text

from scrapersky.db.connection import connect, parse_target
from scrapersky.privacy.person import erase_person
from scrapersky.privacy.subject import SubjectKind, any_subject
from scrapersky.privacy.suppression import REMOVE, SITES, spellings, suppress
from sdk_tests.rig.size import size
from tests.conftest import TestDatabase
from tests.privacy.conftest import House

ADA = any_subject("person777@a777.bv")
NUMBER = any_subject("+442079000777")
FILL = (
    """INSERT INTO domains (tenant_id, domain, emails, phones)
    SELECT :t, 'a' || n || '.bv', ARRAY['person' || n || '@a' || n || '.bv'],
      ARRAY['+44207' || (9000000 + n)] FROM generate_series(1, CAST(:n AS int)) AS n""",
    """INSERT INTO contacts (tenant_id, domain_id, email, name, phone, phones, notes)
    SELECT :t, id, emails[1], 'Ada ' || domain, phones[1],
      jsonb_build_object(phones[1], '{}'::jsonb), 'met at the fair' FROM domains""",
    """INSERT INTO contact_evidence (tenant_id, contact_id, field, value, url, snippet,
      method, confidence, robots, seen_at)
    SELECT :t, id, 'email', email, 'http://a.bv/team',
      'write to ' || email || ' or call', 'mailto', 1, 'allowed', clock_timestamp()
    FROM contacts""",
    """INSERT INTO local_businesses (tenant_id, name, phone)
    SELECT :t, domain, phones[1] FROM domains""",
    """INSERT INTO places_staging (tenant_id, source, source_place_id, name, phone)
    SELECT :t, 'osm', domain, domain, phones[1] FROM domains""",
)


async def fill(house: House, url: str, count: int) -> None:
    engine = connect(parse_target(url), statement_timeout=None)
    for statement in FILL:
        async with engine.begin() as connection:
            values: dict[str, Any] = {"t": house.actor.tenant_id}
            if ":n" in statement:
                values["n"] = count
            await connection.execute(text(statement), values)
    async with engine.connect() as connection:
        raw = await connection.execution_options(isolation_level="AUTOCOMMIT")
        await raw.execute(text("VACUUM ANALYZE"))
    await engine.dispose()


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for below in plan.get("Plans", ()):
        yield from nodes(below)


async def looked_at(house: House, statement: str, named: list[str]) -> int:
    """Run a statement, take it back, and return how many rows it threw away."""
    values = {
        "tenant": house.actor.tenant_id, "named": named, "under": [], "at": [],
        "at_under": [], "spelt": spellings(named),
    }  # fmt: skip
    async with house.engine.connect() as connection:
        found = await connection.scalar(
            text(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}"), values
        )
        await connection.rollback()
    (explained,) = found if isinstance(found, list) else json.loads(str(found))
    return sum(
        int(node.get("Rows Removed by Filter", 0) * node.get("Actual Loops", 1))
        for node in nodes(explained["Plan"])
    )


async def test_what_is_removed_at_once_is_found_without_looking_at_everyone(
    house: House, database: TestDatabase
) -> None:
    await fill(house, database.url, size(1_500, 5_000))

    wasted = {
        statement[:60]: await looked_at(house, statement, [subject.value])
        for subject in (ADA, NUMBER)
        for statement in (*REMOVE[subject.kind], *SITES.values())
    }

    assert {SubjectKind.EMAIL, SubjectKind.PHONE} == {ADA.kind, NUMBER.kind}
    assert max(wasted.values()) <= 10, wasted


@pytest.mark.long
async def test_one_person_among_a_million_is_erased(
    house: House, database: TestDatabase
) -> None:
    await fill(house, database.url, 1_000_000)
    times: dict[str, float] = {}
    for name, subject in (("e-mail", ADA), ("phone", NUMBER)):
        began = time.monotonic()
        await suppress(house.engine, house.actor, [subject])
        times[f"{name}, at once"] = time.monotonic() - began
        began = time.monotonic()
        await erase_person(house.engine, house.actor, subject)
        times[f"{name}, everywhere"] = time.monotonic() - began
    print(", ".join(f"{what} {taken:.2f} s" for what, taken in times.items()))

    assert times["e-mail, at once"] < 1
    assert times["phone, at once"] < 1
