"""The verdict on a contact's address as a column, to show, filter and count by."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from scrapersky.db.migrations.steps import derive, underive

revision = "0031_deliverability"
down_revision = "0030_alerts"

VERDICTS = ("deliverable", "risky", "undeliverable")
DELIVERABILITY = postgresql.ENUM(*VERDICTS, name="deliverability", create_type=False)
# A text, which becomes the enum by itself: its name is not found on every search path.
VERDICT = (
    "CASE WHEN NEW.validation ->> 'verdict' IN "
    f"({', '.join(map(repr, VERDICTS))}) THEN NEW.validation ->> 'verdict' END"
)


def upgrade() -> None:
    DELIVERABILITY.create(op.get_bind())
    op.add_column("contacts", sa.Column("deliverability", DELIVERABILITY))
    # Rows that are there already are filled by revision 47, all columns at a time.
    derive("contacts", "deliverability", VERDICT, source="validation")


def downgrade() -> None:
    underive("contacts", "deliverability")
    op.drop_column("contacts", "deliverability")
    DELIVERABILITY.drop(op.get_bind())
