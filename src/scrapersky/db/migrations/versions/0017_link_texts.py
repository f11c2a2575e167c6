"""What a home page calls the pages of its site, for those whose address says little."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0017_link_texts"
down_revision = "0016_latest_deaths"


def upgrade() -> None:
    op.add_column(
        "domains",
        sa.Column(
            "link_texts",
            postgresql.JSONB(),
            server_default=sa.text("'{}'"),
            nullable=False,
        ),
    )


def downgrade() -> None:
    op.drop_column("domains", "link_texts")
