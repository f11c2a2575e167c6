"""The one shared scheduler: it only ticks; the SDK's workers do the work."""
