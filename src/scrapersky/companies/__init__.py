"""Companies: which records say about the same one, and what they say together."""
