"""Keep the pages that a page links to, and let the rules choose among the site's pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from curation_sdk import Transaction
from scrapersky.extraction.discovery import PageLink
from scrapersky.extraction.page_type import rate_page
from scrapersky.kit.urls import canonical_url
from scrapersky.pipeline.choice import Choice
from scrapersky.pipeline.page_copy import urgency
from scrapersky.privacy.shield import shield

CHOICE: Final = Choice("pages", "domain_id")
# A link may say more about a page than its address did; what was decided stays.
STORE_LINKED: Final = """
INSERT INTO pages AS p (tenant_id, created_by, domain_id, url, page_type,
  contact_likelihood, likelihood_reasons, priority, clicks)
SELECT $1, $2, $3, url, page_type, score, string_to_array(reasons, '; '), priority, $4
FROM unnest($5::text[], $6::text[], $7::float8[], $8::text[], $9::smallint[])
  AS g(url, page_type, score, reasons, priority)
ORDER BY url
ON CONFLICT (domain_id, url) DO UPDATE SET
  page_type = excluded.page_type, contact_likelihood = excluded.contact_likelihood,
  likelihood_reasons = excluded.likelihood_reasons, priority = excluded.priority,
  clicks = least(p.clicks, excluded.clicks)
WHERE p.page_processing_status IS NULL AND p.page_curation_status = 'New'
  AND excluded.contact_likelihood > coalesce(p.contact_likelihood, 0)
"""


@dataclass(frozen=True, slots=True)
class Whose:
    """Whose the pages are."""

    tenant_id: UUID
    user_id: UUID
    domain_id: UUID


async def store_links(
    transaction: Transaction, whose: Whose, links: Sequence[PageLink], *, clicks: int
) -> None:
    """Store pages that were found so many clicks from the home page, and choose."""
    guard = await shield(
        transaction.connection, whose.tenant_id, [link.url for link in links]
    )
    kept = [link for link in links if guard.clean(link.url) == link.url]
    if kept:
        await transaction.fetch(
            STORE_LINKED,
            whose.tenant_id,
            whose.user_id,
            whose.domain_id,
            clicks,
            [link.url for link in kept],
            [link.rating.type.value for link in kept],
            [link.rating.score for link in kept],
            ["; ".join(link.rating.reasons) for link in kept],
            [urgency(link.rating.score) for link in kept],
        )
    choose(transaction, whose)


def choose(transaction: Transaction, whose: Whose) -> None:
    """Let the rules choose, when all that settles now is stored, what to read next."""
    CHOICE.among(transaction, whose.tenant_id, whose.user_id, whose.domain_id)


def home_link(url: str) -> PageLink:
    """Return the home page as a page that is read like any other."""
    home = canonical_url(url)
    return PageLink(home, "", rate_page(home))
