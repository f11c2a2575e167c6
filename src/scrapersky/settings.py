"""Every setting of the product: its name, default and meaning.

`configuration.py` reads them from the environment and `.env`.
"""

import os
import socket
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final, Literal, get_args
from uuid import UUID

import platformdirs
from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    SecretStr,
)

from scrapersky.curation.site_budget import Budgets, SiteBudget, TenantBudget
from scrapersky.pipeline.stage_settings import (
    MAX_SECONDS,
    FrozenSettings,
    JobSettings,
    SchedulerPace,
    SettingsSection,
    StageSettings,
)
from scrapersky.records.status import Role
from scrapersky.stages import PIPELINE

SYSTEM_USER_ID = UUID("5c7a9e0a-0000-4000-8000-000000000001")
"""The user that migrations create for work no person asked for by hand."""

SITE, TENANT = SiteBudget(), TenantBudget()

SystemRoot = Path("/var/lib/scrapersky")

ESSENTIAL: Final = frozenset(
    {
        "environment", "host", "port", "log_level", "cors_origins", "database_url",
        "data_dir", "scheduler_pace", "scheduler_system_user_id", "user_agent",
        "google_maps_api_key", "jwt_secret",
        "interval_minutes", "batch_size", "max_instances",
    }
)  # fmt: skip
"""Settings to know, the last three of every stage and job; all others are fine tuning."""


def default_data_dir() -> Path:
    """Return where data lives unless set otherwise.

    Root's own home is closed to the user that runs PostgreSQL for root, so root keeps
    its data where the system keeps data of services.
    """
    if os.geteuid() == 0:
        return SystemRoot
    # A container's user may have neither a name nor a home.
    with suppress(RuntimeError):
        found = Path(platformdirs.user_data_dir("scrapersky", appauthor=False))
        if found.is_absolute():
            return found
    return Path(tempfile.gettempdir()) / f"scrapersky-{os.geteuid()}"


