"""Bytes in, facts out, no I/O."""
