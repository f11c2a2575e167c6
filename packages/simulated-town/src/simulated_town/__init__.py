"""A simulated town of businesses: their websites, a place source, and the truth."""
