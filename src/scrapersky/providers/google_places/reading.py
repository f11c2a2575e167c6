"""What Google's answers mean: places, facts, errors."""

from datetime import datetime, timedelta
from typing import TypedDict

from scrapersky.errors import (
    BadProviderAnswer,
    PlaceGone,
    ProviderBusy,
    ProviderError,
    ProviderRefused,
    ProviderUnusable,
)
from scrapersky.kit.canonical import stored_phones
from scrapersky.providers.area import Point
from scrapersky.providers.client import ProviderAnswer, ProviderClient
from scrapersky.providers.google_places.price import PROVIDER
from scrapersky.providers.hours import week_from_periods
from scrapersky.providers.source import BusinessStatus, FoundPlace, Json, PlaceFacts
from scrapersky.providers.value import (
    MAX_ID_CHARACTERS,
    count_of,
    country_of,
    join_parts,
    point_of,
    rating_of,
    storable,
    text_of,
    texts_of,
    website_of,
)

LICENCE = "Google Maps Platform Terms of Service"
ATTRIBUTION = "Google Maps"
STATUSES = {
    "OPERATIONAL": BusinessStatus.OPERATING,
    "CLOSED_TEMPORARILY": BusinessStatus.CLOSED_TEMPORARILY,
    "CLOSED_PERMANENTLY": BusinessStatus.CLOSED_PERMANENTLY,
    "FUTURE_OPENING": BusinessStatus.FUTURE,
}
KEY_ERRORS = frozenset(
    {
        "ACCOUNT_STATE_INVALID",
        "API_KEY_ANDROID_APP_BLOCKED",
        "API_KEY_EXPIRED",
        "API_KEY_HTTP_REFERRER_BLOCKED",
        "API_KEY_INVALID",
        "API_KEY_IOS_APP_BLOCKED",
        "API_KEY_IP_ADDRESS_BLOCKED",
        "API_KEY_SERVICE_BLOCKED",
        "BILLING_DISABLED",
        "CONSUMER_INVALID",
        "CONSUMER_SUSPENDED",
        "CREDENTIALS_MISSING",
        "SERVICE_DISABLED",
    }
)
HINTS = {
    "BILLING_DISABLED": "Switch on billing for the project of the key.",
    "SERVICE_DISABLED": "Enable 'Places API (New)' for the project of the key.",
    "API_KEY_SERVICE_BLOCKED": "Allow 'Places API (New)' in the key's restrictions.",
    "API_KEY_IP_ADDRESS_BLOCKED": "Allow this machine's address in the key's "
    "restrictions.",
}
KEY_HINT = "Check GOOGLE_MAPS_API_KEY, then resume the stage."
DAILY_PAUSE = timedelta(hours=1)

KNOWN_ATTRIBUTES = (
    "primaryType",
    "accessibilityOptions",
    "parkingOptions",
    "paymentOptions",
    "priceRange",
    "openingDate",
    "utcOffsetMinutes",
)


def read_success(client: ProviderClient, answer: ProviderAnswer) -> Json:
    """Return the object in a successful answer, or raise what the failure means."""
    body = answer.data
    if answer.status == 200 and isinstance(body, dict) and "error" not in body:  # noqa: PLR2004
        return body
    if answer.status == 200 and not (isinstance(body, dict) and "error" in body):  # noqa: PLR2004
        raise BadProviderAnswer(PROVIDER, "an answer is not a JSON object")
    raise failure(client, answer)


