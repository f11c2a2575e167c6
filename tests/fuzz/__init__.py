"""Rubbish for everything that reads what strangers wrote; see docs/explanation/fuzzing.md."""
