"""What most pages of a site say of the business: its name, hours and addresses."""

from typing import Final

MOST_OFFICES: Final = 100
"""Addresses of one business that are kept."""
LEAST_LIKELY: Final = 0.75
"""The chance of being the business's own from which an address on one page alone is kept."""
# What no page says any more is not said of the business either.
ORGANISATION: Final = """coalesce(organisation, '{}')
    - '{hours,address,addresses}'::text[] || known.facts"""
# What most pages call the business, each as sure as it is; the home page knows best, and
# a name that the domain has too counts double. Hours and address are the likeliest page's;
# of every address that any page has, the surest reading is kept with its source. The same
# house number and code, with most words of the street, is one address spelt twice: the one
# that more pages have stays. So does the one with a house number where the code is the same.
STORE_ORGANISATIONS: Final = f"""
WITH said AS MATERIALIZED (
  SELECT id, domain_id, url, organisation AS o, contact_likelihood FROM pages
  WHERE domain_id = ANY($1) AND organisation IS NOT NULL AND gone_at IS NULL
), named AS (
  SELECT domain_id, o, 1 AS weight FROM said WHERE o->>'name' IS NOT NULL
  UNION ALL
  SELECT id, organisation->'home', 2 FROM domains
  WHERE id = ANY($1) AND organisation->'home'->>'name' IS NOT NULL
), best AS (
  SELECT DISTINCT ON (domain_id) domain_id, min(o->>'name') AS name FROM named
  GROUP BY domain_id, lower(o->>'name')
  ORDER BY domain_id, sum((o->>'confidence')::float8 * weight
    * CASE WHEN (o->>'is_in_domain')::boolean THEN 2 ELSE 1 END) DESC, 2
), hours AS (
  SELECT DISTINCT ON (domain_id) domain_id, o->'hours' AS hours FROM said
  WHERE o ? 'hours' ORDER BY domain_id, contact_likelihood DESC NULLS LAST, id
), addresses AS (
  SELECT DISTINCT ON (domain_id) domain_id, o->'address' AS address FROM said
  WHERE o ? 'address' ORDER BY domain_id, contact_likelihood DESC NULLS LAST, id
), readings AS (
  SELECT domain_id, contact_likelihood, id, place, a->>'key' AS key, a->>'city' AS city,
    nullif(lower(regexp_replace(a->>'postal_code', '\\s', '', 'g')), '') AS code,
    coalesce((a->>'likelihood')::float8, 1) AS likelihood,
    a || jsonb_build_object('url', url) AS office,
    count(*) OVER (PARTITION BY domain_id, a->>'key') AS pages,
    row_number() OVER (PARTITION BY domain_id, a->>'key' ORDER BY
      (a->>'confidence')::float8 DESC, contact_likelihood DESC NULLS LAST, id) AS turn
  FROM said CROSS JOIN LATERAL
    jsonb_array_elements(o->'addresses') WITH ORDINALITY AS e (a, place)
), spelt AS MATERIALIZED (
  SELECT r.*, ARRAY(SELECT w FROM unnest(parts) AS w WHERE w ~ '\\d') AS numbers,
    ARRAY(SELECT w FROM unnest(parts) AS w WHERE w !~ '\\d') AS words,
    row_number() OVER (PARTITION BY domain_id
      ORDER BY code IS NULL, pages DESC, likelihood DESC, key) AS strength
  FROM readings AS r
  CROSS JOIN LATERAL array_remove(string_to_array(key, ' '), code) AS l (parts)
  WHERE turn = 1 AND (pages > 1 OR likelihood >= {LEAST_LIKELY})
), offices AS (
  SELECT * FROM spelt AS b WHERE strength <= {2 * MOST_OFFICES} AND NOT EXISTS (
    SELECT FROM spelt AS a WHERE a.domain_id = b.domain_id AND a.strength < b.strength
      AND a.numbers <> '{{}}'
      AND (a.code = b.code OR b.code IS NULL AND b.numbers <> '{{}}'
        AND lower(coalesce(a.city, b.city, '')) = lower(coalesce(b.city, a.city, '')))
      AND (a.numbers <@ b.numbers OR b.numbers <@ a.numbers)
      AND (b.numbers = '{{}}' OR 2 * cardinality(ARRAY(
          SELECT unnest(a.words) INTERSECT SELECT unnest(b.words)))
        > least(cardinality(a.words), cardinality(b.words))))
), ranked AS (
  SELECT domain_id, office, row_number() OVER (PARTITION BY domain_id
    ORDER BY contact_likelihood DESC NULLS LAST, id, place) AS rank FROM offices
), every AS (
  SELECT domain_id, jsonb_agg(office ORDER BY rank) AS addresses FROM ranked
  WHERE rank <= {MOST_OFFICES} GROUP BY domain_id
), known AS (
  SELECT d AS domain_id, jsonb_strip_nulls(jsonb_build_object(
    'name', best.name, 'hours', hours.hours, 'address', addresses.address,
    'addresses', every.addresses)) AS facts
  FROM unnest($1::uuid[]) AS d LEFT JOIN best ON best.domain_id = d
  LEFT JOIN hours ON hours.domain_id = d LEFT JOIN addresses ON addresses.domain_id = d
  LEFT JOIN every ON every.domain_id = d
)
UPDATE domains SET organisation = {ORGANISATION}
FROM known WHERE id = known.domain_id
  AND {ORGANISATION} IS DISTINCT FROM coalesce(organisation, '{{}}')
"""  # noqa: S608 - our number
