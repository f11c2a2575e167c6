"""What the tags of an OpenStreetMap element say about a business."""

import re
from collections.abc import Iterator, Mapping

from scrapersky.errors import PlaceGone
from scrapersky.kit.canonical import stored_phones
from scrapersky.providers.area import Point
from scrapersky.providers.hours import week_from_osm
from scrapersky.providers.openstreetmap.business_type import MAIN_KEYS
from scrapersky.providers.source import BusinessStatus, FoundPlace, Json, PlaceFacts
from scrapersky.providers.value import (
    country_of,
    join_parts,
    point_of,
    storable,
    text_of,
    website_of,
)

PROVIDER = "osm"
LICENCE = "ODbL-1.0"
ATTRIBUTION = "© OpenStreetMap contributors"

WEBSITES = ("website", "contact:website", "url", "contact:url")
PHONES = (
    "phone",
    "contact:phone",
    "mobile",
    "contact:mobile",
    "phone:mobile",
)
EMAILS = ("email", "contact:email")
NETWORKS = {
    "facebook": "https://www.facebook.com/",
    "instagram": "https://www.instagram.com/",
    "twitter": "https://x.com/",
    "x": "https://x.com/",
    "linkedin": "https://www.linkedin.com/company/",
    "youtube": "https://www.youtube.com/",
    "tiktok": "https://www.tiktok.com/@",
    "pinterest": "https://www.pinterest.com/",
}
CITIES = ("addr:city", "addr:town", "addr:village", "addr:hamlet", "addr:suburb")
REGIONS = ("addr:state", "addr:province", "addr:region", "addr:county")
KEPT = (
    "brand",
    "brand:wikidata",
    "check_date",
    "cuisine",
    "healthcare:speciality",
    "opening_hours",
    "operator",
    "wheelchair",
)
GONE = re.compile(r"^(disused|was|abandoned|closed|demolished|removed):(.+)$")
COMING = re.compile(r"^(planned|proposed|construction):(.+)$")
EMAIL = re.compile(r"^[^@\s<>()\"',;]{1,64}@[^@\s<>()\"',;]+\.[^@\s<>()\"',;.]{2,}$")
HANDLE = re.compile(r"^@?[\w.\-]{2,100}$")


def read_element(element: Json) -> FoundPlace | None:
    """Read a place out of an element; None if it is none."""
    place_id = id_of(element)
    tags = tags_of(element)
    if place_id is None or not tags:
        return None
    point = point_of_element(element)
    parts = address_parts(tags)
    return FoundPlace(
        source=PROVIDER,
        source_place_id=place_id,
        name=name_of(tags),
        address=address_of(tags, parts),
        latitude=point.latitude if point else None,
        longitude=point.longitude if point else None,
        categories=categories_of(tags),
        website=first_website(tags),
        phone=next(iter(phones_of(tags, element, parts["country"])), None),
        business_status=status_of(tags),
        raw=storable(element),
        licence=LICENCE,
    )


def read_facts(element: Json, region: str | None) -> PlaceFacts:
    """Read everything the tags say."""
    place_id = id_of(element)
    if place_id is None:
        raise PlaceGone(PROVIDER, "what was stored is not an element of the map")
    tags = tags_of(element)
    point = point_of_element(element)
    parts = address_parts(tags)
    phones = phones_of(tags, element, parts["country"] or region)
    return PlaceFacts(
        source=PROVIDER,
        source_place_id=place_id,
        name=name_of(tags),
        address=address_of(tags, parts),
        street=parts["street"],
        city=parts["city"],
        region=parts["region"],
        postal_code=parts["postal_code"],
        country=parts["country"],
        latitude=point.latitude if point else None,
        longitude=point.longitude if point else None,
        phone=phones[0] if phones else None,
        phones=phones,
        emails=emails_of(tags),
        website=first_website(tags),
        links=tuple(dict.fromkeys(links_of(tags))),
        categories=categories_of(tags),
        hours=week_from_osm(tags.get("opening_hours", "")),
        business_status=status_of(tags),
        attributes={key: tags[key] for key in KEPT if key in tags},
        raw=storable(element),
        licence=LICENCE,
    )


def phones_of(
    tags: Mapping[str, str], element: Json, country: str | None
) -> tuple[str, ...]:
    """Return every phone number; one without a country code is of where the place is."""
    here = country or country_of(element.get("region"))
    return stored_phones(values(tags, PHONES), here)


def id_of(element: Json) -> str | None:
    """Return type and number of an element, which together name it."""
    kind, number = element.get("type"), element.get("id")
    if kind not in {"node", "way", "relation"} or not isinstance(number, int):
        return None
    return f"{kind}/{number}"


