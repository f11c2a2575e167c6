"""Where each session was opened, and a name for it that is no secret."""

import sqlalchemy as sa
from alembic import op

from scrapersky.db.migrations.steps import (
    add_column,
    add_unique,
    commit,
    fill,
    set_not_null,
)

revision = "0034_sessions"
down_revision = "0033_name_order"


def upgrade() -> None:
    # With the default from the start, the table would be rewritten.
    add_column("login_sessions", sa.Column("id", sa.Uuid()))
    made = "gen_random_uuid()"
    op.alter_column("login_sessions", "id", server_default=sa.text(made))
    commit()
    fill("login_sessions", f"id = {made}", "id IS NULL", key="token_hash")
    set_not_null("login_sessions", "id")
    add_unique("uq_login_sessions_id", "login_sessions", ["id"])
    add_column("login_sessions", sa.Column("device", sa.Text()))
    add_column("login_sessions", sa.Column("address", sa.Text()))


def downgrade() -> None:
    op.drop_column("login_sessions", "address")
    op.drop_column("login_sessions", "device")
    op.drop_column("login_sessions", "id")
