"""Who is asking: sessions, keys, tokens, and how often each may."""
