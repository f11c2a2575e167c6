"""Where each session was opened, and a name for it that is no secret."""

import sqlalchemy as sa
from alembic import op

revision = "0034_sessions"
down_revision = "0033_name_order"


def upgrade() -> None:
    op.add_column(
        "login_sessions",
        sa.Column(
            "id",
            sa.Uuid(),
            server_default=sa.text("gen_random_uuid()"),
            nullable=False,
        ),
    )
    op.add_column("login_sessions", sa.Column("device", sa.Text()))
    op.add_column("login_sessions", sa.Column("address", sa.Text()))
    op.create_unique_constraint("uq_login_sessions_id", "login_sessions", ["id"])


def downgrade() -> None:
    op.drop_column("login_sessions", "address")
    op.drop_column("login_sessions", "device")
    op.drop_column("login_sessions", "id")
