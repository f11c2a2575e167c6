"""Read the settings, and remember where each value came from.

The environment beats `.env`, which beats the default. Names are a contract: a misspelt
one stops the start instead of being ignored, and so does a file that others can write.
"""

import difflib
import itertools
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dotenv import dotenv_values
from pydantic import SecretStr, ValidationError
from pydantic.fields import FieldInfo

from scrapersky.errors import ConfigurationError
from scrapersky.kit.private_file import why_untrusted
from scrapersky.settings import ESSENTIAL, SECTIONS, Settings


@dataclass(frozen=True, slots=True)
class Variable:
    """One environment variable: what it sets, and what it means."""

    name: str
    path: tuple[str, ...]
    default: object
    description: str
    is_secret: bool = False

    @property
    def is_essential(self) -> bool:
        """Whether it is among the settings to know, or is fine tuning."""
        return self.path[-1] in ESSENTIAL

    def value_in(self, settings: Settings) -> object:
        """Return the effective value."""
        value: Any = settings
        for step in self.path:
            value = value[step] if isinstance(value, Mapping) else getattr(value, step)
        return value


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """The effective settings, where each value came from, and what to warn about."""

    settings: Settings
    origins: Mapping[str, str]
    warnings: tuple[str, ...] = ()

    def rows(self) -> Iterator[tuple[Variable, str, str]]:
        """Give each variable, its effective value (secrets masked) and origin."""
        for variable in VARIABLES.values():
            yield (
                variable,
                setting_text(variable.value_in(self.settings)),
                self.origins.get(variable.name, "default"),
            )


def load_settings(
    environ: Mapping[str, str] = os.environ, *, dotenv: Path | None = Path(".env")
) -> LoadedSettings:
    """Read the settings, or raise ConfigurationError naming every wrong variable."""
    from_file = read_dotenv(dotenv)
    problems = [
        *misspelt(environ, origin="the environment", strict=False),
        *misspelt(from_file, origin=str(dotenv), strict=True),
    ]
    environ = with_secret_files(with_new_names(environ), problems)
    from_file = with_secret_files(with_new_names(from_file), problems)
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for variable in VARIABLES.values():
        for origin, source in (("environment", environ), (".env", from_file)):
            # An empty value is how shells and compose files say "not set".
            if source.get(variable.name, "") != "":
                set_value(values, variable.path, source[variable.name])
                origins[variable.name] = origin
                break
    try:
        settings = Settings.model_validate(with_defaults(values))
    except ValidationError as error:
        problems += [explain_invalid(detail) for detail in error.errors()]
        raise refuse(problems) from None
    problems += shared_secrets(settings)
    if problems:
        raise refuse(problems)
    return LoadedSettings(settings, origins, warn_of_retired(environ, from_file))


def variables() -> Iterator[Variable]:
    """List every environment variable the settings tree understands."""
    sections = {path[0] for path in SECTIONS}
    for name, field in Settings.model_fields.items():
        if name not in sections:
            default = field.get_default(call_default_factory=True, validated_data={})
            yield variable("", (name,), field, default)
    for path, section in SECTIONS.items():
        for name, field in type(section.defaults).model_fields.items():
            if field.description is None:
                continue
            default = getattr(section.defaults, name)
            yield variable(f"{section.prefix}_", (*path, name), field, default)


def variable(
    prefix: str, path: tuple[str, ...], field: FieldInfo, default: object
) -> Variable:
    """Describe one field of the tree as an environment variable."""
    alias = field.validation_alias
    name = alias if isinstance(alias, str) else f"{prefix}{path[-1].upper()}"
    is_secret = "SecretStr" in str(field.annotation)
    return Variable(name, path, default, field.description or "", is_secret)


VARIABLES: Mapping[str, Variable] = {found.name: found for found in variables()}

SECRET_FILES = {
    f"{found.name}_FILE": found.name for found in VARIABLES.values() if found.is_secret
}
"""Names under which a secret is given as the path of a file that holds it."""

