-- The schema of release 0.1.0, without the tables of the Curation SDK and the role of the API,
-- which 0022_tracebacks.py makes first. Written from the catalogue of a database of that release.

CREATE TYPE task_status AS ENUM
  ('Queued', 'InProgress', 'Completed', 'Error', 'ManualReview', 'Cancelled', 'Paused');
CREATE TYPE curation_status AS ENUM ('New', 'Selected', 'Maybe', 'Not a Fit', 'Archived');
CREATE TYPE page_curation_status AS ENUM
  ('New', 'Selected', 'Queued', 'Processing', 'Complete', 'Error', 'Skipped');
CREATE TYPE contact_curation_status AS ENUM
  ('New', 'Queued', 'Processing', 'Complete', 'Error', 'Skipped');
CREATE TYPE deep_scan_status AS ENUM ('Queued', 'Processing', 'Completed', 'Error');
CREATE TYPE domain_extraction_status AS ENUM ('Queued', 'Processing', 'Completed', 'Error');
CREATE TYPE domain_status AS ENUM ('pending', 'processing', 'completed', 'error');
CREATE TYPE sitemap_analysis_status AS ENUM
  ('pending', 'queued', 'processing', 'submitted', 'failed');
CREATE TYPE sitemap_file_status AS ENUM ('Pending', 'Processing', 'Completed', 'Error');
CREATE TYPE sitemap_import_status AS ENUM ('Queued', 'Processing', 'Complete', 'Error');
CREATE TYPE page_processing_status AS ENUM
  ('Queued', 'Processing', 'Complete', 'Error', 'Filtered');
CREATE TYPE contact_scrape_status AS ENUM
  ('New', 'ContactFound', 'NoContactFound', 'Error', 'NotAFit');
CREATE TYPE contact_processing_status AS ENUM ('Queued', 'Processing', 'Complete', 'Error');
CREATE TYPE contact_email_type AS ENUM ('SERVICE', 'CORPORATE', 'FREE', 'UNKNOWN');
CREATE TYPE user_role AS ENUM ('viewer', 'curator', 'admin');

CREATE FUNCTION mailbox_of(address text)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
AS $$ BEGIN
    RETURN regexp_replace(address, '[+][^@]*@', '@');
  END $$;

CREATE FUNCTION mailboxes_of(addresses text[])
 RETURNS text[]
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
AS $$ BEGIN
    RETURN array(SELECT regexp_replace(a, '[+][^@]*@', '@') FROM unnest(addresses) AS a);
  END $$;

