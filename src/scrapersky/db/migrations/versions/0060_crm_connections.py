"""Connections to CRMs, the map of ids and outbox of each, and what was written."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import BYTEA, ENUM, JSONB

from scrapersky.db.migrations.change_log import log_changes
from scrapersky.db.migrations.record_table import moment, reference
from scrapersky.db.migrations.row_security import protect
from scrapersky.db.migrations.steps import add_column, add_index

revision = "0060_crm_connections"
down_revision = "0058_reasons_of_removals"

TIME = sa.DateTime(timezone=True)
NOW = sa.text("clock_timestamp()")
OBJECT: dict[str, Any] = {"server_default": sa.text("'{}'"), "nullable": False}
STATUS = ENUM(name="contact_processing_status", create_type=False)
CONNECTORS = ("hubspot", "pipedrive", "brevo", "mautic")
KINDS = {"contacts": "person", "companies": "company"}
# Whoever is erased is to go there too; whoever is suppressed stays there as they are, and what
# their program knows of consent with them. Nothing of either stays here, from this moment on.
FORGET = """CREATE FUNCTION forget_synced_{table}() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  removal text := current_setting('scrapersky.removal', true);
BEGIN
  IF removal IN ('erased', 'suppressed') THEN
    DELETE FROM sync_writes w USING old_rows o WHERE w.record_id = o.id;
  END IF;
  UPDATE sync_records r SET snapshot = '{{}}', sending = '{{}}', differs = '{{}}',
      problem = '{{}}', attempts = 0, next_at = clock_timestamp(),
      state = CASE WHEN removal = 'erased' AND NOT r.is_shared
        AND (r.their_id IS NOT NULL OR r.sent_at IS NOT NULL)
        THEN 'erasing' ELSE 'unlinked' END
    FROM old_rows o WHERE r.record_id = o.id AND r.kind = '{kind}';
  IF FOUND AND removal = 'erased' THEN
    UPDATE sync_connections c SET next_at = clock_timestamp() WHERE EXISTS (
      SELECT FROM sync_records r JOIN old_rows o ON o.id = r.record_id
      WHERE r.connection_id = c.id);
  END IF;
  RETURN NULL;