OURS = re.compile(r"^SCRAPERSKY_")
INJECTED = re.compile(r"^SCRAPERSKY_(SERVICE_|PORT(_\d+_|$))")
"""What Kubernetes puts into every pod when a service is called scrapersky."""
RETIRED = re.compile(r"^SITEMAP_SCHEDULER_(\w+)$")
NEVER_READ = re.compile(
    r"^(REAP|PURGE)_SCHEDULER_"
    r"(BATCH_SIZE|CONCURRENCY|TIMEOUT_SECONDS|MAX_ATTEMPTS|LEASE_SECONDS)$"
)
"""Documented once, and without effect: these jobs have no items of their own."""
OF_THE_JOB = re.compile(r"^[A-Z_]+_SCHEDULER_MISFIRE_GRACE_SECONDS$")
"""How late a tick may be: a job says so itself since 0.4.0."""
RENAMED = {"CRAWLER_ROBOTS_PATIENCE_DAYS": "CRAWLER_ROBOTS_UNREACHABLE_DAYS"}
"""Settings of earlier versions under their names of today; the old ones still work."""
GONE = "ENABLE_IMPORT_TRACING"
"""Traced imports in the system before this one."""
OTEL = re.compile(r"^OTEL_")
"""Names of OpenTelemetry, which reads them itself."""
NOT_OURS = (INJECTED, RETIRED, NEVER_READ, OF_THE_JOB, OTEL)
HEIRS = (
    "DEEP_SCAN_SCHEDULER",
    "DOMAIN_EXTRACTION_SCHEDULER",
    "SITEMAP_IMPORT_SCHEDULER",
)


def read_dotenv(path: Path | None) -> dict[str, str]:
    """Read a `.env` file if there is one and nobody else could have written it."""
    if path is None or not path.is_file():
        return {}
    try:
        with path.open(encoding="utf-8") as file:
            # Of a link both: whoever owns it has chosen the file that it leads to.
            for found in (path.lstat(), os.fstat(file.fileno())):
                refuse_untrusted(path, found)
            read = dotenv_values(stream=file, interpolate=False)
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}.") from error
    return {name: value or "" for name, value in read.items()}


def refuse_untrusted(path: Path, found: os.stat_result) -> None:
    """Raise ConfigurationError if somebody else could have written a file of settings."""
    uid = os.geteuid()
    if (why := why_untrusted(found, uid)) is None:
        return
    raise ConfigurationError(
        f"{path.absolute()} {why}, who could make ScraperSky do anything as you.",
        hint=f"If all that it says is right: `chown -h {uid} {path} && chmod 600 {path}`. "
        "Otherwise work in another directory, or as the owner of the file.",
    )


def with_new_names(source: Mapping[str, str]) -> dict[str, str]:
    """Read what is set under a former name only."""
    heirs = {
        new: source[old]
        for old, new in RENAMED.items()
        if source.get(old, "") and not source.get(new, "")
    }
    return {**source, **heirs}


def with_secret_files(source: Mapping[str, str], problems: list[str]) -> dict[str, str]:
    """Read the secrets that are given as files, as containers are handed them."""
    found = dict(source)
    for name, variable in SECRET_FILES.items():
        if not (path := source.get(name, "")):
            continue
        if source.get(variable, ""):
            problems.append(f"{variable} and {name} are both set; set one of them.")
            continue
        try:
            found[variable] = Path(path).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeError) as error:
            why = getattr(error, "strerror", None) or "it is not text"
            problems.append(f"{name}={path!r} cannot be read: {why}.")
    return found


def misspelt(source: Mapping[str, str], *, origin: str, strict: bool) -> Iterator[str]:
    """Find names that are meant for us and are not ours.

    In a `.env` anything near one of our names counts. The environment is full of other
    programs' names, so there only our prefix and near misses of long names do.
    """
    for name in sorted(source):
        if name in VARIABLES or name in SECRET_FILES or name in RENAMED:
            continue
        if any(one.match(name) for one in NOT_OURS):
            continue
        near = nearest(name, alike=0.75 if strict else 0.88)
        if near is not None and len(near) > (3 if strict else 7):
            yield f"{name} in {origin} is not a setting. Did you mean {near}?"
        elif OURS.match(name):
            near = nearest(name, alike=0)
            yield f"{name} in {origin} is not a setting. Did you mean {near}?"


def nearest(name: str, *, alike: float) -> str | None:
    """Return the valid variable whose name is most like this one, if any is near."""
    found = difflib.get_close_matches(name.upper(), VARIABLES, n=1, cutoff=alike)
    return found[0] if found else None


def set_value(values: dict[str, Any], path: tuple[str, ...], value: str) -> None:
    """Set a value in the tree; a section starts from its own defaults."""
    *above, name = path
    if not above:
        alias = Settings.model_fields[name].validation_alias
        values[alias if isinstance(alias, str) else name] = value
        return
    section = values
    for step in above:
        section = section.setdefault(step, {})
    section[name] = value


