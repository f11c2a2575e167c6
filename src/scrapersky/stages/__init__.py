"""The stages of the pipeline, one file each; they meet only in the database."""

from collections.abc import Mapping

from curation_sdk import Registry
from curation_sdk.registry import AnyStage
from scrapersky.errors import StageNotFound
from scrapersky.pipeline.declaration import AnyPipelineStage
from scrapersky.pipeline.stage_settings import StageSettings
from scrapersky.records import queue_columns
from scrapersky.stages.wf1_place_search import search_places
from scrapersky.stages.wf2_deep_scan import scan_place
from scrapersky.stages.wf3_domain_extraction import extract_domain
from scrapersky.stages.wf4_domain_metadata import gather_metadata
from scrapersky.stages.wf4_sitemap_submission import submit_sitemaps
from scrapersky.stages.wf6_sitemap_import import import_sitemap
from scrapersky.stages.wf7_page_curation import curate_page
from scrapersky.stages.wf8_contacts import validate_contact

PIPELINE: tuple[AnyPipelineStage, ...] = (
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

STAGES: Mapping[str, AnyPipelineStage] = {stage.name: stage for stage in PIPELINE}
"""The same, by name."""

MAX_CRASHES = 5
"""How many workers an item may crash. Hostile bytes crash a parser's child and no worker, so
the usual cause is not the item (no memory, a restart), and few should have to be worked alone,
which keeps all others waiting."""


def stage_named(name: str) -> AnyPipelineStage:
    """Return the stage of this name, or say which there are."""
    if name not in STAGES:
        raise StageNotFound(
            f"No stage is called '{name[:50]}'.",
            hint=f"Choose one of: {', '.join(STAGES)}.",
        )
    return STAGES[name]


def configured_pipeline(settings: Mapping[str, StageSettings]) -> tuple[AnyStage, ...]:
    """Return the stages with the numbers that the settings give them."""
    return tuple(configure_stage(stage, settings) for stage in PIPELINE)


def configure_stage(
    stage: AnyPipelineStage, of_all: Mapping[str, StageSettings]
) -> AnyStage:
    """Return a stage with the numbers that the settings give it and those it feeds."""
    settings = of_all[stage.name]
    marks = {fed: mark for fed in stage.feeds if (mark := of_all[fed].high_water)}
    return stage.configured(
        rate_per_minute=settings.rate_per_minute,
        high_water=marks or None,
        batch=settings.batch_size,
        concurrency=settings.concurrency,
        timeout=settings.timeout,
        slow_after=settings.slow_after,
        lease=settings.lease,
        max_attempts=settings.max_attempts,
        max_crashes=MAX_CRASHES,
    )


def registry_of(stages: tuple[AnyStage, ...]) -> Registry:
    """Check that no queue of any record is left without a consumer."""
    return Registry(stages, queues=queue_columns())
