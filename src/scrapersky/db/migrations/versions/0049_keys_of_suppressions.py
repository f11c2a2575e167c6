"""Keep which key an entry of the suppression list is hashed with, so that keys can be changed."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import BYTEA

revision = "0049_keys_of_suppressions"
down_revision = "0048_process_back"


def upgrade() -> None:
    op.add_column("suppressions", sa.Column("key_fingerprint", BYTEA()))


def downgrade() -> None:
    op.drop_column("suppressions", "key_fingerprint")
