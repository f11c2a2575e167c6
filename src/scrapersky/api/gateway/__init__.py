"""The gate of the API: who is asking, what they may do, whose rows they see."""
