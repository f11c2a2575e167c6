"""What can be set about a stage or another job that runs again and again."""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any, Final, Generic, Literal, TypeVar, get_args, get_origin

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    ValidationInfo,
    field_validator,
)

MAX_COUNT: Final = 1_000_000_000
"""More than any limit is good for, and less than the database can count."""


MIN_INTERVAL_MINUTES: Final = 0.001
"""Minutes."""
MAX_SECONDS: Final = 31_536_000
"""A year."""


class SchedulerPace(StrEnum):
    """When a stage works."""

    EAGER = "eager"
    """The moment a row is queued."""
    INTERVAL = "interval"
    """Only when its job runs: one batch a tick, over all processes."""


class FrozenSettings(BaseModel):
    """A part of the settings; it does not change while the process runs."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", validate_default=True, allow_inf_nan=False
    )

    @field_validator("*", mode="before")
    @classmethod
    def read_choice(cls, given: object, info: ValidationInfo) -> object:
        """Read one of several words however its letters are written."""
        if not isinstance(given, str) or info.field_name is None:
            return given
        choices = choices_of(cls.model_fields[info.field_name].annotation)
        word = given.strip().casefold()
        return next((one for one in choices if one.casefold() == word), given)


def choices_of(annotation: Any) -> tuple[str, ...]:  # noqa: ANN401 - a type
    """Return the words that a type consists of; none if it takes any text."""
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return tuple(annotation)
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    return tuple(one for part in get_args(annotation) for one in choices_of(part))


class JobSettings(FrozenSettings):
    """How one job of the schedule runs."""

    enabled: bool = Field(
        default=True, description="Whether this job runs in this process."
    )
    interval_minutes: PositiveFloat = Field(
        default=1,
        le=1_000_000,
        description="Minutes between two ticks; at an eager pace work starts in between.",
    )
    max_instances: PositiveInt = Field(
        default=1,
        le=100,
        description="Runs of this job at the same time: in one process, or over all"
        " of them at the pace `interval`.",
    )
    misfire_grace_seconds: PositiveInt = 60
    """A tick later than this is recorded as missed. The job says so, no variable."""

    @field_validator("interval_minutes")
    @classmethod
    def refuse_no_time(cls, minutes: float) -> float:
        """Refuse ticks that follow each other faster than they can be recorded."""
        if minutes < MIN_INTERVAL_MINUTES:
            raise ValueError(f"a tick takes longer; set {MIN_INTERVAL_MINUTES} or more")
        return minutes

    @property
    def interval(self) -> timedelta:
        """Time between two ticks."""
        return timedelta(minutes=self.interval_minutes)


class StageSettings(JobSettings):
    """How one stage runs."""

    pace: SchedulerPace | None = Field(
        default=None, description="`eager` or `interval`; empty is `SCHEDULER_PACE`."
    )
    batch_size: PositiveInt = Field(
        default=10,
        le=10_000,
        description="Rows claimed at once; at the pace `interval`, in one run.",
    )
    rate_per_minute: int | None = Field(
        default=None,
        le=MAX_COUNT,
        description="Items begun within any 60 seconds at most, over all processes and at"
        " any pace; left out or empty means no limit, 0 is refused.",
    )
    high_water: NonNegativeInt = Field(
        default=10_000,
        le=MAX_COUNT,
        description="Rows that may be queued for this stage: the stages that feed it wait"
        " while there are as many; 0 means no limit.",
    )
    concurrency: PositiveInt = Field(
        default=10, le=10_000, description="Items worked on at once inside a batch."
    )
    timeout_seconds: PositiveFloat = Field(
        default=60,
        le=MAX_SECONDS,
        description="An item that takes longer is cancelled and tried again.",
    )
    slow_after_seconds: NonNegativeFloat = Field(
        default=0,
        le=MAX_SECONDS,
        description="An item in work for longer is slow: while others wait, slow ones hold "
        "at most half of the concurrency, and the rest of them is tried again later; "
        "0 lets others wait.",
    )
    max_attempts: PositiveInt = Field(
        default=5, le=100, description="Tries before an item becomes a dead letter."
    )
    lease_seconds: float = Field(
        default=60,
        ge=1,
        le=MAX_SECONDS,
        description="A claim not renewed for this long is rescued.",
    )

    @field_validator("rate_per_minute")
    @classmethod
    def refuse_standstill(cls, rate: int | None) -> int | None:
        """Refuse a rate at which nothing would ever happen."""
        if rate is not None and rate < 1:
            raise ValueError(
                "nothing would ever be worked; for no limit leave it empty, "
                "and to stop the stage pause or disable it"
            )
        return rate

    @field_validator("high_water")
    @classmethod
    def refuse_half_a_batch(cls, mark: int, info: ValidationInfo) -> int:
        """Refuse a mark that a whole batch could never reach."""
        batch = info.data.get("batch_size", 0)
        if 0 < mark < batch:
            raise ValueError(
                f"a batch takes {batch} rows, so as many must be allowed to wait; "
                "raise the high-water mark or lower the batch size"
            )
        return mark

    @property
    def timeout(self) -> timedelta:
        """Time one item may take."""
        return timedelta(seconds=self.timeout_seconds)

    @property
    def slow_after(self) -> timedelta | None:
        """Time after which an item in work is slow; None if that does not matter."""
        return timedelta(seconds=self.slow_after_seconds) or None

    @property
    def lease(self) -> timedelta:
        """Time a claim lives without a heartbeat."""
        return timedelta(seconds=self.lease_seconds)


SettingsT = TypeVar("SettingsT", bound=JobSettings, covariant=True)  # noqa: PLC0105 - seen by users


@dataclass(frozen=True, slots=True)
class SettingsSection(Generic[SettingsT]):
    """Settings under one prefix of the environment, with their defaults."""

    prefix: str
    defaults: SettingsT
