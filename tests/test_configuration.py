import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapersky.configuration import (
    FINE_TUNING,
    VARIABLES,
    example_env,
    load_settings,
    variables_by_rank,
)
from scrapersky.errors import ConfigurationError
from scrapersky.settings import Settings


def load(environ: dict[str, str], dotenv: Path | None = None) -> Settings:
    return load_settings(environ, dotenv=dotenv).settings


def test_the_environment_beats_the_file_and_the_file_beats_the_default(
    tmp_path: Path,
) -> None:
    dotenv = tmp_path / ".env"
    dotenv.write_text("PORT=1111\nLOG_LEVEL=DEBUG\n")

    loaded = load_settings({"PORT": "2222"}, dotenv=dotenv)

    assert loaded.settings.port == 2222
    assert loaded.settings.log_level == "DEBUG"
    assert loaded.settings.host == "127.0.0.1"
    origins = {variable.name: origin for variable, _, origin in loaded.rows()}
    assert (origins["PORT"], origins["LOG_LEVEL"], origins["HOST"]) == (
        "environment",
        ".env",
        "default",
    )


@pytest.fixture
def dotenv(tmp_path: Path) -> Path:
    path = tmp_path / ".env"
    path.write_text("PORT=1111\n")
    path.chmod(0o600)
    return path


@pytest.mark.parametrize("mode", [0o602, 0o666])
def test_a_file_of_settings_that_everyone_may_write_was_obeyed(
    dotenv: Path, mode: int
) -> None:
    dotenv.chmod(mode)

    with pytest.raises(ConfigurationError, match="can be written by everyone") as said:
        load({}, dotenv)

    assert "chmod 600" in str(said.value.hint)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to others")
def test_a_file_of_settings_of_another_user_was_obeyed(dotenv: Path) -> None:
    os.chown(dotenv, 4711, 4711)

    with pytest.raises(ConfigurationError, match="belongs to user 4711"):
        load({}, dotenv)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives links to others")
def test_a_link_of_another_user_to_a_file_of_mine_was_followed(
    dotenv: Path, tmp_path: Path
) -> None:
    link = tmp_path / "link"
    link.symlink_to(dotenv)
    assert load({}, link).port == 1111

    os.chown(link, 4711, 4711, follow_symlinks=False)

    with pytest.raises(ConfigurationError, match="belongs to user 4711"):
        load({}, link)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_of_settings_that_cannot_be_read_is_said_in_words(dotenv: Path) -> None:
    dotenv.chmod(0)

    with pytest.raises(ConfigurationError, match="cannot be read: Permission denied"):
        load({}, dotenv)


def test_one_variable_of_a_stage_leaves_its_other_defaults_alone() -> None:
    domain = load({"DOMAIN_SCHEDULER_BATCH_SIZE": "7"}).stages["domain_metadata"]

    assert (domain.batch_size, domain.max_instances) == (7, 3)


def test_an_empty_value_counts_as_not_set() -> None:
    assert load({"PORT": "", "DATABASE_URL": ""}) == load({})


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("DOMAIN_SCHEDULER_BATCHSIZE", "DOMAIN_SCHEDULER_BATCH_SIZE"),
        ("DOMAIN_SCHEDULR_BATCH_SIZE", "DOMAIN_SCHEDULER_BATCH_SIZE"),
        ("DATABASE_ULR", "DATABASE_URL"),
        ("SCRAPERSKY_DATADIR", "SCRAPERSKY_DATA_DIR"),
        ("GOOGLE_MAP_API_KEY", "GOOGLE_MAPS_API_KEY"),
        ("domain_scheduler_batch_size", "DOMAIN_SCHEDULER_BATCH_SIZE"),
    ],
)
def test_a_misspelt_variable_stops_the_start_and_names_the_right_one(
    wrong: str, meant: str
) -> None:
    with pytest.raises(ConfigurationError, match=rf"{wrong} .*Did you mean {meant}"):
        load({wrong: "1"})


@pytest.mark.parametrize(
    "foreign",
    ["HOME", "HOSTNAME", "PATH", "KUBE_SCHEDULER_PORT", "SCRAPERSKY_SERVICE_HOST",
     "SCRAPERSKY_PORT", "SCRAPERSKY_PORT_8000_TCP", "POSTGRES_PASSWORD", "USER"],
)  # fmt: skip
def test_other_programs_variables_are_left_alone(foreign: str) -> None:
    assert load({foreign: "x"}) == load({})


