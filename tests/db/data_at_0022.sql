-- What a database of the version before people, other values and the choice of pages
-- may hold: a row in every table, a value in every column.

INSERT INTO tenants (id, name, slug, suspended_at) VALUES
  ('00000000-0000-4000-8000-0000000000a1', 'Harbour Agency', 'harbour', NULL),
  ('00000000-0000-4000-8000-0000000000a2', 'Closed Agency', 'closed', '2026-03-01');

INSERT INTO users (id, tenant_id, email, name, role, password_hash, disabled_at, subject, issuer)
VALUES ('00000000-0000-4000-8000-0000000000b1', '00000000-0000-4000-8000-0000000000a1',
  'ada@harbour.test', 'Ada Lindqvist', 'curator', '$argon2id$an-old-hash', '2026-04-02',
  'ada-7', 'https://login.harbour.test');

INSERT INTO api_keys (tenant_id, name, prefix, secret_hash, role, scopes, expires_at,
  last_used_at, revoked_at, created_by, is_personal)
VALUES ('00000000-0000-4000-8000-0000000000a1', 'Nightly export', 'sk_7Q', '\x0102', 'viewer',
  '{records:read}', '2027-01-01', '2026-05-01', '2026-05-02',
  '00000000-0000-4000-8000-0000000000b1', true);

INSERT INTO login_sessions (token_hash, tenant_id, user_id, expires_at)
VALUES ('\xa1', '00000000-0000-4000-8000-0000000000a1',
  '00000000-0000-4000-8000-0000000000b1', '2027-01-01');
INSERT INTO revoked_tokens (token_hash, expires_at) VALUES ('\xa2', '2027-01-01');
INSERT INTO idempotency_keys (tenant_id, route, key, holder, held_until, fingerprint, status,
  media_type, body, expires_at)
VALUES ('00000000-0000-4000-8000-0000000000a1', 'POST /api/v3/batches', 'k-1',
  '00000000-0000-4000-8000-0000000000c9', '2026-05-01', '\x0a', 201, 'application/json',
  '\x7b7d', '2026-05-02');
INSERT INTO audit_log (tenant_id, actor, action, subject, details, request_id, created_by, record_id)
VALUES ('00000000-0000-4000-8000-0000000000a1', 'Ada Lindqvist', 'contact.edit', 'contact',
  '{"name": ["A. Berg", "Anna Berg"]}', 'r-1', '00000000-0000-4000-8000-0000000000b1',
  '00000000-0000-4000-8000-0000000000f1');

INSERT INTO place_searches (id, tenant_id, business_type, location, radius_m, area, source,
  params, budget, spent, status, progress, problems, coverage, found_count, new_count, error,
  finished_at, created_by)
VALUES ('00000000-0000-4000-8000-0000000000c1', '00000000-0000-4000-8000-0000000000a1',
  'sailmakers', 'Göteborg', 12000, '{"type": "circle"}', 'openstreetmap', '{"limit": 9}',
  10.5000, 2.2500, 'Completed', '{"done": 4}', '[{"what": "a cell was full"}]',
  '{"share": 0.75}', 2, 1, 'one of five cells failed', '2026-05-03',
  '00000000-0000-4000-8000-0000000000b1');
INSERT INTO places_staging (id, tenant_id, source, source_place_id, name, address, latitude,
  longitude, rating, reviews_count, price_level, categories, website, phone, business_status,
  moved_to, raw, licence, expires_at, seen_at, status, deep_scan_status, deep_scan_error, created_by)
VALUES ('00000000-0000-4000-8000-0000000000c2', '00000000-0000-4000-8000-0000000000a1',
  'openstreetmap', 'node/17', 'Segel & Söner', 'Hamngatan 3', 57.7, 11.9, 4.5, 31, '2',
  '{sailmaker,shop}', 'https://segel.test/', '+46317112233', 'OPERATIONAL', 'node/18',
  '{"amenity": "shop"}', 'ODbL', '2027-02-01', '2026-05-03', 'Selected', 'Completed',
  'answered on the second try', '00000000-0000-4000-8000-0000000000b1');
INSERT INTO place_search_hits (search_id, place_id, tenant_id, facts_hash)
VALUES ('00000000-0000-4000-8000-0000000000c1', '00000000-0000-4000-8000-0000000000c2',
  '00000000-0000-4000-8000-0000000000a1', 'f17');

INSERT INTO domains (id, tenant_id, domain, home_url, verdict, verdict_evidence, title,
  description, language, favicon_url, logo_url, generator, generator_version, tech_stack, emails,
  phones, social_links, organisation, sitemap_hints, priority, status, error,
  sitemap_analysis_status, sitemap_analysis_error, sitemap_curation_status, created_by, link_texts)
