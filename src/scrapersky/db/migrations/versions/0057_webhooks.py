"""Webhooks: the endpoints of tenants, and what each was sent."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ARRAY, BYTEA, JSONB

from scrapersky.db.migrations.record_table import moment, reference
from scrapersky.db.migrations.row_security import protect

revision = "0057_webhooks"
down_revision = "0056_follow_ups"

TIME = sa.DateTime(timezone=True)
NOW = sa.text("clock_timestamp()")


def upgrade() -> None:
    add_table(
        "webhook_endpoints",
        sa.Column("cursor", sa.Text, nullable=False),
        sa.Column(
            "is_active", sa.Boolean, server_default=sa.text("true"), nullable=False
        ),
        sa.Column("next_at", TIME, server_default=NOW, nullable=False),
        sa.Column("lease", sa.Uuid),
        sa.Column("leased_until", TIME),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("events", ARRAY(sa.Text), nullable=False),
        sa.Column("format", sa.Text, nullable=False),
        sa.Column("ignored_actors", ARRAY(sa.Text), nullable=False),
        sa.Column("schemes", ARRAY(sa.Text), nullable=False),
        sa.Column("secrets", BYTEA, nullable=False),
        sa.Column("public_key", sa.Text),
        sa.Column("failing_since", TIME),
        sa.Column("problem", sa.Text),
        sa.Column("disabled_at", TIME),
    )
    op.create_index(
        "ix_webhook_endpoints_tenant_id", "webhook_endpoints", ["tenant_id"]
    )
    op.create_index(
        "ix_webhook_endpoints_due",
        "webhook_endpoints",
        ["next_at"],
        postgresql_where=sa.text("is_active"),
    )
    add_table(
        "webhook_deliveries",
        reference(
            "endpoint_id", "webhook_endpoints", on_delete="CASCADE", nullable=False
        ),
        sa.Column("position", sa.BigInteger, sa.Identity(always=True), nullable=False),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("event_count", sa.BigInteger, nullable=False),
        sa.Column("cursor", sa.Text, nullable=False),
        sa.Column("body", BYTEA),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("attempts", JSONB, server_default=sa.text("'[]'"), nullable=False),
        sa.Column(
            "attempt_count", sa.BigInteger, server_default=sa.text("0"), nullable=False
        ),
        sa.Column("next_at", TIME),
        sa.Column("delivered_at", TIME),
    )
    of_endpoint = ["endpoint_id", "position"]
    op.create_index(
        "ix_webhook_deliveries_endpoint_id", "webhook_deliveries", of_endpoint
    )
    op.create_index(
        "ix_webhook_deliveries_pending",
        "webhook_deliveries",
        of_endpoint,
        postgresql_where=sa.text("state = 'pending'"),
    )
    op.create_index(
        "ix_webhook_deliveries_created_at", "webhook_deliveries", ["created_at"]
    )
    protect("webhook_endpoints", "webhook_deliveries")


def add_table(name: str, *columns: sa.Column[object]) -> None:
    """Create a table whose rows belong to tenants."""
    every = (
        sa.Column("id", sa.Uuid, server_default=sa.func.time_ordered_uuid()),
        reference("tenant_id", "tenants", on_delete="CASCADE", nullable=False),
        *columns,
        reference("created_by", "users", on_delete="SET NULL"),
        moment("created_at"),
        moment("updated_at"),
    )
    for column in every:
        for key in column.foreign_keys:
            target = key.target_fullname.split(".")[0]
            key.name = f"fk_{name}_{column.name}_{target}"
    op.create_table(name, *every, sa.PrimaryKeyConstraint("id", name=f"pk_{name}"))
    op.execute(
        f"CREATE TRIGGER touch_updated_at BEFORE UPDATE ON {name} "
        "FOR EACH ROW EXECUTE FUNCTION touch_updated_at()"
    )


def downgrade() -> None:
    op.drop_table("webhook_deliveries")
    op.drop_table("webhook_endpoints")