def test_a_misspelt_short_name_is_found_in_the_file(tmp_path: Path) -> None:
    dotenv = tmp_path / ".env"
    dotenv.write_text("PROT=1\n")

    with pytest.raises(ConfigurationError, match=r"PROT .*Did you mean PORT"):
        load({}, dotenv)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("PORT", "99999", "PORT='99999' is invalid"),
        ("LOG_LEVEL", "LOUD", "LOG_LEVEL='LOUD' is invalid"),
        ("DOMAIN_SCHEDULER_BATCH_SIZE", "0", "DOMAIN_SCHEDULER_BATCH_SIZE='0'"),
        ("DOMAIN_SCHEDULER_ENABLED", "maybe", "DOMAIN_SCHEDULER_ENABLED='maybe'"),
        ("SCHEDULER_SYSTEM_USER_ID", "me", "SCHEDULER_SYSTEM_USER_ID='me'"),
        ("USER_AGENT", "a\nb", "USER_AGENT="),
        ("DOMAIN_SCHEDULER_LEASE_SECONDS", "inf", "DOMAIN_SCHEDULER_LEASE_SECONDS"),
        ("DOMAIN_SCHEDULER_TIMEOUT_SECONDS", "1e300", "less than or equal to"),
        ("DOMAIN_SCHEDULER_PACE", "soon", "'eager' or 'interval'"),
        ("CRAWLER_HOST_DELAY_SECONDS", "1e300", "less than or equal to"),
        ("CONTACT_DAYS", "999999999999", "less than or equal to 36500"),
    ],
)
def test_an_invalid_value_stops_the_start_and_is_named(
    name: str, value: str, said: str
) -> None:
    with pytest.raises(ConfigurationError) as refusal:
        load({name: value})

    assert said in str(refusal.value)


def test_every_problem_is_told_at_once() -> None:
    with pytest.raises(ConfigurationError) as refusal:
        load({"PORT": "x", "LOG_LEVEL": "x", "DATABASE_ULR": "x"})

    assert len(str(refusal.value).splitlines()) == 3


@pytest.mark.parametrize(
    ("name", "given", "understood"),
    [
        ("ENVIRONMENT", "Development", "development"),
        ("ENVIRONMENT", "PROD", "production"),
        ("LOG_LEVEL", "debug", "DEBUG"),
        ("LOG_LEVEL", "Warn", "WARNING"),
        ("LOG_LEVEL", "CRITICAL", "CRITICAL"),
        ("LOG_FORMAT", "JSON", "json"),
        ("SCHEDULER_PACE", "Interval", "interval"),
        ("DATABASE_POOLER", " Transaction", "transaction"),
        ("OTEL_LOGS_EXPORTER", "NONE", "none"),
        ("OIDC_DEFAULT_ROLE", "Viewer", "viewer"),
        ("CRAWLER_RENDER_BROWSER", "OFF", "off"),
        ("CRAWLER_RENDER_BROWSER", "/opt/Chrome", "/opt/Chrome"),
        ("JWT_ALGORITHMS", "hs256,EDDSA", ("HS256", "EdDSA")),
        ("OIDC_ROLES", "Sales=Admin", ("Sales=admin",)),
    ],
)
def test_usual_spellings_stopped_the_start(
    name: str, given: str, understood: object
) -> None:
    settings = load_settings({name: given}, dotenv=None).settings

    assert getattr(settings, name.lower()) == understood


def test_a_setting_of_the_old_system_was_ignored_silently() -> None:
    (warning,) = load_settings({"ENABLE_IMPORT_TRACING": "1"}, dotenv=None).warnings

    assert "ENABLE_IMPORT_TRACING is ignored" in warning


def test_the_retired_scheduler_only_warns_and_names_its_heirs() -> None:
    loaded = load_settings({"SITEMAP_SCHEDULER_BATCH_SIZE": "5"}, dotenv=None)

    (warning,) = loaded.warnings
    assert "DEEP_SCAN_SCHEDULER_BATCH_SIZE" in warning
    assert "DOMAIN_EXTRACTION_SCHEDULER_BATCH_SIZE" in warning
    assert "SITEMAP_IMPORT_SCHEDULER_BATCH_SIZE" in warning


