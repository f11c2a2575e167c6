"""People's data: keys of the suppression list, numbers in texts, lent facts expire."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import BYTEA

from scrapersky.db.migrations.row_security import close

revision = "0005_privacy"
down_revision = "0004_row_security"

MOMENT = sa.DateTime(timezone=True)

# Two random ids of the server's strong source: 244 bits nobody else has.
MAKE_KEY = """
INSERT INTO suppression_keys (fingerprint, secret)
SELECT sha256('fingerprint of a key made here'::bytea || secret), secret
FROM (SELECT decode(replace(gen_random_uuid()::text || gen_random_uuid()::text,
  '-', ''), 'hex') AS secret) AS made
"""

LEND_ON = """
UPDATE local_businesses b SET expires_at = p.expires_at
FROM places_staging p WHERE p.id = b.place_id AND p.expires_at IS NOT NULL
"""


def upgrade() -> None:
    op.create_table(
        "suppression_keys",
        sa.Column("fingerprint", BYTEA, nullable=False),
        sa.Column("secret", BYTEA),
        sa.Column(
            "created_at",
            MOMENT,
            nullable=False,
            server_default=sa.func.clock_timestamp(),
        ),
        sa.PrimaryKeyConstraint("fingerprint", name="pk_suppression_keys"),
    )
    close("suppression_keys")
    op.execute(MAKE_KEY)
    op.add_column("suppressions", sa.Column("tail_hash", BYTEA))
    for column in ("value_hash", "tail_hash"):
        op.create_index(
            f"ix_suppressions_tenant_id_{column}", "suppressions", ["tenant_id", column]
        )
    for column in ("email", "phone"):
        op.create_index(
            f"ix_contacts_tenant_id_{column}", "contacts", ["tenant_id", column]
        )
    op.add_column("local_businesses", sa.Column("expires_at", MOMENT))
    op.create_index(
        "ix_local_businesses_expires_at",
        "local_businesses",
        ["expires_at"],
        postgresql_where=sa.text("expires_at IS NOT NULL"),
    )
    op.execute(LEND_ON)


def downgrade() -> None:
    op.drop_index("ix_local_businesses_expires_at", "local_businesses")
    op.drop_column("local_businesses", "expires_at")
    for column in ("email", "phone"):
        op.drop_index(f"ix_contacts_tenant_id_{column}", "contacts")
    for column in ("value_hash", "tail_hash"):
        op.drop_index(f"ix_suppressions_tenant_id_{column}", "suppressions")
    op.drop_column("suppressions", "tail_hash")
    op.drop_table("suppression_keys")
