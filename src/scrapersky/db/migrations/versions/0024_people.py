"""People as records of the business; what a page calls the business."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from scrapersky.db.migrations.row_security import open_again, protect
from scrapersky.db.migrations.steps import add_check, add_column, add_index

revision = "0024_people"
down_revision = "0023_run_counts"

MOMENT = sa.DateTime(timezone=True)
SENIORITY = postgresql.ENUM(
    "owner", "executive", "manager", "professional", "staff",
    name="seniority", create_type=False,
)  # fmt: skip


def upgrade() -> None:
    add_column("pages", sa.Column("organisation", postgresql.JSONB))
    add_index(
        "ix_pages_named",
        "pages",
        ["domain_id"],
        postgresql_where=sa.text("organisation IS NOT NULL"),
    )
    allow_suppressing("email", "phone", "domain", "person")
    SENIORITY.create(op.get_bind())
    now = sa.text("clock_timestamp()")
    op.create_table(
        "people",
        sa.Column("id", sa.Uuid, server_default=sa.text("gen_random_uuid()")),
        sa.Column("tenant_id", sa.Uuid, nullable=False),
        sa.Column("domain_id", sa.Uuid, nullable=False),
        sa.Column("page_id", sa.Uuid),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("name_key", sa.Text, nullable=False),
        sa.Column("role", sa.Text),
        sa.Column("seniority", SENIORITY),
        sa.Column("email", sa.Text),
        sa.Column("phone", sa.Text),
        sa.Column("confidence", sa.Float, nullable=False),
        sa.Column("standing", sa.Float, nullable=False),
        sa.Column("standing_reason", sa.Text, nullable=False),
        sa.Column(
            "evidence",
            postgresql.JSONB,
            server_default=sa.text("'[]'"),
            nullable=False,
        ),
        sa.Column("created_by", sa.Uuid),
        sa.Column("created_at", MOMENT, server_default=now, nullable=False),
        sa.Column("updated_at", MOMENT, server_default=now, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_people"),
        sa.UniqueConstraint(
            "domain_id", "name_key", name="uq_people_domain_id_name_key"
        ),
        sa.CheckConstraint(
            "email = lower(email)", name=op.f("ck_people_email_lower_case")
        ),
        sa.CheckConstraint(
            "confidence BETWEEN 0 AND 1", name=op.f("ck_people_confidence_is_a_share")
        ),
        *(
            sa.ForeignKeyConstraint(
                [column], [f"{table}.id"], name=f"fk_people_{column}", ondelete=then
            )
            for column, table, then in (
                ("tenant_id", "tenants", "CASCADE"),
                ("domain_id", "domains", "CASCADE"),
                ("page_id", "pages", "SET NULL"),
                ("created_by", "users", "SET NULL"),
            )
        ),
    )
    op.create_index("ix_people_by_time", "people", ["tenant_id", "updated_at", "id"])
    op.create_index(
        "ix_people_by_standing",
        "people",
        ["domain_id", sa.literal_column("standing DESC"), "id"],
    )
    op.create_index(
        "ix_people_tenant_id_mailbox",
        "people",
        ["tenant_id", sa.literal_column("mailbox_of(email)")],
    )
    op.create_index("ix_people_tenant_id_phone", "people", ["tenant_id", "phone"])
    op.create_index("ix_people_page_id", "people", ["page_id"])
    op.execute(
        "CREATE TRIGGER touch_updated_at BEFORE UPDATE ON people "
        "FOR EACH ROW EXECUTE FUNCTION touch_updated_at()"
    )
    protect("people")


def allow_suppressing(*kinds: str) -> None:
    """Let the suppression list hold these kinds of subjects."""
    listed = ", ".join(repr(kind) for kind in kinds)
    add_check("ck_suppressions_kind", "suppressions", f"kind IN ({listed})")


def downgrade() -> None:
    op.execute("DELETE FROM suppressions WHERE kind = 'person'")
    allow_suppressing("email", "phone", "domain")
    op.drop_index("ix_pages_named", "pages")
    op.drop_column("pages", "organisation")
    open_again("people")
    op.drop_table("people")
    SENIORITY.drop(op.get_bind())
