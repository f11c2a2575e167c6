"""Every job of the specification is registered as it says, with the settings' numbers."""

from datetime import timedelta
from pathlib import Path

from scrapersky.configuration import load_settings
from scrapersky.db.connection import parse_target
from scrapersky.scheduler.app import work
from scrapersky.scheduler.background import Background
from scrapersky.settings import Settings
from tests.conftest import TestDatabase

JOBS = [
    ("process_places_search_background", "Process Place Searches",
     "PLACE_SEARCH_SCHEDULER", 1, 1, 60),
    ("process_deep_scan_queue", "Process Deep Scans", "DEEP_SCAN_SCHEDULER", 5, 1, 60),
    ("process_domain_extraction_queue", "Process Domain Extractions",
     "DOMAIN_EXTRACTION_SCHEDULER", 2, 1, 60),
    ("process_pending_domains", "Process Pending Domains",
     "DOMAIN_SCHEDULER", 1, 3, 60),
    ("process_pending_domain_sitemap_submissions",
     "Domain Sitemap Submission Scheduler", "DOMAIN_SITEMAP_SCHEDULER", 1, 1, 60),
    ("process_sitemap_imports", "Process Pending Sitemap Imports",
     "SITEMAP_IMPORT_SCHEDULER", 1, 1, 1800),
    ("v2_page_curation_processor", "Process Page Curation",
     "PAGE_CURATION_SCHEDULER", 1, 1, 60),
    ("validate_contacts", "Validate Contacts", "CONTACT_VALIDATION_SCHEDULER", 1, 1, 60),
    ("reap_expired_claims", "Rescue Expired Claims", "REAP_SCHEDULER", 1, 1, 60),
    ("purge_old_history", "Purge Old History", "PURGE_SCHEDULER", 60, 1, 60),
    ("match_companies", "Match Companies", "COMPANY_MATCHING_SCHEDULER", 1, 1, 60),
]  # fmt: skip


def settings_with(home: Path, **environment: str) -> Settings:
    given = {"SCRAPERSKY_DATA_DIR": str(home), **environment}
    return load_settings(given, dotenv=None).settings


def job_of(background: Background, job_id: str) -> object:
    scheduler = background.schedule._scheduler
    return scheduler.get_job(job_id)


async def test_every_job_is_registered_with_its_defaults(
    tmp_path: Path, database: TestDatabase
) -> None:
    settings, target = settings_with(tmp_path), parse_target(database.url)
    async with work(settings, target) as background:
        jobs = [job_of(background, job[0]) for job in JOBS]

        assert [job["id"] for job in background.schedule.published()] == [
            job[0] for job in JOBS
        ]
        assert [facts_of(job) for job in jobs] == [
            (name, timedelta(minutes=every), most, grace, True)
            for _, name, _, every, most, grace in JOBS
        ]
        assert background.schedule.problems == {}


async def test_the_environment_changes_every_number(
    tmp_path: Path, database: TestDatabase
) -> None:
    environment = {}
    for _, _, prefix, *_ in JOBS:
        environment[f"{prefix}_INTERVAL_MINUTES"] = "7"
        environment[f"{prefix}_MAX_INSTANCES"] = "4"
    settings = settings_with(tmp_path, **environment)
    async with work(settings, parse_target(database.url)) as background:
        found = {facts_of(job_of(background, job[0]))[1:3] for job in JOBS}

    assert found == {(timedelta(minutes=7), 4)}


async def test_a_disabled_stage_has_no_job_and_its_rows_wait(
    tmp_path: Path, database: TestDatabase
) -> None:
    settings = settings_with(tmp_path, DEEP_SCAN_SCHEDULER_ENABLED="false")
    async with work(settings, parse_target(database.url)) as background:
        assert job_of(background, "process_deep_scan_queue") is None
        assert job_of(background, "process_pending_domains") is not None


def facts_of(job: object) -> tuple[str, timedelta, int, int, bool]:
    return (
        job.name,  # type: ignore[attr-defined]
        job.trigger.interval,  # type: ignore[attr-defined]
        job.max_instances,  # type: ignore[attr-defined]
        job.misfire_grace_time,  # type: ignore[attr-defined]
        job.coalesce,  # type: ignore[attr-defined]
    )
