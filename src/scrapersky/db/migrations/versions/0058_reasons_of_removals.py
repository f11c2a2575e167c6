"""The change log says why rows go; a search says when all it found was followed."""

import sqlalchemy as sa
from alembic import op

from scrapersky.db.migrations.change_log import log_changes
from scrapersky.db.migrations.steps import add_column, commit

revision = "0058_reasons_of_removals"
down_revision = "0057_webhooks"

LOGGED = {
    "place_searches": "searches",
    "places_staging": "places",
    "local_businesses": "businesses",
    "domains": "domains",
    "sitemap_files": "sitemap_files",
    "pages": "pages",
    "contacts": "contacts",
    "people": "people",
    "companies": "companies",
    "curation_actions": "actions",
    "batch_jobs": "batches",
}


def upgrade() -> None:
    add_column("place_searches", sa.Column("followed_at", sa.DateTime(timezone=True)))
    for table, kind in LOGGED.items():
        log_changes(table, kind)
        commit()


def downgrade() -> None:
    op.drop_column("place_searches", "followed_at")
    log_changes("place_searches", "searches")
