"""Let nobody but the owner make triggers of the functions that act as the owner.

PostgreSQL lets everybody who can log in execute a new function. A user of a BI tool could hang one
of these on a temporary table of its own, and have it delete the pages of any tenant.
"""

from alembic import op

revision = "0068_private_trigger_functions"
down_revision = "0067_unvisited_domains"

FUNCTIONS = (
    "check_new_pages()", "check_changed_page()", "follow_to_pages()", "keep_rows_of_pages()",
)  # fmt: skip


def upgrade() -> None:
    for function in FUNCTIONS:
        op.execute(f"REVOKE EXECUTE ON FUNCTION {function} FROM PUBLIC")


def downgrade() -> None:
    for function in FUNCTIONS:
        op.execute(f"GRANT EXECUTE ON FUNCTION {function} TO PUBLIC")
