"""Nothing is kept longer than its kind may be; what is lent goes in time."""

from datetime import timedelta
from typing import Any

from scrapersky.kit.clock import utc_now
from scrapersky.privacy.retention import (
    RETENTION_RULES,
    forget_expired,
    purge_expired,
    retention_status,
)
from scrapersky.records import LocalBusiness, Person, Place
from scrapersky.scheduler.housekeeping import retention_days
from scrapersky.settings import Settings
from tests.privacy.conftest import House

AGED = {
    "differences": ("differences", "created_at"),
    "contacts": ("contacts", "updated_at"),
    "people": ("people", "updated_at"),
    "places": ("places_staging", "seen_at"),
    "pages": ("pages", "gone_at"),
    "actions": ("curation_actions", "created_at"),
    "jobs": ("batch_jobs", "created_at"),
    "samples": ("value_samples", "created_at"),
    "items": ("batch_items", "created_at"),
    "letters": ("curation.dead_letter", "died_at"),
    "audit": ("audit_log", "created_at"),
    "webhooks": ("webhook_deliveries", "created_at"),
    "writes to CRMs": ("sync_writes", "created_at"),
    "stored pages": ("page_snapshots", "seen_at"),
}


async def fill(house: House) -> None:
    """Store something of every kind."""
    domain = await house.add_domain()
    await house.add_contact(domain, email="ada@a.bv")
    await house.add(
        Person,
        domain_id=domain,
        name="Ada Lovelace",
        name_key="ada lovelace",
        confidence=0.9,
        standing=0.9,
        standing_reason="owner: Owner",
    )
    await house.add(
        Place,
        source="x",
        source_place_id="1",
        name="A",
        raw={"x": 1},
        seen_at=utc_now(),
    )
    await house.run(
        "INSERT INTO pages (tenant_id, domain_id, url, gone_at)"
        " VALUES (:t, :d, 'http://a.bv/x', clock_timestamp())",
        t=house.actor.tenant_id,
        d=domain,
    )
    await house.run(
        "WITH p AS (INSERT INTO pages (tenant_id, domain_id, url)"
        " VALUES (:t, :d, 'http://a.bv/kept') RETURNING *)"
        " INSERT INTO page_snapshots (tenant_id, domain_id, page_id, hash, url, encoding,"
        " reader, seen_at) SELECT :t, domain_id, id, '', url, 'utf-8', '1+x',"
        " clock_timestamp() FROM p",
        t=house.actor.tenant_id,
        d=domain,
    )
    await house.run(
        "WITH a AS (INSERT INTO curation_actions (tenant_id, kind, status, selection)"
        " VALUES (:t, 'pages', 'Selected', '{}') RETURNING id, tenant_id)"
        " INSERT INTO curation_changes (action_id, record_id, tenant_id,"
        "  status_before, queued) SELECT id, id, tenant_id, 'New', true FROM a",
        t=house.actor.tenant_id,
    )
    await house.run(
        "WITH s AS (INSERT INTO value_samples (tenant_id, kind, field, query, population)"
        " VALUES (:t, 'companies', 'email', '{}', 1) RETURNING id)"
        " INSERT INTO sampled_values (sample_id, position, tenant_id, record_id, value)"
        " SELECT id, 1, :t, id, 'ada@a.bv' FROM s",
        t=house.actor.tenant_id,
    )
    await house.run(
        "WITH j AS (INSERT INTO batch_jobs (tenant_id, kind) VALUES (:t, 'domains')"
        " RETURNING id) INSERT INTO batch_items (tenant_id, batch_id, position,"
        "  submitted, error) SELECT :t, id, 1, 'x', 'bad' FROM j",
        t=house.actor.tenant_id,
    )
    await house.run(
        "INSERT INTO curation.dead_letter (stage, item, fence, kind, tries, deaths)"
        " VALUES ('s', 'i', 1, 'gave_up', 1, 0)"
    )
    await house.run(
        "INSERT INTO audit_log (tenant_id, actor, action, subject)"
        " VALUES (:t, 'x', 'x', 'x')",
        t=house.actor.tenant_id,
    )
    await house.run(
        "WITH e AS (INSERT INTO webhook_endpoints (tenant_id, cursor, name, url, events,"
        "  format, ignored_actors, schemes, secrets)"
        " VALUES (:t, '', 'x', 'x', '{}', 'event', '{}', '{}', '') RETURNING id)"
        " INSERT INTO webhook_deliveries (tenant_id, endpoint_id, type, event_count,"
        "  cursor, state) SELECT :t, id, 'x', 1, '', 'delivered' FROM e",
        t=house.actor.tenant_id,
    )
    await house.run(
        "WITH c AS (INSERT INTO sync_connections (tenant_id, cursor, name, connector,"
        "  account_id, account_name) VALUES (:t, '', 'x', 'folder', 'x', 'x')"
        " RETURNING id) INSERT INTO sync_writes (tenant_id, connection_id, run_id, kind,"
        "  record_id, their_id, is_new) SELECT :t, id, id, 'person', id, '1', true FROM c",
        t=house.actor.tenant_id,
    )
    await house.run(
        "INSERT INTO differences (tenant_id, what) VALUES (:t, 'gone')",
        t=house.actor.tenant_id,
    )


