"""Stored pages are people's data: erased, suppressed, too old or too many, their bytes go."""

import hashlib

import pytest

from scrapersky.kit.delta import unpack
from scrapersky.privacy.person import erase_person, export_person
from scrapersky.privacy.retention import purge_expired
from scrapersky.privacy.snapshot import remove_unkept
from scrapersky.privacy.snapshot_budget import trim_snapshots
from scrapersky.privacy.subject import any_subject
from scrapersky.privacy.suppression import suppress
from scrapersky.proofs.outcome import ProofVerdict
from scrapersky.records.audit import Actor
from scrapersky.scheduler.housekeeping import retention_days
from scrapersky.settings import Settings
from tests.proofs.conftest import Proven

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

SOMEBODY = """SELECT c.email FROM contacts c WHERE c.name IS NOT NULL AND c.email IS NOT NULL
  AND (SELECT count(*) FROM page_contents p JOIN page_snapshots s USING (tenant_id, hash)
    WHERE s.domain_id = c.domain_id AND p.base IS NOT NULL) > 1
  AND EXISTS (SELECT FROM contact_evidence mine JOIN contact_evidence others USING (page_id)
    WHERE mine.contact_id = c.id AND others.contact_id <> c.id)
  ORDER BY c.id LIMIT 1"""
"""Somebody whose page is not theirs alone: what it proves of others is in doubt without it."""
CONTENTS = """SELECT c.hash, c.size, c.content, b.size AS base_size, b.content AS base_content
  FROM page_contents c LEFT JOIN page_contents b
    ON b.tenant_id = c.tenant_id AND b.hash = c.base"""
USED = """SELECT (SELECT coalesce(sum(octet_length(content)), 0) FROM page_contents),
  (SELECT coalesce(sum(bytes), 0) FROM snapshot_usage)"""


async def bodies(proven: Proven) -> dict[bytes, bytes]:
    """Unpack every stored page."""
    found = {}
    for row in await proven.rows(CONTENTS):
        base = row.base_content and unpack(row.base_content, row.base_size)
        found[row.hash] = unpack(row.content, row.size, base)
    return found


def is_whole(found: dict[bytes, bytes]) -> bool:
    return all(hashlib.sha256(body).digest() == key for key, body in found.items())


async def test_pages_are_stored_once_and_packed_against_the_first_of_their_site(
    proven: Proven,
) -> None:
    found = await bodies(proven)
    [(packed, used)] = await proven.rows(USED)

    assert len(found) > 50
    assert is_whole(found)
    assert packed == used
    assert packed < sum(map(len, found.values())) / 3
    [(alone, sites)] = await proven.rows(
        "SELECT count(*) FILTER (WHERE base IS NULL),"
        " (SELECT count(DISTINCT domain_id) FROM page_snapshots) FROM page_contents"
    )
    assert sites <= alone < len(found)


async def test_no_page_that_names_an_erased_person_is_kept(proven: Proven) -> None:
    [(email,)] = await proven.rows(SOMEBODY)
    path = await proven.export("contacts", "csv")
    before = await bodies(proven)
    naming = {key for key, body in before.items() if email.encode() in body.lower()}
    actor = Actor(proven.tenant_id, None, "Ada")
    held = await export_person(proven.engine, actor, any_subject(email))
    assert {one.id for one in held if one.table == "page_contents"} == {
        key.hex() for key in naming
    }

    done = await erase_person(proven.engine, actor, any_subject(email))

    left = await bodies(proven)
    assert naming
    assert naming.isdisjoint(left)
    assert is_whole(left)
    assert done.deleted["page_contents"] == len(before) - len(left)
    reasons = await proven.rows(
        "SELECT DISTINCT void_reason FROM page_snapshots WHERE voided_at IS NOT NULL"
    )
    assert reasons == [("erased",)]
    report = await proven.verify(path)
    assert report.false == 0
    assert "the page is not kept: erased" in {
        one.judgement.why for one in report.doubts
    }
    [(packed, used)] = await proven.rows(USED)
    assert packed == used


async def test_pages_of_whom_must_not_be_contacted_are_not_kept(proven: Proven) -> None:
    [(email,)] = await proven.rows(SOMEBODY)

    await suppress(
        proven.engine, Actor(proven.tenant_id, None, "Ada"), [any_subject(email)]
    )

    left = await bodies(proven)
    assert is_whole(left)
    assert not [body for body in left.values() if email.encode() in body.lower()]


async def test_pages_are_kept_as_long_as_it_is_set(proven: Proven) -> None:
    days = retention_days(Settings())
    await proven.run(
        "UPDATE page_snapshots SET seen_at = now() - interval '366 days'"
        " WHERE domain_id IN (SELECT id FROM domains ORDER BY id LIMIT 5)"
    )

    purged = await purge_expired(proven.engine, days)
    removed = await remove_unkept(proven.engine)

    assert purged["stored pages"] >= removed > 0
    assert is_whole(await bodies(proven))
    [(packed, used)] = await proven.rows(USED)
    assert packed == used
    [(left,)] = await proven.rows(
        "SELECT count(*) FROM page_snapshots WHERE void_reason = 'expired'"
    )
    assert left == purged["stored pages"]


async def test_the_oldest_pages_make_way_within_a_budget(proven: Proven) -> None:
    [(packed, _)] = await proven.rows(USED)

    removed = await trim_snapshots(proven.engine, packed // 2)

    [(left, used)] = await proven.rows(USED)
    assert removed
    assert left == used <= packed // 2
    assert is_whole(await bodies(proven))


async def test_a_tenant_that_wants_no_pages_kept_has_none(proven: Proven) -> None:
    await proven.run("UPDATE tenants SET budget = '{\"snapshot_bytes\": 0}'")

    await trim_snapshots(proven.engine, 10**12)

    assert await bodies(proven) == {}
    report = await proven.verify(await proven.export("contacts", "csv"))
    assert report.counts[ProofVerdict.NOT_KEPT]
    assert not report.false


async def test_what_no_page_refers_to_is_removed_with_the_page(proven: Proven) -> None:
    await proven.run("DELETE FROM pages WHERE id IN (SELECT id FROM pages LIMIT 40)")

    removed = await remove_unkept(proven.engine)

    assert removed
    assert is_whole(await bodies(proven))


async def test_a_damaged_page_kept_others_from_being_erased(proven: Proven) -> None:
    [(email,)] = await proven.rows(SOMEBODY)
    await proven.run(
        "UPDATE page_contents SET content = 'xyz' WHERE hash = (SELECT c.hash"
        " FROM page_contents c JOIN page_snapshots s USING (tenant_id, hash)"
        " JOIN contacts x ON x.domain_id = s.domain_id"
        " WHERE x.email = :email AND c.base IS NULL LIMIT 1)",
        email=email,
    )
    actor = Actor(proven.tenant_id, None, "Ada")

    await erase_person(proven.engine, actor, any_subject(email))

    left = await bodies(proven)
    assert is_whole(left)
    assert not [body for body in left.values() if email.encode() in body.lower()]
