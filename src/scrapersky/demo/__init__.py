"""How ScraperSky visits the simulated town: as a crawler, and as a source of places."""
