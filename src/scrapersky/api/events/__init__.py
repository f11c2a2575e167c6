"""Live events: what changes in the records, sent to everyone who listens."""
