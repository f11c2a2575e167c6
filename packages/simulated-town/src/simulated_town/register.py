"""The town's register of businesses, as a small JSON API with paging."""

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final
from urllib.parse import parse_qs

from simulated_town.business import Business
from simulated_town.invent import CENTRE, SPREAD_DEGREES
from simulated_town.locale import LOCALES, load_locale
from simulated_town.plan import TownPlan
from simulated_town.sites.reply import Reply

PLACES: Final = "/places"
PAGE_SIZE: Final = 100
LICENCE: Final = "CC0-1.0"
EVERYTHING: Final = frozenset(
    {"", "all", "anything", "businesses", "business", "everything"}
)
JSON: Final = "application/json"


class Register:
    """Answers which businesses of a trade there are, page by page."""

    def __init__(
        self,
        plan: TownPlan,
        *,
        hidden: frozenset[int] = frozenset(),
        closed: frozenset[int] = frozenset(),
    ) -> None:
        self._plan = plan
        self._closed = closed
        self._listed = tuple(b for b in plan.registered if b.number not in hidden)

    def answer(self, path: str, query: str) -> Reply | None:
        """Answer a request, or None if it is not for the register."""
        asked = {name: values[0] for name, values in parse_qs(query).items()}
        if path == PLACES:
            return self._search(asked)
        if path.startswith(f"{PLACES}/"):
            return self._details(path.removeprefix(f"{PLACES}/"))
        return None

    def _search(self, asked: Mapping[str, str]) -> Reply:
        if not is_here(asked.get("where", "")):
            return _json({"error": "unknown location"}, 404)
        trade = trade_named(asked.get("what", ""))
        found = self._by_trade.get(trade, ()) if trade else self._listed
        offset = _number(asked.get("offset"))
        page = found[offset : offset + PAGE_SIZE]
        after = offset + PAGE_SIZE
        return _json(
            {
                "places": [self._place(business) for business in page],
                "next": after if after < len(found) else None,
                "total": len(found),
            }
        )

    def _details(self, identity: str) -> Reply:
        number = _number(identity.removeprefix("town-"), missing=-1)
        if not 0 <= number < len(self._plan.registered):
            return _json({"error": "unknown place"}, 404)
        return _json(self._place(self._plan.registered[number]))

    def _place(self, business: Business) -> dict[str, Any]:
        is_closed = business.number in self._closed
        return {**place_json(business), **({"closed": True} if is_closed else {})}

    @cached_property
    def _by_trade(self) -> Mapping[str, tuple[Business, ...]]:
        trades: dict[str, list[Business]] = {}
        for business in self._listed:
            trades.setdefault(business.trade, []).append(business)
        return {trade: tuple(found) for trade, found in trades.items()}


def place_id(business: Business) -> str:
    """Return the id a business has in the register."""
    return f"town-{business.number}"


def is_here(where: str) -> bool:
    """Say whether a text names this town, in any of its languages."""
    town = where.partition(",")[0].strip().casefold()
    names = {load_locale(name).town.casefold() for name in LOCALES}
    return not town or town in names


def trade_named(what: str) -> str | None:
    """Return the trade a text means; None means any, an unknown one is returned as is."""
    asked = what.strip().casefold().replace(" ", "_")
    if asked in EVERYTHING:
        return None
    for name in LOCALES:
        for trade, word in load_locale(name).trades.items():
            noun = word.text.casefold().replace(" ", "_")
            if asked in {trade, noun, *_plurals(trade), *_plurals(noun)}:
                return trade
    return _SYNONYMS.get(asked, asked)


_SYNONYMS: Final = {
    "lawyers": "lawyer", "law_firms": "lawyer", "solicitor": "lawyer",
    "vet": "veterinary", "vets": "veterinary", "veterinarian": "veterinary",
    "bakeries": "bakery", "garage": "car_repair", "garages": "car_repair",
    "hair_salon": "hairdresser", "hairdressers": "hairdresser",
    "bookstores": "bookshop", "physical_therapy": "physiotherapist",
}  # fmt: skip


def _plurals(word: str) -> tuple[str, ...]:
    return (f"{word}s", f"{word}es", f"{word.removesuffix('y')}ies")


def place_json(business: Business) -> dict[str, Any]:
    """Return what the register says about a business."""
    address = business.address
    return {
        "id": place_id(business),
        "name": business.name,
        "address": ", ".join(address.lines),
        "street": address.street,
        "postcode": address.postcode,
        "town": address.town,
        "country": address.country,
        "latitude": address.latitude,
        "longitude": address.longitude,
        "categories": [business.trade],
        "website": business.website,
        "phone": business.source_phone,
        "hours": [[o.opens, o.closes] if o.opens else None for o in business.hours],
        "closed": business.is_closed,
        "rating": business.rating,
        "reviews": business.reviews,
        "licence": LICENCE,
    }


def town_box() -> tuple[float, float, float, float]:
    """Return south, west, north and east of the town."""
    latitude, longitude = CENTRE
    return (
        latitude - SPREAD_DEGREES,
        longitude - SPREAD_DEGREES,
        latitude + SPREAD_DEGREES,
        longitude + SPREAD_DEGREES,
    )


def _number(text: str | None, *, missing: int = 0) -> int:
    return int(text) if text is not None and text.isdecimal() else missing


def _json(value: object, status: int = 200) -> Reply:
    return Reply(json.dumps(value).encode(), JSON, status)
