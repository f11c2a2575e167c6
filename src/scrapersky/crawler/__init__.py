"""Fetch other people's pages politely and safely."""
