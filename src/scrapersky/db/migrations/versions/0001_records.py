"""The records of the pipeline: tables, enums, the system user."""

from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001_records"
down_revision = None


ENUMS = {
    "task_status": "Queued | InProgress | Completed | Error | ManualReview | Cancelled | Paused",
    "curation_status": "New | Selected | Maybe | Not a Fit | Archived",
    "page_curation_status": "New | Selected | Queued | Processing | Complete | Error | Skipped",
    "contact_curation_status": "New | Queued | Processing | Complete | Error | Skipped",
    "deep_scan_status": "Queued | Processing | Completed | Error",
    "domain_extraction_status": "Queued | Processing | Completed | Error",
    "domain_status": "pending | processing | completed | error",
    "sitemap_analysis_status": "pending | queued | processing | submitted | failed",
    "sitemap_file_status": "Pending | Processing | Completed | Error",
    "sitemap_import_status": "Queued | Processing | Complete | Error",
    "page_processing_status": "Queued | Processing | Complete | Error | Filtered",
    "contact_scrape_status": "New | ContactFound | NoContactFound | Error | NotAFit",
    "contact_processing_status": "Queued | Processing | Complete | Error",
    "contact_email_type": "SERVICE | CORPORATE | FREE | UNKNOWN",
    "user_role": "viewer | curator | admin",
}

TOUCHED = (
    "tenants",
    "users",
    "api_keys",
    "audit_log",
    "batch_jobs",
    "domains",
    "place_searches",
    "places_staging",
    "selection_rules",
    "suppressions",
    "curation_actions",
    "local_businesses",
    "sitemap_files",
    "pages",
    "batch_items",
    "contacts",
    "contact_evidence",
)

SYSTEM_USER_ID = "5c7a9e0a-0000-4000-8000-000000000001"

CONTACT_LIKE = (
    '{"all": [{"field": "contact_likelihood", "comparison": "at_least", "value": 0.3}]}'
)


def an_enum(name: str) -> postgresql.ENUM:
    return postgresql.ENUM(*ENUMS[name].split(" | "), name=name, create_type=False)


def key() -> sa.Column[UUID]:
    return sa.Column(
        "id", sa.Uuid(), server_default=sa.func.gen_random_uuid(), nullable=False
    )


def times() -> list[sa.Column[datetime]]:
    return [
        sa.Column(
            name,
            sa.DateTime(timezone=True),
            server_default=sa.func.clock_timestamp(),
            nullable=False,
        )
        for name in ("created_at", "updated_at")
    ]


def key_and_tenant() -> list[sa.Column[UUID]]:
    return [key(), sa.Column("tenant_id", sa.Uuid(), nullable=False)]


def maker_and_times() -> list[sa.Column[Any]]:
    return [sa.Column("created_by", sa.Uuid(), nullable=True), *times()]


