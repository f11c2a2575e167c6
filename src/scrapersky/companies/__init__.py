"""Companies: which records tell about the same one, and what they tell together."""