def failure(
    client: ProviderClient, answer: ProviderAnswer
) -> ProviderError | ProviderUnusable:
    """Say what an error answer means for us."""
    error = answer.data.get("error") if isinstance(answer.data, dict) else None
    error = error if isinstance(error, dict) else {}
    reason, info, delay = error_details(error)
    status = error.get("code") if answer.status == 200 else answer.status  # noqa: PLR2004
    said = client.hide(text_of(error.get("message")) or f"HTTP {answer.status}")
    wait = answer.retry_after or delay
    if reason in KEY_ERRORS or status in {401, 403} or "API key" in said:
        return ProviderUnusable(PROVIDER, said, hint=HINTS.get(reason, KEY_HINT))
    if status == 429:  # noqa: PLR2004
        if is_daily(info):
            return ProviderUnusable(
                PROVIDER,
                f"the quota of the day is used up: {said}",
                hint="It is filled again at midnight, Pacific time.",
                resume_after=DAILY_PAUSE,
            )
        return ProviderBusy(PROVIDER, said, retry_after=wait)
    if status == 404:  # noqa: PLR2004
        return PlaceGone(PROVIDER, said)
    if isinstance(status, int) and 400 <= status < 500 and status != 408:  # noqa: PLR2004
        return ProviderRefused(PROVIDER, said)
    return ProviderBusy(PROVIDER, said, retry_after=wait)


def error_details(error: Json) -> tuple[str, Json, timedelta | None]:
    """Return the reason, its metadata and the wished pause out of error details."""
    reason, info, delay = "", {}, None
    details = error.get("details")
    for detail in details if isinstance(details, list) else ():
        match detail:
            case {"reason": str(found)}:
                reason = found
                metadata = detail.get("metadata")
                info = metadata if isinstance(metadata, dict) else {}
            case {"retryDelay": str(text)} if text.removesuffix("s").isdigit():
                delay = timedelta(seconds=int(text.removesuffix("s")[:6]))
    return reason, info, delay


def is_daily(info: Json) -> bool:
    """Say whether the quota that ran out is one per day."""
    return any("PerDay" in str(value) or "/d/" in str(value) for value in info.values())


def read_place(
    raw: Json, expires_at: datetime, region: str | None = None
) -> FoundPlace | None:
    """Read one place of a search answer; None if it has not even an id."""
    place_id = text_of(raw.get("id"), longest=MAX_ID_CHARACTERS)
    if place_id is None:
        return None
    point = location_of(raw)
    status, moved_to = status_of(raw)
    return FoundPlace(
        source=PROVIDER,
        source_place_id=place_id,
        name=inner_text(raw, "displayName"),
        address=text_of(raw.get("formattedAddress")),
        latitude=point.latitude if point else None,
        longitude=point.longitude if point else None,
        rating=rating_of(raw.get("rating")),
        reviews_count=count_of(raw.get("userRatingCount")),
        price_level=price_level_of(raw),
        categories=categories_of(raw),
        website=website_of(raw.get("websiteUri")),
        phone=next(iter(phones_of(raw, address_parts(raw)["country"] or region)), None),
        business_status=status,
        moved_to=moved_to,
        raw=storable(raw),
        licence=LICENCE,
        expires_at=expires_at,
    )


def phones_of(raw: Json, country: str | None) -> tuple[str, ...]:
    """Return the number of a place, which Google writes in two ways."""
    names = ("internationalPhoneNumber", "nationalPhoneNumber")
    texts = [text for name in names if (text := text_of(raw.get(name)))]
    return stored_phones(texts[:1], country)


def read_facts(
    raw: Json, expires_at: datetime | None, region: str | None
) -> PlaceFacts:
    """Read the facts of one place, from a search or from details."""
    place_id = text_of(raw.get("id"), longest=MAX_ID_CHARACTERS)
    if place_id is None:
        raise BadProviderAnswer(PROVIDER, "a place has no id")
    parts = address_parts(raw)
    point = location_of(raw)
    status, moved_to = status_of(raw)
    phones = phones_of(raw, parts["country"] or region)
    return PlaceFacts(
        source=PROVIDER,
        source_place_id=place_id,
        name=inner_text(raw, "displayName"),
        address=text_of(raw.get("formattedAddress")),
        **parts,
        latitude=point.latitude if point else None,
        longitude=point.longitude if point else None,
        phone=phones[0] if phones else None,
        phones=phones,
        website=website_of(raw.get("websiteUri")),
        links=tuple(filter(None, [website_of(raw.get("googleMapsUri"))])),
        categories=categories_of(raw),
        hours=hours_of(raw),
        rating=rating_of(raw.get("rating")),
        reviews_count=count_of(raw.get("userRatingCount")),
        price_level=price_level_of(raw),
        business_status=status,
        moved_to=moved_to,
        attributes=attributes_of(raw),
        raw=storable(raw),
        licence=LICENCE,
        expires_at=expires_at,
    )


