"""What a file says of a contact: the business, the address, and where it was read."""

from typing import Final

CONTACT_COLUMNS: Final = (
    "business", "domain", "email", "email_type", "validation", "name", "role", "phone",
    "phones", "street", "city", "state", "postal_code", "country", "website",
    "social_links", "confidence", "status", "tags", "notes", "source_url", "method",
    "snippet", "decision_maker", "decision_maker_role", "categories", "rating",
    "reviews_count", "business_phone", "searches", "gone_at",
)  # fmt: skip
SELECT_CONTACTS: Final = """
SELECT c.id, b.name AS business, d.domain, c.email, c.email_type::text AS email_type,
  c.deliverability::text AS validation, c.name, c.role, c.phone,
  CASE WHEN c.phones <> '{}' THEN (SELECT string_agg(k, ' ' ORDER BY k)
    FROM jsonb_object_keys(c.phones) AS k) END AS phones,
  a.street, a.city, a.state, a.postal_code, a.country, d.home_url AS website,
  CASE WHEN c.social_links <> '{}' THEN (SELECT string_agg(value, ' ' ORDER BY key)
    FROM jsonb_each_text(c.social_links)) END AS social_links,
  c.confidence, c.contact_curation_status::text AS status, c.tags, c.notes,
  c.created_at, c.updated_at, c.gone_at,
  e.url AS source_url, e.method, e.snippet,
  p.name AS decision_maker, p.role AS decision_maker_role,
  b.categories, b.rating, b.reviews_count, b.phone AS business_phone,
  (SELECT string_agg(DISTINCT concat_ws(' in ', nullif(s.business_type, ''), s.location),
    '; ') FROM place_search_hits h JOIN place_searches s ON s.id = h.search_id
    WHERE h.place_id = b.place_id) AS searches
FROM contacts c
JOIN domains d ON d.id = c.domain_id
LEFT JOIN LATERAL (SELECT * FROM local_businesses b WHERE b.domain_id = d.id
  ORDER BY b.created_at, b.id LIMIT 1) b ON true
-- The contact's own address as a whole, or the one of the business.
LEFT JOIN LATERAL (
  SELECT c.address->>'street' AS street, c.address->>'city' AS city,
    c.address->>'state' AS state, c.address->>'postal_code' AS postal_code,
    c.address->>'country' AS country
  WHERE c.address->>'street' IS NOT NULL OR c.address->>'city' IS NOT NULL
  UNION ALL SELECT b.street, b.city, b.region, b.postal_code, b.country
  LIMIT 1) a ON true
LEFT JOIN LATERAL (SELECT url, method, snippet FROM contact_evidence e
  WHERE e.contact_id = c.id AND e.field IN ('email', 'phone', 'mobile')
  ORDER BY e.gone_at IS NOT NULL, e.confidence DESC, e.id LIMIT 1) e ON true
LEFT JOIN LATERAL (SELECT name, role FROM people p WHERE p.domain_id = d.id
  AND p.gone_at IS NULL ORDER BY p.standing DESC, p.id LIMIT 1) p ON true
"""
