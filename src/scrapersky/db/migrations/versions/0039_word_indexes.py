"""Words of every list are found by an index, and old attempts with less reading."""

from alembic import op

from curation_sdk import migrations
from scrapersky.db.migrations.steps import add_index, add_word_index

revision = "0039_word_indexes"
down_revision = "0038_uploads"

WORDS = {
    "companies": ("name", "street", "city", "website", "phone", "notes"),
    "people": ("name", "role", "email", "phone"),
    "sitemap_files": ("url",),
    "pages": ("url", "title"),
}
NEW_AGE = "attempt_age_of_version_4"


def upgrade() -> None:
    for table, columns in WORDS.items():
        add_word_index(table, columns)
    # The SDK would build it while everybody waits; it takes one that is there.
    add_index(
        NEW_AGE,
        "attempt",
        ["settled_at"],
        schema="curation",
        postgresql_using="brin",
        postgresql_with={"pages_per_range": 32, "autosummarize": "on"},
    )
    op.execute("DROP INDEX curation.attempt_age")
    op.execute(f"ALTER INDEX curation.{NEW_AGE} RENAME TO attempt_age")
    migrations.upgrade(op.get_bind(), to=4)


def downgrade() -> None:
    for table in WORDS:
        op.execute(f"DROP INDEX IF EXISTS ix_{table}_words")
    migrations.downgrade(op.get_bind(), to=3)