DO $$ BEGIN
  IF (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
    ALTER FUNCTION mailbox_of LEAKPROOF;
    ALTER FUNCTION mailboxes_of LEAKPROOF;
  END IF;
END $$;

CREATE TABLE scheduler_runs (
  id uuid DEFAULT gen_random_uuid() NOT NULL,
  job_id text NOT NULL,
  process text NOT NULL,
  due_at timestamptz NOT NULL,
  is_singleton boolean DEFAULT false NOT NULL,
  outcome text NOT NULL,
  items bigint,
  error text,
  started_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  finished_at timestamptz,
  CONSTRAINT pk_scheduler_runs PRIMARY KEY (id)
);
CREATE INDEX ix_scheduler_runs_job_id_due_at ON scheduler_runs (job_id, due_at);
CREATE UNIQUE INDEX uq_scheduler_runs_singleton ON scheduler_runs (job_id, due_at)
  WHERE is_singleton;

CREATE TABLE tenants (
  id uuid DEFAULT gen_random_uuid() NOT NULL,
  name text NOT NULL,
  slug text NOT NULL,
  suspended_at timestamptz,
  created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  updated_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT pk_tenants PRIMARY KEY (id),
  CONSTRAINT uq_tenants_slug UNIQUE (slug)
);

CREATE TABLE users (
  id uuid DEFAULT gen_random_uuid() NOT NULL,
  tenant_id uuid NOT NULL,
  email text NOT NULL,
  name text,
  role user_role DEFAULT 'viewer'::user_role NOT NULL,
  password_hash text,
  is_system boolean DEFAULT false NOT NULL,
  disabled_at timestamptz,
  created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  updated_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  subject text,
  issuer text,
  CONSTRAINT pk_users PRIMARY KEY (id),
  CONSTRAINT uq_users_tenant_id_email UNIQUE (tenant_id, email),
  CONSTRAINT fk_users_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX uq_users_tenant_id_issuer_subject ON users (tenant_id, COALESCE(issuer, ''::text), subject)
  WHERE (subject IS NOT NULL);

CREATE TABLE api_keys (
  id uuid DEFAULT gen_random_uuid() NOT NULL,
  tenant_id uuid NOT NULL,
  name text NOT NULL,
  prefix text NOT NULL,
  secret_hash bytea NOT NULL,
  role user_role DEFAULT 'viewer'::user_role NOT NULL,
  scopes text[] DEFAULT '{}'::text[] NOT NULL,
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz,
  created_by uuid,
  created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  updated_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  is_personal boolean DEFAULT false NOT NULL,
  CONSTRAINT pk_api_keys PRIMARY KEY (id),
  CONSTRAINT uq_api_keys_prefix UNIQUE (prefix),
  CONSTRAINT fk_api_keys_created_by FOREIGN KEY (created_by)
    REFERENCES users(id) ON DELETE SET NULL,
  CONSTRAINT fk_api_keys_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);

CREATE TABLE audit_log (
  id uuid DEFAULT gen_random_uuid() NOT NULL,
  tenant_id uuid NOT NULL,
  actor text NOT NULL,
  action text NOT NULL,
  subject text NOT NULL,
  details jsonb,
  request_id text,
  created_by uuid,
  created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  updated_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  record_id uuid,
  CONSTRAINT pk_audit_log PRIMARY KEY (id),
  CONSTRAINT fk_audit_log_created_by FOREIGN KEY (created_by)
    REFERENCES users(id) ON DELETE SET NULL,
  CONSTRAINT fk_audit_log_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX ix_audit_log_tenant_id_created_at ON audit_log (tenant_id, created_at);
CREATE INDEX ix_audit_log_record_id ON audit_log (record_id) WHERE (record_id IS NOT NULL);

CREATE TABLE batch_jobs (
  id uuid DEFAULT gen_random_uuid() NOT NULL,
  tenant_id uuid NOT NULL,
  name text,
  kind text NOT NULL,
  paused_at timestamptz,
  cancelled_at timestamptz,
  created_by uuid,
  created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  updated_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT pk_batch_jobs PRIMARY KEY (id),
  CONSTRAINT fk_batch_jobs_created_by FOREIGN KEY (created_by)
    REFERENCES users(id) ON DELETE SET NULL,
  CONSTRAINT fk_batch_jobs_tenant_id FOREIGN KEY (tenant_id)
    REFERENCES tenants(id) ON DELETE CASCADE
);

CREATE TABLE domains (
  id uuid DEFAULT gen_random_uuid() NOT NULL,
  tenant_id uuid NOT NULL,
  domain text NOT NULL,
  home_url text,
  verdict text,
  verdict_evidence jsonb,
  title text,
  description text,
  language text,
  favicon_url text,
  logo_url text,
  generator text,
  generator_version text,
  tech_stack jsonb DEFAULT '{}'::jsonb NOT NULL,
  emails text[] DEFAULT '{}'::text[] NOT NULL,
  phones text[] DEFAULT '{}'::text[] NOT NULL,
  social_links jsonb DEFAULT '{}'::jsonb NOT NULL,
  organisation jsonb,
  sitemap_hints text[] DEFAULT '{}'::text[] NOT NULL,
  priority smallint DEFAULT 0 NOT NULL,
  status domain_status DEFAULT 'pending'::domain_status NOT NULL,
  error varchar(1024),
  sitemap_analysis_status sitemap_analysis_status DEFAULT 'pending'::sitemap_analysis_status NOT NULL,
  sitemap_analysis_error varchar(1024),
  sitemap_curation_status curation_status DEFAULT 'New'::curation_status NOT NULL,
  created_by uuid,
  created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  updated_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  link_texts jsonb DEFAULT '{}'::jsonb NOT NULL,
  CONSTRAINT pk_domains PRIMARY KEY (id),
  CONSTRAINT uq_domains_tenant_id_domain UNIQUE (tenant_id, domain),
  CONSTRAINT fk_domains_created_by FOREIGN KEY (created_by) REFERENCES users(id) ON DELETE SET NULL,
  CONSTRAINT fk_domains_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX domains_sitemap_analysis_status_queue ON domains (tenant_id, priority DESC NULLS LAST, updated_at, id)
  WHERE (sitemap_analysis_status = 'queued'::sitemap_analysis_status);
CREATE INDEX domains_status_queue ON domains (tenant_id, priority DESC NULLS LAST, updated_at, id)
  WHERE (status = 'pending'::domain_status);
CREATE INDEX ix_domains_by_time ON domains (tenant_id, updated_at, id);
CREATE INDEX ix_domains_by_status ON domains (tenant_id, sitemap_curation_status, updated_at, id);
CREATE INDEX ix_domains_emails ON domains USING gin (emails);
CREATE INDEX ix_domains_phones ON domains USING gin (phones);
CREATE INDEX ix_domains_mailboxes ON domains USING gin (mailboxes_of(emails));

CREATE TABLE place_searches (
  id uuid DEFAULT gen_random_uuid() NOT NULL,
  tenant_id uuid NOT NULL,
  business_type text NOT NULL,
  location text,
  radius_m bigint,
  area jsonb,
  source text NOT NULL,
  params jsonb DEFAULT '{}'::jsonb NOT NULL,
  budget numeric(12,4),
  spent numeric(12,4) DEFAULT 0 NOT NULL,
  status task_status DEFAULT 'Queued'::task_status NOT NULL,
  progress jsonb DEFAULT '{}'::jsonb NOT NULL,
  problems jsonb DEFAULT '[]'::jsonb NOT NULL,
  coverage jsonb,
  found_count bigint DEFAULT 0 NOT NULL,
  new_count bigint DEFAULT 0 NOT NULL,
  error varchar(1024),
  finished_at timestamptz,
  created_by uuid,
  created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  updated_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT pk_place_searches PRIMARY KEY (id),
  CONSTRAINT fk_place_searches_created_by FOREIGN KEY (created_by)
    REFERENCES users(id) ON DELETE SET NULL,
  CONSTRAINT fk_place_searches_tenant_id FOREIGN KEY (tenant_id)
    REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX place_searches_status_queue ON place_searches (tenant_id, updated_at, id)
  WHERE (status = 'Queued'::task_status);
CREATE INDEX ix_place_searches_by_time ON place_searches (tenant_id, updated_at, id);

CREATE TABLE places_staging (
  id uuid DEFAULT gen_random_uuid() NOT NULL,
  tenant_id uuid NOT NULL,
  source text NOT NULL,
  source_place_id text NOT NULL,
  name text,
  address text,
  latitude double precision,
  longitude double precision,
  rating double precision,
  reviews_count bigint,
  price_level text,
  categories text[] DEFAULT '{}'::text[] NOT NULL,
  website text,
  phone text,
  business_status text,
  moved_to text,
  raw jsonb,
  licence text,
  expires_at timestamptz,
  seen_at timestamptz,
  status curation_status DEFAULT 'New'::curation_status NOT NULL,
  deep_scan_status deep_scan_status,
  deep_scan_error varchar(1024),
  created_by uuid,
  created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  updated_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT pk_places_staging PRIMARY KEY (id),
  CONSTRAINT uq_places_staging_tenant_id_source_source_place_id UNIQUE (tenant_id, source, source_place_id),
  CONSTRAINT fk_places_staging_created_by FOREIGN KEY (created_by)
    REFERENCES users(id) ON DELETE SET NULL,
  CONSTRAINT fk_places_staging_tenant_id FOREIGN KEY (tenant_id)
    REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX ix_places_staging_expires_at ON places_staging (expires_at)
  WHERE (expires_at IS NOT NULL);
CREATE INDEX places_staging_deep_scan_status_queue ON places_staging (tenant_id, updated_at, id)
  WHERE (deep_scan_status = 'Queued'::deep_scan_status);
CREATE INDEX ix_places_staging_by_time ON places_staging (tenant_id, updated_at, id);
CREATE INDEX ix_places_staging_by_status ON places_staging (tenant_id, status, updated_at, id);
CREATE INDEX ix_places_staging_by_name ON places_staging (tenant_id, name, id);
CREATE INDEX ix_places_staging_by_rating ON places_staging (tenant_id, rating, id);
CREATE INDEX ix_places_staging_phone ON places_staging (phone);

CREATE TABLE selection_rules (
  id uuid DEFAULT gen_random_uuid() NOT NULL,
  tenant_id uuid NOT NULL,
  name text NOT NULL,
  kind text NOT NULL,
  conditions jsonb NOT NULL,
  status text NOT NULL,
  is_enabled boolean DEFAULT true NOT NULL,
  created_by uuid,
  created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  updated_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT pk_selection_rules PRIMARY KEY (id),
  CONSTRAINT uq_selection_rules_tenant_id_name UNIQUE (tenant_id, name),
  CONSTRAINT fk_selection_rules_created_by FOREIGN KEY (created_by)
    REFERENCES users(id) ON DELETE SET NULL,
  CONSTRAINT fk_selection_rules_tenant_id FOREIGN KEY (tenant_id)
    REFERENCES tenants(id) ON DELETE CASCADE
);

CREATE TABLE suppressions (
  id uuid DEFAULT gen_random_uuid() NOT NULL,
  tenant_id uuid NOT NULL,
  kind text NOT NULL,
  value_hash bytea NOT NULL,
  reason text,
  created_by uuid,
  created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  updated_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  tail_hash bytea,
  CONSTRAINT pk_suppressions PRIMARY KEY (id),
  CONSTRAINT uq_suppressions_tenant_id_kind_value_hash UNIQUE (tenant_id, kind, value_hash),
  CONSTRAINT ck_suppressions_kind
    CHECK ((kind = ANY (ARRAY['email'::text, 'phone'::text, 'domain'::text]))),
  CONSTRAINT fk_suppressions_created_by FOREIGN KEY (created_by)
    REFERENCES users(id) ON DELETE SET NULL,
  CONSTRAINT fk_suppressions_tenant_id FOREIGN KEY (tenant_id)
    REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX ix_suppressions_tenant_id_value_hash ON suppressions (tenant_id, value_hash);
CREATE INDEX ix_suppressions_tenant_id_tail_hash ON suppressions (tenant_id, tail_hash);

CREATE TABLE curation_actions (
  id uuid DEFAULT gen_random_uuid() NOT NULL,
  tenant_id uuid NOT NULL,
  kind text NOT NULL,
  status text NOT NULL,
  rule_id uuid,
  selection jsonb NOT NULL,
  changed_count bigint DEFAULT 0 NOT NULL,
  queued_count bigint DEFAULT 0 NOT NULL,
  skipped jsonb DEFAULT '{}'::jsonb NOT NULL,
  undone_at timestamptz,
  created_by uuid,
  created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  updated_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  matched_count bigint,
  finished_at timestamptz,
  CONSTRAINT pk_curation_actions PRIMARY KEY (id),
  CONSTRAINT fk_curation_actions_created_by FOREIGN KEY (created_by)
    REFERENCES users(id) ON DELETE SET NULL,
  CONSTRAINT fk_curation_actions_rule_id FOREIGN KEY (rule_id)
    REFERENCES selection_rules(id) ON DELETE SET NULL,
  CONSTRAINT fk_curation_actions_tenant_id FOREIGN KEY (tenant_id)
    REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX ix_curation_actions_rule_id ON curation_actions (rule_id);
CREATE INDEX ix_curation_actions_tenant_id_created_at ON curation_actions (tenant_id, created_at);

CREATE TABLE local_businesses (
  id uuid DEFAULT gen_random_uuid() NOT NULL,
  tenant_id uuid NOT NULL,
  place_id uuid,
  domain_id uuid,
  name text,
  street text,
  city text,
  region text,
  postal_code text,
  country text,
  phone text,
  website text,
  categories text[] DEFAULT '{}'::text[] NOT NULL,
  hours jsonb,
  rating double precision,
  reviews_count bigint,
  latitude double precision,
  longitude double precision,
  attributes jsonb DEFAULT '{}'::jsonb NOT NULL,
  links text[] DEFAULT '{}'::text[] NOT NULL,
  status curation_status DEFAULT 'New'::curation_status NOT NULL,
  domain_extraction_status domain_extraction_status,
  domain_extraction_error varchar(1024),
  created_by uuid,
  created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  updated_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  expires_at timestamptz,
  CONSTRAINT pk_local_businesses PRIMARY KEY (id),
  CONSTRAINT uq_local_businesses_tenant_id_place_id UNIQUE (tenant_id, place_id),
  CONSTRAINT fk_local_businesses_created_by FOREIGN KEY (created_by)
    REFERENCES users(id) ON DELETE SET NULL,
  CONSTRAINT fk_local_businesses_domain_id FOREIGN KEY (domain_id)
    REFERENCES domains(id) ON DELETE SET NULL,
  CONSTRAINT fk_local_businesses_place_id FOREIGN KEY (place_id)
    REFERENCES places_staging(id) ON DELETE SET NULL,
  CONSTRAINT fk_local_businesses_tenant_id FOREIGN KEY (tenant_id)
    REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX ix_local_businesses_domain_id ON local_businesses (domain_id);
CREATE INDEX local_businesses_domain_extraction_status_queue ON local_businesses (tenant_id, updated_at, id)
  WHERE (domain_extraction_status = 'Queued'::domain_extraction_status);
CREATE INDEX ix_local_businesses_expires_at ON local_businesses (expires_at)
  WHERE (expires_at IS NOT NULL);
CREATE INDEX ix_local_businesses_by_time ON local_businesses (tenant_id, updated_at, id);
CREATE INDEX ix_local_businesses_by_status ON local_businesses (tenant_id, status, updated_at, id);
CREATE INDEX ix_local_businesses_by_name ON local_businesses (tenant_id, name, id);
CREATE INDEX ix_local_businesses_phone ON local_businesses (phone);

CREATE TABLE place_search_hits (
  search_id uuid NOT NULL,
  place_id uuid NOT NULL,
  tenant_id uuid NOT NULL,
  found_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  facts_hash text,
  CONSTRAINT pk_place_search_hits PRIMARY KEY (search_id, place_id),
  CONSTRAINT fk_place_search_hits_place_id FOREIGN KEY (place_id)
    REFERENCES places_staging(id) ON DELETE CASCADE,
  CONSTRAINT fk_place_search_hits_search_id FOREIGN KEY (search_id)
    REFERENCES place_searches(id) ON DELETE CASCADE,
  CONSTRAINT fk_place_search_hits_tenant_id FOREIGN KEY (tenant_id)
    REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX ix_place_search_hits_place_id ON place_search_hits (place_id);

CREATE TABLE sitemap_files (
  id uuid DEFAULT gen_random_uuid() NOT NULL,
  tenant_id uuid NOT NULL,
  domain_id uuid NOT NULL,
  url text NOT NULL,
  sitemap_type text,
  found_by text,
  size_bytes bigint,
  url_count bigint,
  dropped jsonb DEFAULT '{}'::jsonb NOT NULL,
  lastmod timestamptz,
  generator text,
  etag text,
  last_modified text,
  priority smallint DEFAULT 0 NOT NULL,
  status sitemap_file_status DEFAULT 'Pending'::sitemap_file_status NOT NULL,
  deep_scrape_curation_status curation_status DEFAULT 'New'::curation_status NOT NULL,
  sitemap_import_status sitemap_import_status,
  sitemap_import_error varchar(1024),
  created_by uuid,
  created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  updated_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT pk_sitemap_files PRIMARY KEY (id),
  CONSTRAINT uq_sitemap_files_domain_id_url UNIQUE (domain_id, url),
  CONSTRAINT fk_sitemap_files_created_by FOREIGN KEY (created_by)
    REFERENCES users(id) ON DELETE SET NULL,
  CONSTRAINT fk_sitemap_files_domain_id FOREIGN KEY (domain_id)
    REFERENCES domains(id) ON DELETE CASCADE,
  CONSTRAINT fk_sitemap_files_tenant_id FOREIGN KEY (tenant_id)
    REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX sitemap_files_sitemap_import_status_queue ON sitemap_files (tenant_id, priority DESC NULLS LAST,
  updated_at, id)
  WHERE (sitemap_import_status = 'Queued'::sitemap_import_status);
CREATE INDEX ix_sitemap_files_by_time ON sitemap_files (tenant_id, updated_at, id);
CREATE INDEX ix_sitemap_files_by_status
  ON sitemap_files (tenant_id, deep_scrape_curation_status, updated_at, id);

CREATE TABLE curation_changes (
  action_id uuid NOT NULL,
  record_id uuid NOT NULL,
  tenant_id uuid NOT NULL,
  status_before text NOT NULL,
  stage_status_before text,
  error_before text,
  queued boolean NOT NULL,
  CONSTRAINT pk_curation_changes PRIMARY KEY (action_id, record_id),
  CONSTRAINT fk_curation_changes_action_id FOREIGN KEY (action_id)
    REFERENCES curation_actions(id) ON DELETE CASCADE,
  CONSTRAINT fk_curation_changes_tenant_id FOREIGN KEY (tenant_id)
    REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX ix_curation_changes_record_id ON curation_changes (record_id);

CREATE TABLE pages (
  id uuid DEFAULT gen_random_uuid() NOT NULL,
  tenant_id uuid NOT NULL,
  domain_id uuid NOT NULL,
  sitemap_file_id uuid,
  url text NOT NULL,
  lastmod timestamptz,
  gone_at timestamptz,
  page_type text,
  contact_likelihood double precision,
  likelihood_reasons text[] DEFAULT '{}'::text[] NOT NULL,
  title text,
  description text,
  h1 text,
  language text,
  canonical_url text,
  structured_data_types text[] DEFAULT '{}'::text[] NOT NULL,
  has_contact_form boolean,
  word_count bigint,
  http_status smallint,
  etag text,
  last_modified text,
  bytes bigint,
  fetch_ms bigint,
  fetched_at timestamptz,
  fetch_facts jsonb,
  priority smallint DEFAULT 0 NOT NULL,
  page_curation_status page_curation_status DEFAULT 'New'::page_curation_status NOT NULL,
  page_processing_status page_processing_status,
  page_processing_error varchar(1024),
  contact_scrape_status contact_scrape_status DEFAULT 'New'::contact_scrape_status NOT NULL,
  created_by uuid,
  created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  updated_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT pk_pages PRIMARY KEY (id),
  CONSTRAINT uq_pages_domain_id_url UNIQUE (domain_id, url)
);
CREATE INDEX ix_pages_sitemap_file_id ON pages (sitemap_file_id);
CREATE INDEX ix_pages_tenant_id_page_curation_status ON pages (tenant_id, page_curation_status);
CREATE INDEX pages_page_processing_status_queue ON pages (tenant_id, priority DESC NULLS LAST, updated_at, id)
  WHERE (page_processing_status = 'Queued'::page_processing_status);
CREATE INDEX ix_pages_by_time ON pages (tenant_id, updated_at, id);

CREATE TABLE batch_items (
  id uuid DEFAULT gen_random_uuid() NOT NULL,
  tenant_id uuid NOT NULL,
  batch_id uuid NOT NULL,
  position bigint NOT NULL,
  submitted text NOT NULL,
  domain_id uuid,
  sitemap_file_id uuid,
  page_id uuid,
  is_duplicate boolean DEFAULT false NOT NULL,
  error varchar(1024),
  created_by uuid,
  created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  updated_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT pk_batch_items PRIMARY KEY (id),
  CONSTRAINT ck_batch_items_has_outcome
    CHECK ((num_nonnulls(domain_id, sitemap_file_id, page_id, error) >= 1)),
  CONSTRAINT fk_batch_items_batch_id FOREIGN KEY (batch_id)
    REFERENCES batch_jobs(id) ON DELETE CASCADE,
  CONSTRAINT fk_batch_items_created_by FOREIGN KEY (created_by)
    REFERENCES users(id) ON DELETE SET NULL,
  CONSTRAINT fk_batch_items_domain_id FOREIGN KEY (domain_id)
    REFERENCES domains(id) ON DELETE CASCADE,
  CONSTRAINT fk_batch_items_page_id FOREIGN KEY (page_id) REFERENCES pages(id) ON DELETE CASCADE,
  CONSTRAINT fk_batch_items_sitemap_file_id FOREIGN KEY (sitemap_file_id)
    REFERENCES sitemap_files(id) ON DELETE CASCADE,
  CONSTRAINT fk_batch_items_tenant_id FOREIGN KEY (tenant_id)
    REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX ix_batch_items_domain_id ON batch_items (domain_id);
CREATE INDEX ix_batch_items_page_id ON batch_items (page_id);
CREATE INDEX ix_batch_items_sitemap_file_id ON batch_items (sitemap_file_id);
CREATE UNIQUE INDEX uq_batch_items_batch_id_position ON batch_items (batch_id, "position");

CREATE TABLE contacts (
  id uuid DEFAULT gen_random_uuid() NOT NULL,
  tenant_id uuid NOT NULL,
  domain_id uuid NOT NULL,
  page_id uuid,
  email text,
  email_type contact_email_type DEFAULT 'UNKNOWN'::contact_email_type NOT NULL,
  name text,
  role text,
  phone text,
  phones jsonb DEFAULT '{}'::jsonb NOT NULL,
  address jsonb,
  social_links jsonb DEFAULT '{}'::jsonb NOT NULL,
  confidence double precision,
  notes text,
  tags text[] DEFAULT '{}'::text[] NOT NULL,
  validation jsonb,
  validated_at timestamptz,
  contact_curation_status contact_curation_status DEFAULT 'New'::contact_curation_status NOT NULL,
  validation_processing_status contact_processing_status,
  validation_processing_error varchar(1024),
  created_by uuid,
  created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  updated_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT pk_contacts PRIMARY KEY (id),
  CONSTRAINT ck_contacts_email_ascii_domain CHECK ((email ~ '@[a-z0-9._-]+$'::text)),
  CONSTRAINT ck_contacts_email_lower_case CHECK ((email = lower(email))),
  CONSTRAINT ck_contacts_reachable CHECK ((num_nonnulls(email, phone) >= 1)),
  CONSTRAINT fk_contacts_created_by FOREIGN KEY (created_by)
    REFERENCES users(id) ON DELETE SET NULL,
  CONSTRAINT fk_contacts_domain_id FOREIGN KEY (domain_id) REFERENCES domains(id) ON DELETE CASCADE,
  CONSTRAINT fk_contacts_page_id FOREIGN KEY (page_id) REFERENCES pages(id) ON DELETE SET NULL,
  CONSTRAINT fk_contacts_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX contacts_validation_processing_status_queue ON contacts (tenant_id, updated_at, id)
  WHERE (validation_processing_status = 'Queued'::contact_processing_status);
CREATE INDEX ix_contacts_page_id ON contacts (page_id);
CREATE UNIQUE INDEX uq_contacts_domain_id_email ON contacts (domain_id, email)
  WHERE (email IS NOT NULL);
CREATE UNIQUE INDEX uq_contacts_domain_id_phone ON contacts (domain_id, phone)
  WHERE (email IS NULL);
CREATE INDEX ix_contacts_tenant_id_email ON contacts (tenant_id, email);
CREATE INDEX ix_contacts_tenant_id_phone ON contacts (tenant_id, phone);
CREATE INDEX ix_contacts_by_time ON contacts (tenant_id, updated_at, id);
CREATE INDEX ix_contacts_by_status ON contacts (tenant_id, contact_curation_status, updated_at, id);
CREATE INDEX ix_contacts_by_confidence ON contacts (tenant_id, confidence, id);
CREATE INDEX ix_contacts_phones ON contacts USING gin (phones);
CREATE INDEX ix_contacts_tenant_id_mailbox ON contacts (tenant_id, mailbox_of(email));

CREATE TABLE contact_evidence (
  id uuid DEFAULT gen_random_uuid() NOT NULL,
  tenant_id uuid NOT NULL,
  contact_id uuid NOT NULL,
  field text NOT NULL,
  value text NOT NULL,
  url text NOT NULL,
  snippet text NOT NULL,
  method text NOT NULL,
  confidence double precision NOT NULL,
  robots text,
  seen_at timestamptz NOT NULL,
  created_by uuid,
  created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  updated_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  page_id uuid,
  CONSTRAINT pk_contact_evidence PRIMARY KEY (id),
  CONSTRAINT ck_contact_evidence_has_origin CHECK (
CASE
    WHEN (method = 'by hand'::text) THEN ((page_id IS NULL) AND (snippet <> ''::text))
    ELSE ((url <> ''::text) AND (robots IS NOT NULL))
END),
  CONSTRAINT fk_contact_evidence_contact_id FOREIGN KEY (contact_id)
    REFERENCES contacts(id) ON DELETE CASCADE,
  CONSTRAINT fk_contact_evidence_created_by FOREIGN KEY (created_by)
    REFERENCES users(id) ON DELETE SET NULL,
  CONSTRAINT fk_contact_evidence_page_id FOREIGN KEY (page_id)
    REFERENCES pages(id) ON DELETE SET NULL,
  CONSTRAINT fk_contact_evidence_tenant_id FOREIGN KEY (tenant_id)
    REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX uq_contact_evidence_contact_id_field_value_url_method
  ON contact_evidence (contact_id, field, md5(value), md5(url), method);
CREATE INDEX ix_contact_evidence_page_id ON contact_evidence (page_id);

CREATE TABLE hosts (
  key text NOT NULL,
  lease_owner uuid,
  lease_until timestamptz,
  starts_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  next_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  delay interval DEFAULT '00:00:01'::interval NOT NULL,
  paused_until timestamptz,
  pause_reason text,
  updated_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT pk_hosts PRIMARY KEY (key)
);

CREATE TABLE host_outcomes (
  key text NOT NULL,
  outcome text NOT NULL,
  requests bigint DEFAULT 0 NOT NULL,
  bytes bigint DEFAULT 0 NOT NULL,
  seconds double precision DEFAULT 0 NOT NULL,
  last_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT pk_host_outcomes PRIMARY KEY (key, outcome)
);

CREATE TABLE host_robots (
  origin text NOT NULL,
  state text NOT NULL,
  text text NOT NULL,
  why text NOT NULL,
  fetched_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  expires_at timestamptz NOT NULL,
  unreachable_since timestamptz,
  CONSTRAINT pk_host_robots PRIMARY KEY (origin),
  CONSTRAINT ck_host_robots_state
    CHECK ((state = ANY (ARRAY['rules'::text, 'absent'::text, 'unreachable'::text])))
);

CREATE TABLE suppression_keys (
  fingerprint bytea NOT NULL,
  secret bytea,
  created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT pk_suppression_keys PRIMARY KEY (fingerprint)
);

CREATE TABLE installation (
  id smallint DEFAULT 1 NOT NULL,
  secret bytea NOT NULL,
  created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT pk_installation PRIMARY KEY (id),
  CONSTRAINT ck_installation_one CHECK ((id = 1))
);

CREATE TABLE login_sessions (
  token_hash bytea NOT NULL,
  tenant_id uuid NOT NULL,
  user_id uuid NOT NULL,
  created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  seen_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  expires_at timestamptz NOT NULL,
  CONSTRAINT pk_login_sessions PRIMARY KEY (token_hash),
  CONSTRAINT fk_login_sessions_tenant_id FOREIGN KEY (tenant_id)
    REFERENCES tenants(id) ON DELETE CASCADE,
  CONSTRAINT fk_login_sessions_user_id FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX ix_login_sessions_user_id ON login_sessions (user_id);
CREATE INDEX ix_login_sessions_expires_at ON login_sessions (expires_at);

CREATE TABLE revoked_tokens (
  token_hash bytea NOT NULL,
  expires_at timestamptz NOT NULL,
  CONSTRAINT pk_revoked_tokens PRIMARY KEY (token_hash)
);
CREATE INDEX ix_revoked_tokens_expires_at ON revoked_tokens (expires_at);

CREATE TABLE idempotency_keys (
  tenant_id uuid NOT NULL,
  route text NOT NULL,
  key text NOT NULL,
  holder uuid NOT NULL,
  held_until timestamptz NOT NULL,
  fingerprint bytea,
  status smallint,
  media_type text,
  body bytea,
  expires_at timestamptz NOT NULL,
  CONSTRAINT pk_idempotency_keys PRIMARY KEY (tenant_id, route, key),
  CONSTRAINT fk_idempotency_keys_tenant_id FOREIGN KEY (tenant_id)
    REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX ix_idempotency_keys_expires_at ON idempotency_keys (expires_at);

CREATE TABLE saved_views (
  id uuid DEFAULT gen_random_uuid() NOT NULL,
  tenant_id uuid NOT NULL,
  name text NOT NULL,
  kind text NOT NULL,
  query jsonb NOT NULL,
  created_by uuid,
  created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  updated_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT pk_saved_views PRIMARY KEY (id),
  CONSTRAINT fk_saved_views_created_by FOREIGN KEY (created_by)
    REFERENCES users(id) ON DELETE SET NULL,
  CONSTRAINT fk_saved_views_tenant_id FOREIGN KEY (tenant_id)
    REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX uq_saved_views_owner_name
  ON saved_views (tenant_id, COALESCE(created_by, '00000000-0000-0000-0000-000000000000'::uuid), kind, name);

CREATE TABLE contact_notices (
  contact_id uuid NOT NULL,
  tenant_id uuid NOT NULL,
  obtained_at timestamptz NOT NULL,
  due_at timestamptz GENERATED ALWAYS AS (((obtained_at AT TIME ZONE 'UTC'::text) + '1 mon'::interval) AT TIME ZONE 'UTC'::text) STORED NOT NULL,
  legal_basis text DEFAULT 'legitimate_interests'::text NOT NULL,
  informed_at timestamptz,
  informed_by uuid,
  how text,
  CONSTRAINT pk_contact_notices PRIMARY KEY (contact_id),
  CONSTRAINT ck_contact_notices_legal_basis
    CHECK ((legal_basis = ANY (ARRAY['consent'::text, 'contract'::text, 'legal_obligation'::text,
    'vital_interests'::text, 'public_task'::text, 'legitimate_interests'::text]))),
  CONSTRAINT fk_contact_notices_contact_id FOREIGN KEY (contact_id)
    REFERENCES contacts(id) ON DELETE CASCADE,
  CONSTRAINT fk_contact_notices_informed_by FOREIGN KEY (informed_by)
    REFERENCES users(id) ON DELETE SET NULL,
  CONSTRAINT fk_contact_notices_tenant_id FOREIGN KEY (tenant_id)
    REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX ix_contact_notices_open ON contact_notices (tenant_id, due_at, contact_id)
  WHERE (informed_at IS NULL);
CREATE INDEX ix_contact_notices_informed ON contact_notices (tenant_id, due_at, contact_id)
  WHERE (informed_at IS NOT NULL);

CREATE FUNCTION touch_updated_at()
 RETURNS trigger
 LANGUAGE plpgsql
AS $$
        BEGIN
            NEW.updated_at := clock_timestamp();
            RETURN NEW;
        END $$;

CREATE FUNCTION check_new_pages()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $$
DECLARE name text; lost uuid;
BEGIN
  name := 'fk_pages_domain_id';
  SELECT n.domain_id INTO lost
  FROM (SELECT DISTINCT domain_id, tenant_id FROM given) n
  LEFT JOIN LATERAL (SELECT d.id FROM domains d WHERE d.id = n.domain_id
    AND d.tenant_id = n.tenant_id FOR KEY SHARE) d ON true
  WHERE d.id IS NULL LIMIT 1;
  IF FOUND THEN 
    RAISE foreign_key_violation USING
      MESSAGE = 'insert or update on table "pages" violates foreign key constraint "'
        || name || '"',
      DETAIL = 'Key (' || lost::text || ') is not present.',
      TABLE = 'pages', CONSTRAINT = name
; END IF;
  name := 'fk_pages_sitemap_file_id';
  SELECT n.sitemap_file_id INTO lost
  FROM (SELECT DISTINCT sitemap_file_id FROM given) n
  LEFT JOIN LATERAL (SELECT s.id FROM sitemap_files s WHERE s.id = n.sitemap_file_id
    FOR KEY SHARE) s ON true
  WHERE n.sitemap_file_id IS NOT NULL AND s.id IS NULL LIMIT 1;
  IF FOUND THEN 
    RAISE foreign_key_violation USING
      MESSAGE = 'insert or update on table "pages" violates foreign key constraint "'
        || name || '"',
      DETAIL = 'Key (' || lost::text || ') is not present.',
      TABLE = 'pages', CONSTRAINT = name
; END IF;
  name := 'fk_pages_created_by';
  SELECT n.created_by INTO lost FROM (SELECT DISTINCT created_by FROM given) n
  LEFT JOIN LATERAL (SELECT u.id FROM users u WHERE u.id = n.created_by
    FOR KEY SHARE) u ON true
  WHERE n.created_by IS NOT NULL AND u.id IS NULL LIMIT 1;
  IF FOUND THEN 
    RAISE foreign_key_violation USING
      MESSAGE = 'insert or update on table "pages" violates foreign key constraint "'
        || name || '"',
      DETAIL = 'Key (' || lost::text || ') is not present.',
      TABLE = 'pages', CONSTRAINT = name
; END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION check_changed_page()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $$
DECLARE name text; lost uuid;
BEGIN
  name := 'fk_pages_domain_id'; lost := NEW.domain_id;
  PERFORM FROM domains WHERE id = NEW.domain_id AND tenant_id = NEW.tenant_id
    FOR KEY SHARE;
  IF NOT FOUND THEN 
    RAISE foreign_key_violation USING
      MESSAGE = 'insert or update on table "pages" violates foreign key constraint "'
        || name || '"',
      DETAIL = 'Key (' || lost::text || ') is not present.',
      TABLE = 'pages', CONSTRAINT = name
; END IF;
  name := 'fk_pages_sitemap_file_id'; lost := NEW.sitemap_file_id;
  PERFORM FROM sitemap_files WHERE id = lost FOR KEY SHARE;
  IF NOT FOUND AND lost IS NOT NULL THEN 
    RAISE foreign_key_violation USING
      MESSAGE = 'insert or update on table "pages" violates foreign key constraint "'
        || name || '"',
      DETAIL = 'Key (' || lost::text || ') is not present.',
      TABLE = 'pages', CONSTRAINT = name
; END IF;
  name := 'fk_pages_created_by'; lost := NEW.created_by;
  PERFORM FROM users WHERE id = lost FOR KEY SHARE;
  IF NOT FOUND AND lost IS NOT NULL THEN 
    RAISE foreign_key_violation USING
      MESSAGE = 'insert or update on table "pages" violates foreign key constraint "'
        || name || '"',
      DETAIL = 'Key (' || lost::text || ') is not present.',
      TABLE = 'pages', CONSTRAINT = name
; END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION follow_to_pages()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $$
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE feature_not_supported USING
      MESSAGE = 'rows that pages refer to are deleted in READ COMMITTED only';
  END IF;
  IF TG_TABLE_NAME = 'domains' THEN
    DELETE FROM pages WHERE domain_id IN (SELECT id FROM deleted);
  ELSIF TG_TABLE_NAME = 'sitemap_files' THEN
    UPDATE pages p SET sitemap_file_id = NULL
    WHERE sitemap_file_id IN (SELECT id FROM deleted)
      AND EXISTS (SELECT FROM domains d WHERE d.id = p.domain_id);
  ELSE
    UPDATE pages p SET created_by = NULL
    WHERE created_by IN (SELECT id FROM deleted)
      AND EXISTS (SELECT FROM domains d WHERE d.id = p.domain_id);
  END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION keep_key_of_pages()
 RETURNS trigger
 LANGUAGE plpgsql
AS $$
BEGIN
  RAISE foreign_key_violation USING
    MESSAGE = 'the key of ' || TG_TABLE_NAME || ' cannot change: pages refer to it';
END $$;

CREATE FUNCTION keep_rows_of_pages()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $$
BEGIN
  IF EXISTS (SELECT FROM pages) THEN
    RAISE foreign_key_violation USING
      MESSAGE = 'cannot truncate ' || TG_TABLE_NAME || ': pages refer to it',
      HINT = 'Truncate pages in the same command.';
  END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION note_scrape_error()
 RETURNS trigger
 LANGUAGE plpgsql
AS $$
        BEGIN
          NEW.contact_scrape_status := 'Error';
          RETURN NEW;
        END $$;

CREATE FUNCTION make_contact_notices()
 RETURNS trigger
 LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO contact_notices (contact_id, tenant_id, obtained_at)
    SELECT id, tenant_id, created_at FROM made;
    RETURN NULL;
END $$;

CREATE TRIGGER touch_updated_at BEFORE UPDATE ON tenants
  FOR EACH ROW
  EXECUTE FUNCTION touch_updated_at();
CREATE TRIGGER touch_updated_at BEFORE UPDATE ON users
  FOR EACH ROW
  EXECUTE FUNCTION touch_updated_at();
CREATE TRIGGER touch_updated_at BEFORE UPDATE ON api_keys
  FOR EACH ROW
  EXECUTE FUNCTION touch_updated_at();
CREATE TRIGGER touch_updated_at BEFORE UPDATE ON audit_log
  FOR EACH ROW
  EXECUTE FUNCTION touch_updated_at();
CREATE TRIGGER touch_updated_at BEFORE UPDATE ON batch_jobs
  FOR EACH ROW
  EXECUTE FUNCTION touch_updated_at();
CREATE TRIGGER touch_updated_at BEFORE UPDATE ON domains
  FOR EACH ROW
  EXECUTE FUNCTION touch_updated_at();
CREATE TRIGGER touch_updated_at BEFORE UPDATE ON place_searches
  FOR EACH ROW
  EXECUTE FUNCTION touch_updated_at();
CREATE TRIGGER touch_updated_at BEFORE UPDATE ON places_staging
  FOR EACH ROW
  EXECUTE FUNCTION touch_updated_at();
CREATE TRIGGER touch_updated_at BEFORE UPDATE ON selection_rules
  FOR EACH ROW
  EXECUTE FUNCTION touch_updated_at();
CREATE TRIGGER touch_updated_at BEFORE UPDATE ON suppressions
  FOR EACH ROW
  EXECUTE FUNCTION touch_updated_at();
CREATE TRIGGER touch_updated_at BEFORE UPDATE ON curation_actions
  FOR EACH ROW
  EXECUTE FUNCTION touch_updated_at();
CREATE TRIGGER touch_updated_at BEFORE UPDATE ON local_businesses
  FOR EACH ROW
  EXECUTE FUNCTION touch_updated_at();
CREATE TRIGGER touch_updated_at BEFORE UPDATE ON sitemap_files
  FOR EACH ROW
  EXECUTE FUNCTION touch_updated_at();
CREATE TRIGGER touch_updated_at BEFORE UPDATE ON pages
  FOR EACH ROW
  EXECUTE FUNCTION touch_updated_at();
CREATE TRIGGER touch_updated_at BEFORE UPDATE ON batch_items
  FOR EACH ROW
  EXECUTE FUNCTION touch_updated_at();
CREATE TRIGGER touch_updated_at BEFORE UPDATE ON contacts
  FOR EACH ROW
  EXECUTE FUNCTION touch_updated_at();
CREATE TRIGGER touch_updated_at BEFORE UPDATE ON contact_evidence
  FOR EACH ROW
  EXECUTE FUNCTION touch_updated_at();
CREATE TRIGGER touch_updated_at BEFORE UPDATE ON saved_views
  FOR EACH ROW
  EXECUTE FUNCTION touch_updated_at();
CREATE TRIGGER check_new AFTER INSERT ON pages REFERENCING NEW TABLE AS given
  FOR EACH STATEMENT
  EXECUTE FUNCTION check_new_pages();
CREATE TRIGGER check_changed AFTER UPDATE OF tenant_id, created_by, domain_id, sitemap_file_id ON pages
  FOR EACH ROW WHEN (((old.tenant_id IS DISTINCT FROM new.tenant_id)
    OR (old.created_by IS DISTINCT FROM new.created_by)
    OR (old.domain_id IS DISTINCT FROM new.domain_id)
    OR (old.sitemap_file_id IS DISTINCT FROM new.sitemap_file_id)))
  EXECUTE FUNCTION check_changed_page();
CREATE TRIGGER follow_to_pages AFTER DELETE ON domains REFERENCING OLD TABLE AS deleted
  FOR EACH STATEMENT
  EXECUTE FUNCTION follow_to_pages();
CREATE TRIGGER keep_key BEFORE UPDATE OF id, tenant_id ON domains
  FOR EACH ROW WHEN (((old.id IS DISTINCT FROM new.id)
    OR (old.tenant_id IS DISTINCT FROM new.tenant_id)))
  EXECUTE FUNCTION keep_key_of_pages();
CREATE TRIGGER keep_rows AFTER TRUNCATE ON domains
  FOR EACH STATEMENT
  EXECUTE FUNCTION keep_rows_of_pages();
CREATE TRIGGER follow_to_pages AFTER DELETE ON sitemap_files REFERENCING OLD TABLE AS deleted
  FOR EACH STATEMENT
  EXECUTE FUNCTION follow_to_pages();
CREATE TRIGGER keep_key BEFORE UPDATE OF id ON sitemap_files
  FOR EACH ROW WHEN ((old.id IS DISTINCT FROM new.id))
  EXECUTE FUNCTION keep_key_of_pages();
CREATE TRIGGER keep_rows AFTER TRUNCATE ON sitemap_files
  FOR EACH STATEMENT
  EXECUTE FUNCTION keep_rows_of_pages();
CREATE TRIGGER follow_to_pages AFTER DELETE ON users REFERENCING OLD TABLE AS deleted
  FOR EACH STATEMENT
  EXECUTE FUNCTION follow_to_pages();
CREATE TRIGGER keep_key BEFORE UPDATE OF id ON users
  FOR EACH ROW WHEN ((old.id IS DISTINCT FROM new.id))
  EXECUTE FUNCTION keep_key_of_pages();
CREATE TRIGGER keep_rows AFTER TRUNCATE ON users
  FOR EACH STATEMENT
  EXECUTE FUNCTION keep_rows_of_pages();
CREATE TRIGGER note_scrape_error BEFORE UPDATE OF page_processing_status ON pages
  FOR EACH ROW WHEN (((new.page_processing_status = 'Error'::page_processing_status)
    AND (old.page_processing_status IS DISTINCT FROM new.page_processing_status)))
  EXECUTE FUNCTION note_scrape_error();
CREATE TRIGGER make_contact_notices AFTER INSERT ON contacts REFERENCING NEW TABLE AS made
  FOR EACH STATEMENT
  EXECUTE FUNCTION make_contact_notices();

GRANT USAGE ON SCHEMA public, curation TO scrapersky_api;
GRANT USAGE ON SEQUENCE curation.fence TO scrapersky_api;
ALTER TABLE api_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit_log ENABLE ROW LEVEL SECURITY;
ALTER TABLE batch_items ENABLE ROW LEVEL SECURITY;
ALTER TABLE batch_jobs ENABLE ROW LEVEL SECURITY;
ALTER TABLE contact_evidence ENABLE ROW LEVEL SECURITY;
ALTER TABLE contact_notices ENABLE ROW LEVEL SECURITY;
ALTER TABLE contacts ENABLE ROW LEVEL SECURITY;
ALTER TABLE curation_actions ENABLE ROW LEVEL SECURITY;
ALTER TABLE curation_changes ENABLE ROW LEVEL SECURITY;
ALTER TABLE domains ENABLE ROW LEVEL SECURITY;
ALTER TABLE host_outcomes ENABLE ROW LEVEL SECURITY;
ALTER TABLE host_robots ENABLE ROW LEVEL SECURITY;
ALTER TABLE hosts ENABLE ROW LEVEL SECURITY;
ALTER TABLE idempotency_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE installation ENABLE ROW LEVEL SECURITY;
ALTER TABLE local_businesses ENABLE ROW LEVEL SECURITY;
ALTER TABLE login_sessions ENABLE ROW LEVEL SECURITY;
ALTER TABLE pages ENABLE ROW LEVEL SECURITY;
ALTER TABLE place_search_hits ENABLE ROW LEVEL SECURITY;
ALTER TABLE place_searches ENABLE ROW LEVEL SECURITY;
ALTER TABLE places_staging ENABLE ROW LEVEL SECURITY;
ALTER TABLE revoked_tokens ENABLE ROW LEVEL SECURITY;
ALTER TABLE saved_views ENABLE ROW LEVEL SECURITY;
ALTER TABLE scheduler_runs ENABLE ROW LEVEL SECURITY;
ALTER TABLE selection_rules ENABLE ROW LEVEL SECURITY;
ALTER TABLE sitemap_files ENABLE ROW LEVEL SECURITY;
ALTER TABLE suppression_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE suppressions ENABLE ROW LEVEL SECURITY;
ALTER TABLE tenants ENABLE ROW LEVEL SECURITY;
ALTER TABLE users ENABLE ROW LEVEL SECURITY;
ALTER TABLE curation.attempt ENABLE ROW LEVEL SECURITY;
ALTER TABLE curation.claim ENABLE ROW LEVEL SECURITY;
ALTER TABLE curation.dead_letter ENABLE ROW LEVEL SECURITY;
ALTER TABLE curation.stage ENABLE ROW LEVEL SECURITY;
ALTER TABLE curation.version ENABLE ROW LEVEL SECURITY;

CREATE POLICY tenant ON api_keys TO scrapersky_api
  USING (tenant_id = (SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid))
  WITH CHECK (tenant_id = (SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid));
CREATE POLICY tenant ON curation.attempt TO scrapersky_api
  USING ( CASE stage
    WHEN 'place_search'::text THEN (EXISTS (SELECT FROM place_searches WHERE (place_searches.id = (attempt.item)::uuid)))
    WHEN 'deep_scan'::text THEN (EXISTS (SELECT FROM places_staging WHERE (places_staging.id = (attempt.item)::uuid)))
    WHEN 'domain_extraction'::text THEN (EXISTS (SELECT FROM local_businesses WHERE (local_businesses.id = (attempt.item)::uuid)))
    WHEN 'domain_metadata'::text THEN (EXISTS (SELECT FROM domains WHERE (domains.id = (attempt.item)::uuid)))
    WHEN 'sitemap_submission'::text THEN (EXISTS (SELECT FROM domains WHERE (domains.id = (attempt.item)::uuid)))
    WHEN 'sitemap_import'::text THEN (EXISTS (SELECT FROM sitemap_files WHERE (sitemap_files.id = (attempt.item)::uuid)))
    WHEN 'page_curation'::text THEN (EXISTS (SELECT FROM pages WHERE (pages.id = (attempt.item)::uuid)))
    WHEN 'contact_validation'::text THEN (EXISTS (SELECT FROM contacts WHERE (contacts.id = (attempt.item)::uuid)))
    ELSE false END);
CREATE POLICY tenant ON audit_log TO scrapersky_api
  USING (tenant_id = (SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid))
  WITH CHECK (tenant_id = (SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid));
CREATE POLICY tenant ON batch_items TO scrapersky_api
  USING (tenant_id = (SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid))
  WITH CHECK ((tenant_id = (SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid))
    AND ((batch_id IS NULL) OR (EXISTS (SELECT FROM batch_jobs WHERE (batch_jobs.id = batch_items.batch_id))))
    AND ((domain_id IS NULL) OR (EXISTS (SELECT FROM domains WHERE (domains.id = batch_items.domain_id))))
    AND ((page_id IS NULL) OR (EXISTS (SELECT FROM pages WHERE (pages.id = batch_items.page_id))))
    AND ((sitemap_file_id IS NULL) OR (EXISTS (SELECT FROM sitemap_files WHERE (sitemap_files.id = batch_items.sitemap_file_id)))));
CREATE POLICY tenant ON batch_jobs TO scrapersky_api
  USING (tenant_id = (SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid))
  WITH CHECK (tenant_id = (SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid));
CREATE POLICY tenant ON curation.claim TO scrapersky_api
  USING ( CASE stage
    WHEN 'place_search'::text THEN (EXISTS (SELECT FROM place_searches WHERE (place_searches.id = (claim.item)::uuid)))
    WHEN 'deep_scan'::text THEN (EXISTS (SELECT FROM places_staging WHERE (places_staging.id = (claim.item)::uuid)))
    WHEN 'domain_extraction'::text THEN (EXISTS (SELECT FROM local_businesses WHERE (local_businesses.id = (claim.item)::uuid)))
    WHEN 'domain_metadata'::text THEN (EXISTS (SELECT FROM domains WHERE (domains.id = (claim.item)::uuid)))
    WHEN 'sitemap_submission'::text THEN (EXISTS (SELECT FROM domains WHERE (domains.id = (claim.item)::uuid)))
    WHEN 'sitemap_import'::text THEN (EXISTS (SELECT FROM sitemap_files WHERE (sitemap_files.id = (claim.item)::uuid)))
    WHEN 'page_curation'::text THEN (EXISTS (SELECT FROM pages WHERE (pages.id = (claim.item)::uuid)))
    WHEN 'contact_validation'::text THEN (EXISTS (SELECT FROM contacts WHERE (contacts.id = (claim.item)::uuid)))
    ELSE false END);
CREATE POLICY tenant ON contact_evidence TO scrapersky_api
  USING (tenant_id = (SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid))
  WITH CHECK ((tenant_id = (SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid))
    AND ((contact_id IS NULL) OR (EXISTS (SELECT FROM contacts WHERE (contacts.id = contact_evidence.contact_id)))));
CREATE POLICY tenant ON contact_notices TO scrapersky_api
  USING (tenant_id = (SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid))
  WITH CHECK ((tenant_id = (SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid))
    AND ((contact_id IS NULL) OR (EXISTS (SELECT FROM contacts WHERE (contacts.id = contact_notices.contact_id)))));
CREATE POLICY tenant ON contacts TO scrapersky_api
  USING (tenant_id = (SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid))
  WITH CHECK ((tenant_id = (SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid))
    AND ((domain_id IS NULL) OR (EXISTS (SELECT FROM domains WHERE (domains.id = contacts.domain_id))))
    AND ((page_id IS NULL) OR (EXISTS (SELECT FROM pages WHERE (pages.id = contacts.page_id)))));
CREATE POLICY tenant ON curation_actions TO scrapersky_api
  USING (tenant_id = (SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid))
  WITH CHECK ((tenant_id = (SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid))
    AND ((rule_id IS NULL) OR (EXISTS (SELECT FROM selection_rules WHERE (selection_rules.id = curation_actions.rule_id)))));
CREATE POLICY tenant ON curation_changes TO scrapersky_api
  USING (tenant_id = (SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid))
  WITH CHECK ((tenant_id = (SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid))
    AND ((action_id IS NULL) OR (EXISTS (SELECT FROM curation_actions WHERE (curation_actions.id = curation_changes.action_id)))));
CREATE POLICY tenant ON curation.dead_letter TO scrapersky_api
  USING ( CASE stage
    WHEN 'place_search'::text THEN (EXISTS (SELECT FROM place_searches WHERE (place_searches.id = (dead_letter.item)::uuid)))
    WHEN 'deep_scan'::text THEN (EXISTS (SELECT FROM places_staging WHERE (places_staging.id = (dead_letter.item)::uuid)))
    WHEN 'domain_extraction'::text THEN (EXISTS (SELECT FROM local_businesses WHERE (local_businesses.id = (dead_letter.item)::uuid)))
    WHEN 'domain_metadata'::text THEN (EXISTS (SELECT FROM domains WHERE (domains.id = (dead_letter.item)::uuid)))
    WHEN 'sitemap_submission'::text THEN (EXISTS (SELECT FROM domains WHERE (domains.id = (dead_letter.item)::uuid)))
    WHEN 'sitemap_import'::text THEN (EXISTS (SELECT FROM sitemap_files WHERE (sitemap_files.id = (dead_letter.item)::uuid)))
    WHEN 'page_curation'::text THEN (EXISTS (SELECT FROM pages WHERE (pages.id = (dead_letter.item)::uuid)))
    WHEN 'contact_validation'::text THEN (EXISTS (SELECT FROM contacts WHERE (contacts.id = (dead_letter.item)::uuid)))
    ELSE false END);
CREATE POLICY tenant ON domains TO scrapersky_api
  USING (tenant_id = (SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid))
  WITH CHECK (tenant_id = (SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid));
CREATE POLICY tenant ON idempotency_keys TO scrapersky_api
  USING (tenant_id = (SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid))
  WITH CHECK (tenant_id = (SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid));
CREATE POLICY tenant ON local_businesses TO scrapersky_api
  USING (tenant_id = (SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid))
  WITH CHECK ((tenant_id = (SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid))
    AND ((domain_id IS NULL) OR (EXISTS (SELECT FROM domains WHERE (domains.id = local_businesses.domain_id))))
    AND ((place_id IS NULL) OR (EXISTS (SELECT FROM places_staging WHERE (places_staging.id = local_businesses.place_id)))));
CREATE POLICY tenant ON pages TO scrapersky_api
  USING (tenant_id = (SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid))
  WITH CHECK ((tenant_id = (SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid))
    AND ((domain_id IS NULL) OR (EXISTS (SELECT FROM domains WHERE (domains.id = pages.domain_id))))
    AND ((sitemap_file_id IS NULL) OR (EXISTS (SELECT FROM sitemap_files WHERE (sitemap_files.id = pages.sitemap_file_id)))));
CREATE POLICY tenant ON place_search_hits TO scrapersky_api
  USING (tenant_id = (SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid))
  WITH CHECK ((tenant_id = (SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid))
    AND ((place_id IS NULL) OR (EXISTS (SELECT FROM places_staging WHERE (places_staging.id = place_search_hits.place_id))))
    AND ((search_id IS NULL) OR (EXISTS (SELECT FROM place_searches WHERE (place_searches.id = place_search_hits.search_id)))));
CREATE POLICY tenant ON place_searches TO scrapersky_api
  USING (tenant_id = (SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid))
  WITH CHECK (tenant_id = (SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid));
CREATE POLICY tenant ON places_staging TO scrapersky_api
  USING (tenant_id = (SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid))
  WITH CHECK (tenant_id = (SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid));
CREATE POLICY tenant ON saved_views TO scrapersky_api
  USING (tenant_id = (SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid))
  WITH CHECK (tenant_id = (SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid));
CREATE POLICY tenant ON selection_rules TO scrapersky_api
  USING (tenant_id = (SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid))
  WITH CHECK (tenant_id = (SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid));
CREATE POLICY tenant ON sitemap_files TO scrapersky_api
  USING (tenant_id = (SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid))
  WITH CHECK ((tenant_id = (SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid))
    AND ((domain_id IS NULL) OR (EXISTS (SELECT FROM domains WHERE (domains.id = sitemap_files.domain_id)))));
CREATE POLICY tenant ON curation.stage TO scrapersky_api
  USING ((SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid) IS NOT NULL);
CREATE POLICY tenant ON suppressions TO scrapersky_api
  USING (tenant_id = (SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid))
  WITH CHECK (tenant_id = (SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid));
CREATE POLICY tenant ON tenants TO scrapersky_api
  USING (id = (SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid));
CREATE POLICY tenant ON users TO scrapersky_api
  USING (tenant_id = (SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid))
  WITH CHECK (tenant_id = (SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid));

GRANT INSERT, UPDATE, DELETE ON
  api_keys, users
  TO scrapersky_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON
  curation.attempt, audit_log, batch_items, batch_jobs, curation.claim, contact_evidence, contact_notices, contacts,
  curation_actions, curation_changes, curation.dead_letter, domains, idempotency_keys, local_businesses, pages,
  place_search_hits, place_searches, places_staging, saved_views, selection_rules, sitemap_files, suppressions
  TO scrapersky_api;
GRANT SELECT ON
  curation.stage, tenants
  TO scrapersky_api;
GRANT SELECT (
  id, tenant_id, name, prefix, role, scopes, expires_at, last_used_at, revoked_at, created_by, created_at,
  updated_at, is_personal
) ON api_keys TO scrapersky_api;
GRANT SELECT (
  id, tenant_id, email, name, role, is_system, disabled_at, created_at, updated_at, subject, issuer
) ON users TO scrapersky_api;

-- PostgreSQL looks only with functions it calls leakproof at rows that a policy has not passed yet;
-- these are not, so under a policy it would ignore the index. Who can see through them must send SQL
-- of their own, which nobody can through the API. Only a superuser may say so: elsewhere the same
-- rows are found, more slowly.
DO $$ BEGIN
  IF (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
    ALTER FUNCTION pg_catalog.enum_eq(anyenum, anyenum) LEAKPROOF;
    ALTER FUNCTION pg_catalog.enum_ne(anyenum, anyenum) LEAKPROOF;
    ALTER FUNCTION pg_catalog.enum_lt(anyenum, anyenum) LEAKPROOF;
    ALTER FUNCTION pg_catalog.enum_le(anyenum, anyenum) LEAKPROOF;
    ALTER FUNCTION pg_catalog.enum_gt(anyenum, anyenum) LEAKPROOF;
    ALTER FUNCTION pg_catalog.enum_ge(anyenum, anyenum) LEAKPROOF;
    ALTER FUNCTION pg_catalog.textlike(text, text) LEAKPROOF;
    ALTER FUNCTION pg_catalog.texticlike(text, text) LEAKPROOF;
    ALTER FUNCTION pg_catalog.arraycontains(anyarray, anyarray) LEAKPROOF;
    ALTER FUNCTION pg_catalog.arrayoverlap(anyarray, anyarray) LEAKPROOF;
  END IF;
END $$;

-- Words have an index where the server has the extension for it, and we may use it. Without it words
-- are found by reading all rows, which is slower and otherwise the same.
DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pg_trgm') THEN
    CREATE EXTENSION IF NOT EXISTS pg_trgm;
    CREATE INDEX ix_places_staging_words ON places_staging USING gin
      (name gin_trgm_ops, address gin_trgm_ops, website gin_trgm_ops, phone gin_trgm_ops);
    CREATE INDEX ix_local_businesses_words ON local_businesses USING gin
      (name gin_trgm_ops, street gin_trgm_ops, city gin_trgm_ops, website gin_trgm_ops, phone gin_trgm_ops);
    CREATE INDEX ix_domains_words ON domains USING gin
      (domain gin_trgm_ops, title gin_trgm_ops, description gin_trgm_ops);
    CREATE INDEX ix_contacts_words ON contacts USING gin
      (email gin_trgm_ops, name gin_trgm_ops, role gin_trgm_ops, phone gin_trgm_ops);
  END IF;
EXCEPTION WHEN insufficient_privilege OR undefined_object THEN
  RAISE NOTICE 'pg_trgm cannot be used here; searching words reads all rows.';
END $$;

INSERT INTO tenants (name, slug) VALUES ('Default', 'default');
INSERT INTO users (id, tenant_id, email, name, role, is_system)
SELECT '5c7a9e0a-0000-4000-8000-000000000001', id, 'system@scrapersky.invalid', 'ScraperSky', 'admin', true
FROM tenants WHERE slug = 'default';
INSERT INTO selection_rules (tenant_id, created_by, name, kind, conditions, status)
SELECT id, '5c7a9e0a-0000-4000-8000-000000000001', 'Contact-like pages', 'pages',
  '{"all": [{"field": "contact_likelihood", "comparison": "at_least", "value": 0.3}]}', 'Selected'
FROM tenants WHERE slug = 'default';

-- Two random ids of the server's strong source: 244 bits nobody else has.
INSERT INTO suppression_keys (fingerprint, secret)
SELECT sha256('fingerprint of a key made here'::bytea || secret), secret
FROM (SELECT decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex') AS secret) AS made;
