"""Keep pages as they were read, and say of every value from which it follows."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import BYTEA

from scrapersky.db.migrations.record_table import reference
from scrapersky.db.migrations.row_security import protect
from scrapersky.db.migrations.steps import add_column

revision = "0062_page_snapshots"
down_revision = "0061_search_schedules"

TIME = sa.DateTime(timezone=True)
NOW = sa.text("clock_timestamp()")


def upgrade() -> None:
    add_column("contact_evidence", sa.Column("snapshot_id", sa.Uuid))
    add_column("contact_evidence", sa.Column("span_start", sa.Integer))
    add_column("contact_evidence", sa.Column("span_end", sa.Integer))
    add_contents()
    add_snapshots()
    op.create_table(
        "snapshot_usage",
        tenant("snapshot_usage"),
        sa.Column("bytes", sa.BigInteger, server_default=sa.text("0"), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", name="pk_snapshot_usage"),
    )
    protect("page_contents", "page_snapshots", "snapshot_usage")


def add_contents() -> None:
    """Create the table of bytes; they are packed already, and PostgreSQL need not try."""
    op.create_table(
        "page_contents",
        tenant("page_contents"),
        sa.Column("hash", BYTEA, nullable=False),
        sa.Column("base", BYTEA),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("content", BYTEA, nullable=False),
        sa.Column("created_at", TIME, server_default=NOW, nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "hash", name="pk_page_contents"),
        sa.ForeignKeyConstraint(
            ["tenant_id", "base"],
            ["page_contents.tenant_id", "page_contents.hash"],
            name="fk_page_contents_base",
            ondelete="CASCADE",
        ),
    )
    op.execute("ALTER TABLE page_contents ALTER COLUMN content SET STORAGE EXTERNAL")
    op.create_index(
        "ix_page_contents_base",
        "page_contents",
        ["tenant_id", "base"],
        postgresql_where=sa.text("base IS NOT NULL"),
    )


def add_snapshots() -> None:
    """Create the table of what pages were when."""
    columns = (
        sa.Column("id", sa.Uuid, server_default=sa.func.time_ordered_uuid()),
        tenant("page_snapshots"),
        owner("domain_id", "domains"),
        owner("page_id", "pages"),
        sa.Column("hash", BYTEA, nullable=False),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("encoding", sa.Text, nullable=False),
        sa.Column("country", sa.Text),
        sa.Column(
            "is_rendered", sa.Boolean, server_default=sa.text("false"), nullable=False
        ),
        sa.Column("reader", sa.Text, nullable=False),
        sa.Column("seen_at", TIME, nullable=False),
        sa.Column("voided_at", TIME),
        sa.Column("void_reason", sa.Text),
    )
    op.create_table(
        "page_snapshots",
        *columns,
        sa.PrimaryKeyConstraint("id", name="pk_page_snapshots"),
    )
    op.create_index(
        "uq_page_snapshots_page_id_hash",
        "page_snapshots",
        ["page_id", "hash"],
        unique=True,
    )
    op.create_index("ix_page_snapshots_domain_id", "page_snapshots", ["domain_id"])
    op.create_index(
        "ix_page_snapshots_tenant_id_hash", "page_snapshots", ["tenant_id", "hash"]
    )
    op.create_index(
        "ix_page_snapshots_kept",
        "page_snapshots",
        ["tenant_id", "seen_at"],
        postgresql_where=sa.text("voided_at IS NULL"),
    )


def tenant(table: str) -> sa.Column[object]:
    """Make the column that says whose a row is."""
    column = reference("tenant_id", "tenants", on_delete="CASCADE", nullable=False)
    return named(column, f"fk_{table}_tenant_id")


def owner(column: str, target: str) -> sa.Column[object]:
    """Make a column that names what a snapshot is of."""
    made = reference(column, target, on_delete="CASCADE", nullable=False)
    return named(made, f"fk_page_snapshots_{column}")


def named(column: sa.Column[object], name: str) -> sa.Column[object]:
    """Give the key of a column its name."""
    for key in column.foreign_keys:
        key.name = name
    return column


def downgrade() -> None:
    op.drop_table("snapshot_usage")
    op.drop_table("page_snapshots")
    op.drop_table("page_contents")
    for column in ("span_end", "span_start", "snapshot_id"):
        op.drop_column("contact_evidence", column)
