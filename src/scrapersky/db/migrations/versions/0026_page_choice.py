"""Pages are chosen by what they promise, the best of each site first, within its budget.

The rule that every tenant begins with becomes such a rule, where nobody has changed it.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from scrapersky.db.migrations.steps import add_check, add_column

revision = "0026_page_choice"
down_revision = "0025_other_values"

RULE = "Contact-like pages"
BY_THRESHOLD = (
    '{"all": [{"field": "contact_likelihood", "comparison": "at_least", "value": 0.3}]}'
)
BEST_FIRST = '{"all": [{"field": "contact_likelihood", "comparison": "at_least", "value": 0.05}]}'


def change_rule(before: str, after: str, *, best_first: bool) -> None:
    op.execute(
        sa.text(
            "UPDATE selection_rules SET conditions = CAST(:after AS jsonb),"
            " best_first = :best_first WHERE name = :name AND kind = 'pages'"
            " AND status = 'Selected' AND conditions = CAST(:before AS jsonb)"
        ).bindparams(name=RULE, before=before, after=after, best_first=best_first)
    )


def upgrade() -> None:
    add_column(
        "selection_rules",
        sa.Column(
            "best_first", sa.Boolean(), server_default=sa.text("false"), nullable=False
        ),
    )
    add_column("pages", sa.Column("clicks", sa.SmallInteger()))
    add_column("pages", sa.Column("choice", postgresql.JSONB()))
    add_column(
        "domains",
        sa.Column(
            "page_budget",
            sa.SmallInteger(),
            server_default=sa.text("12"),
            nullable=False,
        ),
    )
    add_check("page_budget_positive", "domains", "page_budget >= 0")
    change_rule(BY_THRESHOLD, BEST_FIRST, best_first=True)


def downgrade() -> None:
    change_rule(BEST_FIRST, BY_THRESHOLD, best_first=False)
    op.drop_constraint("page_budget_positive", "domains")
    op.drop_column("domains", "page_budget")
    op.drop_column("pages", "choice")
    op.drop_column("pages", "clicks")
    op.drop_column("selection_rules", "best_first")
