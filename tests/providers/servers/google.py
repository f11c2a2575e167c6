"""A Google Places API (New) built from its published shapes, on loopback."""

import base64
import hashlib
import json
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

from aiohttp import web

from tests.providers.servers.fault import Fault, FaultyServer, status
from tests.providers.town import Business

KEY = "AIzaSyInventedKeyForTestsOnly_0123456789"
PAGE = 20
MOST = 60
BODY_FIELDS = {
    "textQuery",
    "languageCode",
    "regionCode",
    "rankPreference",
    "includedType",
    "strictTypeFiltering",
    "openNow",
    "minRating",
    "priceLevels",
    "locationBias",
    "locationRestriction",
    "includePureServiceAreaBusinesses",
    "includeFutureOpeningBusinesses",
    "pageSize",
    "pageToken",
    "maxResultCount",
}
FREE = {"id", "name", "attributions", "nextPageToken"}
ENTERPRISE = {
    "websiteUri",
    "nationalPhoneNumber",
    "internationalPhoneNumber",
    "regularOpeningHours",
    "currentOpeningHours",
    "rating",
    "userRatingCount",
    "priceLevel",
    "priceRange",
}
ATMOSPHERE = {"reviews", "editorialSummary", "paymentOptions", "parkingOptions"}
DETAILS_ESSENTIALS = {
    "addressComponents",
    "formattedAddress",
    "location",
    "types",
    "viewport",
}
PLACE_FIELDS = (
    FREE
    | ENTERPRISE
    | ATMOSPHERE
    | DETAILS_ESSENTIALS
    | {
        "displayName",
        "primaryType",
        "primaryTypeDisplayName",
        "businessStatus",
        "movedPlace",
        "movedPlaceId",
        "pureServiceAreaBusiness",
        "googleMapsUri",
        "utcOffsetMinutes",
    }
) - {"nextPageToken"}


def error(
    code: int, kind: str, message: str, *details: dict[str, Any], **headers: str
) -> Fault:
    body = {"error": {"code": code, "message": message, "status": kind}}
    if details:
        body["error"]["details"] = list(details)
    return status(code, json.dumps(body).encode(), **headers)


def info(reason: str, **metadata: str) -> dict[str, Any]:
    return {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": reason,
        "domain": "googleapis.com",
        "metadata": {"service": "places.googleapis.com", **metadata},
    }


BAD_KEY = error(
    400,
    "INVALID_ARGUMENT",
    "API key not valid. Please pass a valid API key.",
    info("API_KEY_INVALID"),
)
EXPIRED_KEY = error(
    400, "INVALID_ARGUMENT", "API key expired. Renew it.", info("API_KEY_INVALID")
)
SUSPENDED = error(
    403,
    "PERMISSION_DENIED",
    f"Permission denied: Consumer 'api_key:{KEY}' has been suspended.",
    info("CONSUMER_SUSPENDED", consumer=f"api_key:{KEY}"),
)
NOT_ENABLED = error(
    403,
    "PERMISSION_DENIED",
    "Places API (New) has not been used in project 1 before or it is disabled.",
    info("SERVICE_DISABLED", consumer="projects/1"),
)
BILLING_OFF = error(
    403,
    "PERMISSION_DENIED",
    "This API method requires billing to be enabled.",
    info("BILLING_DISABLED", consumer="projects/1"),
)
IP_BLOCKED = error(
    403,
    "PERMISSION_DENIED",
    "The provided API key has an IP address restriction.",
    info("API_KEY_IP_ADDRESS_BLOCKED"),
)
QUOTA_MINUTE = error(
    429,
    "RESOURCE_EXHAUSTED",
    "Quota exceeded for quota metric 'SearchTextRequest' per minute.",
    info("RATE_LIMIT_EXCEEDED", quota_limit="SearchTextRequestPerMinutePerProject"),
)
QUOTA_DAY = error(
    429,
    "RESOURCE_EXHAUSTED",
    "Quota exceeded for quota metric 'SearchTextRequest' per day.",
    info("RATE_LIMIT_EXCEEDED", quota_limit="SearchTextRequestPerDayPerProject"),
)
QUOTA_WAIT = error(
    429,
    "RESOURCE_EXHAUSTED",
    "Quota exceeded.",
    {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "47s"},
)
UNAVAILABLE = error(503, "UNAVAILABLE", "The service is currently unavailable.")
INTERNAL = error(500, "INTERNAL", "Internal error encountered.")
GATEWAY = status(502, b"<html>Bad Gateway</html>", content_type="text/html")


