"""Places from files: CSV in any dialect, JSON lines, Overture's and GeoJSON's lines."""

from scrapersky.providers.files.source import FileSettings, PlaceFiles

__all__ = ["FileSettings", "PlaceFiles"]
