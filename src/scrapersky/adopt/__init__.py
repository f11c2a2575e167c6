"""Adopt a database of the system before this one: read it, and store what fits."""