def test_a_renamed_setting_still_works_under_its_old_name_and_warns() -> None:
    old, new = "CRAWLER_ROBOTS_PATIENCE_DAYS", "CRAWLER_ROBOTS_UNREACHABLE_DAYS"

    loaded = load_settings({old: "40"}, dotenv=None)
    both = load({old: "40", new: "60"})

    assert loaded.settings.crawler_robots_unreachable_days == 40
    assert [new in warning for warning in loaded.warnings] == [True]
    assert both.crawler_robots_unreachable_days == 60


def test_a_setting_that_never_had_an_effect_warns_instead_of_being_documented() -> None:
    name = "PURGE_SCHEDULER_BATCH_SIZE"
    loaded = load_settings({name: "5"}, dotenv=None)

    assert name not in VARIABLES
    assert [warning.split()[0] for warning in loaded.warnings] == [name]


def test_how_late_a_job_may_be_was_a_setting_that_nobody_needed() -> None:
    name = "DOMAIN_SCHEDULER_MISFIRE_GRACE_SECONDS"
    loaded = load_settings({name: "5"}, dotenv=None)

    assert name not in VARIABLES
    assert [warning.split()[0] for warning in loaded.warnings] == [name]


def test_a_setting_of_a_stage_that_the_documents_name_drowned_among_thirteen() -> None:
    essential, others = variables_by_rank()
    page, _, fine = example_env().partition(FINE_TUNING)
    of_a_stage = [
        one.name for one in essential if one.path[:-1] == ("stages", "deep_scan")
    ]

    assert of_a_stage == [
        "DEEP_SCAN_SCHEDULER_INTERVAL_MINUTES",
        "DEEP_SCAN_SCHEDULER_MAX_INSTANCES",
        "DEEP_SCAN_SCHEDULER_BATCH_SIZE",
    ]
    assert [one.name for one in essential if f"# {one.name}=" not in page] == []
    assert [one.name for one in others if f"# {one.name}=" not in fine] == []


def test_secrets_are_masked_wherever_settings_are_shown() -> None:
    secret = "hunter2-hunter2-hunter2"
    loaded = load_settings(
        {"JWT_SECRET": secret, "DATABASE_URL": f"postgresql://u:{secret}@h/d"},
        dotenv=None,
    )

    assert secret not in repr(loaded)
    assert secret not in str([*loaded.rows()])


def test_the_example_file_uncommented_is_the_default(tmp_path: Path) -> None:
    lines = [
        line.removeprefix("# ")
        for line in example_env().splitlines()
        if line.removeprefix("# ").split("=")[0] in VARIABLES
    ]
    dotenv = tmp_path / ".env"
    dotenv.write_text("\n".join(lines))

    assert load({}, dotenv) == load({})
    assert len(lines) == len(VARIABLES)


@pytest.mark.slow
@given(st.dictionaries(st.sampled_from(sorted(VARIABLES)), st.text(max_size=20)))
def test_no_value_makes_loading_fail_in_an_unforeseen_way(
    environ: dict[str, str],
) -> None:
    try:
        load(environ)
    except ConfigurationError as refusal:
        assert str(refusal)  # noqa: PT017 - most examples are valid


def test_one_secret_serves_one_use() -> None:
    same = "x" * 40

    with pytest.raises(ConfigurationError, match="JWT_SECRET and SUPPRESSION_KEY"):
        load_settings({"JWT_SECRET": same, "SUPPRESSION_KEY": same}, dotenv=None)


def test_secrets_could_not_be_given_as_files(tmp_path: Path) -> None:
    secret = tmp_path / "url"
    secret.write_text("postgresql://u:p@h/d\n")

    settings = load({"DATABASE_URL_FILE": str(secret)})

    assert settings.database_url is not None
    assert settings.database_url.get_secret_value() == "postgresql://u:p@h/d"
    for environ, why in (
        ({"JWT_SECRET_FILE": "/nowhere"}, "cannot be read: No such file"),
        (
            {"DATABASE_URL_FILE": str(secret), "DATABASE_URL": "postgresql://h/d"},
            "are both set",
        ),
        ({"SCRAPERSKY_DATA_DIR_FILE": "/x"}, "is not a setting"),
    ):
        with pytest.raises(ConfigurationError, match=why):
            load(environ)
