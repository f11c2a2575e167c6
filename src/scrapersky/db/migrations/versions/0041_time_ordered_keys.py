"""Give new rows keys in the order of time, so that what is made together lies together."""

from alembic import op

from scrapersky.db.migrations.steps import commit

revision = "0041_time_ordered_keys"
down_revision = "0040_page_gains"

TABLES = (
    "tenants",
    "users",
    "api_keys",
    "audit_log",
    "batch_jobs",
    "batch_items",
    "place_searches",
    "places_staging",
    "local_businesses",
    "domains",
    "sitemap_files",
    "pages",
    "contacts",
    "contact_evidence",
    "people",
    "companies",
    "company_actions",
    "company_columns",
    "company_members",
    "company_merges",
    "company_pairs",
    "curation_actions",
    "saved_views",
    "scheduler_runs",
    "selection_rules",
    "suppressions",
)

FIRST_WITH_ITS_OWN = 180000
"""The version from which PostgreSQL makes such keys itself."""

# Version 7 of RFC 9562: 48 bits of milliseconds, the version, and random bits.
BY_HAND = """encode(set_bit(set_bit(overlay(
    uuid_send(gen_random_uuid())
    PLACING substring(int8send((extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3)
    FROM 1 FOR 6), 52, 1), 53, 1), 'hex')::uuid"""


def upgrade() -> None:
    version = op.get_bind().exec_driver_sql("SHOW server_version_num").scalar_one()
    body = "uuidv7()" if int(version) >= FIRST_WITH_ITS_OWN else BY_HAND
    op.execute(
        "CREATE OR REPLACE FUNCTION time_ordered_uuid() RETURNS uuid LANGUAGE sql VOLATILE "
        f"PARALLEL SAFE AS $$ SELECT {body} $$"
    )
    set_default("time_ordered_uuid()")


def downgrade() -> None:
    set_default("gen_random_uuid()")
    op.execute("DROP FUNCTION time_ordered_uuid()")


def set_default(expression: str) -> None:
    """Change what new rows get; the keys of old ones stay."""
    for table in TABLES:
        op.execute(f"ALTER TABLE {table} ALTER COLUMN id SET DEFAULT {expression}")
        commit()
