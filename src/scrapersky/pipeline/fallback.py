"""Try the usual addresses of a site all of whose chosen pages are gone.

A menu may be older than the site behind it: every link answers 404, and the page with the
address stands where such pages usually stand.
"""

from collections.abc import Iterable
from typing import Final
from uuid import UUID

from contact_extraction.page_guess import fallback_pages
from contact_extraction.page_type import PageType
from curation_sdk import Transaction
from scrapersky.pipeline.site import SiteOwner, store_links
from scrapersky.records.status import PageProcessingStatus

# Whatever is still to be read may be there; the home page always is. Where no contact page
# was named, the usual addresses have been asked for before.
ALL_GONE: Final = f"""
SELECT d.id, coalesce(d.home_url, 'https://' || d.domain || '/') AS home, d.language,
  ARRAY(SELECT url FROM pages WHERE domain_id = d.id ORDER BY id LIMIT 50) AS known
FROM domains d WHERE d.id = ANY($1) AND EXISTS (
  SELECT FROM pages p WHERE p.domain_id = d.id AND p.gone_at IS NOT NULL
    AND p.page_type = '{PageType.CONTACT_ROOT}')
AND NOT EXISTS (
  SELECT FROM pages p WHERE p.domain_id = d.id AND p.id <> ALL($2)
    AND p.clicks IS DISTINCT FROM 0 AND p.gone_at IS NULL
    AND (p.fetched_at IS NOT NULL OR p.page_processing_status IN
      ('{PageProcessingStatus.QUEUED}', '{PageProcessingStatus.PROCESSING}')))
"""  # noqa: S608 - our own labels


async def try_usual_pages(
    transaction: Transaction, sites: Iterable[SiteOwner], gone: list[UUID]
) -> None:
    """List the usual pages of the sites that have lost every page that was chosen."""
    owners = {site.domain_id: site for site in sites}
    for row in await transaction.fetch(ALL_GONE, [*owners], gone):
        links = fallback_pages(
            row["home"], language=row["language"], known=row["known"]
        )
        store_links(transaction, owners[row["id"]], links, clicks=1)
