"""What a request costs: the most expensive field of its mask decides."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import IntEnum

from scrapersky.providers.budget import Charge

PROVIDER = "google"


class Tier(IntEnum):
    """The classes of Google's price list, cheapest first."""

    IDS = 0
    ESSENTIALS = 1
    PRO = 2
    ENTERPRISE = 3
    ATMOSPHERE = 4


@dataclass(frozen=True, slots=True)
class GooglePrices:
    """Prices per 1,000 requests; they change, so they are data.

    The free allowance per month is left out on purpose: other programs may use it up,
    and a budget must hold without it.
    """

    search_ids: Decimal = Decimal(0)
    search_pro: Decimal = Decimal(32)
    search_enterprise: Decimal = Decimal(35)
    search_atmosphere: Decimal = Decimal(40)
    details_ids: Decimal = Decimal(0)
    details_essentials: Decimal = Decimal(5)
    details_pro: Decimal = Decimal(17)
    details_enterprise: Decimal = Decimal(20)
    details_atmosphere: Decimal = Decimal(25)
    currency: str = "USD"

    def search(self, fields: Iterable[str]) -> Charge:
        """Return the price of one search request with these fields of a place."""
        tier = max(
            (SEARCH_TIERS.get(name, Tier.ATMOSPHERE) for name in fields), default=0
        )
        by_tier = {
            Tier.IDS: self.search_ids,
            Tier.ESSENTIALS: self.search_pro,
            Tier.PRO: self.search_pro,
            Tier.ENTERPRISE: self.search_enterprise,
            Tier.ATMOSPHERE: self.search_atmosphere,
        }
        return self._charge("text search", Tier(tier), by_tier)

    def details(self, fields: Iterable[str]) -> Charge:
        """Return the price of one details request with these fields."""
        tier = max(
            (DETAILS_TIERS.get(name, Tier.ATMOSPHERE) for name in fields), default=0
        )
        by_tier = {
            Tier.IDS: self.details_ids,
            Tier.ESSENTIALS: self.details_essentials,
            Tier.PRO: self.details_pro,
            Tier.ENTERPRISE: self.details_enterprise,
            Tier.ATMOSPHERE: self.details_atmosphere,
        }
        return self._charge("place details", Tier(tier), by_tier)

    def _charge(self, what: str, tier: Tier, by_tier: Mapping[Tier, Decimal]) -> Charge:
        label = f"{what}, {tier.name.lower()}"
        return Charge(PROVIDER, label, by_tier[tier] / 1000, self.currency)


IDS = ("id", "name", "attributions")
ESSENTIALS = (
    "addressComponents",
    "adrFormatAddress",
    "formattedAddress",
    "location",
    "plusCode",
    "postalAddress",
    "shortFormattedAddress",
    "types",
    "viewport",
)
PRO = (
    "accessibilityOptions",
    "businessStatus",
    "containingPlaces",
    "displayName",
    "googleMapsLinks",
    "googleMapsUri",
    "iconBackgroundColor",
    "iconMaskBaseUri",
    "movedPlace",
    "movedPlaceId",
    "openingDate",
    "photos",
    "primaryType",
    "primaryTypeDisplayName",
    "pureServiceAreaBusiness",
    "subDestinations",
    "timeZone",
    "utcOffsetMinutes",
)
ENTERPRISE = (
    "currentOpeningHours",
    "internationalPhoneNumber",
    "nationalPhoneNumber",
    "priceLevel",
    "priceRange",
    "rating",
    "regularOpeningHours",
    "userRatingCount",
    "websiteUri",
)

DETAILS_TIERS: Mapping[str, Tier] = {
    **dict.fromkeys(IDS, Tier.IDS),
    **dict.fromkeys(ESSENTIALS, Tier.ESSENTIALS),
    **dict.fromkeys(PRO, Tier.PRO),
    **dict.fromkeys(ENTERPRISE, Tier.ENTERPRISE),
}
"""Fields not named here are priced as the most expensive, so a price is never too low."""
SEARCH_TIERS: Mapping[str, Tier] = {
    name: Tier.PRO if tier is Tier.ESSENTIALS else tier
    for name, tier in DETAILS_TIERS.items()
}
"""A search has no Essentials price beyond ids."""
