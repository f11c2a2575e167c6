"""Keep the span of a request with what it did, for the trace of whoever works on it."""

import sqlalchemy as sa
from alembic import op

revision = "0036_traceparent"
down_revision = "0035_person_and_city_order"


def upgrade() -> None:
    op.add_column("audit_log", sa.Column("traceparent", sa.Text()))


def downgrade() -> None:
    op.drop_column("audit_log", "traceparent")
