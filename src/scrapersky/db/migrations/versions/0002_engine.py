"""The engine's own tables: stages, claims, attempts, dead letters."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0002_engine"
down_revision = "0001_records"

SCHEMA = "curation"
KEY = sa.Text(collation="C")
MOMENT = sa.DateTime(timezone=True)
NOW = sa.func.clock_timestamp()


def upgrade() -> None:
    op.execute("CREATE SCHEMA IF NOT EXISTS curation")
    op.execute("CREATE SEQUENCE curation.fence")
    op.create_table(
        "stage",
        sa.Column("name", KEY, primary_key=True),
        sa.Column("queue", postgresql.JSONB, nullable=False),
        sa.Column("paused_at", MOMENT),
        sa.Column("paused_until", MOMENT),
        sa.Column("paused_why", sa.Text),
        sa.Column("seen_at", MOMENT, nullable=False, server_default=NOW),
        schema=SCHEMA,
        comment="Which column each stage owns, and whether the stage is paused.",
    )
    op.create_table(
        "claim",
        sa.Column("stage", KEY, nullable=False),
        sa.Column("item", KEY, nullable=False),
        sa.Column(
            "fence",
            sa.BigInteger,
            comment="Null while the item waits for its next try.",
        ),
        sa.Column("lease_until", MOMENT),
        sa.Column("due_at", MOMENT),
        sa.Column("claimed_at", MOMENT),
        sa.Column("tries", sa.SmallInteger, nullable=False),
        sa.Column("deaths", sa.SmallInteger, nullable=False, server_default="0"),
        sa.Column("worker", sa.Text),
        sa.PrimaryKeyConstraint("item", "stage"),
        schema=SCHEMA,
        comment="Items in hand (with a fence) or waiting for another try (without).",
        postgresql_with={
            "fillfactor": 70,
            "autovacuum_vacuum_scale_factor": 0.05,
            "autovacuum_analyze_scale_factor": 0.5,
        },
    )
    for name, which in (("claim_due", "= 0"), ("claim_suspect", "> 0")):
        op.create_index(
            name,
            "claim",
            ["stage", "due_at"],
            schema=SCHEMA,
            postgresql_where=sa.text(f"fence IS NULL AND deaths {which}"),
        )
    op.create_table(
        "attempt",
        sa.Column("stage", KEY, nullable=False),
        sa.Column("item", KEY, nullable=False),
        sa.Column("fence", sa.BigInteger, nullable=False),
        sa.Column("tries", sa.SmallInteger, nullable=False),
        sa.Column("outcome", sa.Text, nullable=False),
        sa.Column("why", sa.Text),
        sa.Column("worker", sa.Text),
        sa.Column("claimed_at", MOMENT),
        sa.Column("settled_at", MOMENT, nullable=False, server_default=NOW),
        sa.Column("due_at", MOMENT),
        schema=SCHEMA,
        comment="What became of every claim; purged by age.",
    )
    op.create_index("attempt_item", "attempt", ["item", "stage"], schema=SCHEMA)
    op.create_index(
        "attempt_age", "attempt", ["settled_at"], schema=SCHEMA, postgresql_using="brin"
    )
    op.create_table(
        "dead_letter",
        sa.Column("stage", KEY, nullable=False),
        sa.Column("item", KEY, nullable=False),
        sa.Column("fence", sa.BigInteger, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("why", sa.Text),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.Column("deaths", sa.Integer, nullable=False),
        sa.Column("died_at", MOMENT, nullable=False, server_default=NOW),
        sa.PrimaryKeyConstraint("stage", "item"),
        schema=SCHEMA,
        comment="Items that need a human: replay or discard them.",
    )


def downgrade() -> None:
    op.execute("DROP SCHEMA curation CASCADE")
