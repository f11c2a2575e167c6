"""Whom we must tell that we hold their data; and indexes to find whom we must forget."""

import sqlalchemy as sa
from alembic import op

from scrapersky.db.migrations.row_security import open_again, protect

revision = "0014_notices"
down_revision = "0013_waiting_claims"

MOMENT = sa.DateTime(timezone=True)
DUE = "(obtained_at AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC'"
BASES = (
    "consent", "contract", "legal_obligation", "vital_interests", "public_task",
    "legitimate_interests",
)  # fmt: skip

# Once a statement, not once a row: stages store many contacts at a time.
MAKE_NOTICES = """
CREATE FUNCTION make_contact_notices() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO contact_notices (contact_id, tenant_id, obtained_at)
    SELECT id, tenant_id, created_at FROM made;
    RETURN NULL;
END $$
"""
ON_CONTACTS = """
CREATE TRIGGER make_contact_notices AFTER INSERT ON contacts
REFERENCING NEW TABLE AS made
FOR EACH STATEMENT EXECUTE FUNCTION make_contact_notices()
"""

# By these somebody is found who is to be forgotten: (table, column, method).
FOUND_BY = (
    ("domains", "emails", "gin"),
    ("domains", "phones", "gin"),
    ("contacts", "phones", "gin"),
    ("local_businesses", "phone", "btree"),
    ("places_staging", "phone", "btree"),
)


def upgrade() -> None:
    op.create_table(
        "contact_notices",
        sa.Column("contact_id", sa.Uuid, nullable=False),
        sa.Column("tenant_id", sa.Uuid, nullable=False),
        sa.Column("obtained_at", MOMENT, nullable=False),
        sa.Column("due_at", MOMENT, sa.Computed(DUE, persisted=True), nullable=False),
        sa.Column(
            "legal_basis",
            sa.Text,
            nullable=False,
            server_default="legitimate_interests",
        ),
        sa.Column("informed_at", MOMENT),
        sa.Column("informed_by", sa.Uuid),
        sa.Column("how", sa.Text),
        sa.PrimaryKeyConstraint("contact_id", name="pk_contact_notices"),
        sa.ForeignKeyConstraint(
            ["contact_id"],
            ["contacts.id"],
            name="fk_contact_notices_contact_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"],
            ["tenants.id"],
            name="fk_contact_notices_tenant_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["informed_by"],
            ["users.id"],
            name="fk_contact_notices_informed_by",
            ondelete="SET NULL",
        ),
        sa.CheckConstraint(
            f"legal_basis IN ({', '.join(repr(one) for one in BASES)})",
            name=op.f("ck_contact_notices_legal_basis"),
        ),
    )
    for name, which in (("open", "IS NULL"), ("informed", "IS NOT NULL")):
        op.create_index(
            f"ix_contact_notices_{name}",
            "contact_notices",
            ["tenant_id", "due_at", "contact_id"],
            postgresql_where=sa.text(f"informed_at {which}"),
        )
    protect("contact_notices")
    op.execute(MAKE_NOTICES)
    op.execute(ON_CONTACTS)
    op.execute(
        "INSERT INTO contact_notices (contact_id, tenant_id, obtained_at) "
        "SELECT id, tenant_id, created_at FROM contacts"
    )
    for table, column, method in FOUND_BY:
        op.create_index(
            f"ix_{table}_{column}", table, [column], postgresql_using=method
        )


def downgrade() -> None:
    for table, column, _ in FOUND_BY:
        op.drop_index(f"ix_{table}_{column}", table)
    op.execute("DROP TRIGGER make_contact_notices ON contacts")
    op.execute("DROP FUNCTION make_contact_notices")
    open_again("contact_notices")
    op.drop_table("contact_notices")
