"""Indexes of what is in work, of the pages most likely to have contacts, and of gone ones."""

import sqlalchemy as sa
from alembic import op

from scrapersky.db.migrations.steps import add_index

revision = "0037_growth"
down_revision = "0036_traceparent"

IN_WORK = {
    ("place_searches", "status"): "InProgress",
    ("places_staging", "deep_scan_status"): "Processing",
    ("local_businesses", "domain_extraction_status"): "Processing",
    ("domains", "status"): "processing",
    ("domains", "sitemap_analysis_status"): "processing",
    ("sitemap_files", "sitemap_import_status"): "Processing",
    ("pages", "page_processing_status"): "Processing",
    ("contacts", "validation_processing_status"): "Processing",
}


def upgrade() -> None:
    for (table, column), status in IN_WORK.items():
        add_index(
            f"{table}_{column}_in_work",
            table,
            ["id"],
            postgresql_where=sa.text(f"{column} = '{status}'"),
        )
    add_index(
        "ix_pages_likely",
        "pages",
        ["tenant_id", "contact_likelihood", "id"],
        postgresql_where=sa.text("contact_likelihood >= 0.5"),
    )
    add_index(
        "ix_pages_gone",
        "pages",
        ["gone_at"],
        postgresql_where=sa.text("gone_at IS NOT NULL"),
    )


def downgrade() -> None:
    op.drop_index("ix_pages_gone", "pages")
    op.drop_index("ix_pages_likely", "pages")
    for table, column in IN_WORK:
        op.drop_index(f"{table}_{column}_in_work", table)
