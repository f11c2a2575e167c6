"""ScraperSky: from a search to verified business contacts."""
