"""Nominatim turns the name of a location into an area, at most once a second."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from scrapersky.errors import (
    BadProviderAnswer,
    ProviderBusy,
    ProviderRefused,
    ProviderUnusable,
    UnknownLocation,
)
from scrapersky.providers import paid_request
from scrapersky.providers.area import Area, Box, area_from_geojson
from scrapersky.providers.budget import Charge, LocalBudget
from scrapersky.providers.client import (
    ClientPolicy,
    LocalPace,
    ProviderAnswer,
    ProviderClient,
    ProviderRequest,
    RequestPace,
)
from scrapersky.providers.source import Json, Location
from scrapersky.providers.value import country_of, number_of, point_of, text_of

PROVIDER = "nominatim"
NO_CHARGE = Charge(PROVIDER, "geocoding", LocalBudget().spent)
MAX_QUERY_CHARACTERS = 300
OUTLINE_PRECISION = "0.0005"
"""Degrees by which an outline may be simplified: about 50 metres."""


@dataclass(frozen=True, slots=True)
class NominatimSettings:
    """How we ask where a location is."""

    enabled: bool = True
    url: str = "https://nominatim.openstreetmap.org"
    interval: timedelta = timedelta(seconds=1)
    """The public server's rule for one application."""
    policy: ClientPolicy = field(
        default_factory=lambda: ClientPolicy(timedelta(seconds=20), max_bytes=8_000_000)
    )


class Nominatim:
    """Asks Nominatim; the answer is to be kept, so that nothing is asked twice."""

    def __init__(
        self,
        settings: NominatimSettings,
        *,
        user_agent: str,
        pace: RequestPace | None = None,
    ) -> None:
        self._settings = settings
        self._pace = pace or LocalPace(settings.interval)
        self._client = ProviderClient(
            PROVIDER, user_agent=user_agent, policy=settings.policy
        )

    async def close(self) -> None:
        """Close every connection."""
        await self._client.close()

    async def locate(
        self, text: str, *, language: str | None = None, region: str | None = None
    ) -> Location:
        """Return where the text means; raise UnknownLocation if nobody knows."""
        asked = text.strip()
        if not asked or len(asked) > MAX_QUERY_CHARACTERS:
            raise UnknownLocation(
                PROVIDER, f"a location has 1 to {MAX_QUERY_CHARACTERS} characters"
            )
        params = {
            "q": asked,
            "format": "jsonv2",
            "limit": "5",
            "addressdetails": "1",
            "polygon_geojson": "1",
            "polygon_threshold": OUTLINE_PRECISION,
        }
        if region:
            params["countrycodes"] = region.lower()
        request = ProviderRequest(
            "GET",
            f"{self._settings.url}/search",
            "a location",
            headers={"Accept-Language": language or "en"},
            params=params,
        )
        results = await paid_request.ask_paid(
            self._client,
            request,
            self._judge,
            budget=LocalBudget(),
            charge=NO_CHARGE,
            pace=self._pace,
        )
        return read_results(asked, results)

    def _judge(self, answer: ProviderAnswer) -> list[Json]:
        match answer.status:
            case 200 if isinstance(answer.data, list):
                return [item for item in answer.data if isinstance(item, dict)]
            case 200:
                raise BadProviderAnswer(PROVIDER, "the answer is not a list of places")
            case 401 | 403 | 406:
                raise ProviderUnusable(
                    PROVIDER,
                    f"it refuses us (HTTP {answer.status})",
                    hint="The public server blocks heavy or anonymous use: set a "
                    "USER_AGENT that names you, or run a Nominatim of your own.",
                )
            case 429:
                raise ProviderBusy(
                    PROVIDER, "we ask too often", retry_after=answer.retry_after
                )
            case status if 400 <= status < 500:  # noqa: PLR2004
                said = self._client.hide(message_of(answer.data))
                raise ProviderRefused(PROVIDER, f"HTTP {status} {said}".strip())
        raise ProviderBusy(
            PROVIDER, f"HTTP {answer.status}", retry_after=answer.retry_after
        )


def read_results(text: str, results: list[Json]) -> Location:
    """Choose the result that is an area rather than a shop of that name."""
    read = [(found, area) for found in results if (area := area_of(found))]
    if not read:
        raise UnknownLocation(
            PROVIDER,
            f"no place is called {text!r}",
            hint="Write it with its region, as in 'Springfield, Illinois', or give "
            "an area.",
        )
    regions = [
        pair for pair in read if pair[0].get("category") in {"boundary", "place"}
    ]
    best, area = (regions or read)[0]
    names = [name for found, _ in read if (name := text_of(found.get("display_name")))]
    address = best.get("address")
    country = address.get("country_code") if isinstance(address, dict) else None
    bounds = area.bounds
    middle = point_of((bounds.south + bounds.north) / 2, bounds.quarter(0).east)
    centre = point_of(best.get("lat"), best.get("lon")) or middle
    if centre is None:
        raise BadProviderAnswer(PROVIDER, "a place has no location")
    name = text_of(best.get("display_name")) or text
    return Location(
        text=text,
        name=name,
        area=area,
        centre=centre,
        country=country_of(country),
        alternatives=tuple(dict.fromkeys(other for other in names if other != name)),
        licence="ODbL-1.0",
    )


def area_of(found: Json) -> Area | None:
    """Return the outline of a result, or the box around it."""
    outline = area_from_geojson(found.get("geojson"))
    if outline is not None:
        return outline
    box = found.get("boundingbox")
    if not isinstance(box, list):
        return None
    match [number_of(side) for side in box]:
        case [float(south), float(north), float(west), float(east)]:
            try:
                return Box(south, west, north, east)
            except ValueError:
                return None
    return None


def message_of(data: Any) -> str:  # noqa: ANN401 - other people's JSON
    """Return what an error answer says."""
    match data:
        case {"error": {"message": str(message)}} | {"error": str(message)}:
            return message
    return ""
