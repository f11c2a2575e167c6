"""Phone numbers in one form: E.164, or as written where no country is known."""

import json
import logging
import re
from collections.abc import Iterator
from functools import partial

import phonenumbers
import sqlalchemy as sa
from alembic import op

from scrapersky.db.migrations.steps import IN_BATCHES, add_index, commit, in_turn

revision = "0042_canonical_phones"
down_revision = "0041_time_ordered_keys"

STEP = 1_000
"""Rows that are read and changed by one statement."""
TABLES = ("places_staging", "local_businesses", "companies", "company_members")
# Most numbers are in their one form already; only the others are read.
ODD = r"{0}.phone IS NOT NULL AND {0}.phone !~ '^\+[1-9][0-9]{{5,16}}$'"
# Where a place is: by its business, its own source, or the search that found it.
PLACES = f"""
SELECT p.id, p.tenant_id, p.phone, coalesce(b.country, p.raw->'tags'->>'addr:country',
  p.raw->'row'->>'country', p.raw->>'region', p.raw->>'country', s.region) AS country
FROM places_staging p
LEFT JOIN local_businesses b ON b.tenant_id = p.tenant_id AND b.place_id = p.id
LEFT JOIN LATERAL (
  SELECT coalesce(q.params->>'region', q.progress->'located'->>'country') AS region
  FROM place_search_hits h JOIN place_searches q ON q.id = h.search_id
  WHERE h.place_id = p.id ORDER BY h.found_at DESC LIMIT 1) s ON true
WHERE p.id > :after AND {ODD.format("p")}
ORDER BY p.id LIMIT {STEP}
"""  # noqa: S608 - our own columns
BUSINESSES = f"""
SELECT b.id, b.tenant_id, b.phone, b.country FROM local_businesses b
WHERE b.id > :after AND {ODD.format("b")} ORDER BY b.id LIMIT {STEP}
"""  # noqa: S608 - our own columns
CHANGES = """FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS r(id uuid, old text, new text)"""
SEEN = """md5(CAST((p.name, p.address, p.categories, p.website, {phone},
  p.business_status, p.moved_to) AS text))"""
# A search that finds the place again does not take the new form for news.
KEEP_SEEN = f"""
UPDATE {IN_BATCHES} place_search_hits h SET facts_hash = {SEEN.format(phone="r.new")} {CHANGES}
JOIN places_staging p ON p.id = r.id
WHERE h.place_id = p.id AND h.facts_hash = {SEEN.format(phone="p.phone")}
"""  # noqa: S608 - our own columns
OF_COMPANIES = f"""
UPDATE {IN_BATCHES} companies c SET phone = r.new {CHANGES}
JOIN company_members m ON m.{{key}} = r.id WHERE c.id = m.company_id AND c.phone = r.old
"""  # noqa: S608 - our own columns
OF_MEMBERS = f"""
UPDATE {IN_BATCHES} company_members m SET phone = r.new, is_matched = false {CHANGES}
WHERE m.{{key}} = r.id AND m.phone = r.old
"""  # noqa: S608 - our own columns
# Not in SQL: such a function is unfolded, and then not leakproof any more, without which
# no index of it is used under a policy. Only a superuser may say that it is.
FUNCTIONS = (
    """CREATE OR REPLACE FUNCTION phone_digits(phone text) RETURNS text LANGUAGE plpgsql
  IMMUTABLE STRICT PARALLEL SAFE AS $$ BEGIN
    IF left(phone, 1) = '+' THEN
      RETURN NULL;
    END IF;
    RETURN ltrim(regexp_replace(phone, '[^0-9]', '', 'g'), '0');
  END $$""",
    """CREATE OR REPLACE FUNCTION readable(content bytea) RETURNS text LANGUAGE plpgsql
  IMMUTABLE STRICT PARALLEL SAFE AS $$ BEGIN
    RETURN convert_from(content, 'UTF8');
  EXCEPTION WHEN character_not_in_repertoire OR untranslatable_character THEN
    RETURN encode(content, 'escape');
  END $$""",
    """DO $$ BEGIN
  IF (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
    ALTER FUNCTION phone_digits LEAKPROOF;
  END IF;
END $$""",
)
SEPARATORS = re.compile(
    "[\u00a0\u00ad\u00b7\u2000-\u200b\u2010-\u2015\u2022\u202f\u2053\u205f\u2060\u2212"
    "\u223c\u3000\u30fc\uff08\uff09\uff0d-\uff0f\uff3b\uff3d\uff5e]"
)
NUMBER = re.compile(r"\+?[(\s]{0,3}[0-9][0-9\s()./~_*\[\]-]*")
SHORTEST = 6
MOST_DIGITS = 15


