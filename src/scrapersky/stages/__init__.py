"""The stages of the pipeline, one file each; they meet only in the database."""

from curation_sdk import AnyStage, Registry
from scrapersky.records import (
    Contact,
    Domain,
    LocalBusiness,
    Page,
    Place,
    PlaceSearch,
    SitemapFile,
)
from scrapersky.settings import Settings, StageSettings
from scrapersky.stages.wf1_place_search import search_places
from scrapersky.stages.wf2_deep_scan import scan_place
from scrapersky.stages.wf3_domain_extraction import extract_domain
from scrapersky.stages.wf4_domain_metadata import gather_metadata
from scrapersky.stages.wf4_sitemap_submission import submit_sitemaps
from scrapersky.stages.wf6_sitemap_import import import_sitemap
from scrapersky.stages.wf7_page_curation import curate_page
from scrapersky.stages.wf8_contacts import validate_contact

PIPELINE: tuple[AnyStage, ...] = (
    search_places,
    scan_place,
    extract_domain,
    gather_metadata,
    submit_sitemaps,
    import_sitemap,
    curate_page,
    validate_contact,
)
"""Every stage, in the order in which records pass through them."""

QUEUES = (
    PlaceSearch.status,
    Place.deep_scan_status,
    LocalBusiness.domain_extraction_status,
    Domain.status,
    Domain.sitemap_analysis_status,
    SitemapFile.sitemap_import_status,
    Page.page_processing_status,
    Contact.validation_processing_status,
)
"""Every status column that anyone may queue rows in; each must have its stage."""


def settings_of(settings: Settings) -> dict[str, StageSettings]:
    """Return which settings belong to which stage."""
    return {
        "place_search": settings.place_search,
        "deep_scan": settings.deep_scan,
        "domain_extraction": settings.domain_extraction,
        "domain_metadata": settings.domain,
        "sitemap_submission": settings.domain_sitemap,
        "sitemap_import": settings.sitemap_import,
        "page_curation": settings.page_curation,
        "contact_validation": settings.contact_validation,
    }


def configured_pipeline(settings: Settings) -> tuple[AnyStage, ...]:
    """Return the stages with the numbers that the settings give them."""
    chosen = settings_of(settings)
    return tuple(
        stage.configured(
            batch=chosen[stage.name].batch_size,
            concurrency=chosen[stage.name].concurrency,
            timeout=chosen[stage.name].timeout,
            lease=chosen[stage.name].lease,
            max_attempts=chosen[stage.name].max_attempts,
        )
        for stage in PIPELINE
    )


def registry_of(stages: tuple[AnyStage, ...]) -> Registry:
    """Check that no queue is left without a consumer."""
    return Registry(stages, queues=QUEUES)
