"""What tests of a source need: the source, its server, and what is true."""

import json
import os
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from scrapersky.providers.budget import (
    Budget,
    Charge,
    LocalBudget,
    refuse_overspending,
)
from scrapersky.providers.client import ClientPolicy
from scrapersky.providers.files import FileSettings, PlaceFiles
from scrapersky.providers.google_places import GooglePlaces, GoogleSettings
from scrapersky.providers.openstreetmap import (
    Nominatim,
    NominatimSettings,
    OpenStreetMap,
    OverpassSettings,
)
from scrapersky.providers.source import PlacePage, PlaceQuery, PlaceSource, ResumePoint
from sdk_tests.rig.size import size as sized
from tests.providers.servers.fault import Fault, FaultyServer
from tests.providers.servers.google import KEY, GoogleServer
from tests.providers.servers.overpass import OverpassServer
from tests.providers.town import BOX, Business, a_town

AGENT = "ScraperSky-tests/1 (+https://scrapersky.example/bot)"
HASTY = ClientPolicy(
    timeout=timedelta(seconds=5),
    connect_timeout=timedelta(seconds=5),
    max_bytes=2_000_000,
    tries=2,
    pause=timedelta(milliseconds=5),
    longest_pause=timedelta(seconds=1),
)
TOWN = sized(90, 150)
"""Businesses of a town: so many that no source gives them in one answer."""
DENTISTS = PlaceQuery(business_type="dentists", location="Austin, TX", area=BOX)


@dataclass(frozen=True, slots=True)
class Rig:
    """A source that can be tested, and how to make it again in another process."""

    kind: str
    source: PlaceSource
    query: PlaceQuery
    empty: PlaceQuery
    expected: frozenset[str]
    server: FaultyServer | None
    recipe: dict[str, Any]
    secrets: tuple[str, ...] = field(default=(), repr=False)
    billed: Callable[[], Decimal] = field(default=lambda: Decimal(0))


def a_google(base_url: str, *, key: str = KEY, **changes: Any) -> GooglePlaces:
    geocoder = changes.pop("geocoder", None)
    settings = GoogleSettings(api_key=SecretStr(key), base_url=base_url, policy=HASTY)
    return GooglePlaces(
        replace(settings, **changes), user_agent=AGENT, geocoder=geocoder
    )


def an_osm(interpreter: str, **changes: Any) -> OpenStreetMap:
    geocoder = changes.pop("geocoder", None)
    settings = OverpassSettings(
        url=interpreter, interval=timedelta(0), policy=HASTY, page_size=40
    )
    return OpenStreetMap(
        replace(settings, **changes), user_agent=AGENT, geocoder=geocoder
    )


def a_nominatim(url: str, **changes: Any) -> Nominatim:
    settings = NominatimSettings(url=url, interval=timedelta(0), policy=HASTY)
    return Nominatim(replace(settings, **changes), user_agent=AGENT)


def source_of(recipe: dict[str, Any]) -> PlaceSource:
    """Make the source a recipe describes; used by the child process as well."""
    policy = replace(
        HASTY,
        timeout=timedelta(seconds=recipe.get("timeout", 5)),
        tries=recipe.get("tries", HASTY.tries),
    )
    match recipe["kind"]:
        case "google":
            return a_google(recipe["url"], survey=recipe["survey"], policy=policy)
        case "osm":
            return an_osm(recipe["url"], policy=policy)
        case "file":
            return PlaceFiles(FileSettings(Path(recipe["root"]), page_size=10))
    raise ValueError(recipe["kind"])


@asynccontextmanager
async def google_rig(
    directory: Path, *, survey: bool = True, size: int = TOWN
) -> AsyncIterator[Rig]:
    town = a_town(size)
    async with GoogleServer(town) as server:
        recipe = {"kind": "google", "url": server.base_url, "survey": survey}
        source = source_of(recipe)
        assert isinstance(source, GooglePlaces)
        yield Rig(
            kind="google",
            source=source,
            query=DENTISTS,
            empty=replace(DENTISTS, business_type="violin makers"),
            expected=frozenset(business.google_id for business in town),
            server=server,
            recipe=recipe,
            secrets=(KEY,),
            billed=lambda: server.bill,
        )
        await source.close()


def google_without_survey(directory: Path) -> AbstractAsyncContextManager[Rig]:
    return google_rig(directory, survey=False)