def upgrade() -> None:
    for statement in FUNCTIONS:
        op.execute(statement)
    commit()
    changed = rewrite("places_staging", PLACES, "place_id")
    changed += rewrite("local_businesses", BUSINESSES, "business_id")
    logging.getLogger(__name__).info("phone numbers rewritten: %d", changed)
    for table in TABLES:
        add_index(
            f"ix_{table}_phone_digits",
            table,
            ["tenant_id", sa.text("phone_digits(phone)")],
            postgresql_where=sa.text("phone_digits(phone) IS NOT NULL"),
        )


def rewrite(table: str, query: str, key: str) -> int:
    """Bring the numbers of a table into their one form, and what was made of them."""
    connection = op.get_bind()
    listed = {
        row.tenant_id
        for row in connection.execute(
            sa.text("SELECT DISTINCT tenant_id FROM suppressions WHERE kind = 'phone'")
        )
    }
    touch = (
        f"UPDATE {IN_BATCHES} {table} t SET phone = r.new {CHANGES}"  # noqa: S608
        " WHERE t.id = r.id AND t.phone = r.old"
    )
    statements = [touch, OF_COMPANIES.format(key=key), OF_MEMBERS.format(key=key)]
    if table == "places_staging":
        statements.insert(0, KEEP_SEEN)
    total = 0
    for rows in steps(connection, query):
        changes = [
            {"id": str(row.id), "old": row.phone, "new": new}
            for row in rows
            # Whoever has a list reads even unchanged ones again: it may name them.
            if (new := stored(row.phone, row.country)) != row.phone
            or row.tenant_id in listed
        ]
        if changes:
            in_turn(partial(carry_out, statements, changes))
        total += len(changes)
    return total


def carry_out(statements: list[str], changes: list[dict[str, str | None]]) -> None:
    """Write some numbers anew, everywhere they stand."""
    for statement in statements:
        op.get_bind().execute(sa.text(statement), {"rows": json.dumps(changes)})


def steps(
    connection: sa.Connection, query: str
) -> Iterator[list[sa.Row[tuple[object, ...]]]]:
    """Yield the rows of a query by their keys, some at a time."""
    after: object = "00000000-0000-0000-0000-000000000000"
    while rows := connection.execute(sa.text(query), {"after": after}).all():
        yield [*rows]
        after = rows[-1].id


def stored(text: str, country: str | None) -> str | None:
    """Write a number in its one form, as it was when this revision was made."""
    plain = SEPARATORS.sub("-", text[:200]).replace("\uff0b", "+")
    plain = re.sub(r"\d", lambda found: str(int(found[0])), plain)
    found = NUMBER.findall(plain)
    number = next(filter(has_a_length, found), found[0] if found else "")
    number = " ".join(number.split()).rstrip(" (-/.")
    region = country.strip().upper() if country else None
    digits = re.sub(r"[^0-9+]", "", number)
    spelt = [digits, f"+{digits[2:]}" if digits.startswith("00") else digits, plain]
    read = [one for each in spelt if (one := parsed(each[:40], region))]
    valid = next(filter(phonenumbers.is_valid_number, read), None)
    if valid is None and number.startswith("+"):
        valid = next(iter(read), None)
        number = ""
    if valid is not None:
        number = phonenumbers.format_number(valid, phonenumbers.PhoneNumberFormat.E164)
    return number if has_a_length(number) else None


def parsed(text: str, region: str | None) -> phonenumbers.PhoneNumber | None:
    """Read a number, or None."""
    try:
        return phonenumbers.parse(text, region)
    except phonenumbers.NumberParseException:
        return None


def has_a_length(text: str) -> bool:
    """Say whether a text has as many digits as a phone number has."""
    return SHORTEST <= len(re.sub(r"\D", "", text).lstrip("0")) <= MOST_DIGITS


def downgrade() -> None:
    for table in TABLES:
        op.drop_index(f"ix_{table}_phone_digits", table)
    op.execute("DROP FUNCTION phone_digits")
    op.execute("DROP FUNCTION readable")