VALUES ('00000000-0000-4000-8000-0000000000d1', '00000000-0000-4000-8000-0000000000a1',
  'segel.test', 'https://www.segel.test/', 'own_site', '{"why": "its own words"}',
  'Segel & Söner', 'Sails since 1921', 'sv', 'https://segel.test/f.ico', 'https://segel.test/l.png',
  'WordPress', '6.4', '{"cms": "WordPress"}', '{info@segel.test}', '{+46317112233}',
  '{"facebook": "https://facebook.com/segel"}', '{"name": "Segel & Söner AB"}',
  '{https://segel.test/sitemap.xml}', 3, 'completed', 'slow at first', 'submitted',
  'one candidate was missing', 'Selected', '00000000-0000-4000-8000-0000000000b1',
  '{"https://segel.test/k": "Kontakt"}');
INSERT INTO local_businesses (id, tenant_id, place_id, domain_id, name, street, city, region,
  postal_code, country, phone, website, categories, hours, rating, reviews_count, latitude,
  longitude, attributes, links, status, domain_extraction_status, domain_extraction_error,
  created_by, expires_at)
VALUES ('00000000-0000-4000-8000-0000000000c3', '00000000-0000-4000-8000-0000000000a1',
  '00000000-0000-4000-8000-0000000000c2', '00000000-0000-4000-8000-0000000000d1',
  'Segel & Söner', 'Hamngatan 3', 'Göteborg', 'Västra Götaland', '411 01', 'SE', '+46317112233',
  'https://segel.test/', '{sailmaker}', '{"mo": "9-17"}', 4.5, 31, 57.7, 11.9,
  '{"wheelchair": "yes"}', '{https://facebook.com/segel}', 'Selected', 'Completed',
  'the first address was a directory', '00000000-0000-4000-8000-0000000000b1', '2027-02-01');
INSERT INTO sitemap_files (id, tenant_id, domain_id, url, sitemap_type, found_by, size_bytes,
  url_count, dropped, lastmod, generator, etag, last_modified, priority, status,
  deep_scrape_curation_status, sitemap_import_status, sitemap_import_error, created_by)
VALUES ('00000000-0000-4000-8000-0000000000d2', '00000000-0000-4000-8000-0000000000a1',
  '00000000-0000-4000-8000-0000000000d1', 'https://segel.test/sitemap.xml', 'standard', 'robots',
  5120, 40, '{"elsewhere": 2}', '2026-04-30', 'Yoast', '"s1"', 'Thu, 30 Apr 2026 00:00:00 GMT', 2,
  'Completed', 'Selected', 'Complete', 'two lines could not be read',
  '00000000-0000-4000-8000-0000000000b1');
INSERT INTO pages (id, tenant_id, domain_id, sitemap_file_id, url, lastmod, gone_at, page_type,
  contact_likelihood, likelihood_reasons, title, description, h1, language, canonical_url,
  structured_data_types, has_contact_form, word_count, http_status, etag, last_modified, bytes,
  fetch_ms, fetched_at, fetch_facts, priority, page_curation_status, page_processing_status,
  page_processing_error, contact_scrape_status, created_by)
VALUES ('00000000-0000-4000-8000-0000000000d3', '00000000-0000-4000-8000-0000000000a1',
  '00000000-0000-4000-8000-0000000000d1', '00000000-0000-4000-8000-0000000000d2',
  'https://segel.test/kontakt', '2026-04-29', '2026-05-05', 'contact', 0.97, '{kontakt}', 'Kontakt',
  'How to reach us', 'Kontakta oss', 'sv', 'https://segel.test/kontakt', '{Organization}', true, 180,
  200, '"p1"', 'Wed, 29 Apr 2026 00:00:00 GMT', 9000, 140, '2026-05-04', '{"robots": "allowed"}', 4,
  'Complete', 'Complete', 'timed out once', 'ContactFound', '00000000-0000-4000-8000-0000000000b1');
INSERT INTO contacts (id, tenant_id, domain_id, page_id, email, email_type, name, role, phone,
  phones, address, social_links, confidence, notes, tags, validation, validated_at,
  contact_curation_status, validation_processing_status, validation_processing_error, created_by)
VALUES ('00000000-0000-4000-8000-0000000000f1', '00000000-0000-4000-8000-0000000000a1',
  '00000000-0000-4000-8000-0000000000d1', '00000000-0000-4000-8000-0000000000d3',
  'anna.berg@segel.test', 'CORPORATE', 'Anna Berg', 'Verkställande direktör', '+46317112233',
  '{"+46317112233": {"kind": "phone"}}', '{"city": "Göteborg"}', '{"linkedin": "https://l.test/anna"}',
  0.93, 'Met at the boat fair', '{fair,warm}', '{"answer": "takes_mail"}', '2026-05-06', 'Complete',
  'Complete', 'no answer the first time', '00000000-0000-4000-8000-0000000000b1');
INSERT INTO contact_evidence (tenant_id, contact_id, field, value, url, snippet, method,
  confidence, robots, seen_at, created_by, page_id)
VALUES ('00000000-0000-4000-8000-0000000000a1', '00000000-0000-4000-8000-0000000000f1', 'email',
  'anna.berg@segel.test', 'https://segel.test/kontakt', 'VD Anna Berg anna.berg@segel.test', 'text',
  0.93, 'allowed', '2026-05-04', '00000000-0000-4000-8000-0000000000b1',
  '00000000-0000-4000-8000-0000000000d3');
