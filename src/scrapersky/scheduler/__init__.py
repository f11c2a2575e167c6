"""The one shared scheduler: it only ticks; the engine does the work."""
