"""Columns that PostgreSQL generated are written by triggers, and filled beside everybody.

To add a stored generated column rewrites the table while nobody may read it. Revisions 31, 33
and 35 did so once; a database that went through them then becomes like the others here.
"""

from importlib import import_module

import sqlalchemy as sa
from alembic import op

from scrapersky.db.migrations.steps import commit, derive, fill

revision = "0047_derived_columns"
down_revision = "0046_people_of_addresses"

VERDICT = import_module("scrapersky.db.migrations.versions.0031_deliverability").VERDICT
COLLATION_KEY = import_module(
    "scrapersky.db.migrations.versions.0033_name_order"
).COLLATION_KEY
DERIVED = {
    "contacts": {"deliverability": "validation", "name_order": "name"},
    "places_staging": {"name_order": "name"},
    "local_businesses": {"name_order": "name", "city_order": "city"},
    "companies": {"name_order": "name", "city_order": "city"},
}
"""Of each table the derived columns, with the column that each is made of."""
GENERATED = sa.text(
    "SELECT attname FROM pg_attribute WHERE attrelid = to_regclass(:table)"
    " AND attgenerated = 's' AND NOT attisdropped"
)


def upgrade() -> None:
    for table, columns in DERIVED.items():
        generated = set(op.get_bind().scalars(GENERATED, {"table": table}))
        for column, source in columns.items():
            if column in generated:
                op.execute(f"ALTER TABLE {table} ALTER COLUMN {column} DROP EXPRESSION")
            made = (
                VERDICT if source == "validation" else COLLATION_KEY.format(name=source)
            )
            derive(table, column, made, source=source)
        commit()
        # What was generated is there; the rest was added without a look at the rows.
        if missing := {one: columns[one] for one in columns if one not in generated}:
            fill(
                table,
                ", ".join(f"{source} = {source}" for source in missing.values()),
                " OR ".join(map(lacking, missing, missing.values())),
            )


def lacking(column: str, source: str) -> str:
    """Write what is true of a row that has the source and not what is made of it."""
    given = (
        "validation ? 'verdict'" if source == "validation" else f"{source} IS NOT NULL"
    )
    return f"({column} IS NULL AND {given})"


def downgrade() -> None:
    """Keep the triggers: the revision before reads the same columns, and writes none."""