def address_of(host: str, port: int) -> str:
    """Write where a server is asked; an IPv6 address needs its brackets.

    One that listens on every address of its machine (0.0.0.0) is asked by the machine's name.
    """
    if host in {"0.0.0.0", "::"}:  # noqa: S104 - compared, not listened on
        host = socket.gethostname()
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def split_list(value: object) -> object:
    """Read a comma-separated list."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return value


Listed = Annotated[tuple[str, ...], BeforeValidator(split_list)]
MOST_DAYS: Final = 36_500
"""A hundred years: longer than anything is kept, and shorter than dates can count."""
SHORTEST_KEY: Final = 32
"""Characters."""


def pairs_with_roles(pairs: tuple[str, ...]) -> tuple[str, ...]:
    """Check that every group is given a role that there is."""
    found = []
    for pair in pairs:
        group, _, role = pair.rpartition("=")
        role = role.strip().lower()
        if not group.strip() or role not in set(Role):
            raise ValueError(
                f"{pair!r} is not group=role with one of {', '.join(Role)}"
            )
        found.append(f"{group}={role}")
    return tuple(found)


ALGORITHMS: Final = ("HS256", "RS256", "ES256", "EdDSA")
"""Ways of signing tokens."""


def algorithm_names(given: tuple[str, ...]) -> tuple[str, ...]:
    """Write ways of signing as standards do; unknown ones are refused at the start."""
    names = {name.casefold(): name for name in ALGORITHMS}
    return tuple(names.get(one.casefold(), one) for one in given)


def beginning_with(*schemes: str) -> AfterValidator:
    """Check that a secret is an address of one of these schemes."""

    def check(given: SecretStr) -> SecretStr:
        if not given.get_secret_value().startswith(schemes):
            raise ValueError(f"it must begin with {' or '.join(schemes)}")
        return given

    return AfterValidator(check)


def long_keys(given: SecretStr) -> SecretStr:
    """Refuse a list of keys of which one is short."""
    parts = (part.strip() for part in given.get_secret_value().split(","))
    if any(len(part) < SHORTEST_KEY for part in parts):
        raise ValueError(f"each key must have {SHORTEST_KEY} characters or more")
    return given


WebAddress = Annotated[SecretStr, beginning_with("https://", "http://")]
MailServerAddress = Annotated[SecretStr, beginning_with("smtp://", "smtps://")]


class Environment(StrEnum):
    """Where this process runs."""

    DEVELOPMENT = "development"
    DEV = "dev"
    STAGING = "staging"
    PRODUCTION = "production"

    @property
    def is_development(self) -> bool:
        """Whether tools for developers may be reached."""
        return self in {Environment.DEVELOPMENT, Environment.DEV}

    @property
    def is_deployed(self) -> bool:
        """Whether others than its developers reach it."""
        return self in {Environment.STAGING, Environment.PRODUCTION}


REAP = SettingsSection("REAP_SCHEDULER", JobSettings())
PURGE = SettingsSection("PURGE_SCHEDULER", JobSettings(interval_minutes=60))
MATCHING = SettingsSection("COMPANY_MATCHING_SCHEDULER", JobSettings())
SECTIONS: Mapping[tuple[str, ...], SettingsSection[JobSettings]] = {
    **{("stages", stage.name): stage.settings for stage in PIPELINE},
    ("reap",): REAP,
    ("purge",): PURGE,
    ("matching",): MATCHING,
}
"""The settings of every stage and job, by where they stand in the tree."""


ENVIRONMENTS = {"local": "development", "testing": "test", "prod": "production"}
Level = Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]
LEVELS = {"WARN": "WARNING", "FATAL": "CRITICAL"}


def environment_name(given: object) -> object:
    """Read the usual ways to write where a process runs."""
    if not isinstance(given, str):
        return given
    return ENVIRONMENTS.get(given.strip().lower(), given)


def level_name(given: object) -> object:
    """Read the usual ways to write a level of logs."""
    if not isinstance(given, str):
        return given
    name = given.strip().upper()
    return LEVELS.get(name, name)


def logger_levels(given: tuple[str, ...]) -> tuple[str, ...]:
    """Check the levels of single loggers; write each as `name=LEVEL`."""
    found = []
    for each in given:
        name, _, level = each.partition("=")
        level = str(level_name(level))
        if not name.strip() or level not in get_args(Level):
            raise ValueError(
                f"{each!r} is not a name and one of {', '.join(get_args(Level))}, "
                "with = between them"
            )
        found.append(f"{name.strip()}={level}")
    return tuple(found)


class Settings(FrozenSettings):
    """The whole settings tree."""

    environment: Annotated[Environment, BeforeValidator(environment_name)] = Field(
        Environment.DEVELOPMENT,
        description="Where this process runs; `development` opens the developer tools.",
    )
    host: str = Field("127.0.0.1", description="Address the application listens on.")
    port: Annotated[int, Field(ge=1, le=65535)] = Field(
        8000, description="Port the application listens on."
    )
    worker_host: str = Field(
        "127.0.0.1",
        description="Address on which workers, also those of Celery, serve `/metrics` and"
        " `/health`.",
    )
    worker_port: Annotated[int, Field(ge=1, le=65535)] | None = Field(
        None,
        description="Port for that; without it the first free one from 8001 on, which "
        "`scrapersky workers` shows. Workers beside `up` have this one and those "
        "after it.",
    )
    log_level: Annotated[
        Level,
        BeforeValidator(level_name),
    ] = Field("INFO", description="The least severe message that is logged.")
    log_levels: Annotated[Listed, AfterValidator(logger_levels)] = Field(
        (),
        description="Other levels for some loggers and those below them, as in "
        "`scrapersky.wf7=DEBUG,scrapersky.crawler=WARNING`.",
    )
    log_format: Literal["auto", "json", "console"] = Field(
        "auto",
        description="`auto` is readable in a terminal and JSON everywhere else.",
    )
    log_idle_runs: bool = Field(
        default=True,
        description="Whether a run of a job that found nothing to do is logged, too.",
    )
    otel_exporter_otlp_endpoint: str | None = Field(
        None,
        pattern=r"^https?://[^\s@?#]+$",
        description="Collector that traces and log lines are sent to over OTLP (HTTP), such"
        " as http://localhost:4318. Needs `scrapersky[otel]`; other OTEL_ variables hold too.",
    )
    otel_logs_exporter: Literal["otlp", "none"] = Field(
        "otlp",
        description="`none` sends that collector traces alone.",
    )
    cors_origins: Listed = Field(
        (), description="Origins of other web pages that may call the API."
    )
    database_url: SecretStr | None = Field(
        None,
        description="Any PostgreSQL 14 or newer; without it the embedded one is used. Of "
        "several hosts (`host1:5432,host2:5432`) the one that can be written to.",
    )
    database_pooler: Literal["auto", "none", "transaction"] = Field(
        "auto",
        description="Whether a transaction-mode pooler (PgBouncer, Supavisor) stands "
        "before the database; `auto` asks the URL.",
    )
    database_listen_url: SecretStr | None = Field(
        None,
        description="A direct address of the database for wake-ups when DATABASE_URL "
        "goes through a pooler; without it stages poll.",
    )
    database_pool_size: PositiveInt = Field(
        5, le=100, description="Connections the application may hold at once."
    )
    data_dir: Path = Field(
        default_factory=default_data_dir,
        validation_alias="SCRAPERSKY_DATA_DIR",
        description="Where the embedded database and other files live.",
    )
    celery_broker_url: SecretStr | None = Field(
        None,
        description="Redis or RabbitMQ, if stages run on Celery; without it the Redis of this"
        " machine.",
    )
    celery_status_enabled: bool = Field(
        default=True,
        description="Whether a worker of Celery serves `/metrics` and `/health` for its "
        "processes, at WORKER_HOST and WORKER_PORT.",
    )
    celery_look_seconds: PositiveFloat = Field(
        2, le=3600, description="Seconds between two looks at which stages need a hint."
    )
    scheduler_pace: SchedulerPace = Field(
        SchedulerPace.EAGER,
        description="`eager`: a stage works the moment rows are queued. `interval`: only when its"
        " job runs, one batch a tick over all processes.",
    )
    scheduler_system_user_id: UUID = Field(
        SYSTEM_USER_ID,
        description="The user stamped on records that background work makes; it must "
        "exist.",
    )
    user_agent: str = Field(
        "ScraperSky/0.1 (+https://scrapersky.example/bot)",
        min_length=3,
        max_length=200,
        pattern=r"^[\x21-\x7e][\x20-\x7e]*$",
        description="How we introduce ourselves to websites; name a page where their "
        "owners can reach you.",
    )
    parser_processes: PositiveInt | None = Field(
        default=None,
        description="Children that parse at once in each worker. As many as processors may be "
        "used, by default.",
    )
    crawler_host_delay_seconds: NonNegativeFloat = Field(
        1,
        le=MAX_SECONDS,
        description="Pause between two requests to one site; a site may ask for more.",
    )
    crawler_robots_unreachable_days: Annotated[int, Field(ge=0, le=3650)] = Field(
        0,
        description="After how many days a robots.txt that cannot be read counts as none, "
        "30 or more; 0: never, its site stays closed.",
    )
    crawler_allowed_networks: Listed = Field(
        (),
        description="Networks that may be fetched from though they are not public, for "
        "demos and tests only.",
    )
    crawler_allowed_ports: Listed = Field(
        (), description="Ports allowed inside those networks beyond the usual four."
    )
    crawler_render_browser: Literal["auto", "off"] | str = Field(  # noqa: PYI051 - in any case
        "auto",
        min_length=1,
        description="The browser for pages that only scripts fill: `auto` is the Chromium "
        "that Playwright has installed, a path any other, `off` none. Needs "
        "`scrapersky[render]`.",
    )
    crawler_render_seconds: PositiveFloat = Field(
        30,
        le=MAX_SECONDS,
        description="After how long a browser is ended that still renders a page.",
    )
    crawler_render_memory_mb: Annotated[int, Field(ge=128)] = Field(
        768, description="Memory that a browser may take, with all its processes."
    )
    people_suggest_addresses: bool = Field(
        default=False,
        description="Show, for a decision maker of whom no address is known, what the company's "
        "other personal addresses would make of the name. It was found nowhere: it is shown "
        "as a suggestion and never stored or exported.",
    )
    site_pages_stored: PositiveInt = Field(
        SITE.pages_stored, description="Pages of one domain that are stored at most."
    )
    site_pages_fetched: PositiveInt = Field(
        SITE.pages_fetched,
        description="Pages of one domain that are fetched at most, by rules and people "
        "together.",
    )
    site_hosts: PositiveInt = Field(
        SITE.hosts, description="Hosts of one domain whose pages are stored."
    )
    site_query_variants: PositiveInt = Field(
        SITE.query_variants,
        description="Pages that are stored of one path and differ only in the query; "
        "the order of its parts makes no difference.",
    )
    site_url_bytes: PositiveInt = Field(
        SITE.url_bytes,
        description="Bytes of the addresses of one domain's pages together.",
    )
    site_bytes: PositiveInt = Field(
        SITE.bytes,
        description="Bytes that are received from one domain at most, sitemaps included.",
    )
    site_parse_seconds: PositiveInt = Field(
        SITE.parse_seconds,
        description="Seconds that parsing the pages and sitemaps of one domain may take.",
    )
    site_robots_bytes: PositiveInt = Field(
        SITE.robots_bytes,
        description="Bytes of the robots.txt files of all hosts of one registrable domain "
        "together, as long as they are kept (an hour).",
    )
    tenant_daily_pages_stored: PositiveInt = Field(
        TENANT.pages_stored, description="New pages stored for one tenant a day (UTC)."
    )
    tenant_daily_pages_fetched: PositiveInt = Field(
        TENANT.pages_fetched, description="Pages fetched for one tenant a day (UTC)."
    )
    tenant_daily_bytes: PositiveInt = Field(
        TENANT.bytes, description="Bytes received for one tenant a day (UTC)."
    )
    tenant_daily_parse_seconds: PositiveInt = Field(
        TENANT.parse_seconds,
        description="Seconds of parsing for one tenant a day (UTC).",
    )
    tenant_snapshot_bytes: NonNegativeInt = Field(
        TENANT.snapshot_bytes,
        description="Packed bytes of the pages that are kept as they were read for one tenant;"
        " the oldest make way for new ones. 0 keeps none, and no value can be proven.",
    )
    canary_hosts: Listed = Field(
        ("example.com", "example.org"),
        description="Names that exist: a worker that can resolve none of them, and none "
        "that others reached lately, rests instead of blaming sites.",
    )
    alert_webhook_url: WebAddress | None = Field(
        None,
        description="Where alerts are posted as JSON, once when they begin and once when "
        "they are over.",
    )
    alert_smtp_url: MailServerAddress | None = Field(
        None,
        description="The mail server that sends them, as "
        "smtp://user:password@host:587 or smtps://.",
    )
    alert_email_from: str = Field(
        "scrapersky@localhost", description="Whom such mail is from."
    )
    alert_email_to: Listed = Field((), description="Whom it is sent to.")
    alert_oldest_minutes: PositiveInt = Field(
        60,
        le=1_000_000,
        description="How long an item may wait before that is an alert.",
    )
    alert_dead_letters: PositiveInt = Field(
        50,
        description="How many items of a stage may fail for good in 15 minutes before that "
        "is an alert.",
    )
    google_maps_api_key: SecretStr | None = Field(
        None, description="Key for the Google Places API; OpenStreetMap needs none."
    )
    google_places_enabled: bool = Field(
        default=True,
        description="Whether Google Places may be searched (needs the key).",
    )
    google_places_url: str = Field(
        "https://places.googleapis.com/v1", description="Where the Places API is."
    )
    google_price_search: NonNegativeFloat = Field(
        35, description="US dollars for 1,000 searches with the fields we ask for."
    )
    google_price_details: NonNegativeFloat = Field(
        20, description="US dollars for 1,000 details with the fields we ask for."
    )
    google_content_days: PositiveInt = Field(
        30,
        le=MOST_DAYS,
        description="How long what Google says of a place may be kept.",
    )
    openstreetmap_enabled: bool = Field(
        default=True, description="Whether OpenStreetMap may be searched."
    )
    nominatim_enabled: bool = Field(
        default=True, description="Whether names of places may be looked up there."
    )
    nominatim_url: str = Field(
        "https://nominatim.openstreetmap.org",
        description="The geocoder that turns a place's name into an area.",
    )
    overpass_url: str = Field(
        "https://overpass-api.de/api/interpreter",
        description="The Overpass API that OpenStreetMap is searched through.",
    )
    local_access: bool = Field(
        default=True,
        description="Whether, on a loopback HOST outside production and until anyone has "
        "a password or tokens are set up, whoever sits at this machine is its admin.",
    )
    jwt_secret: SecretStr | None = Field(
        None, description="Secret that signs access tokens (HS256), 32 bytes or more."
    )
    jwt_jwks_url: str | None = Field(
        None,
        pattern=r"^https?://[^\s@]+$",
        description="Where the issuer of access tokens publishes its keys (JWKS), for "
        "tokens signed with RS256, ES256 or EdDSA.",
    )
    jwt_audience: str | None = Field(
        None,
        description="Whom access tokens must be meant for (Supabase: authenticated).",
    )
    jwt_issuer: str | None = Field(
        None, description="Who must have issued access tokens, exactly as in `iss`."
    )
    jwt_algorithms: Annotated[Listed, AfterValidator(algorithm_names)] = Field(
        ALGORITHMS,
        description="Ways of signing that are accepted, each only with its own kind of "
        "key.",
    )
    jwt_max_lifetime_minutes: PositiveInt = Field(
        60, le=1440, description="A token that lives longer than this is refused."
    )
    oidc_issuer: str | None = Field(
        None,
        pattern=r"^https?://[^\s@?#]+$",
        description="OpenID Connect provider that people log in through, exactly as it "
        "calls itself in `iss`.",
    )
    oidc_client_id: str | None = Field(
        None, description="What ScraperSky is called at that provider."
    )
    oidc_client_secret: SecretStr | None = Field(
        None, description="Its secret there; a public client with PKCE has none."
    )
    oidc_name: str = Field(
        "single sign-on", description="What the provider is called on the login page."
    )
    oidc_scopes: Listed = Field(
        ("openid", "email", "profile"), description="What the provider is asked for."
    )
    oidc_group_claim: str = Field(
        "groups", description="The claim that names a person's groups or roles."
    )
    oidc_roles: Annotated[Listed, AfterValidator(pairs_with_roles)] = Field(
        (),
        description="Which group has which role, as `group=viewer`, `group=curator` or "
        "`group=admin`; the highest counts, at every login. Empty: roles are set here.",
    )
    oidc_default_role: Role | None = Field(
        None,
        description="Role of whoever the provider lets in without such a group; empty: "
        "nobody without one comes in, or, without groups, nobody who was not invited.",
    )
    oidc_public_url: str | None = Field(
        None,
        pattern=r"^https?://[^\s@?#]+$",
        description="Address at which people open ScraperSky; the provider sends them "
        "back to it. Without it they are sent to the name they used, if TRUSTED_HOSTS "
        "lists it or they are at this machine.",
    )
    session_hours: PositiveInt = Field(
        168, le=8760, description="How long a login lasts at most."
    )
    trusted_hosts: Listed = Field(
        (),
        description="Names by which this server is asked for; without any, all are "
        "taken. Those of this machine always are.",
    )
    trusted_proxies: Listed = Field(
        (),
        description="Addresses or networks of proxies whose X-Forwarded-For and "
        "X-Forwarded-Proto are believed.",
    )
    api_rate_per_second: NonNegativeFloat = Field(
        50,
        description="Requests a caller may make per second in the long run, for each "
        "process; 0 means no limit.",
    )
    api_rate_burst: PositiveInt = Field(
        200, description="Requests a caller may make at once."
    )
    suppression_key: SecretStr | None = Field(
        None,
        min_length=SHORTEST_KEY,
        description="Key under which the suppression list is hashed, 32 characters or "
        "more, the same for every process; without it one is made and kept in the "
        "database.",
    )
    suppression_other_keys: Annotated[SecretStr, AfterValidator(long_keys)] | None = (
        Field(
            None,
            description="Other keys that entries of the list may be hashed with, "
            "comma-separated, 32 characters or more each: older ones, and one that is "
            "about to become SUPPRESSION_KEY.",
        )
    )
    encryption_key: SecretStr | None = Field(
        None,
        min_length=SHORTEST_KEY,
        description="Key that secrets in the database are encrypted with (those of "
        "webhooks and connections), 32 characters or more, the same for every process; "
        "without it one is made and kept in the file `encryption.key` of the data "
        "directory.",
    )
    encryption_other_keys: Annotated[SecretStr, AfterValidator(long_keys)] | None = (
        Field(
            None,
            description="Older keys that secrets may be encrypted with, comma-separated, "
            "32 characters or more each.",
        )
    )
    webhook_networks: Listed = Field(
        (),
        description="Networks in which webhooks may be sent to addresses that are not "
        "public, such as 10.0.0.0/8 for an n8n of your own.",
    )
    crm_networks: Listed = Field(
        (),
        description="Networks in which CRMs may be reached at addresses that are not "
        "public, such as 10.0.0.0/8 for a Mautic of your own; only there without https.",
    )
    backup_key: SecretStr | None = Field(
        None,
        min_length=SHORTEST_KEY,
        description="Key that backups are signed with, 32 characters or more; without it "
        "one is made by the first backup and kept in the file `backup.key` of the data "
        "directory.",
    )
    history_days: PositiveInt = Field(
        30, le=MOST_DAYS, description="How long attempts and scheduler runs are kept."
    )
    contact_days: NonNegativeInt = Field(
        365,
        le=MOST_DAYS,
        description="How long a contact is kept after it was last found or changed; 0 "
        "keeps it until somebody deletes it.",
    )
    place_data_days: NonNegativeInt = Field(
        180,
        le=MOST_DAYS,
        description="How long a source's own answer about a place is kept beside the "
        "facts taken from it; 0 keeps it.",
    )
    gone_page_days: NonNegativeInt = Field(
        90,
        le=MOST_DAYS,
        description="How long a page is kept after its site stopped naming it; 0 keeps "
        "it.",
    )
    snapshot_days: NonNegativeInt = Field(
        365,
        le=MOST_DAYS,
        description="How long the bytes of a page are kept after its site last answered with"
        " them; 0 keeps them as long as there is room.",
    )
    decision_days: NonNegativeInt = Field(
        365,
        le=MOST_DAYS,
        description="How long decisions can be undone and looked up; 0 keeps them.",
    )
    submission_days: NonNegativeInt = Field(
        365,
        le=MOST_DAYS,
        description="How long submitted lines and their batches are kept; 0 keeps them.",
    )
    dead_letter_days: NonNegativeInt = Field(
        180,
        le=MOST_DAYS,
        description="How long dead letters wait for a person; 0 keeps them.",
    )
    audit_days: NonNegativeInt = Field(
        730, le=MOST_DAYS, description="How long the audit log is kept; 0 keeps it."
    )
    change_days: NonNegativeInt = Field(
        30,
        le=MOST_DAYS,
        description="How long the change log is kept: how far back whoever follows changes "
        "may stay behind; 0 keeps it.",
    )
    shutdown_grace_seconds: NonNegativeInt = Field(
        8,
        le=MAX_SECONDS,
        description="How long running work may finish after a request to stop.",
    )

    reap: JobSettings = Field(default_factory=lambda: REAP.defaults)
    purge: JobSettings = Field(default_factory=lambda: PURGE.defaults)
    matching: JobSettings = Field(default_factory=lambda: MATCHING.defaults)
    stages: Mapping[str, StageSettings] = Field(
        default_factory=lambda: {
            stage.name: stage.settings.defaults for stage in PIPELINE
        }
    )

    @property
    def intervals(self) -> dict[str, timedelta]:
        """Return the time between two runs of the stages that work only then."""
        return {
            stage: given.interval
            for stage, given in self.stages.items()
            if self.pace_of(stage) is SchedulerPace.INTERVAL
        }

    def pace_of(self, stage: str) -> SchedulerPace:
        """Return when a stage works."""
        return self.stages[stage].pace or self.scheduler_pace

    def pace_in_words(self, stage: str) -> str:
        """Say when a stage works, and how fast at most."""
        given = self.stages[stage]
        words = "at once"
        if self.pace_of(stage) is SchedulerPace.INTERVAL:
            minutes = given.interval_minutes
            every = "minute" if minutes == 1 else f"{minutes:g} minutes"
            words = f"at most {given.batch_size} every {every}"
        if given.rate_per_minute is not None:
            words += f", at most {given.rate_per_minute} a minute"
        return words

    @property
    def levels_by_logger(self) -> dict[str, str]:
        """The levels that single loggers have instead of LOG_LEVEL."""
        pairs = (each.partition("=") for each in self.log_levels)
        return {name: level for name, _, level in pairs}

    @property
    def suppression_secrets(self) -> dict[str, SecretStr | None]:
        """What the suppression list is hashed with: the key, and others beside it."""
        return {
            "secret": self.suppression_key,
            "others": self.suppression_other_keys,
        }

    @property
    def budgets(self) -> Budgets:
        """What may be taken of every site, and for every tenant a day."""
        return Budgets(
            SiteBudget(
                pages_stored=self.site_pages_stored,
                pages_fetched=self.site_pages_fetched,
                hosts=self.site_hosts,
                query_variants=self.site_query_variants,
                url_bytes=self.site_url_bytes,
                bytes=self.site_bytes,
                parse_seconds=self.site_parse_seconds,
                robots_bytes=self.site_robots_bytes,
            ),
            TenantBudget(
                pages_stored=self.tenant_daily_pages_stored,
                pages_fetched=self.tenant_daily_pages_fetched,
                bytes=self.tenant_daily_bytes,
                parse_seconds=self.tenant_daily_parse_seconds,
                snapshot_bytes=self.tenant_snapshot_bytes,
            ),
        )

    @property
    def address(self) -> str:
        """Where the application is asked."""
        return address_of(self.host, self.port)

    @property
    def pooler(self) -> bool | None:
        """Whether a pooler stands before the database; None lets the URL say."""
        return {"auto": None, "none": False, "transaction": True}[self.database_pooler]