def status_of(raw: Json) -> tuple[BusinessStatus | None, str | None]:
    """Return whether the business operates, and where it moved if it did."""
    moved_to = text_of(raw.get("movedPlaceId"), longest=MAX_ID_CHARACTERS)
    if moved_to is None and (name := text_of(raw.get("movedPlace"))):
        moved_to = name.removeprefix("places/")
    if moved_to is not None:
        return BusinessStatus.MOVED, moved_to
    return STATUSES.get(str(raw.get("businessStatus"))), None


class AddressParts(TypedDict):
    """An address, in parts."""

    street: str | None
    city: str | None
    region: str | None
    postal_code: str | None
    country: str | None


def address_parts(raw: Json) -> AddressParts:
    """Return street, city, region, postal code and country."""
    long: dict[str, str] = {}
    short: dict[str, str] = {}
    components = raw.get("addressComponents")
    for component in components if isinstance(components, list) else ():
        if not isinstance(component, dict):
            continue
        for kind in texts_of(component.get("types")):
            long.setdefault(kind, text_of(component.get("longText")) or "")
            short.setdefault(kind, text_of(component.get("shortText")) or "")
    city = (
        long.get("locality")
        or long.get("postal_town")
        or long.get("sublocality_level_1")
        or long.get("administrative_area_level_3")
    )
    return {
        "street": street_of(long, country_of(short.get("country"))),
        "city": city or None,
        "region": short.get("administrative_area_level_1") or None,
        "postal_code": join_parts(
            (long.get("postal_code"), long.get("postal_code_suffix")), "-"
        ),
        "country": country_of(short.get("country")),
    }


NUMBER_FIRST = frozenset({"US", "CA", "GB", "IE", "AU", "NZ", "FR", "LU", "ZA", "IN"})


def street_of(parts: dict[str, str], country: str | None) -> str | None:
    """Return street and number in the order of the country."""
    route, number = parts.get("route"), parts.get("street_number")
    if not route:
        return None
    ordered = (number, route) if country in NUMBER_FIRST else (route, number)
    return join_parts((*ordered, parts.get("subpremise")), " ")


def location_of(raw: Json) -> Point | None:
    """Return where the place is, or None for one without premises."""
    location = raw.get("location")
    if not isinstance(location, dict):
        return None
    # Zero is left out of JSON made from protocol buffers.
    return point_of(location.get("latitude", 0), location.get("longitude", 0))


def categories_of(raw: Json) -> tuple[str, ...]:
    """Return the types of the place, the primary one first."""
    primary = text_of(raw.get("primaryType"))
    types = texts_of(raw.get("types"))
    return tuple(dict.fromkeys(kind for kind in (primary, *types) if kind))


def price_level_of(raw: Json) -> str | None:
    """Return the price level in lower case: free, inexpensive, moderate, ..."""
    level = text_of(raw.get("priceLevel"))
    if level is None or level == "PRICE_LEVEL_UNSPECIFIED":
        return None
    return level.removeprefix("PRICE_LEVEL_").lower()


def hours_of(raw: Json) -> dict[str, list[list[str]]] | None:
    """Return the regular hours per weekday."""
    hours = raw.get("regularOpeningHours")
    return week_from_periods(hours.get("periods")) if isinstance(hours, dict) else None


def attributes_of(raw: Json) -> Json:
    """Return what else is worth keeping on the business."""
    kept: Json = {name: raw[name] for name in KNOWN_ATTRIBUTES if name in raw}
    if raw.get("pureServiceAreaBusiness") is True:
        kept["service_area_only"] = True
    if label := inner_text(raw, "primaryTypeDisplayName"):
        kept["category_label"] = label
    kept_json: Json = storable(kept)
    return kept_json


def inner_text(raw: Json, name: str) -> str | None:
    """Return the text of a localised value."""
    value = raw.get(name)
    return text_of(value.get("text")) if isinstance(value, dict) else None
