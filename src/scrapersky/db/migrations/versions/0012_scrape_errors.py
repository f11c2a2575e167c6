"""Say on a page whose visit failed for good that its contacts could not be had.

Whoever gives a page up (its stage, the reaper, a person with SQL) sets one status; the
other follows in the same statement.
"""

from alembic import op

revision = "0012_scrape_errors"
down_revision = "0011_robots_patience"


def upgrade() -> None:
    op.execute(
        """
        CREATE FUNCTION note_scrape_error() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          NEW.contact_scrape_status := 'Error';
          RETURN NEW;
        END $$
        """
    )
    op.execute(
        "CREATE TRIGGER note_scrape_error BEFORE UPDATE OF page_processing_status "
        "ON pages FOR EACH ROW WHEN (NEW.page_processing_status = 'Error' "
        "AND OLD.page_processing_status IS DISTINCT FROM NEW.page_processing_status) "
        "EXECUTE FUNCTION note_scrape_error()"
    )
    op.execute(
        "UPDATE pages SET contact_scrape_status = 'Error' "
        "WHERE page_processing_status = 'Error'"
    )


def downgrade() -> None:
    op.execute("DROP TRIGGER note_scrape_error ON pages")
    op.execute("DROP FUNCTION note_scrape_error()")
