"""The simulated town: business websites and a place source, with the truth known."""