class GoogleServer(FaultyServer):
    """Answers as the API does, and keeps its own account of what it bills."""

    def __init__(self, town: Iterable[Business]) -> None:
        super().__init__()
        self.town = {business.google_id: business for business in town}
        self.billed: dict[str, int] = {}
        self.asked: list[dict[str, Any]] = []
        self.epoch = 0
        self.edit: Callable[[dict[str, Any]], dict[str, Any]] = lambda place: place

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"

    @property
    def bill(self) -> Decimal:
        prices = {"search pro": 32, "search enterprise": 35, "search atmosphere": 40}
        prices |= {"details essentials": 5, "details pro": 17, "details enterprise": 20}
        prices |= {"details atmosphere": 25}
        thousandths = sum(
            count * prices.get(what, 0) for what, count in self.billed.items()
        )
        return Decimal(thousandths) / 1000

    @property
    def paid(self) -> int:
        return sum(count for what, count in self.billed.items() if "ids" not in what)

    def add_routes(self, app: web.Application) -> None:
        app.router.add_post("/v1/places:searchText", self.search_text)
        app.router.add_get("/v1/places/{id}", self.details)

    async def search_text(self, request: web.Request) -> web.Response:
        if (refused := self.refuse_key(request)) is not None:
            return refused
        mask = [
            part
            for part in request.headers.get("X-Goog-FieldMask", "").split(",")
            if part
        ]
        if not mask:
            return invalid(
                "FieldMask is a required parameter. See "
                "https://cloud.google.com/apis/docs/system-parameters on how to provide it."
            )
        fields = {part.removeprefix("places.") for part in mask}
        for part in mask:
            known = part == "nextPageToken" or (
                part.startswith("places.") and part[7:] in PLACE_FIELDS
            )
            if not known:
                return invalid(
                    f"Error expanding 'fields' parameter. Cannot find matching fields "
                    f"for path '{part}'."
                )
        body = await request.json()
        self.asked.append({"body": body, "mask": mask})
        problem = self.problem_of(body)
        if problem is not None:
            return invalid(problem)
        return self.page(body, mask, fields)

    def page(
        self, body: dict[str, Any], mask: list[str], fields: set[str]
    ) -> web.Response:
        offset = 0
        if "pageToken" in body:
            found = self.offset_of(body)
            if found is None:
                return invalid("Request contains an invalid argument.")
            offset = found
        size = body.get("pageSize", PAGE)
        hits = self.hits(body)[:MOST]
        chosen = hits[offset : offset + size]
        self.count("search", fields)
        answer: dict[str, Any] = {}
        if chosen:
            answer["places"] = [self.shown(place, fields) for place in chosen]
        if offset + size < len(hits) and "nextPageToken" in mask:
            answer["nextPageToken"] = self.token(body, offset + size)
        return web.json_response(answer)

    async def details(self, request: web.Request) -> web.Response:
        if (refused := self.refuse_key(request)) is not None:
            return refused
        fields = {
            part
            for part in request.headers.get("X-Goog-FieldMask", "").split(",")
            if part
        }
        if not fields or not fields <= PLACE_FIELDS:
            return invalid("FieldMask is a required parameter.")
        business = self.town.get(request.match_info["id"])
        if business is None:
            return problem(404, "NOT_FOUND", "The Place ID is no longer valid.")
        self.count("details", fields)
        return web.json_response(self.shown(business, fields))

    def refuse_key(self, request: web.Request) -> web.Response | None:
        if "key=" in request.query_string:
            raise AssertionError("the key must never stand in a URL")
        key = request.headers.get("X-Goog-Api-Key")
        if key is None:
            return problem(
                403, "PERMISSION_DENIED", "Method doesn't allow unregistered callers."
            )
        if key != KEY:
            return problem(
                400,
                "INVALID_ARGUMENT",
                "API key not valid. Please pass a valid API key.",
                [info("API_KEY_INVALID")],
            )
        return None

    def problem_of(self, body: dict[str, Any]) -> str | None:
        if unknown := set(body) - BODY_FIELDS:
            return (
                f'Invalid JSON payload received. Unknown name "{min(unknown)}": '
                "Cannot find field."
            )
        if not body.get("textQuery"):
            return "Empty text_query."
        if not 1 <= body.get("pageSize", PAGE) <= PAGE:
            return "Invalid page size."
        if "locationBias" in body and "locationRestriction" in body:
            return "Cannot set both location_bias and location_restriction."
        for box in filter(
            None,
            [rectangle(body, "locationBias"), rectangle(body, "locationRestriction")],
        ):
            (south, west), (north, east) = box
            width = east - west if east >= west else east - west + 360
            if south > north or width > 180:
                return "Invalid rectangle viewport."
        return None

    def hits(self, body: dict[str, Any]) -> list[Business]:
        words = body["textQuery"].casefold()
        restriction = rectangle(body, "locationRestriction")
        bias = rectangle(body, "locationBias")
        found = [
            business
            for business in self.town.values()
            if business.kind in words
            and self.is_near(business, body, restriction, bias)
        ]
        return sorted(found, key=lambda hit: rank(hit, words))

    def is_near(
        self, business: Business, body: dict[str, Any], restriction: Any, bias: Any
    ) -> bool:
        if business.point is None:
            return (
                bool(body.get("includePureServiceAreaBusinesses"))
                and restriction is None
            )
        if restriction is not None:
            return inside(business, restriction)
        if bias is not None:
            (south, west), (north, east) = bias
            return inside(
                business, ((south - 0.2, west - 0.2), (north + 0.2, east + 0.2))
            )
        return True

    def count(self, method: str, fields: set[str]) -> None:
        if fields <= FREE:
            tier = "ids"
        elif fields & ATMOSPHERE:
            tier = "atmosphere"
        elif fields & ENTERPRISE:
            tier = "enterprise"
        elif method == "details" and fields <= FREE | DETAILS_ESSENTIALS:
            tier = "essentials"
        else:
            tier = "pro"
        label = f"{method} {tier}"
        self.billed[label] = self.billed.get(label, 0) + 1

    def shown(self, business: Business, fields: set[str]) -> dict[str, Any]:
        place = self.edit(as_json(business))
        return {name: value for name, value in place.items() if name in fields}

    def token(self, body: dict[str, Any], offset: int) -> str:
        text = json.dumps([self.epoch, fingerprint(body), offset])
        return base64.urlsafe_b64encode(text.encode()).decode()

    def offset_of(self, body: dict[str, Any]) -> int | None:
        try:
            epoch, asked, offset = json.loads(
                base64.urlsafe_b64decode(body["pageToken"])
            )
        except ValueError:
            return None
        # A token is only good for exactly the question it was given for.
        if epoch != self.epoch or asked != fingerprint(body):
            return None
        return int(offset)


