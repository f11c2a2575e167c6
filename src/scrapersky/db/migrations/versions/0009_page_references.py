"""Check what pages refer to once a statement, and not once a row and reference.

A sitemap brings fifty thousand pages that all refer to the same four rows. The
references stay what they were: they hold at any moment, and deletes go on to pages.
"""
# ruff: noqa: S608 - built only from the names of our own tables

import sqlalchemy as sa
from alembic import op

revision = "0009_page_references"
down_revision = "0008_records"

REFERENCES = {
    "tenant_id": ("tenants", "CASCADE"),
    "created_by": ("users", "SET NULL"),
    "domain_id": ("domains", "CASCADE"),
    "sitemap_file_id": ("sitemap_files", "SET NULL"),
}
REFUSED = """
    RAISE foreign_key_violation USING
      MESSAGE = 'insert or update on table "pages" violates foreign key constraint "'
        || name || '"',
      DETAIL = 'Key (' || lost::text || ') is not present.',
      TABLE = 'pages', CONSTRAINT = name
"""
# As the owner of the tables: references hold for rows that the deleter may not see.
AS_OWNER = "SECURITY DEFINER SET search_path = public, pg_temp"

# Locks as a foreign key does: what is referred to cannot be deleted until we commit.
CHECK_NEW = f"""
CREATE FUNCTION check_new_pages() RETURNS trigger LANGUAGE plpgsql {AS_OWNER} AS $$
DECLARE name text; lost uuid;
BEGIN
  name := 'fk_pages_domain_id';
  SELECT n.domain_id INTO lost
  FROM (SELECT DISTINCT domain_id, tenant_id FROM given) n
  LEFT JOIN LATERAL (SELECT d.id FROM domains d WHERE d.id = n.domain_id
    AND d.tenant_id = n.tenant_id FOR KEY SHARE) d ON true
  WHERE d.id IS NULL LIMIT 1;
  IF FOUND THEN {REFUSED}; END IF;
  name := 'fk_pages_sitemap_file_id';
  SELECT n.sitemap_file_id INTO lost
  FROM (SELECT DISTINCT sitemap_file_id FROM given) n
  LEFT JOIN LATERAL (SELECT s.id FROM sitemap_files s WHERE s.id = n.sitemap_file_id
    FOR KEY SHARE) s ON true
  WHERE n.sitemap_file_id IS NOT NULL AND s.id IS NULL LIMIT 1;
  IF FOUND THEN {REFUSED}; END IF;
  name := 'fk_pages_created_by';
  SELECT n.created_by INTO lost FROM (SELECT DISTINCT created_by FROM given) n
  LEFT JOIN LATERAL (SELECT u.id FROM users u WHERE u.id = n.created_by
    FOR KEY SHARE) u ON true
  WHERE n.created_by IS NOT NULL AND u.id IS NULL LIMIT 1;
  IF FOUND THEN {REFUSED}; END IF;
  RETURN NULL;
END $$
"""

CHECK_CHANGED = f"""
CREATE FUNCTION check_changed_page() RETURNS trigger LANGUAGE plpgsql {AS_OWNER} AS $$
DECLARE name text; lost uuid;
BEGIN
  name := 'fk_pages_domain_id'; lost := NEW.domain_id;
  PERFORM FROM domains WHERE id = NEW.domain_id AND tenant_id = NEW.tenant_id
    FOR KEY SHARE;
  IF NOT FOUND THEN {REFUSED}; END IF;
  name := 'fk_pages_sitemap_file_id'; lost := NEW.sitemap_file_id;
  PERFORM FROM sitemap_files WHERE id = lost FOR KEY SHARE;
  IF NOT FOUND AND lost IS NOT NULL THEN {REFUSED}; END IF;
  name := 'fk_pages_created_by'; lost := NEW.created_by;
  PERFORM FROM users WHERE id = lost FOR KEY SHARE;
  IF NOT FOUND AND lost IS NOT NULL THEN {REFUSED}; END IF;
  RETURN NULL;
END $$
"""

# With an older picture of the table, pages that were stored meanwhile would be missed.
FOLLOW = f"""
CREATE FUNCTION follow_to_pages() RETURNS trigger LANGUAGE plpgsql {AS_OWNER} AS $$
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
END $$
"""

KEEP_KEY = """
CREATE FUNCTION keep_key_of_pages() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE foreign_key_violation USING
    MESSAGE = 'the key of ' || TG_TABLE_NAME || ' cannot change: pages refer to it';
END $$
"""

KEEP_ROWS = f"""
CREATE FUNCTION keep_rows_of_pages() RETURNS trigger LANGUAGE plpgsql {AS_OWNER} AS $$
BEGIN
  IF EXISTS (SELECT FROM pages) THEN
    RAISE foreign_key_violation USING
      MESSAGE = 'cannot truncate ' || TG_TABLE_NAME || ': pages refer to it',
      HINT = 'Truncate pages in the same command.';
  END IF;
  RETURN NULL;
END $$
"""

MOVED = " OR ".join(f"OLD.{name} IS DISTINCT FROM NEW.{name}" for name in REFERENCES)
KEYS = {"domains": ("id", "tenant_id"), "sitemap_files": ("id",), "users": ("id",)}


def upgrade() -> None:
    for column in REFERENCES:
        op.drop_constraint(op.f(f"fk_pages_{column}"), "pages")
    for function in (CHECK_NEW, CHECK_CHANGED, FOLLOW, KEEP_KEY, KEEP_ROWS):
        op.execute(function)
    op.execute(
        "CREATE TRIGGER check_new AFTER INSERT ON pages REFERENCING NEW TABLE AS given "
        "FOR EACH STATEMENT EXECUTE FUNCTION check_new_pages()"
    )
    op.execute(
        f"CREATE TRIGGER check_changed AFTER UPDATE OF {', '.join(REFERENCES)} ON pages "
        f"FOR EACH ROW WHEN ({MOVED}) EXECUTE FUNCTION check_changed_page()"
    )
    for table, keys in KEYS.items():
        changed = " OR ".join(f"OLD.{key} IS DISTINCT FROM NEW.{key}" for key in keys)
        op.execute(
            f"CREATE TRIGGER follow_to_pages AFTER DELETE ON {table} "
            "REFERENCING OLD TABLE AS deleted "
            "FOR EACH STATEMENT EXECUTE FUNCTION follow_to_pages()"
        )
        op.execute(
            f"CREATE TRIGGER keep_key BEFORE UPDATE OF {', '.join(keys)} ON {table} "
            f"FOR EACH ROW WHEN ({changed}) EXECUTE FUNCTION keep_key_of_pages()"
        )
        op.execute(
            f"CREATE TRIGGER keep_rows AFTER TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION keep_rows_of_pages()"
        )


def downgrade() -> None:
    for table in KEYS:
        for trigger in ("follow_to_pages", "keep_key", "keep_rows"):
            op.execute(f"DROP TRIGGER {trigger} ON {table}")
    for trigger in ("check_new", "check_changed"):
        op.execute(f"DROP TRIGGER {trigger} ON pages")
    for name in (
        *("check_new_pages", "check_changed_page", "follow_to_pages"),
        *("keep_key_of_pages", "keep_rows_of_pages"),
    ):
        op.execute(sa.text(f"DROP FUNCTION {name}()"))
    for column, (table, action) in REFERENCES.items():
        op.create_foreign_key(
            op.f(f"fk_pages_{column}"),
            "pages",
            table,
            [column],
            ["id"],
            ondelete=action,
        )