async def age(house: House, days: int) -> None:
    """Let everything be so much older."""
    for table, since in AGED.values():
        await house.run(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        await house.run(
            f"UPDATE {table} SET {since} = {since} - CAST(:age AS interval)",
            age=timedelta(days=days),
        )
        await house.run(f"ALTER TABLE {table} ENABLE TRIGGER USER")


async def counts(house: House) -> dict[str, Any]:
    found = {}
    for name, (table, _) in AGED.items():
        ((found[name],),) = await house.rows(f"SELECT count(*) FROM {table}")
    return found


async def test_what_is_young_stays_and_what_is_too_old_goes(house: House) -> None:
    days = dict.fromkeys((kind.setting for kind in RETENTION_RULES), 365)
    await fill(house)
    await age(house, 300)
    assert sum((await purge_expired(house.engine, days)).values()) == 0
    await age(house, 100)
    before = {
        one.kind.name: one.overdue for one in await retention_status(house.engine, days)
    }

    await purge_expired(house.engine, days)

    assert before.pop("change log") == 0, "it was written just now"
    assert set(before.values()) == {1}
    left = await counts(house)
    assert left.pop("places") == 1
    assert left.pop("audit") == 1
    assert left.pop("stored pages") == 1
    assert left.pop("pages") == 1, "of which the page is kept"
    assert await house.rows("SELECT void_reason FROM page_snapshots") == [("expired",)]
    assert await house.rows(
        "SELECT actor, action, subject, details FROM audit_log"
    ) == [("retention", "purged", "contacts", {"contacts": 1})]
    assert set(left.values()) == {0}
    assert await house.rows("SELECT raw, name FROM places_staging") == [(None, "A")]
    assert await house.rows("SELECT count(*) FROM contact_evidence") == [(0,)]
    assert {one.overdue for one in await retention_status(house.engine, days)} == {0}


async def test_the_last_entry_of_the_change_log_stays_for_its_cursors(
    house: House,
) -> None:
    domain = await house.add_domain()
    await house.run("UPDATE domains SET priority = 1 WHERE id = :id", id=domain)
    old = "UPDATE record_changes SET created_at = created_at - interval '31 days'"
    await house.run(old)
    days = retention_days(Settings())
    states = await retention_status(house.engine, days)
    (before,) = [state for state in states if state.kind.name == "change log"]

    purged = await purge_expired(house.engine, days)

    assert purged["change log"] == before.overdue > 0
    left = await house.rows("SELECT event, fields FROM record_changes WHERE tenant_id = :t",
                            t=house.actor.tenant_id)  # fmt: skip
    assert left == [("changed", ["priority"])]


async def test_zero_days_keep_for_ever(house: House) -> None:
    await fill(house)
    await age(house, 10_000)
    before = await counts(house)

    await purge_expired(
        house.engine, dict.fromkeys((k.setting for k in RETENTION_RULES), 0)
    )

    assert await counts(house) == before


async def test_many_rows_go_in_steps(house: House) -> None:
    domain = await house.add_domain()
    await house.run(
        "INSERT INTO contacts (tenant_id, domain_id, email, updated_at) SELECT :t, :d,"
        " 'm' || n || '@a.bv', clock_timestamp() - interval '400 days'"
        " FROM generate_series(1, 2345) AS n",
        t=house.actor.tenant_id,
        d=domain,
    )

    purged = await purge_expired(house.engine, retention_days(Settings()))

    assert purged["contacts"] == 2345


def test_every_kind_has_a_setting_with_its_name() -> None:
    days = retention_days(Settings())

    assert set(days) == {kind.setting for kind in RETENTION_RULES}
    assert min(days.values()) > 0


async def test_lent_facts_leave_places_and_businesses_and_the_decision_stays(
    house: House,
) -> None:
    now = utc_now()
    old, fresh = now - timedelta(days=1), now + timedelta(days=1)
    for name, until in (("old", old), ("fresh", fresh), ("free", None)):
        place = await house.add(
            Place, source="google", source_place_id=name, name=name, raw={"x": 1},
            expires_at=until, status="Not a Fit", categories=["dentist"],
        )  # fmt: skip
        await house.add(
            LocalBusiness, place_id=place, name=name, phone="+442079460018",
            attributes={"x": 1}, expires_at=until, status="Selected",
        )  # fmt: skip

    assert await forget_expired(house.engine) == 2
    assert await forget_expired(house.engine) == 0

    assert await house.rows(
        "SELECT p.source_place_id, p.name, p.raw IS NULL, p.categories, p.status::text,"
        " b.name, b.phone, b.attributes, b.status::text FROM places_staging p"
        " JOIN local_businesses b ON b.place_id = p.id ORDER BY 1"
    ) == [
        ("free", "free", False, ["dentist"], "Not a Fit", "free", "+442079460018",
         {"x": 1}, "Selected"),
        ("fresh", "fresh", False, ["dentist"], "Not a Fit", "fresh", "+442079460018",
         {"x": 1}, "Selected"),
        ("old", None, True, [], "Not a Fit", None, None, {}, "Selected"),
    ]  # fmt: skip
