"""The websites of the town: one renderer per kind of site."""
