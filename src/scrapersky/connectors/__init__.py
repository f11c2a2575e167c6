"""Connectors: the CRMs that leads are kept in, each in one file, and the one way to keep them."""