def tags_of(element: Json) -> dict[str, str]:
    """Return the tags that are texts."""
    tags = element.get("tags")
    if not isinstance(tags, dict):
        return {}
    found = {str(key): text_of(value) for key, value in tags.items()}
    return {key: text for key, text in found.items() if text}


def point_of_element(element: Json) -> Point | None:
    """Return the point of a node, or the centre of a way or relation."""
    centre = element.get("center")
    at = centre if isinstance(centre, dict) else element
    return point_of(at.get("lat"), at.get("lon"))


def name_of(tags: Mapping[str, str]) -> str | None:
    """Return the name people know."""
    keys = ("name", "brand", "operator", "official_name", "old_name")
    return next((tags[key] for key in keys if key in tags), None)


def categories_of(tags: Mapping[str, str]) -> tuple[str, ...]:
    """Return what kind of place it is, or was."""
    kinds: list[str] = []
    for key, value in tags.items():
        bare = match[2] if (match := GONE.match(key) or COMING.match(key)) else key
        if bare in MAIN_KEYS and value != "no":
            kinds += [bare if part == "yes" else part for part in split_list(value)]
    return tuple(dict.fromkeys(kinds))


def status_of(tags: Mapping[str, str]) -> BusinessStatus | None:
    """Return whether the business is open, by its tags being alive, dead or unborn."""
    alive = any(tags.get(key, "no") not in {"no", "vacant"} for key in MAIN_KEYS)
    if alive:
        hours = tags.get("opening_hours", "").casefold()
        if hours in {"off", "closed"}:
            return BusinessStatus.CLOSED_TEMPORARILY
        return BusinessStatus.OPERATING
    if any(GONE.match(key) for key in tags) or "vacant" in tags.values():
        return BusinessStatus.CLOSED_PERMANENTLY
    if any(COMING.match(key) for key in tags):
        return BusinessStatus.FUTURE
    return None


def address_parts(tags: Mapping[str, str]) -> dict[str, str | None]:
    """Return street, city, region, postal code and country."""
    country = country_of(tags.get("addr:country"))
    street = tags.get("addr:street") or tags.get("addr:place")
    number = tags.get("addr:housenumber")
    number_first = country in {"US", "CA", "GB", "IE", "AU", "NZ", "FR"} or (
        country is None and bool(re.match(r"^[A-Z]{2}$", tags.get("addr:state", "")))
    )
    ordered = (number, street) if number_first else (street, number)
    return {
        "street": join_parts((*ordered, tags.get("addr:unit")), " ")
        if street
        else None,
        "city": first(tags, CITIES),
        "region": first(tags, REGIONS),
        "postal_code": tags.get("addr:postcode"),
        "country": country,
    }


def address_of(tags: Mapping[str, str], parts: Mapping[str, str | None]) -> str | None:
    """Return the address in one line."""
    if full := tags.get("addr:full"):
        return full
    if parts["street"] is None and parts["city"] is None:
        return None
    place = join_parts((parts["postal_code"], parts["city"]), " ")
    return join_parts((parts["street"], place, parts["region"], parts["country"]))


def first_website(tags: Mapping[str, str]) -> str | None:
    """Return the first usable website."""
    found = (website_of(value) for value in values(tags, WEBSITES))
    return next((website for website in found if website), None)


def emails_of(tags: Mapping[str, str]) -> tuple[str, ...]:
    """Return every e-mail address, each once."""
    found = (value.removeprefix("mailto:") for value in values(tags, EMAILS))
    parts = (part.strip() for value in found for part in value.split(","))
    return tuple(dict.fromkeys(part for part in parts if EMAIL.match(part)))


def links_of(tags: Mapping[str, str]) -> Iterator[str]:
    """Give the profiles on social networks and the websites after the first."""
    for network, start in NETWORKS.items():
        for value in values(tags, (f"contact:{network}", network)):
            if "/" in value or "." in value.strip("@"):
                profile = website_of(value)
            else:
                profile = start + value.lstrip("@") if HANDLE.match(value) else None
            if profile:
                yield profile
    main = first_website(tags)
    for value in values(tags, WEBSITES):
        if (website := website_of(value)) and website != main:
            yield website


def values(tags: Mapping[str, str], keys: tuple[str, ...]) -> list[str]:
    """Return all values of some keys; one tag may hold several, `;` between them."""
    return [part for key in keys if key in tags for part in split_list(tags[key])]


def split_list(value: str) -> list[str]:
    """Split a list in a tag."""
    return [part for part in (piece.strip() for piece in value.split(";")) if part]


def first(tags: Mapping[str, str], keys: tuple[str, ...]) -> str | None:
    """Return the first of some tags that is there."""
    return next((tags[key] for key in keys if key in tags), None)
