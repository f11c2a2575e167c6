"""The Curation SDK's tables count their own versions; attempts keep tracebacks."""

from alembic import op

from curation_sdk import migrations

revision = "0022_tracebacks"
down_revision = "0021_subjects_per_tenant"


def upgrade() -> None:
    migrations.upgrade(op.get_bind(), to=3)
    # Closed to the role of the API, like every table without rows of a tenant.
    op.execute("ALTER TABLE curation.version ENABLE ROW LEVEL SECURITY")


def downgrade() -> None:
    migrations.downgrade(op.get_bind(), to=2)
