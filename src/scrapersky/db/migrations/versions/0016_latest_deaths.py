"""The latest deaths of workers, without reading every attempt since."""

import sqlalchemy as sa
from alembic import op

revision = "0016_latest_deaths"
down_revision = "0015_latest_dead_letters"


def upgrade() -> None:
    op.create_index(
        "attempt_rescued",
        "attempt",
        ["settled_at", "worker"],
        schema="curation",
        postgresql_where=sa.text("outcome = 'rescued'"),
    )


def downgrade() -> None:
    op.drop_index("attempt_rescued", "attempt", schema="curation")
