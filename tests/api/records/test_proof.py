"""Whoever may read a contact may see what each value of it follows from."""

from datetime import UTC, datetime

import pytest

from scrapersky.records import Evidence, Page, PageSnapshot
from tests.api.records.rig import Desk

pytestmark = pytest.mark.asyncio(loop_scope="module")
DIGEST = bytes(range(32))
WHEN = datetime(2026, 1, 1, tzinfo=UTC)


async def test_a_value_says_which_page_it_was_read_from_and_where_it_stands(
    desk: Desk,
) -> None:
    domain = await desk.add_domain("proof.de")
    contact = await desk.add_contact("ada@proof.de", domain=domain)
    url = "https://proof.de/contact"
    page = await desk.add(Page, domain_id=domain, url=url)
    snapshot = await desk.add(
        PageSnapshot, domain_id=domain, page_id=page, hash=DIGEST, url=url,
        encoding="utf-8", reader="0.5.0+abc", seen_at=WHEN,
    )  # fmt: skip
    for field, value in (("email", "ada@proof.de"), ("name", "Ada King")):
        await desk.add(
            Evidence, contact_id=contact, page_id=page, snapshot_id=snapshot, field=field,
            value=value, url=url, snippet="Write to Ada", method="mailto", confidence=0.9,
            robots="allowed", seen_at=WHEN, span_start=4, span_end=16,
        )  # fmt: skip

    (email,) = (await desk.get(f"/contacts/{contact}/proofs?field=email"))["items"]
    both = (await desk.get(f"/contacts/{contact}/proofs"))["items"]

    assert (email["value"], email["hash"]) == ("ada@proof.de", DIGEST.hex())
    assert (email["span_start"], email["span_end"]) == (4, 16)
    assert (email["reader"], email["is_kept"]) == ("0.5.0+abc", False)
    assert [one["field"] for one in both] == ["email", "name"]
