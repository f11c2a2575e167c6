"""Readers that change their mind are shown first, and settled without fetching anything."""

import pytest

from scrapersky.privacy.subject import any_subject
from scrapersky.privacy.suppression import suppress
from scrapersky.records.audit import Actor
from tests.proofs.conftest import Proven

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

CONTACTS = """SELECT d.domain, c.email, c.phone, c.name, c.role, c.phones, c.social_links
  FROM contacts c JOIN domains d ON d.id = c.domain_id ORDER BY 1, 2, 3"""
PEOPLE = """SELECT d.domain, p.name, p.role, p.email FROM people p
  JOIN domains d ON d.id = p.domain_id ORDER BY 1, 2"""
EVIDENCE = """SELECT c.email, c.phone, e.field, e.value, e.url, e.method, e.snapshot_id
  FROM contact_evidence e JOIN contacts c ON c.id = e.contact_id ORDER BY 1, 2, 3, 4, 5, 6"""
# What other readers would have stored: a third missing, a third of the rest not on its page.
OTHER_READERS = (
    "UPDATE page_snapshots SET reader = '0.1.0+old'",
    """DELETE FROM contacts WHERE id IN (SELECT id FROM contacts ORDER BY id LIMIT
      (SELECT count(*) / 3 FROM contacts))""",
    """INSERT INTO contacts (tenant_id, domain_id, page_id, email, name, role)
      SELECT tenant_id, domain_id, page_id, 'wrong' || n || '@a.bv', 'Wrong Name', 'Wrong'
      FROM (SELECT *, row_number() OVER (ORDER BY id) AS n FROM contacts
        WHERE page_id IS NOT NULL) AS c WHERE n % 3 = 0""",
    """INSERT INTO contact_evidence (tenant_id, contact_id, page_id, field, value, url,
        snippet, method, confidence, seen_at, robots)
      SELECT c.tenant_id, c.id, c.page_id, f.field, f.value, 'http://a.bv/', '', 'text', 0.9,
        now(), 'allowed' FROM contacts c, LATERAL (VALUES ('email', c.email),
        ('name', c.name), ('role', c.role)) AS f (field, value) WHERE c.name = 'Wrong Name'""",
    "UPDATE people SET role = 'Wrong', standing = 0.99 WHERE role IS NOT NULL",
)


async def test_readers_that_have_not_changed_change_nothing(proven: Proven) -> None:
    report = await proven.replay(everything=True)

    assert report.pages > 20
    assert report.values > 100
    assert report.unreadable == 0
    assert report.samples == []


async def test_what_these_readers_have_read_is_not_read_again(proven: Proven) -> None:
    report = await proven.replay(applies=True)

    assert report.sites == 0


# What a visit leaves of an address and of a person whom the website does not name any more.
GONE = (
    """WITH c AS (INSERT INTO contacts (tenant_id, domain_id, page_id, email, gone_at)
      SELECT tenant_id, domain_id, page_id, 'gone@a.bv', now() FROM contacts
      WHERE page_id IS NOT NULL ORDER BY id LIMIT 1 RETURNING *),
    e AS (INSERT INTO contact_evidence (tenant_id, contact_id, page_id, field, value, url,
        snippet, method, confidence, seen_at, robots, gone_at)
      SELECT tenant_id, id, page_id, 'email', email, 'http://a.bv/', '', 'text', 0.9,
        now(), 'allowed', now() FROM c)
    INSERT INTO differences (tenant_id, domain_id, old_contact_id, what, field, old_value)
    SELECT tenant_id, domain_id, id, 'gone', 'email', email FROM c""",
    """WITH p AS (INSERT INTO people (tenant_id, domain_id, page_id, name, name_key, confidence,
        standing, standing_reason, evidence, gone_at)
      SELECT tenant_id, domain_id, page_id, 'Gone Girl', 'gone girl', 0.9, 0.5, '', '[]',
        now() FROM people ORDER BY id LIMIT 1 RETURNING *)
    INSERT INTO differences (tenant_id, domain_id, person_id, what, field, old_value)
    SELECT tenant_id, domain_id, id, 'gone', 'person', name FROM p""",
)


async def test_what_a_visit_had_found_gone_was_deleted_with_all_that_had_differed(
    proven: Proven,
) -> None:
    for statement in GONE:
        await proven.run(statement)
    told = "SELECT old_value FROM differences ORDER BY old_value"
    before = await proven.rows(told)

    shown = await proven.replay(everything=True)
    await proven.replay(everything=True, applies=True)

    assert shown.samples == []
    assert await proven.rows(told) == before == [("Gone Girl",), ("gone@a.bv",)]


