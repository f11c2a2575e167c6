"""Decisions between the stages: by people, by rules, one row or a million, undoable."""
