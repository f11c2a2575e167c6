"""Searches that are repeated, visits to websites that are known, and what differs."""

import sqlalchemy as sa
from alembic import op

from scrapersky.db.migrations.change_log import log_changes
from scrapersky.db.migrations.record_table import moment, reference
from scrapersky.db.migrations.row_security import protect
from scrapersky.db.migrations.steps import add_column, add_index, drop_index

revision = "0061_search_schedules"
down_revision = "0060_crm_connections"

TIME = sa.DateTime(timezone=True)
LOGGED = {
    "place_searches": "searches",
    "contacts": "contacts",
    "people": "people",
}
MARKED = ("contacts", "people", "contact_evidence")
PARTIAL = ("run_id", "contact_id", "old_contact_id", "person_id", "expires_at")


def upgrade() -> None:
    for table in MARKED:
        add_column(table, sa.Column("gone_at", TIME))
    add_index(
        "ix_contact_evidence_gone",
        "contact_evidence",
        ["tenant_id", sa.text("md5(value)")],
        postgresql_where=sa.text("gone_at IS NOT NULL"),
    )
    repeats = sa.Column("repeats_id", sa.Uuid)
    add_column("place_searches", repeats)
    add_index(
        "ix_place_searches_repeats_id",
        "place_searches",
        ["repeats_id"],
        postgresql_where=sa.text("repeats_id IS NOT NULL"),
    )
    for table, kind in LOGGED.items():
        log_changes(table, kind)
    add_schedules()
    add_visits()
    add_differences()
    protect("search_schedules", "site_visits", "differences", "last_looks")


def add_schedules() -> None:
    add_table(
        "search_schedules",
        reference("search_id", "place_searches", on_delete="CASCADE", nullable=False),
        sa.Column("every", sa.Text, nullable=False),
        sa.Column("budget", sa.Numeric(12, 4)),
        sa.Column(
            "is_paused", sa.Boolean, server_default=sa.text("false"), nullable=False
        ),
        sa.Column("next_run_at", TIME, nullable=False),
        sa.Column("last_run_at", TIME),
        reference("last_run_id", "place_searches", on_delete="SET NULL"),
        sa.Column("problem", sa.Text),
        sa.Column(
            "has_digest", sa.Boolean, server_default=sa.text("false"), nullable=False
        ),
        sa.Column("digest_at", TIME),
    )
    op.create_unique_constraint(
        "uq_search_schedules_search_id", "search_schedules", ["search_id"]
    )
    op.create_index(
        "ix_search_schedules_due",
        "search_schedules",
        ["next_run_at"],
        postgresql_where=sa.text("NOT is_paused"),
    )
    op.create_index("ix_search_schedules_tenant_id", "search_schedules", ["tenant_id"])


def add_visits() -> None:
    op.create_table(
        "site_visits",
        named(
            "site_visits",
            reference("domain_id", "domains", on_delete="CASCADE", nullable=False),
        ),
        named(
            "site_visits",
            reference("tenant_id", "tenants", on_delete="CASCADE", nullable=False),
        ),
        sa.Column("visits", sa.BigInteger, server_default=sa.text("0"), nullable=False),
        sa.Column("visited_at", TIME),
        sa.Column("next_at", TIME, nullable=False),
        sa.Column("pause", sa.Interval, nullable=False),
        sa.Column("changed_at", TIME),
        sa.Column("unreachable_since", TIME),
        sa.PrimaryKeyConstraint("domain_id", name="pk_site_visits"),
    )
    op.create_index("ix_site_visits_next_at", "site_visits", ["next_at"])
    op.create_index("ix_site_visits_tenant_id", "site_visits", ["tenant_id"])


def add_differences() -> None:
    add_table(
        "differences",
        reference("run_id", "place_searches", on_delete="SET NULL"),
        reference("place_id", "places_staging", on_delete="CASCADE"),
        reference("domain_id", "domains", on_delete="CASCADE"),
        reference("contact_id", "contacts", on_delete="CASCADE"),
        reference("old_contact_id", "contacts", on_delete="CASCADE"),
        reference("person_id", "people", on_delete="CASCADE"),
        sa.Column("what", sa.Text, nullable=False),
        sa.Column("field", sa.Text),
        sa.Column("old_value", sa.Text),
        sa.Column("new_value", sa.Text),
        sa.Column("old_source", sa.Text),
        sa.Column("new_source", sa.Text),
        sa.Column("old_seen_at", TIME),
        sa.Column("expires_at", TIME),
    )
    op.create_index("ix_differences_created_at", "differences", ["created_at"])
    for name in ("old", "new"):
        value = sa.text(f"md5({name}_value)")
        op.create_index(
            f"ix_differences_by_{name}_value", "differences", ["tenant_id", value]
        )
    op.create_index(
        "ix_differences_by_time", "differences", ["tenant_id", "created_at", "id"]
    )
    for column in ("domain_id", "place_id"):
        op.create_index(f"ix_differences_{column}", "differences", [column, "field"])
    for column in PARTIAL:
        op.create_index(
            f"ix_differences_{column}",
            "differences",
            [column],
            postgresql_where=sa.text(f"{column} IS NOT NULL"),
        )
    op.create_table(
        "last_looks",
        named(
            "last_looks",
            reference("tenant_id", "tenants", on_delete="CASCADE", nullable=False),
        ),
        named(
            "last_looks",
            reference("user_id", "users", on_delete="CASCADE", nullable=False),
        ),
        sa.Column("looked_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "user_id", name="pk_last_looks"),
    )


def add_table(name: str, *columns: sa.Column[object]) -> None:
    """Create a table whose rows belong to tenants."""
    every = (
        sa.Column("id", sa.Uuid, server_default=sa.func.time_ordered_uuid()),
        reference("tenant_id", "tenants", on_delete="CASCADE", nullable=False),
        *columns,
        reference("created_by", "users", on_delete="SET NULL"),
        moment("created_at"),
        moment("updated_at"),
    )
    for column in every:
        named(name, column)
    op.create_table(name, *every, sa.PrimaryKeyConstraint("id", name=f"pk_{name}"))
    op.execute(
        f"CREATE TRIGGER touch_updated_at BEFORE UPDATE ON {name} "
        "FOR EACH ROW EXECUTE FUNCTION touch_updated_at()"
    )


def named(table: str, column: sa.Column[object]) -> sa.Column[object]:
    """Name what a column refers to as the records do."""
    for key in column.foreign_keys:
        target = key.target_fullname.split(".")[0]
        key.name = f"fk_{table}_{column.name}_{target}"
    return column


def downgrade() -> None:
    for table in ("last_looks", "differences", "site_visits", "search_schedules"):
        op.drop_table(table)
    drop_index("ix_contact_evidence_gone", "contact_evidence")
    drop_index("ix_place_searches_repeats_id", "place_searches")
    op.drop_column("place_searches", "repeats_id")
    for table in MARKED:
        op.drop_column(table, "gone_at")
    for table, kind in LOGGED.items():
        log_changes(table, kind)
