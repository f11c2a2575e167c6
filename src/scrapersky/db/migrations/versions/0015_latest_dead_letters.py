"""The latest dead letters of a stage, without sorting all of them."""

from alembic import op

revision = "0015_latest_dead_letters"
down_revision = "0014_notices"


def upgrade() -> None:
    op.create_index(
        "dead_letter_latest",
        "dead_letter",
        ["stage", "died_at", "item"],
        schema="curation",
    )


def downgrade() -> None:
    op.drop_index("dead_letter_latest", "dead_letter", schema="curation")
