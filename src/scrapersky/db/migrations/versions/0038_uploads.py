"""Keep uploaded files where every host reaches them."""

import sqlalchemy as sa
from alembic import op

from scrapersky.db.migrations.row_security import protect

revision = "0038_uploads"
down_revision = "0037_growth"


def upgrade() -> None:
    op.create_table(
        "uploaded_parts",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"],
            ["tenants.id"],
            name="fk_uploaded_parts_tenant_id_tenants",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("name", "position", name="pk_uploaded_parts"),
    )
    op.create_index("ix_uploaded_parts_tenant_id", "uploaded_parts", ["tenant_id"])
    protect("uploaded_parts")


def downgrade() -> None:
    op.drop_table("uploaded_parts")
