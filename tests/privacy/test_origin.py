"""No value of a contact is kept without its origin, and none loses it."""

import pytest
from sqlalchemy.exc import IntegrityError

from tests.privacy.conftest import House

BAD = (
    {"method": "text", "robots": None},
    {"method": "text", "url": ""},
    {"method": "text", "snippet": None},
    {"method": "text", "seen_at": None},
    {"method": "by hand", "robots": None, "snippet": ""},
)


@pytest.mark.parametrize("changes", BAD)
async def test_no_value_is_kept_without_its_origin(
    house: House, changes: dict[str, str | None]
) -> None:
    domain = await house.add_domain()
    await house.add_contact(domain, email="ada@a.bv")
    assignments = ", ".join(f"{name} = :{name}" for name in changes)

    with pytest.raises(IntegrityError):
        await house.run(f"UPDATE contact_evidence SET {assignments}", **changes)


async def test_evidence_outlives_its_page(house: House) -> None:
    domain = await house.add_domain()
    await house.add_contact(domain, email="ada@a.bv")
    await house.run(
        "WITH p AS (INSERT INTO pages (tenant_id, domain_id, url) VALUES"
        " (:t, :d, 'http://a.bv/') RETURNING id)"
        " UPDATE contact_evidence SET page_id = p.id FROM p",
        t=house.actor.tenant_id,
        d=domain,
    )

    await house.run("DELETE FROM pages")

    assert await house.rows(
        "SELECT page_id, url, robots, value FROM contact_evidence"
    ) == [(None, "http://a.bv/", "allowed", "ada@a.bv")]
