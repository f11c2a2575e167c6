"""Every source there is, by name; the one place that knows them all."""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from scrapersky.errors import SourceUnavailable
from scrapersky.kit.clock import Clock, utc_now
from scrapersky.providers.client import LocalPace, RequestPace
from scrapersky.providers.files import FetchFile, FileSettings, PlaceFiles
from scrapersky.providers.google_places import GooglePlaces, GoogleSettings
from scrapersky.providers.openstreetmap import (
    Nominatim,
    NominatimSettings,
    OpenStreetMap,
    OverpassSettings,
)
from scrapersky.providers.source import Geocoder, PlaceSource


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """All that the sources need to know."""

    user_agent: str
    import_dir: Path
    fetch_import: FetchFile | None = None
    google: GoogleSettings = field(default_factory=GoogleSettings)
    openstreetmap_enabled: bool = True
    nominatim: NominatimSettings = field(default_factory=NominatimSettings)
    overpass: OverpassSettings = field(default_factory=OverpassSettings)


class Sources(Mapping[str, PlaceSource]):
    """The sources that can be asked, and why the others cannot."""

    def __init__(
        self,
        ready: Mapping[str, PlaceSource],
        missing: Mapping[str, SourceUnavailable],
        geocoder: Geocoder | None,
    ) -> None:
        self._ready = dict(ready)
        self.missing = dict(missing)
        self.geocoder = geocoder

    def __getitem__(self, name: str) -> PlaceSource:
        """Return a source; raise SourceUnavailable, saying why, if there is none."""
        if name in self._ready:
            return self._ready[name]
        if (reason := self.missing.get(name)) is not None:
            raise type(reason)(name, reason.why, hint=reason.hint)
        raise SourceUnavailable(
            "places",
            f"there is no source {name[:40]!r}",
            hint=f"Sources are: {', '.join(sorted(self._ready))}.",
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self._ready)

    def __len__(self) -> int:
        return len(self._ready)

    def __contains__(self, name: object) -> bool:
        return name in self._ready


PaceFactory = Callable[[str, timedelta], RequestPace]


def local_pace(_url: str, interval: timedelta) -> RequestPace:
    """Keep the pace at a server within this process."""
    return LocalPace(interval)


@asynccontextmanager
async def open_sources(
    settings: ProviderSettings,
    *,
    extra: Mapping[str, PlaceSource] | None = None,
    clock: Clock = utc_now,
    pace_at: PaceFactory = local_pace,
) -> AsyncIterator[Sources]:
    """Build every source that is switched on; close their connections at the end.

    `extra` adds sources from elsewhere, such as a simulated town; `pace_at` makes what
    keeps the pace at a server, over more processes than this one, if it can.
    """
    async with AsyncExitStack() as stack:
        ready: dict[str, PlaceSource] = {}
        missing: dict[str, SourceUnavailable] = {}
        agent = settings.user_agent
        geocoder = None
        if settings.nominatim.enabled:
            geocoder = Nominatim(
                settings.nominatim,
                user_agent=agent,
                pace=pace_at(settings.nominatim.url, settings.nominatim.interval),
            )
            stack.push_async_callback(geocoder.close)
        if settings.openstreetmap_enabled:
            osm = OpenStreetMap(
                settings.overpass,
                user_agent=agent,
                geocoder=geocoder,
                pace=pace_at(settings.overpass.url, settings.overpass.interval),
            )
            stack.push_async_callback(osm.close)
            ready[osm.name] = osm
        else:
            missing["osm"] = switched_off("osm", "OPENSTREETMAP_ENABLED")
        if not settings.google.enabled:
            missing["google"] = switched_off("google", "GOOGLE_PLACES_ENABLED")
        else:
            try:
                google = GooglePlaces(
                    settings.google, user_agent=agent, geocoder=geocoder, clock=clock
                )
            except SourceUnavailable as error:
                missing["google"] = error
            else:
                stack.push_async_callback(google.close)
                ready[google.name] = google
        files = PlaceFiles(FileSettings(settings.import_dir, settings.fetch_import))
        ready[files.name] = files
        yield Sources({**ready, **(extra or {})}, missing, geocoder)


def switched_off(name: str, setting: str) -> SourceUnavailable:
    """Say that a source exists and is not wanted here."""
    return SourceUnavailable(
        name, "the source is switched off", hint=f"Set {setting}=true to use it."
    )
