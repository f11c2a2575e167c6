"""What a page says that is not the business's own, with whose it is."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from scrapersky.db.migrations.steps import add_column, add_index

revision = "0025_other_values"
down_revision = "0024_people"


def upgrade() -> None:
    add_column(
        "pages",
        sa.Column(
            "other_values",
            postgresql.JSONB,
            server_default=sa.text("'[]'"),
            nullable=False,
        ),
    )
    # By this somebody is found who is to be forgotten; few pages have such values.
    add_index(
        "ix_pages_other_values",
        "pages",
        ["other_values"],
        postgresql_using="gin",
        postgresql_ops={"other_values": "jsonb_path_ops"},
        postgresql_where=sa.text("other_values <> '[]'"),
    )


def downgrade() -> None:
    op.drop_index("ix_pages_other_values", "pages")
    op.drop_column("pages", "other_values")
