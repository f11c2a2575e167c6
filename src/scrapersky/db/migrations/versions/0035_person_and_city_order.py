"""People's names and cities where people look for them, as the names of companies are."""

import sqlalchemy as sa
from alembic import op

from scrapersky.db.migrations.steps import commit, derive, underive

revision = "0035_person_and_city_order"
down_revision = "0034_sessions"

COLUMNS = (
    ("contacts", "name"),
    ("local_businesses", "city"),
    ("companies", "city"),
)
COLLATION_KEY = (
    "lower(translate(replace(replace(replace("
    "regexp_replace(normalize(NEW.{name}, NFKD), U&'[\\0300-\\036F]', '', 'g'),"
    " 'ß', 'ss'), 'Æ', 'ae'), 'æ', 'ae'),"
    " 'ØøŁłĐđıĦħ', 'oollddihh'))"
)


def upgrade() -> None:
    for table, name in COLUMNS:
        column = sa.Column(f"{name}_order", sa.Text(collation="C"))
        op.add_column(table, column, if_not_exists=True)
        # Rows that are there already are filled by revision 47, all columns at a time.
        derive(table, f"{name}_order", COLLATION_KEY.format(name=name), source=name)
        commit()


def downgrade() -> None:
    for table, name in COLUMNS:
        underive(table, f"{name}_order")
        op.drop_column(table, f"{name}_order")
