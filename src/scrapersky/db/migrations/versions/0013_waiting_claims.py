"""One index of the claims that wait, where there were two."""

import sqlalchemy as sa
from alembic import op

revision = "0013_waiting_claims"
down_revision = "0012_scrape_errors"

SCHEMA = "curation"


def upgrade() -> None:
    op.create_index(
        "claim_waiting",
        "claim",
        ["stage", "deaths", "due_at"],
        schema=SCHEMA,
        postgresql_where=sa.text("fence IS NULL"),
    )
    for name in ("claim_due", "claim_suspect"):
        op.drop_index(name, "claim", schema=SCHEMA)


def downgrade() -> None:
    for name, which in (("claim_due", "= 0"), ("claim_suspect", "> 0")):
        op.create_index(
            name,
            "claim",
            ["stage", "due_at"],
            schema=SCHEMA,
            postgresql_where=sa.text(f"fence IS NULL AND deaths {which}"),
        )
    op.drop_index("claim_waiting", "claim", schema=SCHEMA)