-- The contact's notice was made by a trigger.
UPDATE contact_notices SET informed_at = '2026-05-20', how = 'by mail',
  informed_by = '00000000-0000-4000-8000-0000000000b1', legal_basis = 'consent';

INSERT INTO suppressions (tenant_id, kind, value_hash, reason, created_by, tail_hash)
VALUES ('00000000-0000-4000-8000-0000000000a1', 'email', '\xbeef', 'asked to be forgotten',
  '00000000-0000-4000-8000-0000000000b1', '\xcafe');
INSERT INTO saved_views (tenant_id, name, kind, query, created_by)
VALUES ('00000000-0000-4000-8000-0000000000a1', 'Near the harbour', 'businesses',
  '{"city": "Göteborg"}', '00000000-0000-4000-8000-0000000000b1');
INSERT INTO selection_rules (id, tenant_id, name, kind, conditions, status, is_enabled, created_by)
VALUES ('00000000-0000-4000-8000-0000000000e1', '00000000-0000-4000-8000-0000000000a1',
  'Contact-like pages', 'pages',
  '{"all": [{"field": "contact_likelihood", "comparison": "at_least", "value": 0.6}]}', 'Selected',
  true, '00000000-0000-4000-8000-0000000000b1');
INSERT INTO curation_actions (id, tenant_id, kind, status, rule_id, selection, changed_count,
  queued_count, skipped, undone_at, created_by, matched_count, finished_at)
VALUES ('00000000-0000-4000-8000-0000000000e2', '00000000-0000-4000-8000-0000000000a1', 'pages',
  'Selected', '00000000-0000-4000-8000-0000000000e1',
  '{"ids": ["00000000-0000-4000-8000-0000000000d3"]}', 1, 1, '{"gone": 1}', '2026-05-08',
  '00000000-0000-4000-8000-0000000000b1', 2, '2026-05-07');
INSERT INTO curation_changes (action_id, record_id, tenant_id, status_before,
  stage_status_before, error_before, queued)
VALUES ('00000000-0000-4000-8000-0000000000e2', '00000000-0000-4000-8000-0000000000d3',
  '00000000-0000-4000-8000-0000000000a1', 'New', 'Error', 'timed out once', true);
INSERT INTO batch_jobs (id, tenant_id, name, kind, paused_at, cancelled_at, created_by)
VALUES ('00000000-0000-4000-8000-0000000000e3', '00000000-0000-4000-8000-0000000000a1',
  'Boat fair', 'domains', '2026-05-01', '2026-05-02', '00000000-0000-4000-8000-0000000000b1');
INSERT INTO batch_items (tenant_id, batch_id, position, submitted, domain_id, sitemap_file_id,
  page_id, is_duplicate, error, created_by)
VALUES ('00000000-0000-4000-8000-0000000000a1', '00000000-0000-4000-8000-0000000000e3', 1,
  'segel.test', '00000000-0000-4000-8000-0000000000d1', '00000000-0000-4000-8000-0000000000d2',
  '00000000-0000-4000-8000-0000000000d3', true, 'listed twice',
  '00000000-0000-4000-8000-0000000000b1');

INSERT INTO hosts (key, lease_owner, lease_until, delay, paused_until, pause_reason)
VALUES ('www.segel.test', '00000000-0000-4000-8000-0000000000c8', '2026-05-04', '4 seconds',
  '2026-05-05', 'it answered 429');
INSERT INTO host_outcomes (key, outcome, requests, bytes, seconds)
VALUES ('www.segel.test', 'fetched', 12, 90000, 3.5);
INSERT INTO host_robots (origin, state, text, why, expires_at, unreachable_since)
VALUES ('https://www.segel.test', 'rules', 'User-agent: *', 'read', '2026-05-06', '2026-05-01');
INSERT INTO scheduler_runs (job_id, process, due_at, is_singleton, outcome, items, error, finished_at)
VALUES ('process_pending_domains', 'worker-1', '2026-05-04', true, 'done', 7, 'one was slow',
  '2026-05-04 00:01');

INSERT INTO curation.stage (name, queue, paused_at, paused_until, paused_why)
VALUES ('domain_metadata', '{"table": "domains"}', '2026-05-04', '2026-05-05', 'the DNS was down');
INSERT INTO curation.claim (stage, item, fence, lease_until, due_at, claimed_at, tries, deaths,
  worker, alone)
VALUES ('page_curation', '00000000-0000-4000-8000-0000000000d3', 5, '2026-05-04', '2026-05-05',
  '2026-05-03', 2, 1, 'worker-1', true);
INSERT INTO curation.attempt (stage, item, fence, tries, outcome, why, worker, claimed_at,
  due_at, traceback)
VALUES ('page_curation', '00000000-0000-4000-8000-0000000000d3', 4, 1, 'retry', 'timed out once',
  'worker-1', '2026-05-03', '2026-05-04', 'Traceback (most recent call last)');
INSERT INTO curation.dead_letter (stage, item, fence, kind, why, tries, deaths)
VALUES ('sitemap_import', '00000000-0000-4000-8000-0000000000d2', 3, 'gave up', 'not a sitemap', 1, 2);
