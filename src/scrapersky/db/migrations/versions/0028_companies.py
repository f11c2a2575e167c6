"""Companies: what all sources tell about one, and what people do about it."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import SchemaItem

from scrapersky.db.migrations.row_security import open_again, protect
from scrapersky.db.migrations.steps import commit, has_table

revision = "0028_companies"
down_revision = "0027_site_budgets"

MOMENT = sa.DateTime(timezone=True)
NOW = sa.text("clock_timestamp()")
LEAD_STATUS = postgresql.ENUM(
    "New", "Contacted", "Replied", "Won", "Lost", "Do Not Contact",
    name="lead_status", create_type=False,
)  # fmt: skip
PAIR_VERDICT = postgresql.ENUM(
    "same", "different", name="pair_verdict", create_type=False
)
OWN_TYPE = postgresql.ENUM(
    "text", "number", "date", "choice", name="own_type", create_type=False
)
BLOCKS = ("domain", "phone", "social", "name_block", "near_block", "moved_to")
TABLES = ("companies", "company_members", "company_pairs", "company_merges")
LATER = ("company_progress", "company_actions", "company_columns", "company_changes")


def texts(name: str) -> sa.Column[list[str]]:
    return sa.Column(
        name,
        postgresql.ARRAY(sa.Text()),
        server_default=sa.text("'{}'"),
        nullable=False,
    )


def facts(name: str) -> sa.Column[object]:
    return sa.Column(
        name, postgresql.JSONB(), server_default=sa.text("'{}'"), nullable=False
    )


def count(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), server_default=sa.text("0"), nullable=False)


def flag(name: str) -> sa.Column[bool]:
    return sa.Column(
        name, sa.Boolean(), server_default=sa.text("false"), nullable=False
    )


def some(kind: type[Any], *names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, kind()) for name in names]


def keys(table: str, **targets: tuple[str, str]) -> list[sa.ForeignKeyConstraint]:
    """Write the foreign keys: column, table it points at, and what a deletion does."""
    everywhere = {"tenant_id": ("tenants", "CASCADE"), **targets}
    return [
        sa.ForeignKeyConstraint(
            [column], [f"{target}.id"], name=f"fk_{table}_{column}", ondelete=then
        )
        for column, (target, then) in everywhere.items()
    ]


def make(table: str, *parts: SchemaItem) -> None:
    """Create a table with what every record has."""
    op.create_table(
        table,
        sa.Column("id", sa.Uuid(), server_default=sa.text("gen_random_uuid()")),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        *parts,
        sa.Column("created_at", MOMENT, server_default=NOW, nullable=False),
        sa.Column("updated_at", MOMENT, server_default=NOW, nullable=False),
        sa.PrimaryKeyConstraint("id", name=f"pk_{table}"),
    )
    op.execute(
        f"CREATE TRIGGER touch_updated_at BEFORE UPDATE ON {table} "
        "FOR EACH ROW EXECUTE FUNCTION touch_updated_at()"
    )


def make_companies() -> None:
    make(
        "companies",
        *some(sa.Text, "name"),
        texts("categories"),
        *some(sa.Text, "street", "city", "region", "postal_code", "country"),
        *some(sa.Float, "latitude", "longitude"),
        *some(sa.Text, "phone", "website"),
        *some(sa.Uuid, "domain_id"),
        *some(sa.Text, "business_status"),
        *some(sa.Float, "rating"),
        *some(sa.BigInteger, "reviews_count"),
        *some(sa.Uuid, "email_contact_id"),
        *some(sa.Text, "email_kind", "email_reason"),
        *some(sa.Uuid, "decision_maker_id"),
        *some(sa.Text, "decision_maker_reason"),
        count("records_count"),
        count("contacts_count"),
        *some(sa.Float, "confidence"),
        sa.Column("first_seen_at", MOMENT),
        sa.Column("seen_at", MOMENT),
        sa.Column("lead_status", LEAD_STATUS, server_default="New", nullable=False),
        *some(sa.Uuid, "owner_id"),
        *some(sa.Text, "notes"),
        texts("tags"),
        facts("own"),
        sa.Column("worked_at", MOMENT),
        *some(sa.Uuid, "created_by"),
        sa.CheckConstraint(
            "confidence BETWEEN 0 AND 1",
            name=op.f("ck_companies_confidence_is_a_share"),
        ),
        *keys(
            "companies",
            domain_id=("domains", "SET NULL"),
            email_contact_id=("contacts", "SET NULL"),
            decision_maker_id=("people", "SET NULL"),
            owner_id=("users", "SET NULL"),
            created_by=("users", "SET NULL"),
        ),
    )
    for name, columns in {
        "by_time": ["tenant_id", "updated_at", "id"],
        "by_status": ["tenant_id", "lead_status", "updated_at", "id"],
        "by_name": ["tenant_id", "name", "id"],
        "by_first_seen": ["tenant_id", "first_seen_at", "id"],
        "by_confidence": ["tenant_id", "confidence", "id"],
        "tenant_id_phone": ["tenant_id", "phone"],
        "domain_id": ["domain_id"],
        "email_contact_id": ["email_contact_id"],
        "decision_maker_id": ["decision_maker_id"],
        "owner_id": ["owner_id"],
    }.items():
        op.create_index(f"ix_companies_{name}", "companies", columns)
    for name, without in {
        "email": "email_kind IS NOT NULL AND email_contact_id IS NULL",
        "person": "decision_maker_reason IS NOT NULL AND decision_maker_id IS NULL",
    }.items():
        op.create_index(
            f"ix_companies_without_their_{name}",
            "companies",
            ["tenant_id"],
            postgresql_where=sa.text(without),
        )


def make_members() -> None:
    table = "company_members"
    sources = {
        "place_id": "places_staging",
        "business_id": "local_businesses",
        "domain_id": "domains",
    }
    make(
        table,
        *some(sa.Uuid, "company_id", *sources),
        sa.Column("source", sa.Text(), nullable=False),
        *some(sa.Text, "name", "domain", "phone", "social"),
        *some(sa.Text, "street", "locality", "postal_code"),
        *some(sa.Float, "latitude", "longitude"),
        *some(sa.Text, "moved_to", "name_block", "near_block"),
        flag("is_matched"),
        *some(sa.Float, "score"),
        texts("reasons"),
        *(
            sa.UniqueConstraint(column, name=f"uq_company_members_{column}")
            for column in sources
        ),
        sa.CheckConstraint(
            "score BETWEEN 0 AND 1", name=op.f("ck_company_members_score_is_a_share")
        ),
        *keys(
            table,
            company_id=("companies", "SET NULL"),
            **{column: (target, "SET NULL") for column, target in sources.items()},
        ),
    )
    op.create_index("ix_company_members_company_id", table, ["company_id"])
    for name in BLOCKS:
        op.create_index(
            f"ix_company_members_by_{name}",
            table,
            ["tenant_id", name],
            postgresql_where=sa.text(f"{name} IS NOT NULL"),
        )
    op.create_index(
        "ix_company_members_unmatched",
        table,
        ["tenant_id", "id"],
        postgresql_where=sa.text("NOT is_matched"),
    )
    op.create_index(
        "ix_company_members_of_nothing",
        table,
        ["tenant_id"],
        postgresql_where=sa.text("num_nonnulls(place_id, business_id, domain_id) = 0"),
    )


def make_pairs() -> None:
    table = "company_pairs"
    make(
        table,
        sa.Column("left_id", sa.Uuid(), nullable=False),
        sa.Column("right_id", sa.Uuid(), nullable=False),
        sa.Column("score", sa.Float(), nullable=False),
        texts("reasons"),
        sa.Column("verdict", PAIR_VERDICT),
        *some(sa.Uuid, "decided_by"),
        sa.Column("decided_at", MOMENT),
        flag("is_disputed"),
        sa.UniqueConstraint(
            "left_id", "right_id", name="uq_company_pairs_left_id_right_id"
        ),
        sa.CheckConstraint(
            "left_id <= right_id", name=op.f("ck_company_pairs_in_order")
        ),
        *keys(
            table,
            left_id=("company_members", "CASCADE"),
            right_id=("company_members", "CASCADE"),
            decided_by=("users", "SET NULL"),
        ),
    )
    op.create_index("ix_company_pairs_right_id", table, ["right_id"])
    op.create_index(
        "ix_company_pairs_open",
        table,
        ["tenant_id", sa.literal_column("score DESC"), "id"],
        postgresql_where=sa.text("verdict IS NULL"),
    )


def make_merges() -> None:
    table = "company_merges"
    make(
        table,
        sa.Column("into_id", sa.Uuid(), nullable=False),
        sa.Column("gone_id", sa.Uuid(), nullable=False),
        facts("work"),
        facts("work_before"),
        sa.Column(
            "member_ids",
            postgresql.ARRAY(sa.Uuid()),
            server_default=sa.text("'{}'"),
            nullable=False,
        ),
        *some(sa.Float, "score"),
        texts("reasons"),
        flag("is_by_person"),
        sa.Column("undone_at", MOMENT),
        *some(sa.Uuid, "created_by"),
        *keys(
            table,
            into_id=("companies", "CASCADE"),
            created_by=("users", "SET NULL"),
        ),
    )
    op.create_index(
        "ix_company_merges_into", table, ["tenant_id", "into_id", "created_at"]
    )


def make_progress() -> None:
    op.create_table(
        "company_progress",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("read_until", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "kind", name="pk_company_progress"),
        *keys("company_progress"),
    )


def make_actions() -> None:
    make(
        "company_actions",
        count("changed_count"),
        sa.Column("undone_at", MOMENT),
        *some(sa.Uuid, "created_by"),
        *keys("company_actions", created_by=("users", "SET NULL")),
    )


def make_columns() -> None:
    make(
        "company_columns",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("type", OWN_TYPE, nullable=False),
        texts("choices"),
        *some(sa.Uuid, "created_by"),
        sa.UniqueConstraint(
            "tenant_id", "name", name="uq_company_columns_tenant_id_name"
        ),
        *keys("company_columns", created_by=("users", "SET NULL")),
    )


def make_changes() -> None:
    op.create_table(
        "company_changes",
        *(
            sa.Column(name, sa.Uuid(), nullable=False)
            for name in ("action_id", "company_id", "tenant_id")
        ),
        *(
            sa.Column(name, postgresql.JSONB(), nullable=False)
            for name in ("before", "after")
        ),
        sa.PrimaryKeyConstraint("action_id", "company_id", name="pk_company_changes"),
        *keys(
            "company_changes",
            action_id=("company_actions", "CASCADE"),
            company_id=("companies", "CASCADE"),
        ),
    )
    op.create_index("ix_company_changes_company_id", "company_changes", ["company_id"])


MAKES = (
    make_companies, make_members, make_pairs, make_merges,
    make_progress, make_actions, make_columns, make_changes,
)  # fmt: skip


def upgrade() -> None:
    for enum in (LEAD_STATUS, PAIR_VERDICT, OWN_TYPE):
        enum.create(op.get_bind(), checkfirst=True)
    # What a new table refers to is not written until it is there: so one at a time.
    for table, make_table in zip((*TABLES, *LATER), MAKES, strict=True):
        if not has_table(table):
            make_table()
            commit()
    protect(*TABLES, *LATER)


def downgrade() -> None:
    made = [*reversed((*TABLES, *LATER))]
    open_again(*made)
    for table in made:
        op.drop_table(table)
    for enum in (OWN_TYPE, PAIR_VERDICT, LEAD_STATUS):
        enum.drop(op.get_bind())
