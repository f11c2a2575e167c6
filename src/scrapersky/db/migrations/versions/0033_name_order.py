"""Names where people look for them: Ábel before Zoe, whatever the server's alphabet is."""

import sqlalchemy as sa
from alembic import op

revision = "0033_name_order"
down_revision = "0032_stage_overrides"

TABLES = ("places_staging", "local_businesses", "companies")
AS_READ = (
    "lower(translate(replace(replace(replace("
    "regexp_replace(normalize(name, NFKD), U&'[\\0300-\\036F]', '', 'g'),"
    " 'ß', 'ss'), 'Æ', 'ae'), 'æ', 'ae'),"
    " 'ØøŁłĐđıĦħ', 'oollddihh'))"
)


def upgrade() -> None:
    for table in TABLES:
        made = sa.Computed(AS_READ, persisted=True)
        op.add_column(table, sa.Column("name_order", sa.Text(collation="C"), made))
        op.drop_index(f"ix_{table}_by_name", table)
        op.create_index(
            f"ix_{table}_by_name_order", table, ["tenant_id", "name_order", "id"]
        )


def downgrade() -> None:
    for table in TABLES:
        op.drop_index(f"ix_{table}_by_name_order", table)
        op.create_index(f"ix_{table}_by_name", table, ["tenant_id", "name", "id"])
        op.drop_column(table, "name_order")