END $$"""
TRIGGER = """CREATE TRIGGER forget_synced AFTER DELETE ON {table}
  REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT
  EXECUTE FUNCTION forget_synced_{table}()"""


def upgrade() -> None:
    for connector in CONNECTORS:
        add_column("contacts", sa.Column(f"{connector}_sync_status", STATUS))
        add_index(
            f"ix_contacts_{connector}_sync_queued",
            "contacts",
            ["tenant_id", "id"],
            postgresql_where=sa.text(f"{connector}_sync_status = 'Queued'"),
        )
    add_table(
        "sync_connections",
        sa.Column("cursor", sa.Text, nullable=False),
        sa.Column(
            "is_active", sa.Boolean, server_default=sa.text("true"), nullable=False
        ),
        sa.Column("next_at", TIME, server_default=NOW, nullable=False),
        sa.Column("lease", sa.Uuid),
        sa.Column("leased_until", TIME),
        sa.Column("connector", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("options", JSONB, **OBJECT),
        sa.Column("secret", BYTEA),
        sa.Column("account_id", sa.Text, nullable=False),
        sa.Column("account_name", sa.Text, nullable=False),
        sa.Column("fields", JSONB, **OBJECT),
        sa.Column("mapping", JSONB, **OBJECT),
        sa.Column("daily_budget", sa.BigInteger),
        sa.Column("meters", JSONB, **OBJECT),
        sa.Column("cursors", JSONB, **OBJECT),
        sa.Column("polled_at", TIME),
        sa.Column("run_id", sa.Uuid),
        sa.Column("run_at", TIME),
        sa.Column("problem", sa.Text),
        sa.Column("paused_at", TIME),
        sa.UniqueConstraint(
            "tenant_id",
            "connector",
            "account_id",
            name="uq_sync_connections_tenant_id_connector_account_id",
        ),
    )
    op.create_index(
        "ix_sync_connections_due",
        "sync_connections",
        ["next_at"],
        postgresql_where=sa.text("is_active"),
    )
    connection: dict[str, Any] = {"on_delete": "CASCADE", "nullable": False}
    add_table(
        "sync_records",
        reference("connection_id", "sync_connections", **connection),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("record_id", sa.Uuid, nullable=False),
        sa.Column("company_id", sa.Uuid),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("next_at", TIME, server_default=NOW, nullable=False),
        sa.Column("their_id", sa.Text),
        flag("is_shared"),
        flag("is_adopted"),
        sa.Column("snapshot", JSONB, **OBJECT),
        sa.Column("sending", JSONB, **OBJECT),
        sa.Column("sent_at", TIME),
        sa.Column("linked_to", sa.Text),
        sa.Column("differs", JSONB, **OBJECT),
        sa.Column("problem", JSONB, **OBJECT),
        flag("is_changed"),
        sa.Column(
            "attempts", sa.BigInteger, server_default=sa.text("0"), nullable=False
        ),
        sa.Column("done_at", TIME),
        sa.UniqueConstraint(
            "connection_id",
            "kind",
            "record_id",
            name="uq_sync_records_connection_id_kind_record_id",
        ),
    )
    op.create_index("ix_sync_records_record_id", "sync_records", ["record_id"])
    theirs, waiting = ["kind", "their_id"], ["state", "next_at", "id"]
    op.create_index(
        "ix_sync_records_their_id", "sync_records", ["connection_id", *theirs]
    )
    op.create_index(
        "ix_sync_records_by_state", "sync_records", ["connection_id", *waiting]
    )
    op.create_index(
        "ix_sync_records_unlinked_people",
        "sync_records",
        ["connection_id", "id"],
        postgresql_where=sa.text(
            "kind = 'person' AND state = 'done' AND linked_to IS NULL"
        ),
    )
    add_table(
        "sync_writes",
        reference("connection_id", "sync_connections", **connection),
        sa.Column("run_id", sa.Uuid, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("record_id", sa.Uuid, nullable=False),
        sa.Column("their_id", sa.Text, nullable=False),
        sa.Column("is_new", sa.Boolean, nullable=False),
        sa.Column("before", JSONB, **OBJECT),
        sa.Column("after", JSONB, **OBJECT),
        sa.Column("undone_at", TIME),
    )
    op.create_index(
        "ix_sync_writes_run", "sync_writes", ["connection_id", "run_id", "id"]
    )
    op.create_index("ix_sync_writes_record_id", "sync_writes", ["record_id"])
    op.create_index("ix_sync_writes_created_at", "sync_writes", ["created_at"])
    protect("sync_connections", "sync_records", "sync_writes")
    for table, kind in KINDS.items():
        op.execute(FORGET.format(table=table, kind=kind))
        op.execute(TRIGGER.format(table=table))
    log_changes("contacts", "contacts")


def flag(name: str) -> sa.Column[bool]:
    return sa.Column(name, sa.Boolean, server_default=sa.text("false"), nullable=False)


def add_table(name: str, *parts: sa.schema.SchemaItem) -> None:
    """Create a table whose rows belong to tenants."""
    columns = [one for one in parts if isinstance(one, sa.Column)]
    every = (
        sa.Column("id", sa.Uuid, server_default=sa.func.time_ordered_uuid()),
        reference("tenant_id", "tenants", on_delete="CASCADE", nullable=False),
        *columns,
        reference("created_by", "users", on_delete="SET NULL"),
        moment("created_at"),
        moment("updated_at"),
    )
    for column in every:
        for key in column.foreign_keys:
            target = key.target_fullname.split(".")[0]
            key.name = f"fk_{name}_{column.name}_{target}"
    others = [one for one in parts if not isinstance(one, sa.Column)]
    op.create_table(
        name, *every, *others, sa.PrimaryKeyConstraint("id", name=f"pk_{name}")
    )
    op.execute(
        f"CREATE TRIGGER touch_updated_at BEFORE UPDATE ON {name} "
        "FOR EACH ROW EXECUTE FUNCTION touch_updated_at()"
    )


def downgrade() -> None:
    for table in KINDS:
        op.execute(f"DROP TRIGGER forget_synced ON {table}")
        op.execute(f"DROP FUNCTION forget_synced_{table}")
    for table in ("sync_writes", "sync_records", "sync_connections"):
        op.drop_table(table)
    for connector in CONNECTORS:
        op.drop_column("contacts", f"{connector}_sync_status")
    log_changes("contacts", "contacts")
