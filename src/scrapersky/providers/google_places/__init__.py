"""Google Places API (New): a key, a price per request, content that must expire."""

from scrapersky.providers.google_places.price import GooglePrices, Tier
from scrapersky.providers.google_places.source import GooglePlaces, GoogleSettings

__all__ = ["GooglePlaces", "GooglePrices", "GoogleSettings", "Tier"]