async def test_what_older_readers_took_for_gone_stayed_so_when_it_was_read_again(
    proven: Proven,
) -> None:
    [one] = await proven.rows(
        "SELECT id FROM contacts WHERE email IS NOT NULL ORDER BY id LIMIT 1"
    )
    for table, key in (("contacts", "id"), ("contact_evidence", "contact_id")):
        gone = f"UPDATE {table} SET gone_at = now() WHERE {key} = :id"
        await proven.run(gone, id=one.id)

    shown = await proven.replay(everything=True)
    await proven.replay(everything=True, applies=True)

    assert shown.counts["new"]
    left = """SELECT count(*) FROM contacts c JOIN contact_evidence e ON e.contact_id = c.id
      WHERE c.id = :id AND (c.gone_at IS NOT NULL OR e.gone_at IS NOT NULL)"""
    assert await proven.rows(left, id=one.id) == [(0,)]


async def test_the_values_of_a_page_that_is_gone_came_back_from_its_copy(
    proven: Proven,
) -> None:
    gone = "UPDATE {} SET gone_at = now() WHERE {} IN (SELECT page_id FROM people)"
    for table, key in (("pages", "id"), ("contact_evidence", "page_id")):
        await proven.run(gone.format(table, key))
    values = "SELECT count(*) FROM contact_evidence WHERE gone_at IS NULL"
    before = await proven.rows(values)

    shown = await proven.replay(everything=True, applies=True)

    assert not shown.counts["new"]
    assert await proven.rows(values) == before


async def test_other_readers_are_shown_before_anything_is_changed(
    proven: Proven,
) -> None:
    for statement in OTHER_READERS:
        await proven.run(statement)
    before = await proven.rows(CONTACTS)

    report = await proven.replay()

    assert min(report.counts["new"], report.counts["gone"]) > 20
    assert {one.kind for one in report.samples} >= {"new", "gone"}
    assert await proven.rows(CONTACTS) == before


async def test_what_is_applied_is_what_reading_the_pages_had_come_to(
    proven: Proven,
) -> None:
    contacts, people = await proven.rows(CONTACTS), await proven.rows(PEOPLE)
    evidence = await proven.rows(EVIDENCE)
    for statement in OTHER_READERS:
        await proven.run(statement)

    shown = await proven.replay()
    applied = await proven.replay(applies=True)
    again = await proven.replay(everything=True)

    assert shown.counts == applied.counts
    assert again.samples == []
    assert await proven.rows(CONTACTS) == contacts
    assert await proven.rows(PEOPLE) == people
    assert await proven.rows(EVIDENCE) == evidence
    report = await proven.verify(await proven.export("contacts", "csv"))
    assert report.doubts == []


async def test_what_people_did_stays_when_readers_change_their_mind(
    proven: Proven,
) -> None:
    for statement in OTHER_READERS:
        await proven.run(statement)
    wrong = await proven.rows(
        "SELECT id, email FROM contacts WHERE name = 'Wrong Name' ORDER BY id LIMIT 3"
    )
    edited, decided, noted = (row.id for row in wrong)
    await proven.run(
        "INSERT INTO contact_evidence (tenant_id, contact_id, field, value, url, snippet,"
        " method, confidence, seen_at) VALUES (:tenant, :id, 'name', 'Wrong Name', '',"
        " 'written by Ada', 'by hand', 1, now())",
        id=edited,
        tenant=proven.tenant_id,
    )
    await proven.run(
        "UPDATE contacts SET contact_curation_status = 'Skipped' WHERE id = :id",
        id=decided,
    )
    await proven.run("UPDATE contacts SET notes = 'Called' WHERE id = :id", id=noted)

    await proven.replay(applies=True)

    left = await proven.rows(
        "SELECT id, name FROM contacts WHERE email LIKE 'wrong%' ORDER BY id"
    )
    assert left == [(edited, "Wrong Name"), (decided, None), (noted, None)]


async def test_whoever_was_suppressed_does_not_come_back(proven: Proven) -> None:
    [row] = await proven.rows(
        "SELECT email FROM contacts WHERE email IS NOT NULL ORDER BY id LIMIT 1"
    )
    actor = Actor(proven.tenant_id, None, "Ada")
    await suppress(proven.engine, actor, [any_subject(row.email)])
    await proven.run(
        "UPDATE page_snapshots SET reader = '0.1.0+old', void_reason = NULL"
    )

    report = await proven.replay(applies=True)

    assert report.pages
    assert (
        await proven.rows(
            "SELECT id FROM contacts WHERE email = :email", email=row.email
        )
        == []
    )


async def test_a_replay_that_was_stopped_goes_on_where_it_was(proven: Proven) -> None:
    await proven.run("UPDATE page_snapshots SET reader = '0.1.0+old'")
    whole = await proven.replay()

    first = await proven.replay(applies=True, stops_after=3)
    rest = await proven.replay(applies=True)

    assert first.sites == 3
    assert first.sites + rest.sites == whole.sites
