"""Remember what the pages of a kind held, by the program that sites are built with."""

import sqlalchemy as sa
from alembic import op

from scrapersky.db.migrations.row_security import open_again, protect

revision = "0040_page_gains"
down_revision = "0039_word_indexes"


def upgrade() -> None:
    nothing = sa.text("0")
    op.create_table(
        "page_gains",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("generator", sa.Text(), nullable=False),
        sa.Column("page_type", sa.Text(), nullable=False),
        sa.Column("pages", sa.BigInteger(), server_default=nothing, nullable=False),
        sa.Column("promised", sa.Double(), server_default=nothing, nullable=False),
        sa.Column("paid", sa.BigInteger(), server_default=nothing, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id"],
            ["tenants.id"],
            name="fk_page_gains_tenant_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "tenant_id", "generator", "page_type", name="pk_page_gains"
        ),
    )
    protect("page_gains")


def downgrade() -> None:
    open_again("page_gains")
    op.drop_table("page_gains")
