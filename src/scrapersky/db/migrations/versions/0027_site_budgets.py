"""What was taken of every site, what each tenant took each day, and what people allow."""

from collections.abc import Mapping

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from scrapersky.db.migrations.row_security import ROLE, open_again, protect
from scrapersky.db.migrations.steps import (
    IN_BATCHES,
    add_column,
    add_index,
    commit,
    for_each_batch,
    has_table,
)

revision = "0027_site_budgets"
down_revision = "0026_page_choice"

HAS_QUERY = "strpos(url, '?') > 0"
IS_OURS = "EXISTS (SELECT FROM domains WHERE domains.domain = host_robots.site)"
COUNT_FETCHED = f"""
INSERT INTO {IN_BATCHES} site_usage (domain_id, tenant_id, pages_fetched, bytes)
SELECT d.id, d.tenant_id, count(*), coalesce(sum(p.bytes), 0)
FROM (SELECT id, tenant_id FROM domains WHERE {{part}}) d
JOIN pages p ON p.domain_id = d.id WHERE p.fetched_at IS NOT NULL
GROUP BY 1, 2 ON CONFLICT DO NOTHING
"""  # noqa: S608 - a condition of our own
COUNTED = ("pages_fetched", "bytes", "parse_ms")


def counters(*names: str) -> list[sa.Column[int]]:
    return [
        sa.Column(name, sa.BigInteger(), server_default=sa.text("0"), nullable=False)
        for name in names
    ]


def tenant_key(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["tenant_id"], ["tenants.id"], name=f"fk_{table}_tenant_id", ondelete="CASCADE"
    )


def upgrade() -> None:
    for table in ("domains", "tenants"):
        nothing = sa.text("'{}'")
        add_column(
            table,
            sa.Column(
                "budget", postgresql.JSONB(), server_default=nothing, nullable=False
            ),
        )
    add_index(
        "ix_pages_query_variants",
        "pages",
        ["domain_id", sa.literal_column("split_part(url, '?', 1)")],
        postgresql_where=sa.text(HAS_QUERY),
    )
    add_column("host_robots", sa.Column("site", sa.Text()))
    add_column("host_robots", *counters("bytes"))
    add_index("ix_host_robots_site", "host_robots", ["site"])
    if not has_table("site_usage"):
        make_tables()
        commit()
    for_each_batch("domains", count_fetched)
    # A tenant sees how much there is of its own sites, and not what it says.
    op.execute(
        f"CREATE POLICY site ON host_robots FOR SELECT TO {ROLE} USING ({IS_OURS})"
    )
    op.execute(f"GRANT SELECT (site, bytes, expires_at) ON host_robots TO {ROLE}")


def make_tables() -> None:
    op.create_table(
        "site_usage",
        sa.Column("domain_id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        *counters(*COUNTED),
        sa.PrimaryKeyConstraint("domain_id", name="pk_site_usage"),
        sa.ForeignKeyConstraint(
            ["domain_id"],
            ["domains.id"],
            name="fk_site_usage_domain_id",
            ondelete="CASCADE",
        ),
        tenant_key("site_usage"),
    )
    op.create_table(
        "tenant_usage",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        *counters("pages_stored", *COUNTED),
        sa.PrimaryKeyConstraint("tenant_id", "day", name="pk_tenant_usage"),
        tenant_key("tenant_usage"),
    )
    protect("site_usage", "tenant_usage")


def count_fetched(part: str, bounds: Mapping[str, object]) -> None:
    """Count what was fetched of some sites before anybody counted."""
    op.get_bind().execute(sa.text(COUNT_FETCHED.replace("{part}", part)), dict(bounds))


def downgrade() -> None:
    op.execute(f"REVOKE ALL ON host_robots FROM {ROLE}")
    op.execute("DROP POLICY site ON host_robots")
    op.drop_index("ix_host_robots_site", "host_robots")
    op.drop_column("host_robots", "bytes")
    op.drop_column("host_robots", "site")
    op.drop_index("ix_pages_query_variants", "pages")
    open_again("tenant_usage", "site_usage")
    op.drop_table("tenant_usage")
    op.drop_table("site_usage")
    for table in ("tenants", "domains"):
        op.drop_column(table, "budget")
