"""People's names and cities where people look for them, as the names of companies are."""

import sqlalchemy as sa
from alembic import op

revision = "0035_person_and_city_order"
down_revision = "0034_sessions"

COLUMNS = (
    ("contacts", "name"),
    ("local_businesses", "city"),
    ("companies", "city"),
)
AS_READ = (
    "lower(translate(replace(replace(replace("
    "regexp_replace(normalize({name}, NFKD), U&'[\\0300-\\036F]', '', 'g'),"
    " 'ß', 'ss'), 'Æ', 'ae'), 'æ', 'ae'),"
    " 'ØøŁłĐđıĦħ', 'oollddihh'))"
)


def upgrade() -> None:
    for table, name in COLUMNS:
        made = sa.Computed(AS_READ.format(name=name), persisted=True)
        op.add_column(table, sa.Column(f"{name}_order", sa.Text(collation="C"), made))


def downgrade() -> None:
    for table, name in COLUMNS:
        op.drop_column(table, f"{name}_order")