def as_json(business: Business) -> dict[str, Any]:
    """Write a business as the API does: what is absent is left out."""
    place: dict[str, Any] = {
        "name": f"places/{business.google_id}",
        "id": business.google_id,
        "types": [business.kind, "health", "point_of_interest", "establishment"],
        "nationalPhoneNumber": business.phone.removeprefix("+1 "),
        "internationalPhoneNumber": business.phone,
        "rating": business.rating,
        "googleMapsUri": f"https://maps.google.com/?cid={business.number}",
        "regularOpeningHours": {
            "openNow": True,
            "periods": [
                {
                    "open": {"day": day, "hour": 8, "minute": 30},
                    "close": {"day": day, "hour": 17, "minute": 0},
                }
                for day in range(1, 6)
            ],
            "weekdayDescriptions": [],
        },
        "businessStatus": business.status,
        "priceLevel": "PRICE_LEVEL_MODERATE",
        "userRatingCount": business.number,
        "displayName": {"text": business.name, "languageCode": "en"},
        "primaryTypeDisplayName": {"text": business.kind.title(), "languageCode": "en"},
        "primaryType": business.kind,
        "addressComponents": [
            part(business.street.split()[0], "street_number"),
            part("Invented Street", "route"),
            part("Austin", "locality", "political"),
            part("Texas", "administrative_area_level_1", "political", short="TX"),
            part("United States", "country", "political", short="US"),
            part("78701", "postal_code"),
        ],
    }
    if business.website:
        place["websiteUri"] = business.website
    if business.point is None:
        place["pureServiceAreaBusiness"] = True
    else:
        place["formattedAddress"] = f"{business.street}, Austin, TX 78701, USA"
        place["location"] = {
            "latitude": business.point.latitude,
            "longitude": business.point.longitude,
        }
        place["viewport"] = {"low": place["location"], "high": place["location"]}
    if business.moved_to:
        place["movedPlace"] = f"places/{business.moved_to}"
        place["movedPlaceId"] = business.moved_to
    return {**place, **business.extra}


def part(text: str, *types: str, short: str | None = None) -> dict[str, Any]:
    return {
        "longText": text,
        "shortText": short or text,
        "types": list(types),
        "languageCode": "en",
    }


def rank(business: Business, words: str) -> str:
    """Order by a relevance nobody understands, the same every time."""
    return hashlib.sha256(f"{business.google_id}{words}".encode()).hexdigest()


def inside(business: Business, box: Any) -> bool:
    (south, west), (north, east) = box
    assert business.point is not None
    lat, lng = business.point.latitude, business.point.longitude
    if not south <= lat <= north:
        return False
    return bool(west <= lng <= east if west <= east else lng >= west or lng <= east)


def rectangle(body: dict[str, Any], name: str) -> Any:
    if name not in body:
        return None
    low, high = body[name]["rectangle"]["low"], body[name]["rectangle"]["high"]
    return (low["latitude"], low["longitude"]), (high["latitude"], high["longitude"])


def fingerprint(body: dict[str, Any]) -> str:
    asked = {name: value for name, value in body.items() if name != "pageToken"}
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:16]


def invalid(message: str) -> web.Response:
    return problem(400, "INVALID_ARGUMENT", message)


def problem(
    code: int, kind: str, message: str, details: list[dict[str, Any]] | None = None
) -> web.Response:
    body: dict[str, Any] = {"error": {"code": code, "message": message, "status": kind}}
    if details:
        body["error"]["details"] = details
    return web.json_response(body, status=code)
