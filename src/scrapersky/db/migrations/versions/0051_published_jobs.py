"""Processes publish the jobs that they run, and runs that are not over are found at once."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

from scrapersky.db.migrations import steps

revision = "0051_published_jobs"
down_revision = "0050_read_until"


def upgrade() -> None:
    steps.add_column(
        "processes",
        sa.Column("jobs", JSONB, nullable=False, server_default=sa.text("'[]'")),
    )
    steps.add_index(
        "ix_scheduler_runs_running",
        "scheduler_runs",
        ["job_id"],
        postgresql_where=sa.text("outcome = 'running'"),
    )


def downgrade() -> None:
    steps.drop_index("ix_scheduler_runs_running", "scheduler_runs")
    op.drop_column("processes", "jobs")
