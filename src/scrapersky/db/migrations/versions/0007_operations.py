"""How far a decision is, and what has changed lately, found by its time."""

import sqlalchemy as sa
from alembic import op

revision = "0007_operations"
down_revision = "0006_gateway"

LIVE = (
    "place_searches",
    "places_staging",
    "local_businesses",
    "domains",
    "sitemap_files",
    "pages",
    "contacts",
)


def upgrade() -> None:
    op.add_column("curation_actions", sa.Column("matched_count", sa.BigInteger()))
    op.add_column(
        "curation_actions", sa.Column("finished_at", sa.DateTime(timezone=True))
    )
    op.execute("UPDATE curation_actions SET finished_at = updated_at")
    for table in LIVE:
        op.create_index(
            f"ix_{table}_tenant_id_updated_at", table, ["tenant_id", "updated_at", "id"]
        )


def downgrade() -> None:
    for table in LIVE:
        op.drop_index(f"ix_{table}_tenant_id_updated_at", table)
    op.drop_column("curation_actions", "finished_at")
    op.drop_column("curation_actions", "matched_count")
