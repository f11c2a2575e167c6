"""Words of every list are found by an index, and old attempts with less reading."""

from alembic import op

from curation_sdk import migrations

revision = "0039_word_indexes"
down_revision = "0038_uploads"

WORDS = {
    "companies": ("name", "street", "city", "website", "phone", "notes"),
    "people": ("name", "role", "email", "phone"),
    "sitemap_files": ("url",),
    "pages": ("url", "title"),
}


def upgrade() -> None:
    migrations.upgrade(op.get_bind(), to=4)
    op.execute(index_words())


def index_words() -> str:
    """Index words where an earlier revision could make the extension for it."""
    made = " ".join(
        f"CREATE INDEX ix_{table}_words ON {table} USING gin "
        f"({', '.join(f'{column} gin_trgm_ops' for column in columns)});"
        for table, columns in WORDS.items()
    )
    return f"""
        DO $$
        BEGIN
          IF EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_trgm') THEN {made}
          END IF;
        EXCEPTION WHEN undefined_object THEN
          RAISE NOTICE 'pg_trgm cannot be used here; searching words reads all rows.';
        END $$
    """


def downgrade() -> None:
    for table in WORDS:
        op.execute(f"DROP INDEX IF EXISTS ix_{table}_words")
    migrations.downgrade(op.get_bind(), to=3)