def with_defaults(values: dict[str, Any]) -> dict[str, Any]:
    """Complete every section with its defaults, so that what is given is an exception."""
    complete = dict(values)
    for path, section in SECTIONS.items():
        given = values
        for step in path:
            given = given.get(step, {})
        place = complete
        for step in path[:-1]:
            place = place.setdefault(step, {})
        place[path[-1]] = {**section.defaults.model_dump(), **given}
    return complete


def explain_invalid(detail: Any) -> str:  # noqa: ANN401 - pydantic's error dict
    """Say which variable is wrong and why, without repeating a secret."""
    path = tuple(str(part) for part in detail["loc"])
    found = next(
        (v for v in VARIABLES.values() if v.path == path or v.name == path[0]), None
    )
    name = found.name if found else ".".join(path)
    reason = str(detail["msg"]).removeprefix("Value error, ")
    reason = reason[:1].lower() + reason[1:]
    given = detail.get("input")
    if found is None or found.is_secret or not isinstance(given, str):
        return f"{name} is invalid: {reason}."
    return f"{name}={given!r} is invalid: {reason}."


def refuse(problems: list[str]) -> ConfigurationError:
    """Gather what is wrong into one error."""
    return ConfigurationError(
        "\n".join(problems),
        hint="`scrapersky config --all` lists every setting; "
        "docs/reference/settings.md explains them.",
    )


def shared_secrets(settings: Settings) -> Iterator[str]:
    """Find secrets that serve two uses: whoever learns one use has the other."""
    named = {
        variable.name: value.get_secret_value()
        for variable in VARIABLES.values()
        if variable.is_secret
        and not variable.name.endswith("_URL")
        and isinstance(value := getattr(settings, variable.path[0]), SecretStr)
    }
    for one, other in itertools.combinations(named, 2):
        if named[one] == named[other]:
            yield f"{one} and {other} are the same; each key serves one use only."


def warn_of_retired(*sources: Mapping[str, str]) -> tuple[str, ...]:
    """Warn about settings that have no effect any more, or another name."""
    names = sorted({name for source in sources for name in source})
    return tuple(why for name in names if (why := why_retired(name)) is not None)


def why_retired(name: str) -> str | None:
    """Say why a name of an earlier version should go, and what takes its place."""
    if name in RENAMED:
        return f"{name} is called {RENAMED[name]} now. The old name still works."
    if match := RETIRED.match(name):
        heirs = ", ".join(f"{heir}_{match[1]}" for heir in HEIRS)
        return f"{name} is ignored: the three-in-one scheduler is gone. Set {heirs} instead."
    if NEVER_READ.match(name):
        return f"{name} is ignored: this job works on no items. Remove it."
    if OF_THE_JOB.match(name):
        return (
            f"{name} is ignored: every job says itself how late it may be. Remove it."
        )
    if name == GONE:
        return f"{name} is ignored: imports are not traced any more. Remove it."
    return None


def setting_text(value: object) -> str:
    """Write a value as it would stand in the environment, secrets masked."""
    match value:
        case None:
            return ""
        case SecretStr():
            return "********" if value.get_secret_value() else ""
        case bool():
            return str(value).lower()
        case tuple():
            return ",".join(value)
        case float() if value.is_integer():
            return str(int(value))
    return str(value)


FINE_TUNING = "The defaults of these are right for most installations."


def variables_by_rank() -> tuple[list[Variable], list[Variable]]:
    """Return the settings to know, and those for fine tuning."""
    essential = [found for found in VARIABLES.values() if found.is_essential]
    return essential, [found for found in VARIABLES.values() if not found.is_essential]


def example_env() -> str:
    """Write `.env.example`: every setting with its default, commented out."""
    essential, others = variables_by_rank()
    lines = [
        "# Every setting of ScraperSky with its default. Copy to .env and uncomment",
        "# what you change; the environment beats this file. Made by",
        "# `scrapersky config --example`; a test keeps it in step with the code. A secret",
        "# may lie in a file instead: JWT_SECRET_FILE=/run/secrets/jwt and so on.",
        *example_lines(essential),
        "",
        "",
        f"# Fine tuning. {FINE_TUNING}",
        *example_lines(others),
    ]
    return "\n".join(lines) + "\n"


def example_lines(wanted: Iterable[Variable]) -> Iterator[str]:
    """Write some settings; those of one stage stand together."""
    section: tuple[str, ...] | None = None
    for found in wanted:
        current = found.path[:-1]
        if current != section or not current:
            yield ""
            section = current
        if found.description:
            yield f"# {found.description}"
        default = (
            "" if found.name == "SCRAPERSKY_DATA_DIR" else setting_text(found.default)
        )
        yield f"# {found.name}={default}"
