"""A claim says whether its worker has nothing else in hand."""

import sqlalchemy as sa
from alembic import op

revision = "0010_alone"
down_revision = "0009_page_references"


def upgrade() -> None:
    op.add_column(
        "claim",
        sa.Column(
            "alone",
            sa.Boolean,
            nullable=False,
            server_default=sa.false(),
            comment="Its worker has nothing else in hand.",
        ),
        schema="curation",
    )


def downgrade() -> None:
    op.drop_column("claim", "alone", schema="curation")
