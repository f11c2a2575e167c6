"""The releases so far, and the revision of the schema that each one needs."""

from dataclasses import dataclass
from typing import Final

from scrapersky.db.revision import revisions
from scrapersky.errors import ConfigurationError
from scrapersky.kit.build import version


@dataclass(frozen=True, slots=True)
class Release:
    """A version that was released."""

    version: str
    revision: str
    """The newest revision of the schema that it knows."""
    runs: str
    """The oldest release that runs on this one's schema as it is."""
    commit: str | None = None
    """None until it is tagged."""


RELEASED: Final = (
    Release(
        "0.1.0",
        "0022_tracebacks",
        runs="0.1.0",
        commit="3cc89c45d81e1b7a37c380324ea2c44e9d15ab41",
    ),
    Release(
        "0.2.0",
        "0034_sessions",
        runs="0.2.0",
        commit="6f78ee57ad6cd412120e0b961c0791222bcbeec6",
    ),
    Release(
        "0.3.0",
        "0041_time_ordered_keys",
        runs="0.2.0",
        commit="6d6d9811f42a379f087ba0a21d2db280df9b092b",
    ),
    Release(
        "0.4.0",
        "0052_origins_of_overrides",
        runs="0.2.0",
        commit="5faaea8eb2e274bfc36ff655f98ff711617967aa",
    ),
)
"""Those that are tagged. The one that is being made is not among them."""
RUNS_ON_OURS: Final = "0.2.0"
"""The oldest release that runs on the schema of this code."""


def releases() -> tuple[Release, ...]:
    """Return every release, oldest first; the last is this code, released or not."""
    return (*RELEASED, Release(version(), revisions()[-1], RUNS_ON_OURS))


def revision_meant(word: str) -> str:
    """Return the revision that a release needs, or that is named or numbered itself."""
    found = {release.version: release.revision for release in releases()}
    found |= {revision.partition("_")[0]: revision for revision in revisions()}
    found |= {revision: revision for revision in revisions()}
    if word not in found:
        known = ", ".join(release.version for release in releases())
        raise ConfigurationError(
            f"There is no release and no revision '{word}'.",
            hint=f"The releases are {known}.",
        )
    return found[word]
