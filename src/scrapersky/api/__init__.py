"""The HTTP face of the product."""
