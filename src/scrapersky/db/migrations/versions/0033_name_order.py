"""Names where people look for them: Ábel before Zoe, whatever the server's alphabet is."""

import sqlalchemy as sa
from alembic import op

from scrapersky.db.migrations.steps import (
    add_index,
    commit,
    derive,
    drop_index,
    underive,
)

revision = "0033_name_order"
down_revision = "0032_stage_overrides"

TABLES = ("places_staging", "local_businesses", "companies")
COLLATION_KEY = (
    "lower(translate(replace(replace(replace("
    "regexp_replace(normalize(NEW.{name}, NFKD), U&'[\\0300-\\036F]', '', 'g'),"
    " 'ß', 'ss'), 'Æ', 'ae'), 'æ', 'ae'),"
    " 'ØøŁłĐđıĦħ', 'oollddihh'))"
)


def upgrade() -> None:
    for table in TABLES:
        op.add_column(
            table,
            sa.Column("name_order", sa.Text(collation="C")),
            if_not_exists=True,
        )
        # Rows that are there already are filled by revision 47, all columns at a time.
        derive(table, "name_order", COLLATION_KEY.format(name="name"), source="name")
        commit()
        drop_index(f"ix_{table}_by_name", table)
        add_index(f"ix_{table}_by_name_order", table, ["tenant_id", "name_order", "id"])


def downgrade() -> None:
    for table in TABLES:
        op.drop_index(f"ix_{table}_by_name_order", table)
        op.create_index(f"ix_{table}_by_name", table, ["tenant_id", "name", "id"])
        underive(table, "name_order")
        op.drop_column(table, "name_order")
