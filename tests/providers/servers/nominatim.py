"""A Nominatim that knows a handful of places."""

from typing import Any

from aiohttp import web

from tests.providers.servers.fault import FaultyServer
from tests.providers.town import BOX

LICENCE = "Data © OpenStreetMap contributors, ODbL 1.0. http://osm.org/copyright"


def result(name: str, **changes: Any) -> dict[str, Any]:
    ring = [
        [BOX.west, BOX.south],
        [BOX.east, BOX.south],
        [BOX.east, BOX.north],
        [BOX.west, BOX.north],
        [BOX.west, BOX.south],
    ]
    return {
        "place_id": 1,
        "licence": LICENCE,
        "osm_type": "relation",
        "osm_id": 113314,
        "lat": "30.3",
        "lon": "-97.75",
        "category": "boundary",
        "type": "administrative",
        "place_rank": 16,
        "importance": 0.7,
        "addresstype": "city",
        "name": name.split(",", maxsplit=1)[0],
        "display_name": name,
        "address": {"city": name.split(",", maxsplit=1)[0], "country_code": "us"},
        # Strings, in the order south, north, west, east.
        "boundingbox": [str(BOX.south), str(BOX.north), str(BOX.west), str(BOX.east)],
        "geojson": {"type": "Polygon", "coordinates": [ring]},
        **changes,
    }


SHOP = result(
    "Austin, a shoe shop, Somewhere",
    category="shop",
    type="shoes",
    geojson={"type": "Point", "coordinates": [1.0, 1.0]},
    boundingbox=["0.9999", "1.0001", "0.9999", "1.0001"],
)


class NominatimServer(FaultyServer):
    """Answers searches, and refuses callers who do not say who they are."""

    def __init__(self) -> None:
        super().__init__()
        self.known = {"austin, tx": [SHOP, result("Austin, Travis County, Texas")]}
        self.queries: list[dict[str, str]] = []

    def add_routes(self, app: web.Application) -> None:
        app.router.add_get("/search", self.search)

    async def search(self, request: web.Request) -> web.Response:
        agent = request.headers.get("User-Agent", "")
        if not agent or agent.startswith("Python"):
            return web.Response(
                status=403, text="<html>Access blocked</html>", content_type="text/html"
            )
        self.queries.append(dict(request.query))
        if request.query.get("format") != "jsonv2":
            return web.json_response(
                {
                    "error": {
                        "code": 400,
                        "message": "Parameter 'format' must be one of: jsonv2",
                    }
                },
                status=400,
            )
        return web.json_response(self.known.get(request.query["q"].casefold(), []))
