"""The change log as its readers see it: every change once, from a cursor on."""
