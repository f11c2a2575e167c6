"""Lists of a million rows: their indexes, saved views, and what a search saw before."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from scrapersky.db.migrations.row_security import open_again, protect

revision = "0008_records"
down_revision = "0007_operations"

MOMENT = sa.DateTime(timezone=True)
NOW = sa.func.clock_timestamp()

STATUSES = {
    "places_staging": "status",
    "local_businesses": "status",
    "domains": "sitemap_curation_status",
    "sitemap_files": "deep_scrape_curation_status",
    "contacts": "contact_curation_status",
}
TIMES = (*STATUSES, "pages", "place_searches")
SORTS = {
    "ix_places_staging_by_name": ("places_staging", "name"),
    "ix_places_staging_by_rating": ("places_staging", "rating"),
    "ix_local_businesses_by_name": ("local_businesses", "name"),
    "ix_contacts_by_confidence": ("contacts", "confidence"),
}
WORDS = {
    "places_staging": ("name", "address", "website", "phone"),
    "local_businesses": ("name", "street", "city", "website", "phone"),
    "domains": ("domain", "title", "description"),
    "contacts": ("email", "name", "role", "phone"),
}
"""Where people look for words. Pages are left out: imports write too many of them."""


FORGET_EXTENSION = """
DO $$
BEGIN
  DROP EXTENSION IF EXISTS pg_trgm;
EXCEPTION WHEN dependent_objects_still_exist OR insufficient_privilege THEN
  NULL;
END $$
"""


def upgrade() -> None:
    for table in TIMES:
        op.create_index(f"ix_{table}_by_time", table, ["tenant_id", "updated_at", "id"])
    for table, status in STATUSES.items():
        op.drop_index(f"ix_{table}_tenant_id_{status}", table)
        op.create_index(
            f"ix_{table}_by_status", table, ["tenant_id", status, "updated_at", "id"]
        )
    for name, (table, column) in SORTS.items():
        op.create_index(name, table, ["tenant_id", column, "id"])
    op.add_column("place_search_hits", sa.Column("facts_hash", sa.Text))
    op.add_column("audit_log", sa.Column("record_id", sa.Uuid))
    op.create_index(
        "ix_audit_log_record_id",
        "audit_log",
        ["record_id"],
        postgresql_where=sa.text("record_id IS NOT NULL"),
    )
    make_views()
    op.execute(index_words())


def make_views() -> None:
    op.create_table(
        "saved_views",
        sa.Column("id", sa.Uuid, server_default=sa.func.gen_random_uuid()),
        sa.Column("tenant_id", sa.Uuid, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("query", postgresql.JSONB, nullable=False),
        sa.Column("created_by", sa.Uuid),
        sa.Column("created_at", MOMENT, nullable=False, server_default=NOW),
        sa.Column("updated_at", MOMENT, nullable=False, server_default=NOW),
        sa.PrimaryKeyConstraint("id", name="pk_saved_views"),
        sa.ForeignKeyConstraint(
            ["tenant_id"],
            ["tenants.id"],
            name="fk_saved_views_tenant_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["created_by"],
            ["users.id"],
            name="fk_saved_views_created_by",
            ondelete="SET NULL",
        ),
    )
    op.create_index(
        "uq_saved_views_owner_name",
        "saved_views",
        [
            "tenant_id",
            sa.text(
                "coalesce(created_by, '00000000-0000-0000-0000-000000000000'::uuid)"
            ),
            "kind",
            "name",
        ],
        unique=True,
    )
    op.execute(
        "CREATE TRIGGER touch_updated_at BEFORE UPDATE ON saved_views "
        "FOR EACH ROW EXECUTE FUNCTION touch_updated_at()"
    )
    protect("saved_views")


def index_words() -> str:
    """Index words where the server has the extension for it, and we may use it.

    Without it words are found by reading all rows, which is slower and otherwise same.
    """
    made = " ".join(
        f"CREATE INDEX ix_{table}_words ON {table} USING gin "
        f"({', '.join(f'{column} gin_trgm_ops' for column in columns)});"
        for table, columns in WORDS.items()
    )
    return f"""
        DO $$
        BEGIN
          IF EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pg_trgm') THEN
            CREATE EXTENSION IF NOT EXISTS pg_trgm;
            {made}
          END IF;
        EXCEPTION WHEN insufficient_privilege OR undefined_object THEN
          RAISE NOTICE 'pg_trgm cannot be used here; searching words reads all rows.';
        END $$
    """


def downgrade() -> None:
    for table in WORDS:
        op.execute(f"DROP INDEX IF EXISTS ix_{table}_words")
    op.execute(FORGET_EXTENSION)
    open_again("saved_views")
    op.drop_table("saved_views")
    op.drop_index("ix_audit_log_record_id", "audit_log")
    op.drop_column("audit_log", "record_id")
    op.drop_column("place_search_hits", "facts_hash")
    for name, (table, _) in SORTS.items():
        op.drop_index(name, table)
    for table, status in STATUSES.items():
        op.drop_index(f"ix_{table}_by_status", table)
        op.create_index(f"ix_{table}_tenant_id_{status}", table, ["tenant_id", status])
    for table in TIMES:
        op.drop_index(f"ix_{table}_by_time", table)
