"""The CSV of contacts: whole or not there, readable anywhere, harmless in a spreadsheet."""

import csv
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import insert, text
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.db.connection import connect, parse_target
from scrapersky.export.contacts import COLUMNS, harmless, write_csv
from scrapersky.records import (
    Contact,
    Domain,
    Evidence,
    LocalBusiness,
    Place,
    PlaceSearch,
    PlaceSearchHit,
    Tenant,
)
from tests.conftest import TestDatabase


@pytest.fixture
async def engine(database: TestDatabase) -> AsyncIterator[AsyncEngine]:
    engine = connect(parse_target(database.url))
    yield engine
    await engine.dispose()


async def add(engine: AsyncEngine, model: Any, **values: Any) -> UUID:
    async with engine.begin() as connection:
        made = await connection.execute(
            insert(model).values(values).returning(model.id)
        )
        return UUID(str(made.scalar_one()))


@pytest.fixture
async def tenant(engine: AsyncEngine) -> UUID:
    async with engine.connect() as connection:
        return UUID(str(await connection.scalar(text("SELECT id FROM tenants"))))


async def add_contact(engine: AsyncEngine, tenant: UUID, **values: Any) -> UUID:
    name = f"{uuid4().hex}.bv"
    domain = await add(engine, Domain, tenant_id=tenant, domain=name)
    await add(
        engine, LocalBusiness, tenant_id=tenant, domain_id=domain, name="Ada's Bakery"
    )
    return await add(
        engine, Contact, tenant_id=tenant, domain_id=domain, **values
    )  # fmt: skip


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


async def test_a_contact_is_written_with_where_it_came_from(
    engine: AsyncEngine, tenant: UUID, tmp_path: Path
) -> None:
    contact = await add_contact(
        engine, tenant, email="ada@a.bv", name="Ada Lövelace", phone="+442079460018",
        phones={"+442079460018": {"kind": "phone"}},
        validation={"verdict": "deliverable"},
    )  # fmt: skip
    await add(
        engine, Evidence, tenant_id=tenant, contact_id=contact, field="email",
        value="ada@a.bv", url="http://a.bv/contact", snippet="write to ada@a.bv",
        method="mailto", confidence=0.9, robots="allowed", seen_at=datetime.now(UTC),
    )  # fmt: skip

    count = await write_csv(engine, tenant, tmp_path / "out.csv")

    (row,) = rows_of(tmp_path / "out.csv")
    assert count == 1
    assert tuple(row) == COLUMNS
    assert (row["business"], row["email"], row["name"]) == (
        "Ada's Bakery",
        "ada@a.bv",
        "Ada Lövelace",
    )
    assert (row["phone"], row["validation"]) == ("+442079460018", "deliverable")
    assert (row["source_url"], row["method"]) == ("http://a.bv/contact", "mailto")
    assert row["snippet"] == "write to ada@a.bv"


async def test_city_category_and_search_were_missing_though_the_business_has_them(
    engine: AsyncEngine, tenant: UUID, tmp_path: Path
) -> None:
    search = await add(
        engine, PlaceSearch, tenant_id=tenant, business_type="bakeries",
        location="Leeds", source="osm",
    )  # fmt: skip
    place = await add(
        engine, Place, tenant_id=tenant, source="osm", source_place_id="1"
    )
    async with engine.begin() as connection:
        await connection.execute(
            insert(PlaceSearchHit).values(
                search_id=search, place_id=place, tenant_id=tenant
            )
        )
    domain = await add(engine, Domain, tenant_id=tenant, domain="ada.bv")
    await add(
        engine, LocalBusiness, tenant_id=tenant, domain_id=domain, place_id=place,
        name="Ada's Bakery", city="Leeds", street="Mill Lane 1", phone="+441134960000",
        categories=["bakery", "cafe"], rating=4.5,
    )  # fmt: skip
    for email, address in (("a@ada.bv", {}), ("b@ada.bv", {"city": "York"})):
        await add(
            engine, Contact, tenant_id=tenant, domain_id=domain, email=email,
            address=address,
        )  # fmt: skip

    await write_csv(engine, tenant, tmp_path / "out.csv")

    found = {row["email"]: row for row in rows_of(tmp_path / "out.csv")}
    first, second = found["a@ada.bv"], found["b@ada.bv"]
    assert (first["city"], first["street"]) == ("Leeds", "Mill Lane 1")
    # An address is one: nothing of another is mixed in.
    assert (second["city"], second["street"]) == ("York", "")
    assert first["categories"] == "bakery; cafe"
    assert (first["rating"], first["business_phone"]) == ("4.5", "+441134960000")
    assert first["searches"] == "bakeries in Leeds"


async def test_what_is_unknown_is_empty(
    engine: AsyncEngine, tenant: UUID, tmp_path: Path
) -> None:
    await add_contact(engine, tenant, phone="+442079460018")

    await write_csv(engine, tenant, tmp_path / "out.csv")

    (row,) = rows_of(tmp_path / "out.csv")
    assert {row[name] for name in ("email", "name", "role", "street")} == {""}


async def test_more_contacts_than_a_step_are_each_written_once(
    engine: AsyncEngine, tenant: UUID, tmp_path: Path
) -> None:
    domain = await add(engine, Domain, tenant_id=tenant, domain="a.bv")
    async with engine.begin() as connection:
        await connection.execute(
            text(
                "INSERT INTO contacts (tenant_id, domain_id, email) SELECT :t, :d,"
                " 'm' || n || '@a.bv' FROM generate_series(1, 2345) AS n"
            ),
            {"t": tenant, "d": domain},
        )

    count = await write_csv(engine, tenant, tmp_path / "out.csv")

    emails = [row["email"] for row in rows_of(tmp_path / "out.csv")]
    assert count == len(emails) == len(set(emails)) == 2345


async def test_another_tenants_contacts_are_not_written(
    engine: AsyncEngine, tenant: UUID, tmp_path: Path
) -> None:
    other = await add(engine, Tenant, name="Other", slug="other")
    await add_contact(engine, other, email="eve@e.bv")

    assert await write_csv(engine, tenant, tmp_path / "out.csv") == 0


async def test_a_file_that_cannot_be_finished_does_not_appear(
    engine: AsyncEngine, tmp_path: Path
) -> None:
    out = tmp_path / "out.csv"
    out.write_text("the last good one")
    await engine.dispose()
    broken = connect(parse_target("postgresql+asyncpg://nobody@/none?host=/nowhere"))

    with pytest.raises(OSError, match="No such file"):
        await write_csv(broken, uuid4(), out)

    assert out.read_text() == "the last good one"
    assert sorted(tmp_path.glob("*")) == [out]  # noqa: ASYNC240


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("=1+1", "'=1+1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("-2+3", "'-2+3"),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        (' "=1', "' \"=1"),
        ("\uff1d1", "'\uff1d1"),
        ("+44 20 7946 0018", "+44 20 7946 0018"),
        ("Ada", "Ada"),
        (0.5, 0.5),
        (None, None),
    ],
)
def test_no_cell_is_a_formula(value: object, written: object) -> None:
    assert harmless(value) == written
