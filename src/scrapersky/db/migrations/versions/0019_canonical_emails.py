"""E-mail addresses in one form: small letters, an ASCII domain."""

import re
import unicodedata
from collections.abc import Iterator

import idna
import sqlalchemy as sa
from alembic import op

revision = "0019_canonical_emails"
down_revision = "0018_origins"

# Most addresses are in their one form already; only the others are read.
ODD = "{column} ~ '[^ -~]|^''' OR {column} !~ '@[a-z0-9._-]+$'"
CONTACTS = (
    "SELECT id, domain_id, email FROM contacts WHERE "  # noqa: S608
    f"{ODD.format(column='email')}"
)
EVIDENCE = (
    "SELECT id, value FROM contact_evidence WHERE field = 'email' AND "  # noqa: S608
    f"({ODD.format(column='value')})"
)
DOMAINS = (
    "SELECT id, emails FROM domains WHERE EXISTS (SELECT FROM unnest(emails) AS e WHERE "  # noqa: S608
    f"{ODD.format(column='e')})"
)
DROP_TWICE_SEEN = """
DELETE FROM contact_evidence e USING contact_evidence o WHERE e.id = :id
  AND o.id <> e.id AND o.contact_id = e.contact_id AND o.field = e.field
  AND o.value = :value AND o.url = e.url AND o.method = e.method
"""
RENAME_EVIDENCE = "UPDATE contact_evidence SET value = :value WHERE id = :id"
TWIN = "SELECT id FROM contacts WHERE domain_id = :domain AND email = :email"
# Evidence is unique in a contact: what both have stays with the one that stays.
MOVE_EVIDENCE = """
UPDATE contact_evidence e SET contact_id = :into WHERE contact_id = :id
  AND NOT EXISTS (SELECT FROM contact_evidence o WHERE o.contact_id = :into
    AND o.field = e.field AND o.value = e.value AND o.url = e.url
    AND o.method = e.method)
"""
KEEP_FACTS = """
UPDATE contacts c SET name = coalesce(c.name, o.name), role = coalesce(c.role, o.role),
  phone = coalesce(c.phone, o.phone), phones = o.phones || c.phones,
  address = coalesce(c.address, o.address), notes = concat_ws(E'\\n\\n', c.notes, o.notes),
  social_links = o.social_links || c.social_links
FROM contacts o WHERE c.id = :into AND o.id = :id
"""
# Not in SQL: such a function is unfolded, and then not leakproof any more, without which
# no index of it is used under a policy. Only a superuser may say that it is.
FUNCTIONS = (
    """CREATE FUNCTION mailbox_of(address text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT
  PARALLEL SAFE AS $$ BEGIN
    RETURN regexp_replace(address, '[+][^@]*@', '@');
  END $$""",
    """CREATE FUNCTION mailboxes_of(addresses text[]) RETURNS text[] LANGUAGE plpgsql IMMUTABLE
  STRICT PARALLEL SAFE AS $$ BEGIN
    RETURN array(SELECT regexp_replace(a, '[+][^@]*@', '@') FROM unnest(addresses) AS a);
  END $$""",
    """DO $$ BEGIN
  IF (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
    ALTER FUNCTION mailbox_of LEAKPROOF;
    ALTER FUNCTION mailboxes_of LEAKPROOF;
  END IF;
END $$""",
)


def upgrade() -> None:
    connection = op.get_bind()
    for row in connection.execute(sa.text(EVIDENCE)).all():
        given = {"value": canonical(row.value) or row.value, "id": row.id}
        for statement in (DROP_TWICE_SEEN, RENAME_EVIDENCE):
            connection.execute(sa.text(statement), given)
    for row in connection.execute(sa.text(DOMAINS)).all():
        kept = dict.fromkeys(each for one in row.emails if (each := canonical(one)))
        connection.execute(
            sa.text("UPDATE domains SET emails = :emails WHERE id = :id"),
            {"emails": list(kept), "id": row.id},
        )
    for row in connection.execute(sa.text(CONTACTS)).all():
        rename(connection, row)
    op.create_check_constraint(
        op.f("ck_contacts_email_ascii_domain"), "contacts", "email ~ '@[a-z0-9._-]+$'"
    )
    for statement in FUNCTIONS:
        op.execute(statement)
    op.create_index(
        "ix_contacts_tenant_id_mailbox",
        "contacts",
        ["tenant_id", sa.text("mailbox_of(email)")],
    )
    op.create_index(
        "ix_domains_mailboxes",
        "domains",
        [sa.text("mailboxes_of(emails)")],
        postgresql_using="gin",
    )


def rename(connection: sa.Connection, row: sa.Row[tuple[object, ...]]) -> None:
    """Give a contact the one form of its address, or unite it with who has it."""
    email = canonical(row.email)
    twin = connection.scalar(sa.text(TWIN), {"domain": row.domain_id, "email": email})
    if twin is not None:
        for statement in (KEEP_FACTS, MOVE_EVIDENCE):
            connection.execute(sa.text(statement), {"into": twin, "id": row.id})
    for statement in changes(email, is_twin=twin is not None):
        connection.execute(sa.text(statement), {"email": email, "id": row.id})


def changes(email: str | None, *, is_twin: bool) -> Iterator[str]:
    """Yield what becomes of a row; what is not an address is dropped."""
    if is_twin:
        yield "DELETE FROM contacts WHERE id = :id"
    elif email is not None:
        yield "UPDATE contacts SET email = :email WHERE id = :id"
    else:
        yield "DELETE FROM contacts WHERE id = :id AND phone IS NULL"
        yield """DELETE FROM contacts c WHERE id = :id AND EXISTS (SELECT FROM contacts o
          WHERE o.domain_id = c.domain_id AND o.phone = c.phone AND o.email IS NULL)"""
        yield "UPDATE contacts SET email = NULL WHERE id = :id"


def canonical(address: str) -> str | None:
    """Write an address in its one form, as it was when this revision was made."""
    local, _, domain = address.strip().replace("\u2019", "'").rpartition("@")
    local = unicodedata.normalize("NFKC", local).lower()
    local = unicodedata.normalize("NFKC", local).lstrip("'")
    try:
        mapped = idna.uts46_remap(domain, std3_rules=False, transitional=False)
        name = mapped if mapped.isascii() else idna.encode(mapped).decode("ascii")
    except (idna.IDNAError, UnicodeError):
        return None
    name = name.lower().rstrip(".")
    is_name = "." in name and re.fullmatch("[a-z0-9._-]+", name)
    return f"{local}@{name}" if local and is_name else None


def downgrade() -> None:
    op.drop_index("ix_domains_mailboxes", "domains")
    op.drop_index("ix_contacts_tenant_id_mailbox", "contacts")
    op.execute("DROP FUNCTION mailboxes_of")
    op.execute("DROP FUNCTION mailbox_of")
    op.drop_constraint(
        op.f("ck_contacts_email_ascii_domain"), "contacts", type_="check"
    )
