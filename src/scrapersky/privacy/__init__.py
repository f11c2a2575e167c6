"""People's data: who must be left alone, what is held about a person, for how long."""
