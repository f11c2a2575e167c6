"""What the gate keeps: its secret, sessions, revoked tokens, answers already given."""

import secrets

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from scrapersky.db.migrations.row_security import ROLE, close, protect

revision = "0006_gateway"
down_revision = "0005_privacy"

MOMENT = sa.DateTime(timezone=True)
NOW = sa.func.clock_timestamp()


def upgrade() -> None:
    op.add_column("users", sa.Column("subject", sa.Text))
    op.create_unique_constraint("uq_users_subject", "users", ["subject"])
    op.execute(f"GRANT SELECT (subject) ON users TO {ROLE}")
    installation = op.create_table(
        "installation",
        sa.Column("id", sa.SmallInteger, nullable=False, server_default=sa.text("1")),
        sa.Column("secret", postgresql.BYTEA, nullable=False),
        sa.Column("created_at", MOMENT, nullable=False, server_default=NOW),
        sa.PrimaryKeyConstraint("id", name="pk_installation"),
        sa.CheckConstraint("id = 1", name="ck_installation_one"),
    )
    op.bulk_insert(installation, [{"id": 1, "secret": secrets.token_bytes(32)}])
    op.create_table(
        "login_sessions",
        sa.Column("token_hash", postgresql.BYTEA, nullable=False),
        sa.Column("tenant_id", sa.Uuid, nullable=False),
        sa.Column("user_id", sa.Uuid, nullable=False),
        sa.Column("created_at", MOMENT, nullable=False, server_default=NOW),
        sa.Column("seen_at", MOMENT, nullable=False, server_default=NOW),
        sa.Column("expires_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("token_hash", name="pk_login_sessions"),
        sa.ForeignKeyConstraint(
            ["tenant_id"],
            ["tenants.id"],
            name="fk_login_sessions_tenant_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"],
            ["users.id"],
            name="fk_login_sessions_user_id",
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_login_sessions_user_id", "login_sessions", ["user_id"])
    op.create_index("ix_login_sessions_expires_at", "login_sessions", ["expires_at"])
    op.create_table(
        "revoked_tokens",
        sa.Column("token_hash", postgresql.BYTEA, nullable=False),
        sa.Column("expires_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("token_hash", name="pk_revoked_tokens"),
    )
    op.create_index("ix_revoked_tokens_expires_at", "revoked_tokens", ["expires_at"])
    op.create_table(
        "idempotency_keys",
        sa.Column("tenant_id", sa.Uuid, nullable=False),
        sa.Column("route", sa.Text, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("holder", sa.Uuid, nullable=False),
        sa.Column("held_until", MOMENT, nullable=False),
        sa.Column("fingerprint", postgresql.BYTEA),
        sa.Column("status", sa.SmallInteger),
        sa.Column("media_type", sa.Text),
        sa.Column("body", postgresql.BYTEA),
        sa.Column("expires_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint(
            "tenant_id", "route", "key", name="pk_idempotency_keys"
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"],
            ["tenants.id"],
            name="fk_idempotency_keys_tenant_id",
            ondelete="CASCADE",
        ),
    )
    op.create_index(
        "ix_idempotency_keys_expires_at", "idempotency_keys", ["expires_at"]
    )
    protect("idempotency_keys")
    close("installation", "login_sessions", "revoked_tokens")


def downgrade() -> None:
    op.drop_table("idempotency_keys")
    op.drop_table("revoked_tokens")
    op.drop_table("login_sessions")
    op.drop_table("installation")
    op.drop_column("users", "subject")
