"""Logs, metrics, traces: they listen to the product, which does not know them."""
