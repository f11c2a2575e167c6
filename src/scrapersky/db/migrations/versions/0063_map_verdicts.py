"""What a company's own website says of each field that the map gives."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ENUM

from scrapersky.db.migrations.record_table import moment, reference
from scrapersky.db.migrations.row_security import protect

revision = "0063_map_verdicts"
down_revision = "0062_page_snapshots"

FIELD = ENUM(
    "name", "phone", "address", "hours", "website", "business_status",
    name="map_field", create_type=False,
)  # fmt: skip
VERDICT = ENUM(
    "confirmed", "contradicted", "silent", "unreachable",
    name="map_verdict", create_type=False,
)  # fmt: skip
TABLE = "company_verdicts"


def upgrade() -> None:
    for kind in (FIELD, VERDICT):
        kind.create(op.get_bind(), checkfirst=True)
    columns: tuple[sa.Column[Any], ...] = (
        reference("company_id", "companies", on_delete="CASCADE", nullable=False),
        sa.Column("field", FIELD, nullable=False),
        reference("tenant_id", "tenants", on_delete="CASCADE", nullable=False),
        sa.Column("verdict", VERDICT, nullable=False),
        sa.Column("confidence", sa.Float, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("claimed", sa.Text, nullable=False),
        sa.Column("said", sa.Text),
        sa.Column("why", sa.Text, nullable=False),
        sa.Column("url", sa.Text),
        sa.Column("snippet", sa.Text),
        sa.Column("seen_at", sa.DateTime(timezone=True)),
        moment("judged_at"),
    )
    for column in columns:
        for reference_key in column.foreign_keys:
            reference_key.name = f"fk_{TABLE}_{column.name}"
    key = sa.PrimaryKeyConstraint("company_id", "field", name=f"pk_{TABLE}")
    share = sa.CheckConstraint(
        "confidence BETWEEN 0 AND 1", name=f"ck_{TABLE}_confidence_is_a_share"
    )
    op.create_table(TABLE, *columns, key, share)
    op.create_index(
        f"ix_{TABLE}_by_verdict", TABLE, ["tenant_id", "field", "verdict", "company_id"]
    )
    protect(TABLE)


def downgrade() -> None:
    op.drop_table(TABLE)
    for kind in (VERDICT, FIELD):
        kind.drop(op.get_bind(), checkfirst=True)
