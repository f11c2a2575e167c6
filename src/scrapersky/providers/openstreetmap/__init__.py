"""OpenStreetMap: Nominatim says where, Overpass says what; no key, data may be kept."""

from scrapersky.providers.openstreetmap.nominatim import Nominatim, NominatimSettings
from scrapersky.providers.openstreetmap.overpass import OverpassSettings
from scrapersky.providers.openstreetmap.source import OpenStreetMap

__all__ = ["Nominatim", "NominatimSettings", "OpenStreetMap", "OverpassSettings"]
