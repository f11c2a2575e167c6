import tempfile
from pathlib import Path
from uuid import UUID

import pytest

from scrapersky.configuration import VARIABLES, load_settings
from scrapersky.crawler import can_render
from scrapersky.errors import ConfigurationError
from scrapersky.settings import Environment, Settings
from scrapersky.stages import PIPELINE, configured_pipeline
from tests.cli.rig import CLEAN
from tests.conftest import DATA

SUFFIXES = [
    "INTERVAL_MINUTES",
    "BATCH_SIZE",
    "MAX_INSTANCES",
    "CONCURRENCY",
    "TIMEOUT_SECONDS",
    "MAX_ATTEMPTS",
    "LEASE_SECONDS",
    "ENABLED",
]


def load(environ: dict[str, str], dotenv: Path | None = None) -> Settings:
    return load_settings(environ, dotenv=dotenv).settings


@pytest.mark.parametrize(
    ("prefix", "minutes", "batch", "instances"),
    [
        ("PLACE_SEARCH_SCHEDULER", 1, 5, 1),
        ("DEEP_SCAN_SCHEDULER", 5, 10, 1),
        ("DOMAIN_EXTRACTION_SCHEDULER", 2, 20, 1),
        ("DOMAIN_SCHEDULER", 1, 50, 3),
        ("DOMAIN_SITEMAP_SCHEDULER", 1, 10, 1),
        ("SITEMAP_IMPORT_SCHEDULER", 1, 20, 1),
        ("PAGE_CURATION_SCHEDULER", 1, 10, 1),
    ],
)
def test_every_stage_has_its_variables_and_defaults(
    prefix: str, minutes: int, batch: int, instances: int
) -> None:
    found = {suffix: VARIABLES[f"{prefix}_{suffix}"].default for suffix in SUFFIXES}

    assert found["INTERVAL_MINUTES"] == minutes
    assert found["BATCH_SIZE"] == batch
    assert found["MAX_INSTANCES"] == instances
    assert found["ENABLED"] is True


def test_only_the_sitemap_import_is_patient_with_late_ticks() -> None:
    settings = load({})

    assert settings.stages["sitemap_import"].misfire_grace_seconds == 1800
    assert settings.stages["domain_metadata"].misfire_grace_seconds == 60


def test_three_kills_in_a_row_made_healthy_items_suspects_that_are_worked_alone() -> (
    None
):
    kills = 3

    for stage in configured_pipeline(load({}).stages):
        assert stage.max_crashes - 1 > kills


def test_the_settings_of_a_stage_are_the_ones_it_declares() -> None:
    declared = {stage.name: stage.settings.defaults for stage in PIPELINE}

    assert load({}).stages == declared


def test_the_system_user_is_a_setting() -> None:
    other = "00000000-0000-4000-8000-00000000abcd"

    assert load({"SCHEDULER_SYSTEM_USER_ID": other}).scheduler_system_user_id == UUID(
        other
    )


@pytest.mark.parametrize(
    ("value", "is_development"),
    [("development", True), ("dev", True), ("staging", False), ("production", False)],
)
def test_the_environment_decides_about_developer_tools(
    value: str, is_development: bool
) -> None:
    assert Environment(value).is_development is is_development


def test_a_weak_suppression_key_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="SUPPRESSION_KEY is invalid"):
        load_settings({"SUPPRESSION_KEY": "short"}, dotenv=None)


@pytest.mark.parametrize(
    ("suffix", "value", "reason"),
    [
        ("INTERVAL_MINUTES", "0", "greater than 0"),
        ("INTERVAL_MINUTES", "1e-9", "a tick takes longer; set 0.001 or more"),
        ("RATE_PER_MINUTE", "0", "for no limit leave it empty"),
        ("HIGH_WATER", "9", "a batch takes 10 rows, so as many must be allowed"),
    ],
)
def test_settings_that_contradict_each_other_are_refused_with_the_reason(
    suffix: str, value: str, reason: str
) -> None:
    name = f"PAGE_CURATION_SCHEDULER_{suffix}"

    with pytest.raises(ConfigurationError) as refused:
        load({name: value})

    assert f"{name}={value!r} is invalid" in str(refused.value)
    assert reason in str(refused.value)


def test_every_stage_has_a_high_water_mark_and_no_rate_unless_one_is_given() -> None:
    settings = load(
        {
            "DEEP_SCAN_SCHEDULER_RATE_PER_MINUTE": "30",
            "PAGE_CURATION_SCHEDULER_RATE_PER_MINUTE": "",
        }
    )

    assert {given.high_water for given in settings.stages.values()} == {10_000}
    assert settings.stages["deep_scan"].rate_per_minute == 30
    assert settings.stages["page_curation"].rate_per_minute is None
    assert settings.pace_in_words("deep_scan") == "at once, at most 30 a minute"


def test_levels_of_single_loggers_are_checked() -> None:
    settings = load({"LOG_LEVELS": "scrapersky.wf7=debug, scrapersky.crawler=Warn"})

    assert settings.levels_by_logger == {
        "scrapersky.wf7": "DEBUG",
        "scrapersky.crawler": "WARNING",
    }
    for wrong in ("scrapersky.wf7", "=INFO", "scrapersky.wf7=loud"):
        with pytest.raises(ConfigurationError, match="is not a name and one of DEBUG"):
            load({"LOG_LEVELS": wrong})


@pytest.mark.parametrize("user", [0, 1000], ids=["root", "a person"])
def test_tests_wrote_into_the_data_directory_of_whoever_ran_them(
    monkeypatch: pytest.MonkeyPatch, user: int
) -> None:
    """A key of theirs was made there, and later they ran into it."""
    monkeypatch.setattr("os.geteuid", lambda: user)

    assert load({}).data_dir.is_relative_to(DATA)
    assert Path(CLEAN["SCRAPERSKY_DATA_DIR"]).is_relative_to(DATA)


def test_a_user_without_a_name_and_a_home_was_a_traceback(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def nobody(uid: int) -> None:
        raise KeyError(f"getpwuid(): uid not found: {uid}")

    monkeypatch.setattr("pwd.getpwuid", nobody)
    monkeypatch.setattr("os.geteuid", lambda: 734_512)
    for name in ("HOME", "XDG_DATA_HOME", "PLAYWRIGHT_BROWSERS_PATH"):
        monkeypatch.delenv(name, raising=False)

    assert load({}).data_dir == Path(tempfile.gettempdir()) / "scrapersky-734512"
    assert not can_render("auto")
