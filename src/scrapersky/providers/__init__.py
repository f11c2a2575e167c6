"""Where places come from: one protocol, several sources."""
