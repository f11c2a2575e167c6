"""Samples of a list's values, which people mark right or wrong."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ENUM, JSONB

from scrapersky.db.migrations.record_table import moment, reference
from scrapersky.db.migrations.row_security import protect

revision = "0064_value_samples"
down_revision = "0063_map_verdicts"

MARK = ENUM("right", "wrong", "unknown", name="value_mark", create_type=False)
SAMPLES, VALUES = "value_samples", "sampled_values"


def upgrade() -> None:
    MARK.create(op.get_bind(), checkfirst=True)
    make(
        SAMPLES,
        sa.Column("id", sa.Uuid, server_default=sa.func.time_ordered_uuid()),
        reference("tenant_id", "tenants", on_delete="CASCADE", nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("field", sa.Text, nullable=False),
        sa.Column("query", JSONB, nullable=False),
        sa.Column("population", sa.BigInteger, nullable=False),
        reference("created_by", "users", on_delete="SET NULL"),
        moment("created_at"),
        moment("updated_at"),
        key=["id"],
    )
    op.create_index(
        f"ix_{SAMPLES}_tenant_id_created_at", SAMPLES, ["tenant_id", "created_at"]
    )
    op.execute(
        f"CREATE TRIGGER touch_updated_at BEFORE UPDATE ON {SAMPLES} "
        "FOR EACH ROW EXECUTE FUNCTION touch_updated_at()"
    )
    make(
        VALUES,
        reference("sample_id", SAMPLES, on_delete="CASCADE", nullable=False),
        sa.Column("position", sa.BigInteger, nullable=False),
        reference("tenant_id", "tenants", on_delete="CASCADE", nullable=False),
        sa.Column("record_id", sa.Uuid, nullable=False),
        sa.Column("value", sa.Text),
        sa.Column("domain", sa.Text),
        sa.Column("url", sa.Text),
        sa.Column("snippet", sa.Text),
        sa.Column("method", sa.Text),
        sa.Column("confidence", sa.Float),
        sa.Column("mark", MARK),
        reference("marked_by", "users", on_delete="SET NULL"),
        sa.Column("marked_at", sa.DateTime(timezone=True)),
        key=["sample_id", "position"],
    )
    op.create_index(f"ix_{VALUES}_tenant_id_value", VALUES, ["tenant_id", "value"])
    protect(SAMPLES, VALUES)


def make(name: str, *columns: sa.Column[object], key: list[str]) -> None:
    for column in columns:
        for one in column.foreign_keys:
            one.name = f"fk_{name}_{column.name}"
    op.create_table(name, *columns, sa.PrimaryKeyConstraint(*key, name=f"pk_{name}"))


def downgrade() -> None:
    op.drop_table(VALUES)
    op.drop_table(SAMPLES)
    MARK.drop(op.get_bind(), checkfirst=True)