def upgrade() -> None:
    for name in ENUMS:
        an_enum(name).create(op.get_bind())
    op.create_table(
        "scheduler_runs",
        key(),
        sa.Column("job_id", sa.Text, nullable=False),
        sa.Column("process", sa.Text, nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column(
            "is_singleton",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
        ),
        sa.Column("outcome", sa.Text, nullable=False),
        sa.Column("items", sa.BigInteger(), nullable=True),
        sa.Column("error", sa.Text, nullable=True),
        sa.Column(
            "started_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scheduler_runs")),
    )
    op.create_index(
        "ix_scheduler_runs_job_id_due_at",
        "scheduler_runs",
        ["job_id", "due_at"],
        unique=False,
    )
    op.create_index(
        "uq_scheduler_runs_singleton",
        "scheduler_runs",
        ["job_id", "due_at"],
        unique=True,
        postgresql_where=sa.text("is_singleton"),
    )
    op.create_table(
        "tenants",
        key(),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("slug", sa.Text, nullable=False),
        sa.Column("suspended_at", sa.DateTime(timezone=True), nullable=True),
        *times(),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tenants")),
        sa.UniqueConstraint("slug", name=op.f("uq_tenants_slug")),
    )
    op.create_table(
        "users",
        *key_and_tenant(),
        sa.Column("email", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=True),
        sa.Column(
            "role", an_enum("user_role"), server_default="viewer", nullable=False
        ),
        sa.Column("password_hash", sa.Text, nullable=True),
        sa.Column(
            "is_system", sa.Boolean(), server_default=sa.text("false"), nullable=False
        ),
        sa.Column("disabled_at", sa.DateTime(timezone=True), nullable=True),
        *times(),
        sa.ForeignKeyConstraint(
            ["tenant_id"],
            ["tenants.id"],
            name=op.f("fk_users_tenant_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_users")),
        sa.UniqueConstraint(
            "tenant_id", "email", name=op.f("uq_users_tenant_id_email")
        ),
    )
    op.create_table(
        "api_keys",
        *key_and_tenant(),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("prefix", sa.Text, nullable=False),
        sa.Column("secret_hash", postgresql.BYTEA(), nullable=False),
        sa.Column(
            "role", an_enum("user_role"), server_default="viewer", nullable=False
        ),
        sa.Column(
            "scopes",
            postgresql.ARRAY(sa.Text()),
            server_default=sa.text("'{}'"),
            nullable=False,
        ),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        *maker_and_times(),
        sa.ForeignKeyConstraint(
            ["created_by"],
            ["users.id"],
            name=op.f("fk_api_keys_created_by"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"],
            ["tenants.id"],
            name=op.f("fk_api_keys_tenant_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_keys")),
        sa.UniqueConstraint("prefix", name=op.f("uq_api_keys_prefix")),
    )
    op.create_table(
        "audit_log",
        *key_and_tenant(),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column(
            "details",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            nullable=True,
        ),
        sa.Column("request_id", sa.Text, nullable=True),
        *maker_and_times(),
        sa.ForeignKeyConstraint(
            ["created_by"],
            ["users.id"],
            name=op.f("fk_audit_log_created_by"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"],
            ["tenants.id"],
            name=op.f("fk_audit_log_tenant_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_log")),
    )
    op.create_index(
        "ix_audit_log_tenant_id_created_at",
        "audit_log",
        ["tenant_id", "created_at"],
        unique=False,
    )
    op.create_table(
        "batch_jobs",
        *key_and_tenant(),
        sa.Column("name", sa.Text, nullable=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("paused_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("cancelled_at", sa.DateTime(timezone=True), nullable=True),
        *maker_and_times(),
        sa.ForeignKeyConstraint(
            ["created_by"],
            ["users.id"],
            name=op.f("fk_batch_jobs_created_by"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"],
            ["tenants.id"],
            name=op.f("fk_batch_jobs_tenant_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_batch_jobs")),
    )
    op.create_table(
        "domains",
        *key_and_tenant(),
        sa.Column("domain", sa.Text, nullable=False),
        sa.Column("home_url", sa.Text, nullable=True),
        sa.Column("verdict", sa.Text, nullable=True),
        sa.Column(
            "verdict_evidence",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            nullable=True,
        ),
        sa.Column("title", sa.Text, nullable=True),
        sa.Column("description", sa.Text, nullable=True),
        sa.Column("language", sa.Text, nullable=True),
        sa.Column("favicon_url", sa.Text, nullable=True),
        sa.Column("logo_url", sa.Text, nullable=True),
        sa.Column("generator", sa.Text, nullable=True),
        sa.Column("generator_version", sa.Text, nullable=True),
        sa.Column(
            "tech_stack",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            server_default=sa.text("'{}'"),
            nullable=False,
        ),
        sa.Column(
            "emails",
            postgresql.ARRAY(sa.Text()),
            server_default=sa.text("'{}'"),
            nullable=False,
        ),
        sa.Column(
            "phones",
            postgresql.ARRAY(sa.Text()),
            server_default=sa.text("'{}'"),
            nullable=False,
        ),
        sa.Column(
            "social_links",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            server_default=sa.text("'{}'"),
            nullable=False,
        ),
        sa.Column(
            "organisation",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            nullable=True,
        ),
        sa.Column(
            "sitemap_hints",
            postgresql.ARRAY(sa.Text()),
            server_default=sa.text("'{}'"),
            nullable=False,
        ),
        sa.Column(
            "priority", sa.SmallInteger(), server_default=sa.text("0"), nullable=False
        ),
        sa.Column(
            "status", an_enum("domain_status"), server_default="pending", nullable=False
        ),
        sa.Column("error", sa.String(length=1024), nullable=True),
        sa.Column(
            "sitemap_analysis_status",
            an_enum("sitemap_analysis_status"),
            server_default="pending",
            nullable=False,
        ),
        sa.Column("sitemap_analysis_error", sa.String(length=1024), nullable=True),
        sa.Column(
            "sitemap_curation_status",
            an_enum("curation_status"),
            server_default="New",
            nullable=False,
        ),
        *maker_and_times(),
        sa.ForeignKeyConstraint(
            ["created_by"],
            ["users.id"],
            name=op.f("fk_domains_created_by"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"],
            ["tenants.id"],
            name=op.f("fk_domains_tenant_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_domains")),
        sa.UniqueConstraint(
            "tenant_id", "domain", name=op.f("uq_domains_tenant_id_domain")
        ),
    )
    op.create_index(
        "domains_sitemap_analysis_status_queue",
        "domains",
        [
            "tenant_id",
            sa.literal_column("priority DESC NULLS LAST"),
            "updated_at",
            "id",
        ],
        unique=False,
        postgresql_where=sa.text("sitemap_analysis_status = 'queued'"),
    )
    op.create_index(
        "domains_status_queue",
        "domains",
        [
            "tenant_id",
            sa.literal_column("priority DESC NULLS LAST"),
            "updated_at",
            "id",
        ],
        unique=False,
        postgresql_where=sa.text("status = 'pending'"),
    )
    op.create_index(
        "ix_domains_tenant_id_sitemap_curation_status",
        "domains",
        ["tenant_id", "sitemap_curation_status"],
        unique=False,
    )
    op.create_table(
        "place_searches",
        *key_and_tenant(),
        sa.Column("business_type", sa.Text, nullable=False),
        sa.Column("location", sa.Text, nullable=True),
        sa.Column("radius_m", sa.BigInteger(), nullable=True),
        sa.Column(
            "area",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            nullable=True,
        ),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column(
            "params",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            server_default=sa.text("'{}'"),
            nullable=False,
        ),
        sa.Column("budget", sa.Numeric(precision=12, scale=4), nullable=True),
        sa.Column(
            "spent",
            sa.Numeric(precision=12, scale=4),
            server_default=sa.text("0"),
            nullable=False,
        ),
        sa.Column(
            "status", an_enum("task_status"), server_default="Queued", nullable=False
        ),
        sa.Column(
            "progress",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            server_default=sa.text("'{}'"),
            nullable=False,
        ),
        sa.Column(
            "problems",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            server_default=sa.text("'[]'"),
            nullable=False,
        ),
        sa.Column(
            "coverage",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            nullable=True,
        ),
        sa.Column(
            "found_count", sa.BigInteger(), server_default=sa.text("0"), nullable=False
        ),
        sa.Column(
            "new_count", sa.BigInteger(), server_default=sa.text("0"), nullable=False
        ),
        sa.Column("error", sa.String(length=1024), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        *maker_and_times(),
        sa.ForeignKeyConstraint(
            ["created_by"],
            ["users.id"],
            name=op.f("fk_place_searches_created_by"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"],
            ["tenants.id"],
            name=op.f("fk_place_searches_tenant_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_place_searches")),
    )
    op.create_index(
        "place_searches_status_queue",
        "place_searches",
        ["tenant_id", "updated_at", "id"],
        unique=False,
        postgresql_where=sa.text("status = 'Queued'"),
    )
    op.create_table(
        "places_staging",
        *key_and_tenant(),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("source_place_id", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=True),
        sa.Column("address", sa.Text, nullable=True),
        sa.Column("latitude", sa.Double(), nullable=True),
        sa.Column("longitude", sa.Double(), nullable=True),
        sa.Column("rating", sa.Double(), nullable=True),
        sa.Column("reviews_count", sa.BigInteger(), nullable=True),
        sa.Column("price_level", sa.Text, nullable=True),
        sa.Column(
            "categories",
            postgresql.ARRAY(sa.Text()),
            server_default=sa.text("'{}'"),
            nullable=False,
        ),
        sa.Column("website", sa.Text, nullable=True),
        sa.Column("phone", sa.Text, nullable=True),
        sa.Column("business_status", sa.Text, nullable=True),
        sa.Column("moved_to", sa.Text, nullable=True),
        sa.Column(
            "raw",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            nullable=True,
        ),
        sa.Column("licence", sa.Text, nullable=True),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column(
            "status", an_enum("curation_status"), server_default="New", nullable=False
        ),
        sa.Column("deep_scan_status", an_enum("deep_scan_status"), nullable=True),
        sa.Column("deep_scan_error", sa.String(length=1024), nullable=True),
        *maker_and_times(),
        sa.ForeignKeyConstraint(
            ["created_by"],
            ["users.id"],
            name=op.f("fk_places_staging_created_by"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"],
            ["tenants.id"],
            name=op.f("fk_places_staging_tenant_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_places_staging")),
        sa.UniqueConstraint(
            "tenant_id",
            "source",
            "source_place_id",
            name=op.f("uq_places_staging_tenant_id_source_source_place_id"),
        ),
    )
    op.create_index(
        "ix_places_staging_expires_at",
        "places_staging",
        ["expires_at"],
        unique=False,
        postgresql_where=sa.text("expires_at IS NOT NULL"),
    )
    op.create_index(
        "ix_places_staging_tenant_id_status",
        "places_staging",
        ["tenant_id", "status"],
        unique=False,
    )
    op.create_index(
        "places_staging_deep_scan_status_queue",
        "places_staging",
        ["tenant_id", "updated_at", "id"],
        unique=False,
        postgresql_where=sa.text("deep_scan_status = 'Queued'"),
    )
    op.create_table(
        "selection_rules",
        *key_and_tenant(),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column(
            "conditions",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            nullable=False,
        ),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column(
            "is_enabled", sa.Boolean(), server_default=sa.text("true"), nullable=False
        ),
        *maker_and_times(),
        sa.ForeignKeyConstraint(
            ["created_by"],
            ["users.id"],
            name=op.f("fk_selection_rules_created_by"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"],
            ["tenants.id"],
            name=op.f("fk_selection_rules_tenant_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_selection_rules")),
        sa.UniqueConstraint(
            "tenant_id", "name", name=op.f("uq_selection_rules_tenant_id_name")
        ),
    )
    op.create_table(
        "suppressions",
        *key_and_tenant(),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("value_hash", postgresql.BYTEA(), nullable=False),
        sa.Column("reason", sa.Text, nullable=True),
        *maker_and_times(),
        sa.CheckConstraint(
            "kind IN ('email', 'phone', 'domain')", name=op.f("ck_suppressions_kind")
        ),
        sa.ForeignKeyConstraint(
            ["created_by"],
            ["users.id"],
            name=op.f("fk_suppressions_created_by"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"],
            ["tenants.id"],
            name=op.f("fk_suppressions_tenant_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_suppressions")),
        sa.UniqueConstraint(
            "tenant_id",
            "kind",
            "value_hash",
            name=op.f("uq_suppressions_tenant_id_kind_value_hash"),
        ),
    )
    op.create_table(
        "curation_actions",
        *key_and_tenant(),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("rule_id", sa.Uuid(), nullable=True),
        sa.Column(
            "selection",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            nullable=False,
        ),
        sa.Column(
            "changed_count",
            sa.BigInteger(),
            server_default=sa.text("0"),
            nullable=False,
        ),
        sa.Column(
            "queued_count", sa.BigInteger(), server_default=sa.text("0"), nullable=False
        ),
        sa.Column(
            "skipped",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            server_default=sa.text("'{}'"),
            nullable=False,
        ),
        sa.Column("undone_at", sa.DateTime(timezone=True), nullable=True),
        *maker_and_times(),
        sa.ForeignKeyConstraint(
            ["created_by"],
            ["users.id"],
            name=op.f("fk_curation_actions_created_by"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["rule_id"],
            ["selection_rules.id"],
            name=op.f("fk_curation_actions_rule_id"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"],
            ["tenants.id"],
            name=op.f("fk_curation_actions_tenant_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_curation_actions")),
    )
    op.create_index(
        op.f("ix_curation_actions_rule_id"),
        "curation_actions",
        ["rule_id"],
        unique=False,
    )
    op.create_index(
        "ix_curation_actions_tenant_id_created_at",
        "curation_actions",
        ["tenant_id", "created_at"],
        unique=False,
    )
    op.create_table(
        "local_businesses",
        *key_and_tenant(),
        sa.Column("place_id", sa.Uuid(), nullable=True),
        sa.Column("domain_id", sa.Uuid(), nullable=True),
        sa.Column("name", sa.Text, nullable=True),
        sa.Column("street", sa.Text, nullable=True),
        sa.Column("city", sa.Text, nullable=True),
        sa.Column("region", sa.Text, nullable=True),
        sa.Column("postal_code", sa.Text, nullable=True),
        sa.Column("country", sa.Text, nullable=True),
        sa.Column("phone", sa.Text, nullable=True),
        sa.Column("website", sa.Text, nullable=True),
        sa.Column(
            "categories",
            postgresql.ARRAY(sa.Text()),
            server_default=sa.text("'{}'"),
            nullable=False,
        ),
        sa.Column(
            "hours",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            nullable=True,
        ),
        sa.Column("rating", sa.Double(), nullable=True),
        sa.Column("reviews_count", sa.BigInteger(), nullable=True),
        sa.Column("latitude", sa.Double(), nullable=True),
        sa.Column("longitude", sa.Double(), nullable=True),
        sa.Column(
            "attributes",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            server_default=sa.text("'{}'"),
            nullable=False,
        ),
        sa.Column(
            "links",
            postgresql.ARRAY(sa.Text()),
            server_default=sa.text("'{}'"),
            nullable=False,
        ),
        sa.Column(
            "status", an_enum("curation_status"), server_default="New", nullable=False
        ),
        sa.Column(
            "domain_extraction_status",
            an_enum("domain_extraction_status"),
            nullable=True,
        ),
        sa.Column("domain_extraction_error", sa.String(length=1024), nullable=True),
        *maker_and_times(),
        sa.ForeignKeyConstraint(
            ["created_by"],
            ["users.id"],
            name=op.f("fk_local_businesses_created_by"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["domain_id"],
            ["domains.id"],
            name=op.f("fk_local_businesses_domain_id"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["place_id"],
            ["places_staging.id"],
            name=op.f("fk_local_businesses_place_id"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"],
            ["tenants.id"],
            name=op.f("fk_local_businesses_tenant_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_local_businesses")),
        sa.UniqueConstraint(
            "tenant_id", "place_id", name=op.f("uq_local_businesses_tenant_id_place_id")
        ),
    )
    op.create_index(
        op.f("ix_local_businesses_domain_id"),
        "local_businesses",
        ["domain_id"],
        unique=False,
    )
    op.create_index(
        "ix_local_businesses_tenant_id_status",
        "local_businesses",
        ["tenant_id", "status"],
        unique=False,
    )
    op.create_index(
        "local_businesses_domain_extraction_status_queue",
        "local_businesses",
        ["tenant_id", "updated_at", "id"],
        unique=False,
        postgresql_where=sa.text("domain_extraction_status = 'Queued'"),
    )
    op.create_table(
        "place_search_hits",
        sa.Column("search_id", sa.Uuid(), nullable=False),
        sa.Column("place_id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column(
            "found_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
        sa.ForeignKeyConstraint(
            ["place_id"],
            ["places_staging.id"],
            name=op.f("fk_place_search_hits_place_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["search_id"],
            ["place_searches.id"],
            name=op.f("fk_place_search_hits_search_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"],
            ["tenants.id"],
            name=op.f("fk_place_search_hits_tenant_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "search_id", "place_id", name=op.f("pk_place_search_hits")
        ),
    )
    op.create_index(
        op.f("ix_place_search_hits_place_id"),
        "place_search_hits",
        ["place_id"],
        unique=False,
    )
    op.create_table(
        "sitemap_files",
        *key_and_tenant(),
        sa.Column("domain_id", sa.Uuid(), nullable=False),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("sitemap_type", sa.Text, nullable=True),
        sa.Column("found_by", sa.Text, nullable=True),
        sa.Column("size_bytes", sa.BigInteger(), nullable=True),
        sa.Column("url_count", sa.BigInteger(), nullable=True),
        sa.Column(
            "dropped",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            server_default=sa.text("'{}'"),
            nullable=False,
        ),
        sa.Column("lastmod", sa.DateTime(timezone=True), nullable=True),
        sa.Column("generator", sa.Text, nullable=True),
        sa.Column("etag", sa.Text, nullable=True),
        sa.Column("last_modified", sa.Text, nullable=True),
        sa.Column(
            "priority", sa.SmallInteger(), server_default=sa.text("0"), nullable=False
        ),
        sa.Column(
            "status",
            an_enum("sitemap_file_status"),
            server_default="Pending",
            nullable=False,
        ),
        sa.Column(
            "deep_scrape_curation_status",
            an_enum("curation_status"),
            server_default="New",
            nullable=False,
        ),
        sa.Column(
            "sitemap_import_status", an_enum("sitemap_import_status"), nullable=True
        ),
        sa.Column("sitemap_import_error", sa.String(length=1024), nullable=True),
        *maker_and_times(),
        sa.ForeignKeyConstraint(
            ["created_by"],
            ["users.id"],
            name=op.f("fk_sitemap_files_created_by"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["domain_id"],
            ["domains.id"],
            name=op.f("fk_sitemap_files_domain_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"],
            ["tenants.id"],
            name=op.f("fk_sitemap_files_tenant_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sitemap_files")),
        sa.UniqueConstraint(
            "domain_id", "url", name=op.f("uq_sitemap_files_domain_id_url")
        ),
    )
    op.create_index(
        "ix_sitemap_files_tenant_id_deep_scrape_curation_status",
        "sitemap_files",
        ["tenant_id", "deep_scrape_curation_status"],
        unique=False,
    )
    op.create_index(
        "sitemap_files_sitemap_import_status_queue",
        "sitemap_files",
        [
            "tenant_id",
            sa.literal_column("priority DESC NULLS LAST"),
            "updated_at",
            "id",
        ],
        unique=False,
        postgresql_where=sa.text("sitemap_import_status = 'Queued'"),
    )
    op.create_table(
        "curation_changes",
        sa.Column("action_id", sa.Uuid(), nullable=False),
        sa.Column("record_id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("status_before", sa.Text, nullable=False),
        sa.Column("stage_status_before", sa.Text, nullable=True),
        sa.Column("error_before", sa.Text, nullable=True),
        sa.Column("queued", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["action_id"],
            ["curation_actions.id"],
            name=op.f("fk_curation_changes_action_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"],
            ["tenants.id"],
            name=op.f("fk_curation_changes_tenant_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "action_id", "record_id", name=op.f("pk_curation_changes")
        ),
    )
    op.create_index(
        op.f("ix_curation_changes_record_id"),
        "curation_changes",
        ["record_id"],
        unique=False,
    )
    op.create_table(
        "pages",
        *key_and_tenant(),
        sa.Column("domain_id", sa.Uuid(), nullable=False),
        sa.Column("sitemap_file_id", sa.Uuid(), nullable=True),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("lastmod", sa.DateTime(timezone=True), nullable=True),
        sa.Column("gone_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("page_type", sa.Text, nullable=True),
        sa.Column("contact_likelihood", sa.Double(), nullable=True),
        sa.Column(
            "likelihood_reasons",
            postgresql.ARRAY(sa.Text()),
            server_default=sa.text("'{}'"),
            nullable=False,
        ),
        sa.Column("title", sa.Text, nullable=True),
        sa.Column("description", sa.Text, nullable=True),
        sa.Column("h1", sa.Text, nullable=True),
        sa.Column("language", sa.Text, nullable=True),
        sa.Column("canonical_url", sa.Text, nullable=True),
        sa.Column(
            "structured_data_types",
            postgresql.ARRAY(sa.Text()),
            server_default=sa.text("'{}'"),
            nullable=False,
        ),
        sa.Column("has_contact_form", sa.Boolean(), nullable=True),
        sa.Column("word_count", sa.BigInteger(), nullable=True),
        sa.Column("http_status", sa.SmallInteger(), nullable=True),
        sa.Column("etag", sa.Text, nullable=True),
        sa.Column("last_modified", sa.Text, nullable=True),
        sa.Column("bytes", sa.BigInteger(), nullable=True),
        sa.Column("fetch_ms", sa.BigInteger(), nullable=True),
        sa.Column("fetched_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column(
            "fetch_facts",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            nullable=True,
        ),
        sa.Column(
            "priority", sa.SmallInteger(), server_default=sa.text("0"), nullable=False
        ),
        sa.Column(
            "page_curation_status",
            an_enum("page_curation_status"),
            server_default="New",
            nullable=False,
        ),
        sa.Column(
            "page_processing_status", an_enum("page_processing_status"), nullable=True
        ),
        sa.Column("page_processing_error", sa.String(length=1024), nullable=True),
        sa.Column(
            "contact_scrape_status",
            an_enum("contact_scrape_status"),
            server_default="New",
            nullable=False,
        ),
        *maker_and_times(),
        sa.ForeignKeyConstraint(
            ["created_by"],
            ["users.id"],
            name=op.f("fk_pages_created_by"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["domain_id"],
            ["domains.id"],
            name=op.f("fk_pages_domain_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["sitemap_file_id"],
            ["sitemap_files.id"],
            name=op.f("fk_pages_sitemap_file_id"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"],
            ["tenants.id"],
            name=op.f("fk_pages_tenant_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pages")),
        sa.UniqueConstraint("domain_id", "url", name=op.f("uq_pages_domain_id_url")),
    )
    op.create_index(
        op.f("ix_pages_sitemap_file_id"), "pages", ["sitemap_file_id"], unique=False
    )
    op.create_index(
        "ix_pages_tenant_id_page_curation_status",
        "pages",
        ["tenant_id", "page_curation_status"],
        unique=False,
    )
    op.create_index(
        "pages_page_processing_status_queue",
        "pages",
        [
            "tenant_id",
            sa.literal_column("priority DESC NULLS LAST"),
            "updated_at",
            "id",
        ],
        unique=False,
        postgresql_where=sa.text("page_processing_status = 'Queued'"),
    )
    op.create_table(
        "batch_items",
        *key_and_tenant(),
        sa.Column("batch_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("submitted", sa.Text, nullable=False),
        sa.Column("domain_id", sa.Uuid(), nullable=True),
        sa.Column("sitemap_file_id", sa.Uuid(), nullable=True),
        sa.Column("page_id", sa.Uuid(), nullable=True),
        sa.Column(
            "is_duplicate",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
        ),
        sa.Column("error", sa.String(length=1024), nullable=True),
        *maker_and_times(),
        sa.CheckConstraint(
            "num_nonnulls(domain_id, sitemap_file_id, page_id, error) >= 1",
            name=op.f("ck_batch_items_has_outcome"),
        ),
        sa.ForeignKeyConstraint(
            ["batch_id"],
            ["batch_jobs.id"],
            name=op.f("fk_batch_items_batch_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["created_by"],
            ["users.id"],
            name=op.f("fk_batch_items_created_by"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["domain_id"],
            ["domains.id"],
            name=op.f("fk_batch_items_domain_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["page_id"],
            ["pages.id"],
            name=op.f("fk_batch_items_page_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["sitemap_file_id"],
            ["sitemap_files.id"],
            name=op.f("fk_batch_items_sitemap_file_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"],
            ["tenants.id"],
            name=op.f("fk_batch_items_tenant_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_batch_items")),
    )
    op.create_index(
        op.f("ix_batch_items_domain_id"), "batch_items", ["domain_id"], unique=False
    )
    op.create_index(
        op.f("ix_batch_items_page_id"), "batch_items", ["page_id"], unique=False
    )
    op.create_index(
        op.f("ix_batch_items_sitemap_file_id"),
        "batch_items",
        ["sitemap_file_id"],
        unique=False,
    )
    op.create_index(
        "uq_batch_items_batch_id_position",
        "batch_items",
        ["batch_id", "position"],
        unique=True,
    )
    op.create_table(
        "contacts",
        *key_and_tenant(),
        sa.Column("domain_id", sa.Uuid(), nullable=False),
        sa.Column("page_id", sa.Uuid(), nullable=True),
        sa.Column("email", sa.Text, nullable=True),
        sa.Column(
            "email_type",
            an_enum("contact_email_type"),
            server_default="UNKNOWN",
            nullable=False,
        ),
        sa.Column("name", sa.Text, nullable=True),
        sa.Column("role", sa.Text, nullable=True),
        sa.Column("phone", sa.Text, nullable=True),
        sa.Column(
            "phones",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            server_default=sa.text("'{}'"),
            nullable=False,
        ),
        sa.Column(
            "address",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            nullable=True,
        ),
        sa.Column(
            "social_links",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            server_default=sa.text("'{}'"),
            nullable=False,
        ),
        sa.Column("confidence", sa.Double(), nullable=True),
        sa.Column("notes", sa.Text, nullable=True),
        sa.Column(
            "tags",
            postgresql.ARRAY(sa.Text()),
            server_default=sa.text("'{}'"),
            nullable=False,
        ),
        sa.Column(
            "validation",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            nullable=True,
        ),
        sa.Column("validated_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column(
            "contact_curation_status",
            an_enum("contact_curation_status"),
            server_default="New",
            nullable=False,
        ),
        sa.Column(
            "validation_processing_status",
            an_enum("contact_processing_status"),
            nullable=True,
        ),
        sa.Column("validation_processing_error", sa.String(length=1024), nullable=True),
        *maker_and_times(),
        sa.CheckConstraint(
            "email = lower(email)", name=op.f("ck_contacts_email_lower_case")
        ),
        sa.CheckConstraint(
            "num_nonnulls(email, phone) >= 1", name=op.f("ck_contacts_reachable")
        ),
        sa.ForeignKeyConstraint(
            ["created_by"],
            ["users.id"],
            name=op.f("fk_contacts_created_by"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["domain_id"],
            ["domains.id"],
            name=op.f("fk_contacts_domain_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["page_id"],
            ["pages.id"],
            name=op.f("fk_contacts_page_id"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"],
            ["tenants.id"],
            name=op.f("fk_contacts_tenant_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_contacts")),
    )
    op.create_index(
        "contacts_validation_processing_status_queue",
        "contacts",
        ["tenant_id", "updated_at", "id"],
        unique=False,
        postgresql_where=sa.text("validation_processing_status = 'Queued'"),
    )
    op.create_index(op.f("ix_contacts_page_id"), "contacts", ["page_id"], unique=False)
    op.create_index(
        "ix_contacts_tenant_id_contact_curation_status",
        "contacts",
        ["tenant_id", "contact_curation_status"],
        unique=False,
    )
    op.create_index(
        "uq_contacts_domain_id_email",
        "contacts",
        ["domain_id", "email"],
        unique=True,
        postgresql_where=sa.text("email IS NOT NULL"),
    )
    op.create_index(
        "uq_contacts_domain_id_phone",
        "contacts",
        ["domain_id", "phone"],
        unique=True,
        postgresql_where=sa.text("email IS NULL"),
    )
    op.create_table(
        "contact_evidence",
        *key_and_tenant(),
        sa.Column("contact_id", sa.Uuid(), nullable=False),
        sa.Column("field", sa.Text, nullable=False),
        sa.Column("value", sa.Text, nullable=False),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("snippet", sa.Text, nullable=True),
        sa.Column("method", sa.Text, nullable=False),
        sa.Column("confidence", sa.Double(), nullable=False),
        sa.Column("robots", sa.Text, nullable=True),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        *maker_and_times(),
        sa.ForeignKeyConstraint(
            ["contact_id"],
            ["contacts.id"],
            name=op.f("fk_contact_evidence_contact_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["created_by"],
            ["users.id"],
            name=op.f("fk_contact_evidence_created_by"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"],
            ["tenants.id"],
            name=op.f("fk_contact_evidence_tenant_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_contact_evidence")),
    )
    op.create_index(
        "uq_contact_evidence_contact_id_field_value_url_method",
        "contact_evidence",
        [
            "contact_id",
            "field",
            sa.literal_column("md5(value)"),
            sa.literal_column("md5(url)"),
            "method",
        ],
        unique=True,
    )

    op.execute(
        """
        CREATE FUNCTION touch_updated_at() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            NEW.updated_at := clock_timestamp();
            RETURN NEW;
        END $$
        """
    )
    for table in TOUCHED:
        op.execute(
            f"CREATE TRIGGER touch_updated_at BEFORE UPDATE ON {table} "
            "FOR EACH ROW EXECUTE FUNCTION touch_updated_at()"
        )
    op.execute("INSERT INTO tenants (name, slug) VALUES ('Default', 'default')")
    op.execute(
        sa.text(
            "INSERT INTO users (id, tenant_id, email, name, role, is_system) "
            "SELECT :id, id, 'system@scrapersky.invalid', 'ScraperSky', 'admin', true "
            "FROM tenants WHERE slug = 'default'"
        ).bindparams(sa.bindparam("id", UUID(SYSTEM_USER_ID), sa.Uuid()))
    )
    op.execute(
        sa.text(
            "INSERT INTO selection_rules (tenant_id, created_by, name, kind, conditions, "
            "status) SELECT id, :id, 'Contact-like pages', 'pages', "
            "CAST(:conditions AS jsonb), 'Selected' FROM tenants WHERE slug = 'default'"
        ).bindparams(
            sa.bindparam("id", UUID(SYSTEM_USER_ID), sa.Uuid()),
            sa.bindparam("conditions", CONTACT_LIKE),
        )
    )


def downgrade() -> None:
    op.drop_table("contact_evidence")
    op.drop_table("contacts")
    op.drop_table("batch_items")
    op.drop_table("pages")
    op.drop_table("curation_changes")
    op.drop_table("sitemap_files")
    op.drop_table("place_search_hits")
    op.drop_table("local_businesses")
    op.drop_table("curation_actions")
    op.drop_table("suppressions")
    op.drop_table("selection_rules")
    op.drop_table("places_staging")
    op.drop_table("place_searches")
    op.drop_table("domains")
    op.drop_table("batch_jobs")
    op.drop_table("audit_log")
    op.drop_table("api_keys")
    op.drop_table("users")
    op.drop_table("tenants")
    op.drop_table("scheduler_runs")
    op.execute("DROP FUNCTION touch_updated_at")
    for name in ENUMS:
        an_enum(name).drop(op.get_bind())
