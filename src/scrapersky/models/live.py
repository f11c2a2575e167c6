"""Records that people watch while they change: what is new is found by its time."""

from sqlalchemy import Index

from scrapersky.models.business import LocalBusiness
from scrapersky.models.contact import Contact
from scrapersky.models.domain import Domain
from scrapersky.models.page import Page
from scrapersky.models.place import Place
from scrapersky.models.place_search import PlaceSearch
from scrapersky.models.sitemap_file import SitemapFile

LIVE = (PlaceSearch, Place, LocalBusiness, Domain, SitemapFile, Page, Contact)

for model in LIVE:
    Index(
        f"ix_{model.__tablename__}_tenant_id_updated_at",
        model.tenant_id,
        model.updated_at,
        model.id,
    )
