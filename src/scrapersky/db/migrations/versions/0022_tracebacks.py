"""The schema of release 0.1.0: no database remembers what was before it."""

import re
import secrets
from pathlib import Path

from alembic import op
from sqlalchemy import text

from curation_sdk import migrations
from scrapersky.db.migrations.row_security import ROLE, make_role

revision = "0022_tracebacks"
down_revision = None

SCHEMA = Path(__file__).with_suffix(".sql")
INSTALLATION = "INSERT INTO installation (id, secret) VALUES (1, :secret)"
FORGET_EXTENSION = """
DO $$ BEGIN
  DROP EXTENSION IF EXISTS pg_trgm;
EXCEPTION WHEN dependent_objects_still_exist OR insufficient_privilege THEN
  NULL;
END $$
"""
CREATED = re.compile(r"^CREATE (TABLE|FUNCTION|TYPE) (\w+)", re.MULTILINE)


def upgrade() -> None:
    connection = op.get_bind()
    make_role()
    migrations.upgrade(connection, to=3)
    script = SCHEMA.read_text(encoding="utf-8")
    # Only the driver itself takes many statements at once.
    driver = connection.connection.dbapi_connection
    assert driver is not None  # noqa: S101 - it is connected
    driver.run_async(lambda raw: raw.execute(script))
    connection.execute(text(INSTALLATION), {"secret": secrets.token_bytes(32)})


def downgrade() -> None:
    migrations.downgrade(op.get_bind(), to=0)
    for kind, name in reversed(CREATED.findall(SCHEMA.read_text(encoding="utf-8"))):
        op.execute(f"DROP {kind} {name} CASCADE")
    op.execute(FORGET_EXTENSION)
    op.execute(f"REVOKE ALL ON SCHEMA public FROM {ROLE}")
