"""The verdict on a contact's address as a column, to show, filter and count by."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0031_deliverability"
down_revision = "0030_alerts"

DELIVERABILITY = postgresql.ENUM(
    "deliverable", "risky", "undeliverable", name="deliverability", create_type=False
)
VERDICT = (
    "CASE (validation ->> 'verdict'::text)"
    " WHEN 'deliverable'::text THEN 'deliverable'::deliverability"
    " WHEN 'risky'::text THEN 'risky'::deliverability"
    " WHEN 'undeliverable'::text THEN 'undeliverable'::deliverability"
    " ELSE NULL::deliverability END"
)


def upgrade() -> None:
    DELIVERABILITY.create(op.get_bind())
    op.add_column(
        "contacts",
        sa.Column(
            "deliverability", DELIVERABILITY, sa.Computed(VERDICT, persisted=True)
        ),
    )


def downgrade() -> None:
    op.drop_column("contacts", "deliverability")
    DELIVERABILITY.drop(op.get_bind())
