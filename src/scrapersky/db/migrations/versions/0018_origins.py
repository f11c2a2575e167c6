"""Every value of a contact has an origin: a page that was fetched, or who wrote it."""

import sqlalchemy as sa
from alembic import op

revision = "0018_origins"
down_revision = "0017_link_texts"

FIND_PAGES = """
UPDATE contact_evidence e SET page_id = p.id FROM contacts c
  JOIN pages p ON p.domain_id = c.domain_id
WHERE c.id = e.contact_id AND p.url = e.url AND e.method <> 'by hand'
"""
# Before robots.txt was written down, what it forbade was not fetched either.
OLD_VERDICTS = """
UPDATE contact_evidence SET robots = 'allowed' WHERE robots IS NULL
  AND method <> 'by hand'
"""
OLD_SNIPPETS = "UPDATE contact_evidence SET snippet = '' WHERE snippet IS NULL"
HAS_ORIGIN = """CASE WHEN method = 'by hand' THEN page_id IS NULL AND snippet <> ''
 ELSE url <> '' AND robots IS NOT NULL END"""


def upgrade() -> None:
    op.add_column("contact_evidence", sa.Column("page_id", sa.Uuid, nullable=True))
    for statement in (FIND_PAGES, OLD_VERDICTS, OLD_SNIPPETS):
        op.execute(statement)
    op.create_foreign_key(
        op.f("fk_contact_evidence_page_id"),
        "contact_evidence",
        "pages",
        ["page_id"],
        ["id"],
        ondelete="SET NULL",
    )
    op.create_index(
        op.f("ix_contact_evidence_page_id"), "contact_evidence", ["page_id"]
    )
    op.alter_column("contact_evidence", "snippet", nullable=False)
    op.create_check_constraint(
        op.f("ck_contact_evidence_has_origin"), "contact_evidence", HAS_ORIGIN
    )


def downgrade() -> None:
    op.drop_constraint(
        op.f("ck_contact_evidence_has_origin"), "contact_evidence", type_="check"
    )
    op.alter_column("contact_evidence", "snippet", nullable=True)
    op.drop_column("contact_evidence", "page_id")