@asynccontextmanager
async def osm_rig(directory: Path) -> AsyncIterator[Rig]:
    town = a_town(TOWN)
    async with OverpassServer(town) as server:
        server.gives_up_above = 0.3
        recipe = {"kind": "osm", "url": server.interpreter}
        source = source_of(recipe)
        assert isinstance(source, OpenStreetMap)
        yield Rig(
            kind="osm",
            source=source,
            query=DENTISTS,
            empty=replace(DENTISTS, business_type="violin makers"),
            expected=frozenset(business.osm_id for business in town),
            server=server,
            recipe=recipe,
        )
        await source.close()


@asynccontextmanager
async def file_rig(directory: Path) -> AsyncIterator[Rig]:
    town = a_town(TOWN)
    write_csv(directory / "town.csv", town)
    (directory / "empty.csv").write_text("name,website\n")
    recipe = {"kind": "file", "root": str(directory)}
    source = source_of(recipe)
    query = PlaceQuery(file="town.csv", dataset="town")
    pages = [page async for page in source.search(query, LocalBudget())]
    expected = frozenset(ids_in(pages))
    assert len(expected) == len(town)
    yield Rig(
        kind="file",
        source=source,
        query=query,
        empty=PlaceQuery(file="empty.csv"),
        expected=expected,
        server=None,
        recipe=recipe,
    )


RIGS: dict[str, Callable[[Path], AbstractAsyncContextManager[Rig]]] = {
    "google": google_rig,
    "google-without-survey": google_without_survey,
    "osm": osm_rig,
    "file": file_rig,
}


def write_csv(path: Path, town: Iterable[Business]) -> None:
    rows = ["name,website,phone,address,lat,lng"]
    for business in town:
        assert business.point is not None
        cells = [business.name, business.website or "", business.phone, business.street]
        at = [str(business.point.latitude), str(business.point.longitude)]
        rows.append(",".join(f'"{cell}"' for cell in [*cells, *at]))
    path.write_text("\n".join(rows) + "\n")


async def collect(
    source: PlaceSource,
    query: PlaceQuery,
    budget: Budget | None = None,
    *,
    resume: ResumePoint | None = None,
    fresh: frozenset[str] = frozenset(),
    into: list[PlacePage] | None = None,
) -> list[PlacePage]:
    """Run a search to its end; every state passes through JSON on the way."""
    pages = [] if into is None else into
    search = source.search(query, budget or LocalBudget(), resume=resume, fresh=fresh)
    async for page in search:
        assert json.loads(json.dumps(page.state)) == page.state
        pages.append(page)
    return pages


def ids_in(pages: Iterable[PlacePage]) -> list[str]:
    return [place.source_place_id for page in pages for place in page.places]


class DurableBudget:
    """A budget that has written a charge to disk before it lets anyone spend it."""

    def __init__(self, path: Path, cap: Decimal | None) -> None:
        self.path = path
        self.cap = cap

    async def reserve(self, charge: Charge) -> None:
        refuse_overspending(charge, spent=spent_in(self.path), cap=self.cap)
        self._write(charge.amount)

    async def refund(self, charge: Charge) -> None:
        self._write(-charge.amount)

    def _write(self, amount: Decimal) -> None:
        with self.path.open("a") as file:
            file.write(f"{amount}\n")
            file.flush()
            os.fsync(file.fileno())


def spent_in(path: Path) -> Decimal:
    """Add up a ledger; a line that was being written when power failed counts as none."""
    if not path.exists():
        return Decimal(0)
    lines = path.read_text().splitlines(keepends=True)
    return sum((Decimal(line) for line in lines if line.endswith("\n")), Decimal(0))


@asynccontextmanager
async def impatient(rig: Rig, fault: Fault, *, tries: int) -> AsyncIterator[Rig]:
    """Give the same rig with a source that does not wait long for what never ends."""
    # What does end must be read to its end, however busy the machine is.
    how = {"timeout": 0.4} if fault.is_endless else {}
    source = source_of({**rig.recipe, **how, "tries": tries})
    try:
        yield replace(rig, source=source)
    finally:
        await source.close()  # type: ignore[attr-defined]


async def enter(stack: AsyncExitStack, name: str, directory: Path) -> Rig:
    return await stack.enter_async_context(RIGS[name](directory))
