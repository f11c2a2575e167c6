"""Jobs of the schedule, stopped in their middle: in time, and gone on with afterwards."""

from dataclasses import dataclass

import pytest

from tests.stopping.rig import House

pytestmark = pytest.mark.slow

ROWS = 12_000
OLD = "clock_timestamp() - interval '400 days'"
A_SITE = """INSERT INTO domains (tenant_id, domain, home_url)
  SELECT id, 'a.example', 'https://a.example/' FROM tenants"""
OFTEN = {"PURGE_SCHEDULER_INTERVAL_MINUTES": "0.05"}
RUNNING = "SELECT count(*) FROM scheduler_runs WHERE outcome = 'running'"


@dataclass(frozen=True, slots=True)
class LongJob:
    """A job, what it is given to do, and how to see how far it is."""

    name: str
    fill: tuple[str, ...]
    slowed: tuple[str, str]
    """The table whose rows take longer, and at which statement."""
    left: str
    """How many rows are not done yet."""
    rows: int = ROWS
    is_whole: str = "SELECT true"
    """Whether nothing is half done, whenever it is asked."""


PURGES = [
    LongJob(
        "contacts",
        (
            A_SITE,
            f"""INSERT INTO contacts (tenant_id, domain_id, email, updated_at)
              SELECT tenant_id, id, n || '@a.example', {OLD}
              FROM domains, generate_series(1, {ROWS}) AS n""",
        ),
        ("contacts", "DELETE"),
        "SELECT count(*) FROM contacts",
        is_whole="""SELECT coalesce(sum((details->>'contacts')::int), 0)
          + (SELECT count(*) FROM contacts) = 12000 FROM audit_log
          WHERE action = 'purged'""",
    ),
    LongJob(
        "lent facts",
        (
            f"""INSERT INTO places_staging (tenant_id, source, source_place_id, name,
                expires_at)
              SELECT id, 'google', n::text, 'Cafe ' || n, {OLD}
              FROM tenants, generate_series(1, {ROWS}) AS n""",
        ),
        ("places_staging", "UPDATE"),
        "SELECT count(*) FROM places_staging WHERE name IS NOT NULL",
        is_whole="""SELECT count(*) = 0 FROM places_staging
          WHERE (name IS NULL) <> (expires_at IS NULL)""",
    ),
    LongJob(
        "decisions",
        (
            f"""WITH a AS (INSERT INTO curation_actions
                (tenant_id, kind, status, selection, created_at)
                SELECT id, 'pages', 'Selected', '{{}}', {OLD} FROM tenants
                RETURNING id, tenant_id)
              INSERT INTO curation_changes (action_id, record_id, tenant_id,
                status_before, queued)
              SELECT id, gen_random_uuid(), tenant_id, 'New', false
              FROM a, generate_series(1, {ROWS})""",
        ),
        ("curation_changes", "DELETE"),
        "SELECT count(*) FROM curation_changes",
        is_whole="""SELECT (SELECT count(*) FROM curation_changes) = 0
          OR EXISTS (SELECT FROM curation_actions)""",
    ),
    LongJob(
        "uploaded files",
        (
            f"""INSERT INTO uploaded_parts (tenant_id, name, position, content,
                created_at)
              SELECT id, 'uploads/' || n / 10, mod(n, 10), 'a line', {OLD}
                + n * interval '1 ms'
              FROM tenants, generate_series(0, {ROWS - 1}) AS n""",
        ),
        ("uploaded_parts", "DELETE"),
        "SELECT count(*) FROM uploaded_parts",
        # A file whose first part is there is read as if it were whole.
        is_whole="""SELECT count(*) = 0 FROM (SELECT count(*) AS parts,
          min(position) AS first FROM uploaded_parts GROUP BY name) AS f
          WHERE first = 0 AND parts < 10""",
    ),
    LongJob(
        "runs",
        (
            f"""INSERT INTO scheduler_runs (job_id, process, due_at, outcome, started_at)
              SELECT 'old', 'gone', {OLD}, 'executed', {OLD}
              FROM generate_series(1, {ROWS}) AS n""",
        ),
        ("scheduler_runs", "DELETE"),
        "SELECT count(*) FROM scheduler_runs WHERE job_id = 'old'",
    ),
    LongJob(
        "hosts",
        (
            f"""INSERT INTO hosts (key, starts_at, next_at, updated_at)
              SELECT n || '.example', {OLD}, {OLD}, {OLD}
              FROM generate_series(1, {ROWS}) AS n""",
        ),
        ("hosts", "DELETE"),
        "SELECT count(*) FROM hosts WHERE key ~ '^[0-9]'",
    ),
    LongJob(
        "robots",
        (
            f"""INSERT INTO host_robots (origin, state, text, why, expires_at)
              SELECT 'https://' || n || '.example', 'rules', '', '', {OLD}
              FROM generate_series(1, {ROWS}) AS n""",
        ),
        ("host_robots", "DELETE"),
        "SELECT count(*) FROM host_robots WHERE origin ~ '^https://[0-9]'",
    ),
    LongJob(
        "attempts",
        (
            f"""INSERT INTO curation.attempt (stage, item, fence, tries, outcome,
                settled_at)
              SELECT 'sitemap_import', n::text, n, 1, 'done', {OLD}
              FROM generate_series(1, {ROWS}) AS n""",
        ),
        ("curation.attempt", "DELETE"),
        "SELECT count(*) FROM curation.attempt WHERE stage = 'sitemap_import'",
    ),
]


@pytest.mark.long
def test_a_worker_that_purged_did_not_hear_sigterm(house: House) -> None:
    """Every start goes on where the last one was stopped, and is stopped at the next."""
    for job in PURGES:
        house.run(*job.fill)
        middle = f"SELECT ({job.left}) BETWEEN 1 AND {job.rows - 1}"
        with house.slowly(*job.slowed), house.serving("worker", **OFTEN) as worker:
            house.wait_for(middle)
            worker.stop(f"purging {job.name}")
            assert house.ask(middle)
            assert house.ask(job.is_whole)
            assert house.ask(RUNNING) == 0
    with house.serving("worker", **OFTEN) as worker:
        for job in PURGES:
            house.wait_for(f"SELECT ({job.left}) = 0")
            assert house.ask(job.is_whole)
        worker.stop("nothing")
