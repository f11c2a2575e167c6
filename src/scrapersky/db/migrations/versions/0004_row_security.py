"""Keep tenants apart: the API's role, and the policies of every table."""
# ruff: noqa: S608 - built only from the names of our own tables

from alembic import op

from scrapersky.db.migrations.row_security import (
    ROLE,
    TENANT,
    close,
    make_role,
    open_again,
    protect,
)

revision = "0004_row_security"
down_revision = "0003_hosts"

TENANT_TABLES = (
    "audit_log",
    "batch_items",
    "batch_jobs",
    "contact_evidence",
    "contacts",
    "curation_actions",
    "curation_changes",
    "domains",
    "local_businesses",
    "pages",
    "place_search_hits",
    "place_searches",
    "places_staging",
    "selection_rules",
    "sitemap_files",
    "suppressions",
)
SECRET_COLUMNS = {"users": "password_hash", "api_keys": "secret_hash"}
"""Written under the API's role, and never read."""

SHARED_TABLES = ("hosts", "host_outcomes", "host_robots", "scheduler_runs")
"""They belong to nobody, and tell what others do."""

STAGE_TABLES = {
    "place_search": "place_searches",
    "deep_scan": "places_staging",
    "domain_extraction": "local_businesses",
    "domain_metadata": "domains",
    "sitemap_submission": "domains",
    "sitemap_import": "sitemap_files",
    "page_curation": "pages",
    "contact_validation": "contacts",
}
ITEM_TABLES = ("curation.claim", "curation.attempt", "curation.dead_letter")

COMPARISONS = (
    "enum_eq(anyenum, anyenum)",
    "enum_ne(anyenum, anyenum)",
    "enum_lt(anyenum, anyenum)",
    "enum_le(anyenum, anyenum)",
    "enum_gt(anyenum, anyenum)",
    "enum_ge(anyenum, anyenum)",
    "textlike(text, text)",
    "texticlike(text, text)",
    "arraycontains(anyarray, anyarray)",
    "arrayoverlap(anyarray, anyarray)",
)


def upgrade() -> None:
    make_role()
    op.execute(f"GRANT USAGE ON SCHEMA public, curation TO {ROLE}")
    protect(*TENANT_TABLES)
    for table, secret in SECRET_COLUMNS.items():
        protect(table)
        op.execute(f"REVOKE SELECT ON {table} FROM {ROLE}")
        op.execute(readable_columns(table, secret))
    op.execute("ALTER TABLE tenants ENABLE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY tenant ON tenants TO {ROLE} USING (id = {TENANT})")
    op.execute(f"GRANT SELECT ON tenants TO {ROLE}")
    close(*SHARED_TABLES)
    protect_engine()
    op.execute(trust_comparisons())


def protect_engine() -> None:
    """Show of the engine's tables what concerns items that the tenant can see."""
    op.execute("ALTER TABLE curation.stage ENABLE ROW LEVEL SECURITY")
    op.execute(
        f"CREATE POLICY tenant ON curation.stage TO {ROLE} USING ({TENANT} IS NOT NULL)"
    )
    op.execute(f"GRANT SELECT ON curation.stage TO {ROLE}")
    op.execute(f"GRANT USAGE ON SEQUENCE curation.fence TO {ROLE}")
    for table in ITEM_TABLES:
        name = table.partition(".")[2]
        cases = " ".join(
            f"WHEN '{stage}' THEN EXISTS (SELECT FROM {rows} "
            f"WHERE {rows}.id = {name}.item::uuid)"
            for stage, rows in STAGE_TABLES.items()
        )
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        op.execute(
            f"CREATE POLICY tenant ON {table} TO {ROLE} "
            f"USING (CASE {name}.stage {cases} ELSE false END)"
        )
        op.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO {ROLE}")


def readable_columns(table: str, secret: str) -> str:
    """Let the API read all of a table but its secret."""
    return f"""
        DO $$
        BEGIN
          EXECUTE (SELECT format('GRANT SELECT (%s) ON {table} TO {ROLE}',
              string_agg(quote_ident(attname), ', ' ORDER BY attnum))
            FROM pg_attribute WHERE attrelid = '{table}'::regclass
              AND attnum > 0 AND NOT attisdropped AND attname <> '{secret}');
        END $$
    """


def trust_comparisons() -> str:
    """Let indexes on statuses and words be used under the policies, where we may.

    PostgreSQL looks only with functions it calls leakproof at rows that a policy has
    not passed yet; these are not, so under a policy it would ignore the index. Who can
    see through them must send SQL of their own, which nobody can through the API. Only
    a superuser may say so: elsewhere the same rows are found, more slowly.
    """
    said = " ".join(
        f"ALTER FUNCTION pg_catalog.{comparison} LEAKPROOF;"
        for comparison in COMPARISONS
    )
    return f"""
        DO $$
        BEGIN
          IF (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN {said}
          END IF;
        END $$
    """


def downgrade() -> None:
    op.execute(trust_comparisons().replace(" LEAKPROOF;", " NOT LEAKPROOF;"))
    open_again(
        *ITEM_TABLES,
        "curation.stage",
        *SHARED_TABLES,
        "tenants",
        *SECRET_COLUMNS,
        *TENANT_TABLES,
    )
    op.execute(f"REVOKE ALL ON SEQUENCE curation.fence FROM {ROLE}")
    op.execute(f"REVOKE ALL ON SCHEMA public, curation FROM {ROLE}")
