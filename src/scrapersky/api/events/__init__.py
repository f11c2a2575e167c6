"""Live events: what changes in the records, told to everyone who listens."""
