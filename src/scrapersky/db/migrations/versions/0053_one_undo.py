"""Work on companies is an action like any other, and is undone like any other.

The tables that it had stay, empty, for releases that still write into them.
"""

from collections.abc import Mapping

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from scrapersky.db.migrations.steps import add_column, commit, for_each_batch

revision = "0053_one_undo"
down_revision = "0052_origins_of_overrides"

MOVE_ACTIONS = """
INSERT INTO curation_actions (id, tenant_id, created_at, updated_at, created_by, kind,
  what, status, selection, changed_count, matched_count, finished_at, undone_at)
SELECT id, tenant_id, created_at, updated_at, created_by, 'companies', 'worked', '',
  jsonb_build_object('ids', changed_count), changed_count, changed_count, created_at,
  undone_at
FROM company_actions WHERE {part} ON CONFLICT DO NOTHING"""
MOVE_CHANGES = """
INSERT INTO curation_changes (action_id, record_id, tenant_id, queued, before, after)
SELECT action_id, company_id, tenant_id, false, before, after
FROM company_changes WHERE {part} ON CONFLICT DO NOTHING"""
EMPTY_ACTIONS = "DELETE FROM company_actions WHERE {part}"
BACK = (
    """INSERT INTO company_actions
      (id, tenant_id, created_at, updated_at, created_by, changed_count, undone_at)
    SELECT id, tenant_id, created_at, updated_at, created_by, changed_count, undone_at
    FROM curation_actions WHERE what = 'worked' ON CONFLICT DO NOTHING""",
    """INSERT INTO company_changes (action_id, company_id, tenant_id, before, after)
    SELECT h.action_id, h.record_id, h.tenant_id, h.before, h.after
    FROM curation_changes h JOIN curation_actions a ON a.id = h.action_id
    JOIN companies c ON c.id = h.record_id
    WHERE a.what = 'worked' ON CONFLICT DO NOTHING""",
    "DELETE FROM curation_actions WHERE what <> 'decided'",
)


def upgrade() -> None:
    add_column(
        "curation_actions",
        sa.Column("what", sa.Text(), server_default="decided", nullable=False),
    )
    for name in ("before", "after"):
        add_column("curation_changes", sa.Column(name, postgresql.JSONB()))
    op.alter_column("curation_changes", "status_before", nullable=True)
    commit()
    run_in_batches("company_actions", MOVE_ACTIONS, key="id")
    run_in_batches("company_changes", MOVE_CHANGES, key="action_id")
    run_in_batches("company_actions", EMPTY_ACTIONS, key="id")


def run_in_batches(table: str, statement: str, *, key: str) -> None:
    def run(part: str, bounds: Mapping[str, object]) -> None:
        op.get_bind().execute(sa.text(statement.format(part=part)), dict(bounds))

    for_each_batch(table, run, key=key)


def downgrade() -> None:
    for statement in BACK:
        op.execute(statement)
    op.alter_column("curation_changes", "status_before", nullable=False)
    for name in ("after", "before"):
        op.drop_column("curation_changes", name)
    op.drop_column("curation_actions", "what")
