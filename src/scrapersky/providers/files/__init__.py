"""Places from files: CSV in any dialect, JSON lines, Overture's and GeoJSON's lines."""

from scrapersky.providers.files.source import FetchFile, FileSettings, PlaceFiles

__all__ = ["FetchFile", "FileSettings", "PlaceFiles"]
