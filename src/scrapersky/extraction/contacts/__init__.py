"""Contacts of a page: every value with its evidence, and none invented."""
